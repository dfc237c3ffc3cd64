// Reads a JSON body: media type, encoding, size and pace limits, the memory budget of all bodies, then the text.

import { constants, isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { getHeapStatistics } from 'node:v8';
import {
  clientError,
  clientGone,
  type GatewayError,
  gatewayError,
  invalidRequest,
} from '../../canonical/error.ts';
import {
  nextTurn,
  parseInSteps,
  STEPWISE_FROM_BYTES,
  StepwiseSyntaxError,
} from '../../lib/chunked-json.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import {
  findJsonError,
  isJsonObject,
  JSON_LIMITS,
  type JsonHints,
  type JsonLimit,
  JsonLimitScanner,
  type JsonObject,
  type JsonValue,
  parseSurveyed,
} from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { memoryLimit, relieveMemory } from '../../lib/memory-limit.ts';
import { isLoopback, MAX_KNOWN_ADDRESSES, readAddress, visitorOf } from '../../lib/net.ts';
import { remember } from '../../lib/once.ts';
import { parseWithSharedTools } from '../../lib/shared-json.ts';
import type { ClientResponse } from '../settings.ts';
import { bodySource, isCompressed } from './body-source.ts';

export interface BodyInput extends ByteLimits {
  readonly request: IncomingMessage;
  readonly response: Pick<ClientResponse, 'writeContinue'>;
}

/** The JSON object a request carries. @throws GatewayError, with the place where it stops being JSON */
export async function readJsonBody(given: BodyInput): Promise<JsonObject> {
  const input = given.maxBytes > MAX_TEXT ? { ...given, ...TEXT_LIMIT } : given;
  const { request } = input;
  checkJson(request);
  if (request.headers.expect !== undefined) wantBody(input);
  const survey = new JsonLimitScanner(JSON_LIMITS);
  const received = await readBytes(request, input, survey);
  const { toolsPlace } = survey;
  if (received.length >= STEPWISE_FROM_BYTES) {
    const value = await parseLarge(received, survey);
    await nextTurn();
    if (!isJsonObject(value)) throw noObject();
    return value;
  }
  const known = toolsPlace && parseWithSharedTools(received, toolsPlace, survey);
  const value = known ?? parseText(decodeBody(received), survey);
  if (!isJsonObject(value)) throw noObject();
  return value;
}

/** @throws GatewayError unsupported-media-type for a body that is compressed but in zstd, or said to be something else */
export function checkJson(request: IncomingMessage): void {
  const { headers } = request;
  if (headers['content-encoding'] !== undefined && !isCompressed(request)) checkEncoding(request);
  const { 'content-length': length = '0', 'content-type': type } = headers;
  const hasBody = length !== '0' || headers['transfer-encoding'] !== undefined;
  if (type === 'application/json' || !hasBody || isJsonType(type)) return;
  const message = told`Send the request body as JSON, with Content-Type: application/json.`;
  throw clientError('unsupported-media-type', message);
}

/** What node can hold as one text, whatever limit is set. */
const { MAX_STRING_LENGTH: MAX_TEXT } = constants;
const TEXT_LIMIT = { maxBytes: MAX_TEXT, limitOf: told`a JSON text` };

/** The position of an error is looked for in the whole text. */
async function parseLarge(received: Buffer, survey: JsonLimitScanner): Promise<JsonValue> {
  if (!isUtf8(received)) throw invalidJson(NOT_UTF8);
  await nextTurn();
  try {
    return await parseInSteps(received, survey);
  } catch (error) {
    if (!(error instanceof StepwiseSyntaxError)) throw error;
    return parseText(error.text, survey);
  }
}

/** @throws GatewayError unsupported-media-type for a compressed body */
export function checkEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return;
  const message = told`Send the request body without Content-Encoding.`;
  throw clientError('unsupported-media-type', message);
}

/** Sends 100 Continue unless the body is too large. HTTP/1.0 would take it for the answer (RFC 9110, 10.1.1). */
export function wantBody({ request, response, maxBytes }: Omit<BodyInput, 'clock'>): void {
  const { headers, httpVersion } = request;
  const waits = headers.expect?.toLowerCase() === '100-continue' && httpVersion !== '1.0';
  if (waits && Number(headers['content-length'] ?? 0) <= maxBytes) response.writeContinue();
}

