// Decides where the blocks of one choice begin and end, and which signature each of them gets.

import type { BlockOpening, CanonicalEvent } from '../../canonical/event.ts';
import type { FetchedPage } from '../../canonical/grounding.ts';
import type { Signature, ToolCallPart } from '../../canonical/request.ts';
import { linkAddress } from '../../canonical/text-forms.ts';
import { isJsonObject, type JsonObject, type JsonValue, sizeOf, tryParse } from '../../lib/json.ts';
import { KeptText, TextDigest } from '../../lib/long-text.ts';
import { objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import { outcomeOf } from '../../wire/generate.ts';
import { type AnswerState, CALL_BYTES, takeCallId, withUnread } from '../wire-parts.ts';
import type { GatheredLogprobs } from './endings.ts';
import type { GroundedChoice } from './grounding.ts';

interface OpenBlock {
  readonly index: number;
  readonly kind: 'text' | 'thinking';
  signature: Signature | undefined;
  /** Of a text so far, where clients know a signed one again by its words alone. */
  readonly said: TextDigest | undefined;
}

/** A call whose arguments come piece by piece. */
interface OpenCall {
  readonly index: number;
  readonly args: StreamedArguments;
}

/**
 * Text and thought fragments stay in one block until a part of another kind comes, so that a
 * signature on that part can still end a thinking block. Two signed parts are not joined. Behind a
 * signed fragment an unsigned one goes on with its part: streams cut one text anywhere, some models
 * sign the first piece of it (aaif-goose/goose#6400, #7204), and unstreamed it is one signed part
 * (decision 018). A signature that comes alone while no block is open (after a tool call) vouches for nothing
 * that is passed on and is left out; the wire has it as optional there. Source: ai.google.dev, "Thought signatures".
 */
export class ChoiceDecoder implements GroundedChoice {
  readonly choice: number;
  /** The upstream's own, which may leave some out. */
  readonly number: number;
  readonly #shared: AnswerState;
  #open: OpenBlock | undefined;
  #openCall: OpenCall | undefined;
  #hasBrokenCall = false;
  /** What the upstream did by itself since the last call. */
  #trace: JsonObject[] | undefined;
  #traceBytes = 0;
  /** Of what waits for the end of the answer. */
  lateBytes = 0;
  groundingBytes = 0;
  /** What parts of unknown kinds call themselves; undefined where there was none. */
  unread: ReadonlySet<string> | undefined;
  readonly #text: KeptText | undefined;
  readonly partStarts: number[] = [];
  hasContent = false;
  hasToolCalls = false;
  // What the frames say beside its parts.
  rawReason: string | undefined;
  message: string | undefined;
  grounding: JsonObject | undefined;
  searches: Set<string> | undefined;
  pages: Map<string, FetchedPage> | undefined;
  logprobs: GatheredLogprobs | undefined;
  recited: Set<string> | undefined;

  constructor(shared: AnswerState, choice: number, number: number) {
    this.choice = choice;
    this.number = number;
    this.#shared = shared;
    this.#text = shared.mostCited > 0 ? new KeptText(shared.mostCited) : undefined;
  }

  get text(): string {
    return this.#text?.toString() ?? '';
  }

  get heldBytes(): number {
    const called = (this.#openCall?.args.heldBytes ?? 0) + this.#traceBytes;
    return called + this.lateBytes + this.groundingBytes;
  }

  /** Adds the events of one part to `events`. Parts of unknown kinds give none. */
  readPart(part: JsonObject, events: CanonicalEvent[]): void {
    const { text } = part;
    const isSaid = typeof text === 'string' && text !== '';
    const call = objectOf(part.functionCall);
    // One datum a part is the rule of the wire; compatible upstreams that break it lose nothing.
    const own = call === undefined ? part : { thought: part.thought === true };
    if (isSaid) this.#readText(own, text, events);
    if (call !== undefined) this.#readCall(part, call, events);
    else if (!isSaid) this.#readOther(part, events);
  }

  #readOther(part: JsonObject, events: CanonicalEvent[]): void {
    if (isJsonObject(part.inlineData)) this.#readMedia(part, part.inlineData, events);
    else if (isJsonObject(part.fileData)) this.#readFile(part, part.fileData, events);
    else if (isJsonObject(part.executableCode)) {
      this.#addWhole(readCode(part.executableCode), part, events);
    } else if (isJsonObject(part.codeExecutionResult)) {
      this.#addWhole(readCodeResult(part.codeExecutionResult), part, events);
    } else if (isJsonObject(part.audioTranscription)) {
      // What was heard is the text of the answer.
      const heard = textOf(part.audioTranscription.text);
      if (heard !== undefined) this.#readText(part, heard, events);
    } else if (part.text === '' || part.text === null || Object.keys(part).every(isAboutPart)) {
      this.#readBareSignature(part, events);
    } else if (part.functionCall !== undefined && part.functionCall !== null) {
      this.#hasBrokenCall = true;
    } else if (this.#shared.context.passesParts === true) {
      this.hasContent ||= Object.values(part).some(isJsonObject);
    } else if (isJsonObject(part.toolCall) || isJsonObject(part.toolResponse)) {
      this.#trace ??= [];
      this.#trace.push(part);
      this.#traceBytes += sizeOf(part);
    } else this.#noteUnread(part);
  }

  /** True when a call has no name, or the answer ended inside one: what was meant cannot be told. */
  get hasBrokenCall(): boolean {
    return this.#hasBrokenCall || this.#openCall !== undefined;
  }

  /** Ends the open block, if there is one. */
  close(events: CanonicalEvent[]): void {
    if (this.#openCall !== undefined) this.#endCall(this.#openCall, events);
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const { index, signature, said } = open;
    events.push({ kind: 'block-end', index, signature, signedContent: signature && said });
  }

  #readText(part: JsonObject, text: string, events: CanonicalEvent[]): void {
    const kind = part.thought === true ? 'thinking' : 'text';
    this.#addText(kind, text, events, this.#signatureOf(part, kind));
  }

  /** The events of a part that is nothing but this text, which is not empty. */
  goOn(kind: OpenBlock['kind'], text: string): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    this.#addText(kind, text, events);
    return events;
  }

  #addText(
    kind: OpenBlock['kind'],
    text: string,
    events: CanonicalEvent[],
    signature?: Signature | undefined,
  ): void {
    let open = this.#open;
    const joins = signature === undefined || open?.signature === undefined;
    if (open?.kind !== kind || !joins) {
      this.close(events);
      const isKnownByWords = kind === 'text' && this.#shared.context.passesParts !== true;
      const said = isKnownByWords ? new TextDigest() : undefined;
      open = { index: this.#start({ kind }, events), kind, signature: undefined, said };
      this.#open = open;
    }
    events.push({ kind: 'block-delta', index: open.index, delta: { kind, text } });
    open.signature ??= signature;
    if (kind === 'thinking') return;
    open.said?.add(text);
    this.#text?.add(text);
    this.hasContent = true;
  }

  /** It is that of the text before it; without one it may be of a thought that is not shown. */
  #readBareSignature(part: JsonObject, events: CanonicalEvent[]): void {
    const on = part.thought === true ? 'thinking' : 'text';
    const signature = this.#signatureOf(part, on);
    const open = this.#open;
    if (on === 'text' || (open?.kind === 'thinking' && open.signature === undefined)) {
      if (open !== undefined) open.signature ??= signature;
    } else if (signature !== undefined) {
      this.close(events);
      const index = this.#start({ kind: 'thinking' }, events);
      this.#open = { index, kind: 'thinking', signature, said: undefined };
    }
  }

  #readCall(part: JsonObject, call: JsonObject, events: CanonicalEvent[]): void {
    const { name, partialArgs, willContinue } = call;
    if (typeof name !== 'string' || name === '') {
      this.#continueCall(call, events);
      return;
    }
    const args = readArguments(call.args);
    const signature = this.#signatureOf(part, 'tool-call');
    if (this.#open?.kind === 'thinking') this.#open.signature ??= signature;
    this.close(events);
    const id = takeCallId(this.#shared, textOf(call.id));
    this.lateBytes += CALL_BYTES;
    const traced = this.#takeTrace();
    const index = this.#start({ kind: 'tool-call', id, name, signature, ...traced }, events);
    this.hasContent = true;
    this.hasToolCalls = true;
    if (willContinue !== true && partialArgs === undefined) {
      endCall(index, args, events);
      return;
    }
    this.#openCall = { index, args: new StreamedArguments(args) };
    this.#continueCall(call, events);
  }

  /** Behind its first part a call has no name; the last one says nothing of a next, and may say nothing at all. */
  #continueCall(call: JsonObject, events: CanonicalEvent[]): void {
    const open = this.#openCall;
    if (open === undefined) {
      this.#hasBrokenCall ||= Object.keys(call).some((key) => key !== 'willContinue');
      return;
    }
    const { partialArgs, willContinue } = call;
    open.args.add(partialArgs);
    if (willContinue !== true) this.#endCall(open, events);
  }

  #endCall({ index, args }: OpenCall, events: CanonicalEvent[]): void {
    this.#openCall = undefined;
    this.#hasBrokenCall ||= args.isBroken;
    endCall(index, args.value, events);
  }

  #takeTrace(): Pick<ToolCallPart, 'trace'> {
    const parts = this.#trace;
    if (parts === undefined) return {};
    this.#trace = undefined;
    this.#traceBytes = 0;
    return { trace: { family: this.#shared.context.signatureFamily, parts } };
  }

  #noteUnread(part: JsonObject): void {
    this.unread = withUnread(
      this.unread,
      Object.keys(part).find((key) => !isAboutPart(key)),
    );
  }

  #readMedia(part: JsonObject, blob: JsonObject, events: CanonicalEvent[]): void {
    const { mimeType, data } = blob;
    if (typeof data !== 'string' || data === '') {
      this.#noteUnread(part);
      return;
    }
    const mediaType = typeof mimeType === 'string' ? mimeType : 'application/octet-stream';
    const block = { kind: 'media', mediaType, base64: data } as const;
    if (part.thought !== true) this.#addWhole(block, part, events);
    else if (this.#shared.context.showsDrafts === true) {
      // What an image model draws while it thinks is no content: an answer of drafts alone is empty.
      this.close(events);
      const index = this.#start({ ...block, isDraft: true }, events);
      events.push({ kind: 'block-end', index });
    }
  }

  /** A text of its own: a signature beside it must not come to vouch for the address, which is not its part. */
  #readFile(part: JsonObject, file: JsonObject, events: CanonicalEvent[]): void {
    const link = fileLink(file);
    if (link === undefined || part.thought === true) return;
    this.close(events);
    this.#readText({}, link, events);
    this.close(events);
  }

  #addWhole(block: BlockOpening, part: JsonObject, events: CanonicalEvent[]): void {
    this.close(events);
    const index = this.#start(block, events);
    const media = block.kind === 'media' ? block : undefined;
    const signature = this.#signatureOf(part, media && 'media');
    events.push({ kind: 'block-end', index, signature, signedContent: signature && media?.base64 });
    this.hasContent = true;
  }

  #start(block: BlockOpening, events: CanonicalEvent[]): number {
    const index = this.#shared.nextIndex;
    this.#shared.nextIndex += 1;
    this.partStarts.push(this.#text?.length ?? 0);
    events.push({ kind: 'block-start', index, choice: this.choice, block });
    return index;
  }

  #signatureOf(part: JsonObject, on: Signature['on']): Signature | undefined {
    const value = part.thoughtSignature ?? part.thought_signature;
    if (typeof value !== 'string' || value === '') return undefined;
    return { value, family: this.#shared.context.signatureFamily, on };
  }
}

