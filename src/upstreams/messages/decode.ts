// Decodes the events of one Messages answer, streamed or whole, into canonical events.

import type { GatewayError } from '../../canonical/error.ts';
import type {
  BlockOpening,
  CanonicalEvent,
  ChoiceEnd,
  FinishReason,
} from '../../canonical/event.ts';
import type { Signature } from '../../canonical/request.ts';
import { readServiceTier } from '../../canonical/service-tier.ts';
import {
  addUsage,
  type CacheWrites,
  NO_USAGE,
  readTokenCount,
  type Usage,
} from '../../canonical/usage.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  readNumber,
  sizeOf,
  tryParse,
} from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { KeptText } from '../../lib/long-text.ts';
import { ObjectEnd } from '../../lib/object-end.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import { scrubText } from '../../lib/redact.ts';
import type { Frame } from '../../stream/sse.ts';
import {
  answerFault,
  complaintIn,
  cutAnswer,
  noAnswer,
  secretsIn,
  unreadableAnswer,
} from '../errors.ts';
import type { TextEvent } from '../transport/repeated-texts.ts';
import type { AnswerEnding } from '../transport/response.ts';
import type { DecodeContext, Decoder } from '../upstream.ts';
import { CALL_BYTES, type CallIds, takeCallId, withUnread } from '../wire-parts.ts';
import { classifyErrorFrame } from './errors.ts';
import { Research, readServerCall, readServerResult } from './server-tools.ts';

/** The block of the wire that is being sent. */
type OpenBlock =
  | { readonly kind: 'text'; readonly index: number; readonly start: number }
  | {
      readonly kind: 'thinking';
      readonly index: number;
      readonly text: KeptText;
      signature: string;
    }
  | {
      readonly kind: 'call' | 'server-call';
      readonly block: JsonObject;
      /** Of a call that is shown as it comes. */
      readonly index: number | undefined;
      /** Of one that is shown no more than its first piece. */
      readonly json: KeptText;
    }
  /** Whole in its opening, or of a kind unknown here. */
  | { readonly kind: 'whole' };

type OpenCall = Extract<OpenBlock, { kind: 'call' | 'server-call' }>;

/** More calls that are open at once mean nothing. */
const MAX_OPEN_CALLS = 100;

/**
 * One answer has one choice. Calls are shown once their arguments are whole: what breaks off inside one was never
 * called. Some services open one call before another is whole; their pieces are told apart by number. An answer without
 * `message_stop` was cut off. Where the client is shown the frames themselves, calls are told as they begin, and nobody
 * asks for the rest.
 */
export class MessagesDecoder implements Decoder {
  readonly #now: () => number;
  readonly #context: DecodeContext;
  readonly #ids: CallIds;
  readonly #research: Research | undefined;
  readonly #passesParts: boolean;
  #nextIndex = 0;
  #open: OpenBlock | undefined;
  /** That of the wire; undefined where it has none. */
  #number: number | undefined;
  /** Calls by their number, behind which others were opened before they were whole. */
  readonly #unfinished = new Map<number, OpenCall>();
  /** How far the arguments of calls have come whose pieces are shown, by the number of the call. */
  readonly #shown = new Map<number | undefined, ObjectEnd>();
  #textLength = 0;
  #hasCalls = false;
  #hasBrokenCall = false;
  /** True once it says something beside thoughts. */
  #hasContent = false;
  /** What the model thought and did by itself since the last call. */
  #trace: JsonObject[] = [];
  #traceBytes = 0;
  #unread: ReadonlySet<string> | undefined;
  #counts: JsonObject | undefined;
  /** By the answers that this one goes on with. */
  #spent: Usage | undefined;
  #hasStarted = false;
  /** Of the answer under way. */
  #upstreamId: string | undefined;
  #isWhole = false;
  #hasEnded = false;
  #stop: JsonObject | undefined;
  /** What came last that is no event of an answer. */
  #other: JsonObject | undefined;