/** `application/json` or a `+json` type; any charset but UTF-8 (or its subset ASCII) is another type. */
function isJsonType(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';');
  if (!/^application\/(?:json|[\w.!#$&^-]+\+json)$/.test(mediaType.trim())) return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    const charset = value.trim().replaceAll('"', '');
    return name.trim() !== 'charset' || ['utf-8', 'utf8', 'us-ascii'].includes(charset);
  });
}

/** Most bodies are ASCII, which is read faster as what is the same for it. */
function decodeBody(received: Buffer): string {
  if (received.length === 0)
    throw invalidJson(told`The request body is empty; send a JSON object.`);
  if (isAscii(received)) return received.toString('latin1');
  if (!isUtf8(received)) throw invalidJson(NOT_UTF8);
  return withoutMark(received).toString();
}

function noObject(): GatewayError {
  return invalidRequest('body', told`The request body must be a JSON object.`, 'invalid-type');
}

function parseText(text: string, hints: JsonHints): JsonValue {
  try {
    return parseSurveyed(text, hints);
  } catch {
    const position = findJsonError(text);
    const found =
      position >= text.length
        ? told`the text ends too early`
        : told`unexpected ${JSON.stringify(text.charAt(position))}`;
    throw invalidJson(told`The request body is not valid JSON: ${found} at position ${position}.`);
  }
}

/** Some editors and shells put a byte order mark before the text; RFC 8259 lets readers skip it. */
function withoutMark(bytes: Buffer): Buffer {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return marked ? bytes.subarray(3) : bytes;
}

const NOT_UTF8 = told`The request body is not UTF-8 text.`;

const EXCESS_MESSAGES: Readonly<Record<JsonLimit, Sentence>> = {
  depth: told`The request body is nested deeper than ${JSON_LIMITS.maxDepth} levels.`,
  tokens: told`The request body has more than ${JSON_LIMITS.maxTokens} JSON tokens.`,
  keys: told`The request body has more than ${JSON_LIMITS.maxShapes} different keys, or orders of keys, in its objects.`,
  key: told`The request body has an object key longer than ${JSON_LIMITS.maxKeyBytes} bytes.`,
};

function invalidJson(message: Sentence): GatewayError {
  return invalidRequest('body', message, 'invalid-json');
}

interface ByteLimits {
  readonly maxBytes: number;
  /** Whose limit that is, for the error; the gateway's by default. */
  readonly limitOf?: Sentence | undefined;
  readonly clock: Clock;
  /** Where the memory for the body comes from, and who has it. */
  readonly bodies: Pick<BodyBudget, 'check' | 'take'>;
  readonly holder: BodyHolder;
}

/** Time before the pace counts, time between two looks at it, and the pace itself. */
const GRACE_MS = 10_000;
const LOOK_MS = 5_000;
const MIN_BYTES_PER_SECOND = 50_000;
/** Each piece costs a microsecond, however small. No body needs more of them, unless they are this large on average. */
const MAX_PIECES = 4 * 1024 * 1024;
const MIN_AVERAGE_BYTES = 64;
/** From this announced size on the bytes are copied as they arrive, not all at once at the end. */
const IN_PLACE_FROM_BYTES = 1_048_576;
/** Smaller pieces are gathered: each costs a buffer of its own beside what it was cut from. */
const SMALL_PIECE_BYTES = 1024;
const MAX_SMALL_PIECES = 1024;
const MAX_GATHERED_BYTES = 16_384;

/**
 * The whole body.
 * @param survey reads each piece as it comes, small ones together
 * @throws GatewayError too-large as soon as the limit is passed (at once from `content-length`),
 * overloaded when there is no room for a large body, invalid-request for JSON that goes over a limit and for what
 * comes in millions of pieces of a few bytes, timeout when the sender is slower than 50 kB/s after 10 s,
 * client-gone when it left.
 */
export async function readBytes(
  request: IncomingMessage,
  limits: ByteLimits,
  survey?: JsonLimitScanner,
): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limits.maxBytes) throw tooLarge(limits);
  // All of it came with the head, and it is so small that nobody counts it.
  const isWhole = request.complete && request.readableLength === declared;
  const isHere = isWhole && request.headers['content-encoding'] === undefined;
  if (!isHere || declared > UNCOUNTED_BYTES) return collectBytes(request, limits, survey);
  // Without a size node gives the first of the pieces alone, from version 26 on.
  const whole: unknown = request.read(declared);
  const body = Buffer.isBuffer(whole) ? whole : Buffer.alloc(0);
  const excess = survey?.read(body);
  if (excess !== undefined) throw invalidJson(EXCESS_MESSAGES[excess]);
  return body;
}