function endCall(index: number, args: JsonObject, events: CanonicalEvent[]): void {
  if (Object.keys(args).length > 0) {
    const json = JSON.stringify(args);
    events.push({ kind: 'block-delta', index, delta: { kind: 'arguments', json } });
  }
  events.push({ kind: 'block-end', index });
}

/** Fields that say something of a part and are not its content. */
function isAboutPart(key: string): boolean {
  return key.startsWith('thought');
}

/** The wire has an object. What compatible upstreams put there instead (its JSON text, a list) is not lost. */
function readArguments(args: JsonValue | undefined): JsonObject {
  if (args === undefined || args === null || args === '') return {};
  if (isJsonObject(args)) return args;
  const parsed = typeof args === 'string' ? tryParse(args) : undefined;
  const value = parsed === undefined ? args : parsed;
  return isJsonObject(value) ? value : { value };
}

function readCode({ language, code, id }: JsonObject): BlockOpening {
  return {
    kind: 'code',
    language: typeof language === 'string' ? language.toLowerCase() : 'python',
    code: typeof code === 'string' ? code : '',
    id: typeof id === 'string' ? id : undefined,
  };
}

function readCodeResult({ outcome, output, id }: JsonObject): BlockOpening {
  return {
    kind: 'code-result',
    outcome: outcomeOf(outcome) ?? 'ok',
    output: typeof output === 'string' ? output : '',
    id: typeof id === 'string' ? id : undefined,
  };
}