  /** @param now milliseconds since the epoch, for errors that name a time. */
  constructor(context: DecodeContext, now: () => number) {
    this.#now = now;
    this.#context = context;
    this.#ids = { context };
    this.#passesParts = context.passesParts === true;
    this.#research = this.#passesParts
      ? undefined
      : new Research(context.placesCitations !== false);
  }

  get usage(): Usage | undefined {
    const own = this.#counts && readUsage(this.#counts);
    return own && this.#spent ? addUsage(this.#spent, own) : (own ?? this.#spent);
  }

  get heldBytes(): number {
    let bytes = heldIn(this.#open) + this.#traceBytes + (this.#research?.heldBytes ?? 0);
    bytes += (this.#ids.callIds?.size ?? 0) * CALL_BYTES;
    if (this.#unfinished.size === 0) return bytes;
    for (const { json } of this.#unfinished.values()) bytes += json.heldBytes;
    return bytes;
  }

  push(frame: JsonObject): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (!this.#hasEnded) this.#read(frame, events);
    return events;
  }

  repeat({ repeats, said }: Frame): CanonicalEvent[] | undefined {
    if (this.#hasEnded || repeats === undefined || said === undefined) return undefined;
    const events: CanonicalEvent[] = [];
    const delta = objectOf(repeats.delta);
    if (delta === undefined) return undefined;
    this.#readPiece({ type: textOf(delta.type), text: said, number: numberOf(repeats) }, events);
    return events;
  }

  end(): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.#hasEnded) return events;
    if (!this.#isWhole || !this.#hasStarted) {
      const said = this.#other && complaintIn(this.#other);
      if (said !== undefined) {
        return this.#fail(classifyErrorFrame(said, this.#now(), secretsIn(this.#context)), events);
      }
      return this.#fail(this.#hasStarted ? cutAnswer() : noAnswer(), events);
    }
    for (const call of this.#unfinished.values()) this.#giveCall(call, events);
    this.#closeBlock(events);
    const end = this.#readEnd();
    if (end instanceof Error) return this.#fail(end, events);
    const grounding = this.#research?.grounding();
    if (grounding !== undefined) events.push(grounding);
    this.#pushUsage(events);
    this.#hasEnded = true;
    events.push({ kind: 'finish', choices: [end] });
    return events;
  }

  #read(frame: JsonObject, events: CanonicalEvent[]): void {
    switch (frame.type) {
      case 'message_start':
        this.#start(withoutAnswerCount(objectOf(frame.message) ?? {}), events);
        break;
      case 'content_block_start':
      case 'content_block_delta': {
        const said = objectOf(frame.content_block ?? frame.delta) ?? {};
        const number = numberOf(frame);
        if (isUnreadable(said)) this.#fail(unreadableAnswer(), events);
        else if (frame.type === 'content_block_start') this.#openBlock(said, events, number);
        else this.#readDelta(said, number, events);
        break;
      }
      case 'content_block_stop':
        this.#stopBlock(numberOf(frame), events);
        break;
      case 'message_delta':
        this.#stop = { ...this.#stop, ...objectOf(frame.delta) };
        this.#count(frame.usage);
        this.#checkShown(events);
        break;
      case 'message_stop':
        this.#isWhole = true;
        break;
      case 'message':
        this.#readMessage(frame, events);
        break;
      case 'error':
        this.#fail(classifyErrorFrame(frame.error, this.#now(), secretsIn(this.#context)), events);
        break;
      default:
        // `ping`, and events of later dates. Compatible upstreams leave the type of an error out.
        this.#other = frame;
        if (isJsonObject(frame.error)) {
          this.#fail(
            classifyErrorFrame(frame.error, this.#now(), secretsIn(this.#context)),
            events,
          );
        } else if (SAYING.some((name) => name in frame)) {
          const type = textOf(frame.type);
          if (type === undefined) this.#fail(unreadableAnswer(), events);
          else this.#noteUnread(type);
        }
    }
  }

  #start(message: JsonObject, events: CanonicalEvent[]): void {
    const upstreamId = textOf(message.id) ?? this.#upstreamId;
    const hasSaid = this.#open !== undefined || this.#nextIndex > 0;
    if (this.#isWhole) this.#goOn();
    else if (hasSaid && upstreamId !== this.#upstreamId) {
      // Begun anew within the stream: what was said stands, and is no answer together with what follows.
      this.#fail(cutAnswer(), events);
      return;
    }
    this.#upstreamId = upstreamId;
    this.#count(message.usage);
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    events.push({
      kind: 'start',
      upstreamId,
      modelVersion: textOf(message.model),
      serviceTier: readServiceTier(objectOf(message.usage)?.service_tier),
      usage: this.usage,
    });
  }

  /** The turn that paused goes on in another answer. */
  #goOn(): void {
    this.#spent = this.usage;
    this.#counts = undefined;
    this.#stop = undefined;
    this.#isWhole = false;
  }

  /** A whole answer is the events of its stream at once. */
  #readMessage(message: JsonObject, events: CanonicalEvent[]): void {
    this.#start(message, events);
    const { stop_reason, stop_sequence, stop_details } = message;
    if (!Array.isArray(message.content) || message.content.some(isUnreadable)) {
      this.#fail(unreadableAnswer(), events);
      return;
    }
    const blocks = objectsOf(message.content);
    const [last] = blocks.slice(-1);
    // A stream shows what a limit cut; here the arguments look whole ("Handling stop reasons", incomplete tool use blocks).
    const cut =
      !this.#passesParts && isLimit(stop_reason) && last?.type === 'tool_use' ? last : undefined;
    if (cut !== undefined) this.#hasBrokenCall = true;
    for (const block of blocks) {
      if (block === cut) continue;
      this.#openBlock(block, events);
      this.#closeBlock(events);
    }
    this.#stop = {
      ...(stop_reason === undefined ? {} : { stop_reason }),
      ...(stop_sequence === undefined ? {} : { stop_sequence }),
      ...(stop_details === undefined ? {} : { stop_details }),
    };
    this.#isWhole = true;
  }

  #openBlock(block: JsonObject, events: CanonicalEvent[], number?: number): void {
    if (!this.#hasStarted) this.#start({}, events);
    if (number !== undefined && this.#unfinished.has(number)) this.#stopBlock(number, events);
    this.#leaveBlock(number, events);
    this.#number = number;
    const type = textOf(block.type) ?? '';
    this.#hasContent ||= !SILENT_BLOCKS.has(type);
    switch (type) {
      case 'text': {
        this.#open = {
          kind: 'text',
          index: this.#begin({ kind: 'text' }, events),
          start: this.#textLength,
        };
        this.#readPiece({ type: 'text_delta', text: textOf(block.text) ?? '', number }, events);
        for (const citation of objectsOf(block.citations)) this.#cite(citation);
        break;
      }
      case 'thinking': {
        const index = this.#begin({ kind: 'thinking' }, events);
        this.#open = {
          kind: 'thinking',
          index,
          text: new KeptText(),
          signature: textOf(block.signature) ?? '',
        };
        const text = textOf(block.thinking) ?? '';
        this.#readPiece({ type: 'thinking_delta', text, number }, events);
        break;
      }
      case 'redacted_thinking':
        this.#keep(block);
        this.#open = { kind: 'whole' };
        break;
      case 'tool_use': {
        this.#hasCalls = true;
        const index = this.#passesParts ? this.#beginCall(block, events) : undefined;
        this.#shown.delete(number);
        this.#open = { kind: 'call', block, index, json: new KeptText() };
        break;
      }
      case 'server_tool_use':
        this.#open = { kind: 'server-call', block, index: undefined, json: new KeptText() };
        break;
      default:
        this.#open = { kind: 'whole' };
        this.#readWhole(type, block, events);
    }
  }