function collectBytes(
  request: IncomingMessage,
  limits: ByteLimits,
  survey: JsonLimitScanner | undefined,
): Promise<Buffer> {
  const { clock, bodies, holder, maxBytes } = limits;
  const declared = Number(request.headers['content-length'] ?? 0);
  // What is announced takes no room, but what would be refused half-way is not begun.
  bodies.check(holder, { bytes: declared, isAscii: true, tokens: 0 });
  const source = bodySource(request);
  const { stream } = source;
  return new Promise((resolve, reject) => {
    // Memory that nothing is written to costs nothing, so that a size alone takes none.
    const isKnown = declared >= IN_PLACE_FROM_BYTES && !isCompressed(request);
    const inPlace = isKnown ? Buffer.allocUnsafeSlow(declared) : undefined;
    const pieces: Buffer[] = [];
    let small: Buffer[] = [];
    let [received, count, written, smallBytes] = [0, 0, 0, 0];
    let isPlain = true;
    const add = (piece: Buffer): void => {
      const excess = survey?.read(piece);
      if (excess !== undefined) throw invalidJson(EXCESS_MESSAGES[excess]);
      isPlain &&= isAscii(piece);
      bodies.take(holder, { bytes: received, isAscii: isPlain, tokens: survey?.tokens ?? 0 });
      if (inPlace === undefined) pieces.push(piece);
      else written += piece.copy(inPlace, written);
    };
    const flush = (): void => {
      if (smallBytes > 0) add(Buffer.concat(small));
      small = [];
      smallBytes = 0;
    };
    const end = (): void => {
      pace.cancel();
      stream.off('data', onChunk).off('end', onEnd).off('error', onError).off('close', onGone);
    };
    const fail = (error: unknown): void => {
      end();
      // What still comes is the business of whoever answers.
      source.stop();
      reject(error);
    };
    const orFail = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        fail(error);
      }
    };
    const onChunk = (chunk: Buffer): void =>
      orFail(() => {
        received += chunk.length;
        count += 1;
        if (count > MAX_PIECES && received < count * MIN_AVERAGE_BYTES) throw tooManyPieces();
        if (received > maxBytes) throw tooLarge(limits);
        if (chunk.length >= SMALL_PIECE_BYTES) {
          flush();
          add(chunk);
          return;
        }
        small.push(chunk);
        smallBytes += chunk.length;
        if (small.length === MAX_SMALL_PIECES || smallBytes >= MAX_GATHERED_BYTES) flush();
      });
    const onEnd = (): void =>
      orFail(() => {
        flush();
        end();
        const [only] = pieces.length === 1 ? pieces : [];
        resolve(inPlace?.subarray(0, written) ?? only ?? Buffer.concat(pieces));
      });
    const onError = (error: Error): void => fail(source.faultOf(error));
    const onGone = (): void => fail(clientGone());
    const pace = watchPace(clock, () => received, fail);
    stream.on('data', onChunk).on('end', onEnd).on('error', onError).on('close', onGone);
  });
}

/** Fails what has come too slowly since now, unless it is cancelled. */
export function watchPace(
  clock: Clock,
  received: () => number,
  fail: (error: GatewayError) => void,
): Timer {
  const startedAt = clock.monotonic();
  const look = (): void => {
    const countedMs = clock.monotonic() - startedAt - GRACE_MS;
    if (received() < (countedMs / 1000) * MIN_BYTES_PER_SECOND) fail(tooSlow());
    else timer = clock.startTimer(LOOK_MS, look);
  };
  let timer = clock.startTimer(GRACE_MS, look);
  return { cancel: () => timer.cancel() };
}

const GATEWAY_LIMIT = told`this gateway (ABV_MAX_BODY_SIZE)`;

export function tooLarge({
  maxBytes,
  limitOf = GATEWAY_LIMIT,
}: Pick<ByteLimits, 'maxBytes' | 'limitOf'>): GatewayError {
  const message = told`The request body is larger than ${maxBytes} bytes, the limit of ${limitOf}.`;
  return clientError('too-large', message);
}

function tooManyPieces(): GatewayError {
  return invalidRequest(
    'body',
    told`The request body comes in millions of chunks of a few bytes. Send it in larger chunks.`,
  );
}

function tooSlow(): GatewayError {
  const message = told`The request body came too slowly. Send it again over a faster connection.`;
  return clientError('timeout', message);
}