/**
 * Markdown for `{fileUri, mimeType}`; undefined without an address. No other wire has a form for
 * files of the upstream, and fetching them is the client's business.
 */
function fileLink({ fileUri, mimeType }: JsonObject): string | undefined {
  if (typeof fileUri !== 'string' || fileUri === '') return undefined;
  const [name = ''] = typeof mimeType === 'string' ? mimeType.split('/') : [];
  const address = linkAddress(fileUri);
  return `${name === 'image' ? '!' : ''}[${/^\w+$/.test(name) ? name : 'file'}](${address})`;
}

/** `.name`, `[0]`, `['name']` or `["name"]`. */
const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

/** `structValue` and `listValue` are in no reference, but what a message of JSON values has besides. */
const VALUES = ['stringValue', 'numberValue', 'boolValue', 'structValue', 'listValue'] as const;

/** A member's name, or an item's number. */
type Step = string | number;

/** The arguments of a call that come piece by piece (Vertex AI API reference, `FunctionCall.partialArgs` and `PartialArg`). */
class StreamedArguments {
  /** What is known so far. */
  readonly value: JsonObject;
  /** What it takes of memory. */
  heldBytes: number;
  /** True when a piece had no place: the arguments are not what the model meant. */
  isBroken = false;

  constructor(known: JsonObject) {
    this.value = copyObject(known);
    this.heldBytes = sizeOf(known);
  }

