// Reads a request body as JSON, within a size limit.

import { isAscii } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { nextTurn, parseInSteps, STEPWISE_FROM_BYTES } from '../../lib/chunked-json.ts';
import { type JsonValue, parseSurveyed } from '../../lib/json.ts';
import { JSON_LIMITS, JsonSurvey } from '../../lib/json-limits.ts';

import { SandboxError } from '../errors.ts';

export interface JsonBody {
  /** Of a large body its beginning. */
  readonly text: string;
  readonly value: JsonValue;
}

const MAX_BYTES = 100 * 1024 * 1024;

/** @throws SandboxError 400 when it is no JSON or compressed, 413 when it is too large. */
export async function readJsonBody(request: IncomingMessage): Promise<JsonBody> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (!/^application\/json\b/i.test(type)) {
    throw new SandboxError(400, 'The Content-Type must be application/json.');
  }
  if (encoding !== 'identity') {
    throw new SandboxError(400, `A body with Content-Encoding ${encoding} is not accepted.`);
  }
  const bytes = await readBytes(request);
  // The gateway runs in the same process.
  if (bytes.length >= STEPWISE_FROM_BYTES) return readInSteps(bytes);
  const text = decode(bytes);
  return { text, value: parse(text) };
}

/** The part of a large body that is of use to anybody as text. */
const SHOWN_BYTES = 262_144;

/** As the gateway reads its own; what no request looks like is read at once. */
async function readInSteps(bytes: Buffer): Promise<JsonBody> {
  const survey = await lookOver(bytes);
  const text = bytes.toString('utf8', 0, SHOWN_BYTES);
  if (survey === undefined) return { text, value: parse(decode(bytes)) };
  try {
    const value = await parseInSteps(bytes, survey);
    await nextTurn();
    return { text, value };
  } catch (error) {
    if (error instanceof SyntaxError) throw noJson();
    throw error;
  }
}

/** Of one look, and of all that are taken in one turn. */
const LOOK_BYTES = 65_536;
const TURN_BYTES = 4_194_304;

/** Undefined for what is nested or split up too much. */
async function lookOver(bytes: Buffer): Promise<JsonSurvey | undefined> {
  const survey = new JsonSurvey(JSON_LIMITS);
  for (let start = 0; start < bytes.length; start += LOOK_BYTES) {
    if (survey.read(bytes.subarray(start, start + LOOK_BYTES)) !== undefined) return undefined;
    if (start % TURN_BYTES === 0) await nextTurn();
  }
  return survey;
}

function decode(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8');
}

/** Of any depth: arguments as deep as the gateway takes them stand deeper in what it sends. */
function parse(text: string): JsonValue {
  try {
    return parseSurveyed(text, true);
  } catch {
    throw noJson();
  }
}

function noJson(): SandboxError {
  return new SandboxError(400, 'The body is not JSON.');
}

/** An announced body is copied as it arrives: all of a large one at once would keep everybody waiting. */
async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  const place = Buffer.allocUnsafeSlow(Math.min(announced, MAX_BYTES));
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (announced > 0) chunk.copy(place, bytes);
    else chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) {
      throw new SandboxError(413, `The body is larger than ${MAX_BYTES} bytes.`);
    }
  }
  return announced > 0 ? place.subarray(0, bytes) : Buffer.concat(chunks);
}