  #readDelta(delta: JsonObject, number: number | undefined, events: CanonicalEvent[]): void {
    const type = textOf(delta.type);
    switch (type) {
      case 'text_delta':
      case 'thinking_delta':
      case 'input_json_delta': {
        const text = textOf(delta[TEXT_FIELDS.get(type) ?? '']) ?? '';
        this.#readPiece({ type, text, number }, events);
        break;
      }
      case 'signature_delta':
        // The last one counts, as for the vendor's own readers.
        if (this.#open?.kind === 'thinking') this.#open.signature = textOf(delta.signature) ?? '';
        break;
      case 'citations_delta':
        if (this.#open?.kind === 'text') this.#cite(objectOf(delta.citation) ?? {});
        break;
      default:
        if (this.#open?.kind !== 'whole') this.#noteUnread(type);
    }
  }

  #cite(citation: JsonObject): void {
    if (this.#research?.cite(citation) === false) this.#noteUnread(textOf(citation.type));
  }

  #readPiece(piece: Piece, events: CanonicalEvent[]): void {
    const { type, text, number } = piece;
    const call = number === undefined ? undefined : this.#unfinished.get(number);
    const open = type === 'input_json_delta' ? (call ?? this.#open) : this.#open;
    if (text === '') return;
    if (open?.kind === 'text' && type === 'text_delta') {
      this.#textLength += text.length;
      this.#hasContent = true;
      this.#research?.addText(text);
      events.push({ kind: 'block-delta', index: open.index, delta: { kind: 'text', text } });
    } else if (open?.kind === 'thinking' && type === 'thinking_delta') {
      if (!this.#passesParts) open.text.add(text);
      events.push({ kind: 'block-delta', index: open.index, delta: { kind: 'thinking', text } });
    } else if (open !== undefined && 'json' in open && type === 'input_json_delta') {
      if (open.index === undefined) open.json.add(text);
      else {
        this.#follow(text, number);
        const delta = { kind: 'arguments', json: text } as const;
        events.push({ kind: 'block-delta', index: open.index, delta });
        if (open.json.length === 0) open.json.add(text);
      }
    } else if (open?.kind !== 'whole') this.#readStray(piece, events);
  }

  #follow(piece: string, number: number | undefined): void {
    let args = this.#shown.get(number);
    if (args === undefined) {
      // Of what is no object no end is seen.
      if (!piece.trimStart().startsWith('{')) return;
      args = new ObjectEnd();
      this.#shown.set(number, args);
    }
    args.read(piece);
  }

  /** The official clients read arguments that break off as if they were whole: before the end is told, it is seen. */
  #checkShown(events: CanonicalEvent[]): void {
    for (const { isReached } of this.#shown.values()) this.#hasBrokenCall ||= !isReached;
    const end = this.#hasBrokenCall ? this.#readEnd() : undefined;
    if (end instanceof Error) this.#fail(end, events);
  }

  /** Compatible upstreams leave openings out, and send thoughts in a text: what is said opens a block of its kind. */
  #readStray(piece: Piece, events: CanonicalEvent[]): void {
    const kind = STRAY_KINDS.get(piece.type);
    if (kind === undefined) {
      // Of a call that is shown, and told as ended once another block began, it goes to the client.
      const isShown = this.#passesParts && this.#hasCalls;
      this.#hasBrokenCall ||= piece.type === 'input_json_delta' && !isShown;
      return;
    }
    this.#openBlock({ type: kind }, events, piece.number);
    this.#readPiece(piece, events);
  }

  /** Another block begins: the rest of a call that is not whole comes under its own number. */
  #leaveBlock(number: number | undefined, events: CanonicalEvent[]): void {
    const [open, own] = [this.#open, this.#number];
    const mayGoOn = own !== undefined && own !== number && isUnfinished(open);
    if (mayGoOn && this.#unfinished.size < MAX_OPEN_CALLS) {
      this.#open = undefined;
      this.#unfinished.set(own, open);
    } else this.#closeBlock(events);
  }

  /** That of a number that is not open says nothing: some services end all blocks at the end of the answer. */
  #stopBlock(number: number | undefined, events: CanonicalEvent[]): void {
    const call = number === undefined ? undefined : this.#unfinished.get(number);
    if (number !== undefined && call !== undefined) {
      this.#unfinished.delete(number);
      this.#giveCall(call, events);
    } else if (number === undefined || (this.#number ?? number) === number) {
      this.#closeBlock(events);
    }
  }

  /** In front of the call that was opened last, which waits unseen; what is shown ends before. */
  #giveCall(call: OpenCall, events: CanonicalEvent[]): void {
    if (this.#open !== undefined && !('json' in this.#open)) this.#closeBlock(events);
    this.#endBlock(call, events);
  }

  #closeBlock(events: CanonicalEvent[]): void {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) this.#endBlock(open, events);
  }