  /** Adds what one `partialArgs` holds; texts of one place are joined. */
  add(pieces: JsonValue | undefined): void {
    for (const piece of objectsOf(pieces)) {
      const value = valueIn(piece);
      if (value === undefined) continue;
      const steps = readPath(piece.jsonPath);
      this.heldBytes += sizeOf(value);
      const isPut = steps !== undefined && put(this.value, steps, copy(value));
      this.isBroken ||= !isPut;
    }
  }
}

/** Frames share their values, so that none is written into. */
function copy(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(copy);
  return isJsonObject(value) ? copyObject(value) : value;
}

function copyObject(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, copy(value)]));
}

function valueIn(piece: JsonObject): JsonValue | undefined {
  if (piece.nullValue !== undefined) return null;
  for (const name of VALUES) if (piece[name] !== undefined) return piece[name];
  return undefined;
}

/** The steps of a JSON path to one value (RFC 9535); undefined for any other path. */
function readPath(path: JsonValue | undefined): readonly Step[] | undefined {
  if (typeof path !== 'string' || !path.startsWith('$')) return undefined;
  const steps: Step[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < path.length) {
    const found = STEP.exec(path);
    if (found === null) return undefined;
    const [, name, number, single, double] = found;
    const quoted = single ?? double;
    if (number !== undefined) steps.push(Number(number));
    else steps.push(name ?? (quoted ?? '').replace(/\\(.)/g, '$1'));
  }
  return steps.length === 0 ? undefined : steps;
}

/** False where something else stands in the way. */
function put(root: JsonObject, steps: readonly Step[], value: JsonValue): boolean {
  let holder: JsonValue = root;
  for (const [place, step] of steps.entries()) {
    const next = steps[place + 1];
    const known = memberOf(holder, step);
    if (next === undefined) {
      const joins = typeof known === 'string' && typeof value === 'string';
      return setMember(holder, step, joins ? known + value : value);
    }
    const inner: JsonValue = known ?? (typeof next === 'number' ? [] : {});
    if (known === undefined && !setMember(holder, step, inner)) return false;
    holder = inner;
  }
  return false;
}

function memberOf(holder: JsonValue, step: Step): JsonValue | undefined {
  if (typeof step === 'number') return Array.isArray(holder) ? holder[step] : undefined;
  return isJsonObject(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined;
}

/** Items come in order: none is left out. */
function setMember(holder: JsonValue, step: Step, value: JsonValue): boolean {
  if (typeof step === 'number') {
    if (!Array.isArray(holder) || step > holder.length) return false;
    holder[step] = value;
    return true;
  }
  if (!isJsonObject(holder)) return false;
  // Unlike assignment, this also makes `__proto__` an ordinary member.
  Object.defineProperty(holder, step, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return true;
}