/** Caps the total memory of large request bodies. */
export type BodyBudget = ReturnType<typeof createBodyBudget>;

/** One request, as far as the budget knows it. */
export interface BodyHolder {
  readonly clientKeyId: string;
  readonly clientAddress: string;
  /** Bytes of memory that count for it; the budget alone writes it. */
  heldBytes: number;
}

interface BodySize {
  readonly bytes: number;
  /** Text of other characters takes two bytes each, however few of them there are. */
  readonly isAscii: boolean;
  /** Structural tokens of JSON. */
  readonly tokens: number;
}

/** What the process may use, in bytes. */
interface Memory {
  readonly limit: number;
  readonly heapLimit: number;
}

const MEGABYTE = 1_048_576;

// What a body costs at its dearest moment, measured on all surfaces (docs/operation.md, "Memory"): it is there as
// bytes, as text and as values, then as values and as the bytes that go upstream, and some of it is garbage.
const ASCII_FACTOR = 3.5;
const OTHER_FACTOR = 5.5;
/** A value of JSON and what becomes of it on its way to the upstream. */
const TOKEN_BYTES = 128;

/** Bodies up to this size come by the hundred with ordinary streams, and are bounded by those. */
export const UNCOUNTED_BYTES = 65_536;
/** Bodies up to this size find room that larger ones never take. */
const MODEST_BYTES = 4 * MEGABYTE;
/** The gateway at rest with fifty streams, beside the process that started it. */
const BASE_BYTES = 100 * MEGABYTE;
const USED_SHARE = 0.9;
/** The heap holds the texts and the values of a body, and everything else that lives. */
const HEAP_BASE_BYTES = 64 * MEGABYTE;
const COST_PER_HEAP_BYTE = 1.2;
/** Even where the memory is hardly enough for the gateway itself, a modest body must pass. */
const MIN_ROOM = 16 * MEGABYTE;
const RESERVE_SHARE = 0.125;
/** What one key or address may have while others hold or want some. */
const OWNER_SHARE = 0.75;
const WANTED_MS = 10_000;
const RETRY_AFTER_MS = 1_000;

export function createBodyBudget(clock: Pick<Clock, 'monotonic'>, memory: Memory = readMemory()) {
  const room = roomOf(memory);
  const reserve = memory.limit * RESERVE_SHARE;
  const owners = new Map<string, number>();
  let held = 0;
  let refused: { readonly owners: readonly string[]; readonly at: number } | undefined;

  const change = (holder: BodyHolder, bytes: number): void => {
    if (bytes === 0) return;
    for (const owner of ownersOf(holder)) {
      const left = (owners.get(owner) ?? 0) + bytes;
      if (left > 0) owners.set(owner, left);
      else owners.delete(owner);
    }
    held += bytes;
    holder.heldBytes += bytes;
  };

  /** Whether somebody else holds, or was refused lately. */
  const isShared = (owner: string, heldByOwner: number): boolean => {
    const isWanted =
      refused !== undefined &&
      clock.monotonic() - refused.at < WANTED_MS &&
      !refused.owners.includes(owner);
    return isWanted || held > heldByOwner;
  };

  const fits = (holder: BodyHolder, size: BodySize, more: number): boolean => {
    const spare = size.bytes <= MODEST_BYTES ? reserve : 0;
    if (held + more > room + spare) return false;
    return ownersOf(holder).every((owner) => {
      const own = owners.get(owner) ?? 0;
      // One body alone may have all the room.
      if (own === holder.heldBytes && !isShared(owner, own)) return true;
      return own + more <= room * OWNER_SHARE + spare / 2;
    });
  };

  const costNow = (
    holder: BodyHolder,
    size: BodySize,
    cost = size.bytes <= UNCOUNTED_BYTES ? 0 : costOf(size),
  ): number => {
    if (cost > room) throw tooLargeForMemory(memory, { cost, room });
    const more = Math.max(0, cost - holder.heldBytes);
    if (more === 0 || fits(holder, size, more)) return more;
    refused = { owners: ownersOf(holder), at: clock.monotonic() };
    throw overloaded(FULL);
  };

  return {
    /** Checks that memory for such a body is free, and takes none. @throws GatewayError too-large or overloaded */
    check: (holder: BodyHolder, size: BodySize): void => void costNow(holder, size),
    /** Takes the room for what has come of a body so far. @throws as `check` */
    take(holder: BodyHolder, size: BodySize): void {
      let more: number;
      try {
        more = costNow(holder, size);
      } catch (error) {
        // What has come is dropped at once, whoever goes on sending.
        change(holder, -holder.heldBytes);
        throw error;
      }
      if (more === 0) return;
      relieveMemory();
      change(holder, more);
    },
    /** Takes the room for what a request is made of beside its body, such as what it goes on from. @throws as `check` */
    takeMore(holder: BodyHolder, bytes: number): void {
      const size = { bytes, isAscii: true, tokens: 0 };
      const more = costNow(holder, size, holder.heldBytes + costOf(size));
      relieveMemory();
      change(holder, more);
    },
    /** Counts bytes that the gateway has for the request anyway, such as its answer. */
    add: change,
    /** Call once the request has ended. */
    release(holder: BodyHolder): void {
      if (holder.heldBytes > MODEST_BYTES) setImmediate(relieveMemory);
      change(holder, -holder.heldBytes);
    },
    /** The same memory for the large answers of upstreams. */
    answers: {
      /** @throws GatewayError too-large when the memory is not enough for it alone, overloaded when it is not now */
      take(holder: Pick<BodyHolder, 'heldBytes'>, bytes: number): void {
        const cost = bytes * ASCII_FACTOR;
        const most = room + reserve / 2;
        if (cost > most) throw answerTooLarge(memory, most);
        const more = Math.max(0, cost - holder.heldBytes);
        if (held + more > most) throw overloaded(FULL_OF_ANSWERS);
        relieveMemory();
        held += more;
        holder.heldBytes += more;
      },
      release(holder: Pick<BodyHolder, 'heldBytes'>): void {
        held -= holder.heldBytes;
        holder.heldBytes = 0;
      },
    },
  };
}