  #endBlock(open: OpenBlock, events: CanonicalEvent[]): void {
    switch (open.kind) {
      case 'whole':
        return;
      case 'text':
        this.#research?.endText({ startIndex: open.start, endIndex: this.#textLength });
        events.push({ kind: 'block-end', index: open.index });
        return;
      case 'thinking': {
        const { index, text, signature } = open;
        if (signature !== '') {
          this.#keep({ type: 'thinking', thinking: text.toString(), signature });
        }
        events.push({ kind: 'block-end', index, signature: this.#signatureOf(signature) });
        return;
      }
      case 'call':
        this.#endCall(open, events);
        return;
      case 'server-call':
        this.#endServerCall(open, events);
        return;
      default:
        open satisfies never;
    }
  }

  #endCall({ block, index: shown, json: came }: OpenCall, events: CanonicalEvent[]): void {
    const json = came.toString();
    // The pieces of one that is shown are the client's to read.
    const isUsable = !isUnusableCall(block, shown === undefined || json === '' ? json : '{}');
    this.#hasBrokenCall ||= !isUsable;
    if (shown !== undefined) events.push({ kind: 'block-end', index: shown });
    if (shown !== undefined || !isUsable) return;
    const input = readInput(json, block.input) ?? '{}';
    const index = this.#beginCall(block, events);
    if (input !== '{}') {
      events.push({ kind: 'block-delta', index, delta: { kind: 'arguments', json: input } });
    }
    events.push({ kind: 'block-end', index });
  }

