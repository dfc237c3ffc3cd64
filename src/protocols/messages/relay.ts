// The relay lane: frames of an upstream of the same wire, forwarded as they came.

import { joinOpening, MIN_OPENING_LENGTH } from '../../canonical/text-forms.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import { mapItems } from '../../lib/collections.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { ObjectEnd } from '../../lib/object-end.ts';
import { objectsOf } from '../../lib/read-values.ts';
import { EVENT_STREAM_TYPE, eventFrame } from '../../stream/sse.ts';
import { MESSAGES_WIRE } from '../../wire/messages.ts';
import type { RouteInput } from '../protocol.ts';
import type { RelayBody, RelayCall } from '../relayed-request.ts';
import { forwardedHeaders, type LateReading } from '../relayed-request.ts';
import type { RelayWriter, ReplyContext } from '../writers.ts';
import { writeStreamError } from './errors.ts';
import type { Body } from './schema.ts';
import {
  EMPTY_TEXT,
  EMPTY_THINKING,
  PING,
  startText,
  stopText,
  writeMessageStart,
} from './write-events.ts';

type Received = Pick<RouteInput, 'body' | 'headers'>;

/** The body as the client sent it; what the gateway itself has no words for is lost only where it is translated. */
export function relayBody({ body, headers }: Received, reading: LateReading): RelayBody {
  return {
    wire: MESSAGES_WIRE,
    body,
    headers: forwardedHeaders(headers),
    reading,
  };
}

/** `checked` is the same body with its types known. */
export function createRelayCall(
  { body, headers }: Received,
  checked: Body,
  reading: LateReading,
): RelayCall {
  return {
    wire: MESSAGES_WIRE,
    body,
    get headers() {
      return forwardedHeaders(headers);
    },
    /** As of the canonical request, so that a session stays with its account. */
    openingText() {
      const { system, messages } = checked;
      for (const { role, content } of messages) {
        if (role !== 'user') continue;
        const texts = typeof content === 'string' ? [content] : content.map(textIn);
        for (const text of texts) {
          if (text.length < MIN_OPENING_LENGTH) continue;
          const before = typeof system === 'string' ? [system] : (system ?? []).map(textIn);
          return joinOpening(before, text);
        }
      }
      return undefined;
    },
    reading,
    declaredNames: () => declaredNames(body.tools),
    renameCalls,
    createStreamWriter: (context) => new FrameRelay(context),
    isPiece: ({ type }) => typeof type === 'string' && /^(?:message|content_block)_/.test(type),
    writeReply: ([answer = {}]) => {
      const counted = withCounts(answer, STARTING_COUNTS);
      return objectsOf(answer.content).some(isCall) ? endWithCalls(counted) : counted;
    },
  };
}

function isCall({ type }: JsonObject): boolean {
  return type === 'tool_use';
}

/** A whole answer, or the end of one that is streamed: agents go on with the calls by the reason why it stopped. */
function endWithCalls(end: JsonObject): JsonObject {
  const isOther = (end.stop_reason ?? 'end_turn') !== 'end_turn';
  return isOther ? end : { ...end, stop_reason: 'tool_use' };
}

/** What readers take from `usage` without looking whether it is there: of an answer, and of the end of a stream. */
const STARTING_COUNTS = ['input_tokens', 'output_tokens'];
const ENDING_COUNTS = ['output_tokens'];

function withCounts(counted: JsonObject, names: readonly string[]): JsonObject {
  const usage = isJsonObject(counted.usage) ? counted.usage : {};
  const missing = names.filter((name) => typeof usage[name] !== 'number');
  if (missing.length === 0) return counted;
  const zeros = Object.fromEntries(missing.map((name) => [name, 0]));
  return { ...counted, usage: { ...usage, ...zeros } };
}

function textIn(block: object): string {
  return 'text' in block && typeof block.text === 'string' ? block.text : '';
}

function declaredNames(tools: JsonValue | undefined): ReadonlySet<string> {
  const names = objectsOf(tools).map(({ name }) => name);
  return new Set(names.filter((name) => typeof name === 'string'));
}

/** Calls stand in the opening of a block, or in a whole answer. */
function renameCalls(frame: JsonObject, rename: (name: string) => string): JsonObject {
  if (frame.type === 'content_block_start') {
    const block = renameCall(frame.content_block, rename);
    return block === frame.content_block || block === undefined
      ? frame
      : { ...frame, content_block: block };
  }
  if (frame.type !== 'message' || !Array.isArray(frame.content)) return frame;
  const content = mapItems(frame.content, (block) => renameCall(block, rename) ?? block);
  return content === frame.content ? frame : { ...frame, content };
}

function renameCall(
  block: JsonValue | undefined,
  rename: (name: string) => string,
): JsonValue | undefined {
  if (!isJsonObject(block) || block.type !== 'tool_use') return block;
  const name = typeof block.name === 'string' ? rename(block.name) : block.name;
  return name === undefined || name === block.name ? block : { ...block, name };
}

/** What a piece is opened with where the upstream left that out, by the type of the piece. */
const OPENINGS: ReadonlyMap<JsonValue | undefined, Opening> = new Map([
  ['text_delta', { kind: 'text', field: 'text', block: EMPTY_TEXT }],
  ['thinking_delta', { kind: 'thinking', field: 'thinking', block: EMPTY_THINKING }],
]);

interface Opening {
  readonly kind: string;
  /** Of the piece, where its words are. */
  readonly field: string;
  readonly block: string;
}