function costOf({ bytes, isAscii, tokens }: BodySize): number {
  return bytes * (isAscii ? ASCII_FACTOR : OTHER_FACTOR) + tokens * TOKEN_BYTES;
}

function roomOf({ limit, heapLimit }: Memory): number {
  const ofMemory = limit * USED_SHARE - BASE_BYTES;
  const ofHeap = (heapLimit - HEAP_BASE_BYTES) * COST_PER_HEAP_BYTE;
  return Math.max(MIN_ROOM, Math.min(ofMemory, ofHeap));
}

function readMemory(): Memory {
  return { limit: memoryLimit(), heapLimit: getHeapStatistics().heap_size_limit };
}

/** Who comes with a key is its holder at an address; this machine speaks for many. */
function ownersOf({ clientKeyId, clientAddress }: BodyHolder): readonly string[] {
  const isKeyless = clientKeyId === '' || clientKeyId === 'open' || clientKeyId === 'local';
  const visitor = `address ${visitorOf(clientAddress)}`;
  if (isKeyless) return [visitor];
  const key = `key ${clientKeyId}`;
  return isLocal(clientAddress) ? [key] : [key, visitor];
}

/** Remembered, because it is asked for each piece of a body. */
const isLocal = remember(MAX_KNOWN_ADDRESSES, (text) => {
  const address = readAddress(text);
  return address === undefined || isLoopback(address);
});

function tooLargeForMemory(
  { limit }: Memory,
  { cost, room }: { readonly cost: number; readonly room: number },
): GatewayError {
  const needed = Math.ceil(cost / MEGABYTE);
  const limited = Math.ceil(limit / MEGABYTE);
  const had = Math.floor(room / MEGABYTE);
  return clientError(
    'too-large',
    told`The request body needs about ${needed} MB of memory while it is worked on, and the memory limit of this gateway (${limited} MB) leaves ${had} MB for that. Send less at once, or give the gateway more memory.`,
  );
}

function answerTooLarge({ limit }: Memory, most: number): GatewayError {
  const limited = Math.ceil(limit / MEGABYTE);
  const had = Math.floor(most / MEGABYTE);
  return gatewayError(
    'too-large',
    told`The answer needs more memory than the memory limit of this gateway (${limited} MB) leaves for one (${had} MB). Ask for less at once, or give the gateway more memory.`,
  );
}

function overloaded(message: Sentence): GatewayError {
  const retryAfterMs = RETRY_AFTER_MS;
  return gatewayError('overloaded', message, { retryAfterMs });
}

const FULL = told`The gateway holds too many large requests at the moment. Send this one again shortly.`;
const FULL_OF_ANSWERS = told`The answer is larger than the memory that the gateway has left at the moment. Ask again shortly, or give the gateway more memory.`;