  #beginCall({ id, name }: JsonObject, events: CanonicalEvent[]): number {
    const { signatureFamily } = this.#context;
    const parts = this.#trace;
    this.#trace = [];
    this.#traceBytes = 0;
    return this.#begin(
      {
        kind: 'tool-call',
        id: takeCallId(this.#ids, textOf(id)),
        name: textOf(name) ?? '',
        ...(parts.length === 0 ? {} : { trace: { family: signatureFamily, parts } }),
      },
      events,
    );
  }

  #endServerCall({ block, json }: OpenCall, events: CanonicalEvent[]): void {
    const text = readInput(json.toString(), block.input);
    const value = text === undefined ? undefined : parseJson(text);
    const input = isJsonObject(value) ? value : {};
    this.#keep({ ...block, input });
    const code = readServerCall(block, input);
    if (code !== undefined) this.#addWhole(code, events);
    const early = this.#research?.call(block, input);
    if (early !== undefined) events.push(early);
  }

  /** Blocks that are whole in their opening. */
  #readWhole(type: string, block: JsonObject, events: CanonicalEvent[]): void {
    if (type === 'image') {
      const source = objectOf(block.source) ?? {};
      const base64 = textOf(source.data);
      const mediaType = textOf(source.media_type) ?? 'application/octet-stream';
      if (base64 !== undefined) this.#addWhole({ kind: 'media', mediaType, base64 }, events);
      return;
    }
    if (!type.endsWith('_tool_result')) {
      this.#noteUnread(type || undefined);
      return;
    }
    this.#keep(block);
    const early = this.#research?.result(block);
    if (early !== undefined) events.push(early);
    const result = readServerResult(type, block);
    if (result === undefined) return;
    this.#addWhole(result, events);
    // Files that code made, which only their service gives out.
    for (const file of objectsOf(objectOf(block.content)?.content)) {
      this.#noteUnread(textOf(file.type));
    }
  }

  #addWhole(block: BlockOpening, events: CanonicalEvent[]): void {
    const index = this.#begin(block, events);
    events.push({ kind: 'block-end', index });
  }

  #begin(block: BlockOpening, events: CanonicalEvent[]): number {
    const index = this.#nextIndex;
    this.#nextIndex += 1;
    events.push({ kind: 'block-start', index, choice: 0, block });
    return index;
  }

  /** For the next call: its client cannot carry what stands before it. */
  #keep(block: JsonObject): void {
    if (this.#passesParts) return;
    this.#trace.push(block);
    this.#traceBytes += sizeOf(block);
  }

  /** Nobody waits for it where the client is shown the frames themselves. */
  #noteUnread(type: string | undefined): void {
    if (!this.#passesParts) this.#unread = withUnread(this.#unread, type);
  }

  #signatureOf(value: string): Signature | undefined {
    if (value === '') return undefined;
    return { value, family: this.#context.signatureFamily, on: 'thinking' };
  }

  #count(usage: JsonValue | undefined): void {
    if (!isJsonObject(usage)) return;
    const counts: JsonObject = { ...this.#counts };
    // Some upstreams count the prompt at the start alone, and write zeros at the end.
    const countsPrompt = PROMPT_COUNTS.some((name) => readCount(usage[name]) > 0);
    for (const [name, value] of Object.entries(usage)) {
      const isKnown = readNumber(counts[name]) !== undefined;
      if (value !== null && (countsPrompt || !isKnown || value !== 0)) counts[name] = value;
    }
    this.#counts = counts;
  }

  #pushUsage(events: CanonicalEvent[]): void {
    const { usage } = this;
    if (usage !== undefined) events.push({ kind: 'usage', usage });
  }

  /** The answer's ending, or why it has none. */
  #readEnd(): ChoiceEnd | GatewayError {
    const rawReason = textOf(this.#stop?.stop_reason);
    const details = objectOf(this.#stop?.stop_details);
    const message = textOf(details?.explanation);
    const { reason, isOdd } = readReason(rawReason, this.#hasCalls && !this.#hasBrokenCall);
    // A limit and a refusal may cut one off.
    if (this.#hasBrokenCall && reason !== 'max-tokens' && reason !== 'safety') {
      return answerFault(told`The model made a tool call that cannot be used.`, {
        finishReason: isOdd ? rawReason : undefined,
        secrets: secretsIn(this.#context),
      });
    }
    if (reason === 'stop' && !this.#hasContent && !mayBeSilent(this.#context.body)) {
      return answerFault(told`The model gave an empty answer.`, {
        finishReason: rawReason,
        secrets: secretsIn(this.#context),
      });
    }
    // Of a refusal, what the client reads where nothing is explained.
    const words = [rawReason ?? 'none', textOf(details?.category)];
    return {
      choice: 0,
      reason,
      rawReason: words.filter((word) => word !== undefined).join(', '),
      isOdd,
      message: message && scrubText(message, secretsIn(this.#context)),
      stopSequence: reason === 'stop-sequence' ? textOf(this.#stop?.stop_sequence) : undefined,
      unsupportedKinds: this.#unread && [...this.#unread],
    };
  }

  #fail(error: GatewayError, events: CanonicalEvent[]): CanonicalEvent[] {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined && 'index' in open && open.index !== undefined) {
      events.push({ kind: 'block-end', index: open.index });
    }
    this.#pushUsage(events);
    this.#hasEnded = true;
    events.push({ kind: 'error', error });
    return events;
  }
}

/** What a delta says of the block of its number. */
interface Piece {
  readonly type: string | undefined;
  readonly text: string;
  readonly number: number | undefined;
}

function numberOf({ index }: JsonObject): number | undefined {
  return readNumber(index);
}

/** True for a call that more may come of. One that is shown goes out as it comes. */
function isUnfinished(open: OpenBlock | undefined): open is OpenCall {
  if (open === undefined || !('json' in open) || open.index !== undefined) return false;
  return !isJsonObject(tryParse(open.json.toString()));
}

function heldIn(open: OpenBlock | undefined): number {
  switch (open?.kind) {
    case 'thinking':
      return open.text.heldBytes;
    case 'call':
    case 'server-call':
      return open.json.heldBytes;
    default:
      return 0;
  }
}

/** Blocks of which some are empty, and thoughts, which answer nothing. */
const SILENT_BLOCKS: ReadonlySet<string> = new Set(['text', 'thinking', 'redacted_thinking']);

/**
 * Behind results the model may have nothing to add (Messages API, "Handling stop reasons", empty responses), and
 * compatible upstreams do not name the stop sequence an answer begins with.
 */
function mayBeSilent(body: JsonObject = {}): boolean {
  const [last] = objectsOf(body.messages).slice(-1);
  const isBehindResults = objectsOf(last?.content).some(({ type }) => type === 'tool_result');
  return isBehindResults || itemsOf(body.stop_sequences).length > 0;
}

const STRAY_KINDS: ReadonlyMap<string | undefined, 'text' | 'thinking'> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
]);

/** The fields of events that say something. */
const SAYING = ['message', 'content_block', 'delta', 'content'];
/** Where blocks and their pieces have their text. */
const TEXT_FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['text', 'text'],
  ['text_delta', 'text'],
  ['thinking', 'thinking'],
  ['thinking_delta', 'thinking'],
  ['input_json_delta', 'partial_json'],
]);