/** Blocks of other kinds may have pieces of any. */
const KNOWN_KINDS: ReadonlySet<JsonValue | undefined> = new Set([
  ...['text', 'thinking', 'tool_use', 'server_tool_use'],
]);

interface OpenBlock {
  /** The one that clients know. */
  readonly index: number;
  readonly kind: JsonValue | undefined;
  readonly json: ObjectEnd;
}

/**
 * Each frame goes out under its own type; an error of the upstream is told in the gateway's words. Compatible services
 * leave out what opens an answer or a block, or its counts, open an answer late or again, number blocks with gaps, send
 * thoughts in a text, end blocks when all are said, or end calls as if nothing was left to do, or for no reason: readers
 * pass such pieces over, or give up.
 */
class FrameRelay implements RelayWriter {
  readonly contentType = EVENT_STREAM_TYPE;
  readonly error = writeStreamError;
  readonly #context: ReplyContext;
  #name = '';
  /** True when the last frame went out as it came. */
  #isVerbatim = false;
  #hasStarted = false;
  /** The event that says all is well, which is known once the answer has been read to its end. */
  #ending = '';
  #hasCalls = false;
  /** By the service's own number, which need not be the one that clients know. */
  readonly #open = new Map<number, OpenBlock>();
  /** Of the call of which the last frame is a piece. */
  #json: ObjectEnd | undefined;
  /** The service's number of the block that was opened last. */
  #number = 0;
  #nextIndex = 0;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  write(frame: JsonObject, text: string): string {
    this.#name = typeof frame.type === 'string' ? frame.type : 'message';
    this.#isVerbatim = false;
    if (this.#name === 'message_start' && this.#hasStarted) return '';
    const isBlock = this.#name.startsWith('content_block_');
    const number = isBlock ? (readNumber(frame.index) ?? this.#number) : 0;
    const before = isBlock ? this.#mend(frame, number) : this.#frameAnswer();
    const block = isBlock ? this.#open.get(number) : undefined;
    if (this.#name === 'content_block_stop') {
      this.#open.delete(number);
      // Of one that clients know as ended.
      if (block === undefined) return before;
    }
    const told = this.#correct(frame, block);
    this.#isVerbatim = told === frame;
    const event = eventFrame(this.#name, this.#isVerbatim ? text : JSON.stringify(told));
    if (this.#name !== 'message_stop') return before + event;
    this.#ending = event;
    return before;
  }

  #correct(frame: JsonObject, block: OpenBlock | undefined): JsonObject {
    if (this.#name === 'message_start' && isJsonObject(frame.message)) {
      const message = withCounts(frame.message, STARTING_COUNTS);
      return message === frame.message ? frame : { ...frame, message };
    }
    if (this.#name === 'message_delta') {
      const counted = withCounts(frame, ENDING_COUNTS);
      if (!this.#hasCalls || !isJsonObject(frame.delta)) return counted;
      const delta = endWithCalls(frame.delta);
      return delta === frame.delta ? counted : { ...counted, delta };
    }
    if (block === undefined || frame.index === block.index) return frame;
    return { ...frame, index: block.index };
  }

  repeat(text: string, said = ''): string | undefined {
    if (!this.#isVerbatim) return undefined;
    this.#json?.read(said);
    return eventFrame(this.#name, text);
  }

  end(): string {
    return this.#ending;
  }

  keepAlive(): string {
    return PING;
  }

  /** What is missing in front of a frame that is about the whole answer. */
  #frameAnswer(): string {
    if (this.#name === 'message_start') this.#hasStarted = true;
    return this.#name === 'message_delta' ? this.#close(() => true) : '';
  }

  /** What is missing in front of a frame that is about one block. */
  #mend(frame: JsonObject, number: number): string {
    if (this.#name === 'content_block_start') {
      const block = isJsonObject(frame.content_block) ? frame.content_block : {};
      this.#hasCalls ||= isCall(block);
      const before = this.#start() + this.#close((open, own) => own === number || isWhole(open));
      this.#begin(number, block.type);
      return before;
    }
    return this.#name === 'content_block_delta' ? this.#start() + this.#openFor(frame, number) : '';
  }

  #start(): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    return writeMessageStart(this.#context, NO_USAGE);
  }

  #begin(number: number, kind: JsonValue | undefined): number {
    const index = this.#nextIndex;
    this.#nextIndex += 1;
    this.#number = number;
    this.#open.set(number, { index, kind, json: new ObjectEnd() });
    return index;
  }

  #openFor(frame: JsonObject, number: number): string {
    const delta = isJsonObject(frame.delta) ? frame.delta : {};
    const block = this.#open.get(number);
    this.#json = undefined;
    if (typeof delta.partial_json === 'string') {
      this.#json = block?.json;
      this.#json?.read(delta.partial_json);
    }
    const opening = OPENINGS.get(delta.type);
    if (opening === undefined || !delta[opening.field]) return '';
    if (block !== undefined && (block.kind === opening.kind || !KNOWN_KINDS.has(block.kind))) {
      return '';
    }
    const before = this.#close((open, own) => own === number || isWhole(open));
    return before + startText(this.#begin(number, opening.kind), opening.block);
  }

  #close(isOver: (block: OpenBlock, number: number) => boolean): string {
    let stops = '';
    for (const [number, block] of this.#open) {
      if (!isOver(block, number)) continue;
      this.#open.delete(number);
      stops += stopText(block.index);
    }
    return stops;
  }
}

/** Nothing more comes of it once another is opened; some services open several calls before any is whole. */
function isWhole({ kind, json }: OpenBlock): boolean {
  return (kind !== 'tool_use' && kind !== 'server_tool_use') || json.isReached;
}