/** True for a block, or a piece of one, whose text is none, or that does not say what it is. */
function isUnreadable(said: JsonValue): boolean {
  if (!isJsonObject(said)) return true;
  const type = textOf(said.type);
  if (type === undefined) return true;
  const text = said[TEXT_FIELDS.get(type) ?? ''] ?? '';
  return typeof text !== 'string';
}

/** JSON of a call's arguments: as they came in pieces, else those of its opening; undefined when they are no object. */
function readInput(json: string, given: JsonValue | undefined): string | undefined {
  if (json.trim() === '' && typeof given !== 'string') {
    return isJsonObject(given ?? {}) ? JSON.stringify(given ?? {}) : undefined;
  }
  const text = json.trim() === '' ? textOf(given) : json;
  if (text === undefined) return '{}';
  return isJsonObject(tryParse(text)) ? text : undefined;
}

function isUnusableCall({ name, input }: JsonObject, json: string): boolean {
  return textOf(name) === undefined || readInput(json, input) === undefined;
}

interface ReadReason {
  readonly reason: FinishReason;
  readonly isOdd?: true | undefined;
}

function isLimit(rawReason: JsonValue | undefined): boolean {
  return rawReason === 'max_tokens' || rawReason === 'model_context_window_exceeded';
}

/** Source: Messages API, "Handling stop reasons". */
function readReason(rawReason: string | undefined, hasCalls: boolean): ReadReason {
  switch (rawReason) {
    case 'refusal':
      return { reason: 'safety' };
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return { reason: hasCalls ? 'tool-calls' : 'max-tokens' };
    case 'stop_sequence':
      return { reason: hasCalls ? 'tool-calls' : 'stop-sequence' };
    case 'pause_turn':
      // Not even gone on with it came to its end.
      return { reason: hasCalls ? 'tool-calls' : 'max-tokens', isOdd: true };
    case 'end_turn':
    case 'tool_use':
      return { reason: hasCalls ? 'tool-calls' : 'stop' };
    default:
      // None at all, as some compatible upstreams end, and every reason newer than this table.
      return { reason: hasCalls ? 'tool-calls' : 'stop', isOdd: true };
  }
}

/** What a stream says of the answer when it begins is its first token or so: of one that is cut off that is no count. */
function withoutAnswerCount(message: JsonObject): JsonObject {
  const { output_tokens: _first, ...usage } = objectOf(message.usage) ?? {};
  return { ...message, usage };
}

const PROMPT_COUNTS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];

/** Written and read caches are part of the prompt, thoughts part of the output (Messages API, "Prompt caching"). */
function readUsage(given: JsonObject): Usage {
  const counts = withCompactions(given);
  const cachedTokens = readCount(counts.cache_read_input_tokens);
  const cacheWrites = readCacheWrites(counts);
  const output = readCount(counts.output_tokens);
  const details = objectOf(counts.output_tokens_details);
  const thoughtTokens = Math.min(output, readCount(details?.thinking_tokens));
  return {
    ...NO_USAGE,
    promptTokens: readCount(counts.input_tokens) + (cacheWrites?.tokens ?? 0) + cachedTokens,
    cachedTokens,
    ...(cacheWrites === undefined ? {} : { cacheWrites }),
    answerTokens: output - thoughtTokens,
    thoughtTokens,
  };
}

/** What a compaction took is billed as well, and counted apart (platform.claude.com, "Compaction", usage). */
function withCompactions(counts: JsonObject): JsonObject {
  const compactions = objectsOf(counts.iterations).filter(({ type }) => type === 'compaction');
  if (compactions.length === 0) return counts;
  const all = [counts, ...compactions];
  const summed = [...PROMPT_COUNTS, 'output_tokens'].map((name) => [
    name,
    all.reduce((sum, one) => sum + readCount(one[name]), 0),
  ]);
  return { ...counts, ...Object.fromEntries(summed) };
}

function readCacheWrites(counts: JsonObject): CacheWrites | undefined {
  const tokens = readCount(counts.cache_creation_input_tokens);
  if (tokens === 0) return undefined;
  const hour = readNumber(objectOf(counts.cache_creation)?.ephemeral_1h_input_tokens);
  return hour === undefined
    ? { tokens }
    : { tokens, hourTokens: Math.min(tokens, readCount(hour)) };
}

function readCount(value: JsonValue | undefined): number {
  return readTokenCount(value) ?? 0;
}

/** The fields of a call come one by one, each when it is whole (Messages API, "Streaming messages", input JSON delta). */
const LONG_SILENT = [
  'thinking',
  'thinking_delta',
  'server_tool_use',
  'tool_use',
  'input_json_delta',
];

/**
 * `over` when a frame ends the stream, `finished` when it is a whole answer, `thought` where a long silence is usual:
 * in a thought, in the input of a call, and while a tool of the upstream runs.
 */
export function endingOf(frame: JsonObject): AnswerEnding | undefined {
  switch (frame.type) {
    case 'message_stop':
      return 'over';
    case 'message':
      return itemsOf(frame.content).length > 0 || frame.stop_reason ? 'finished' : undefined;
    case 'content_block_start':
    case 'content_block_delta': {
      const type = textOf(objectOf(frame.content_block ?? frame.delta)?.type) ?? '';
      return LONG_SILENT.includes(type) ? 'thought' : undefined;
    }
    case 'ping':
      return 'ping';
    default:
      return undefined;
  }
}

// Which events of a stream say one text and nothing else: the deltas of a block.

export function findTextDelta(event: JsonObject): TextEvent | undefined {
  const { type, delta } = event;
  if (type !== 'content_block_delta' || !isJsonObject(delta)) return undefined;
  const field = TEXT_FIELDS.get(delta.type);
  const text = field === undefined ? undefined : delta[field];
  if (field === undefined || typeof text !== 'string') return undefined;
  return { field, text, write: (said) => ({ ...event, delta: { ...delta, [field]: said } }) };
}
