// Decides where the blocks of one choice begin and end, and which signature each of them gets.

import type { BlockOpening, CanonicalEvent } from '../../canonical/event.ts';
import type { Signature } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { fileLink } from './file-link.ts';
import type { GroundedText } from './grounding.ts';

/** What all choices of one answer share. */
export interface AnswerContext {
  /** False when the whole text is not needed to place citations in it. */
  readonly keepsText: boolean;
  /** True when unfinished pictures are asked for. */
  readonly showsDrafts: boolean;
  readonly signatureFamily: string;
  /** A fresh id for a call the upstream gave none. */
  createCallId(): string;
  /** The next block index; they rise over all choices. */
  takeIndex(): number;
  /** Ids of the tool calls so far. */
  readonly callIds: Set<string>;
}

interface OpenBlock {
  readonly index: number;
  readonly kind: 'text' | 'thinking';
  signature: Signature | undefined;
  /** Of a text so far: clients know a signed one again by its words alone. */
  text: string;
}

/**
 * Text and thought fragments stay in one block until a part of another kind comes, so that a
 * signature on that part can still end a thinking block. A signed fragment ends its part: what
 * follows is a new block, as signed parts must not be joined. A signature that comes alone while no
 * block is open (after a tool call) vouches for nothing that is passed on and is left out; the wire
 * has it as optional there. Source: ai.google.dev, "Thought signatures".
 */
export class ChoiceDecoder implements GroundedText {
  readonly #choice: number;
  readonly #context: AnswerContext;
  #open: OpenBlock | undefined;
  text = '';
  readonly partStarts: number[] = [];
  hasContent = false;
  hasToolCalls = false;

  constructor(choice: number, context: AnswerContext) {
    this.#choice = choice;
    this.#context = context;
  }

  /** Adds the events of one part to `events`. Parts of unknown kinds give none. */
  readPart(part: JsonObject, events: CanonicalEvent[]): void {
    const { text } = part;
    if (typeof text === 'string' && text !== '') this.#readText(part, text, events);
    else if (isJsonObject(part.functionCall)) this.#readCall(part, part.functionCall, events);
    else if (isJsonObject(part.inlineData)) this.#readMedia(part, part.inlineData, events);
    else if (isJsonObject(part.fileData)) this.#readFile(part, part.fileData, events);
    else if (isJsonObject(part.executableCode)) {
      this.#addWhole(readCode(part.executableCode), part, events);
    } else if (isJsonObject(part.codeExecutionResult)) {
      this.#addWhole(readCodeResult(part.codeExecutionResult), part, events);
    } else if (text === '' || isBare(part)) this.#readBareSignature(part);
  }

  /** Ends the open block, if there is one. */
  close(events: CanonicalEvent[]): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const { index, signature } = open;
    const isSignedText = open.kind === 'text' && signature !== undefined;
    events.push({
      kind: 'block-end',
      index,
      signature,
      ...(isSignedText ? { signedContent: open.text } : {}),
    });
  }

  #readText(part: JsonObject, text: string, events: CanonicalEvent[]): void {
    const kind = part.thought === true ? 'thinking' : 'text';
    const open = this.#continueOrOpen(kind, events);
    events.push({ kind: 'block-delta', index: open.index, delta: { kind, text } });
    if (kind === 'text') {
      open.text += text;
      if (this.#context.keepsText) this.text += text;
      this.hasContent = true;
    }
    open.signature = this.#signatureOf(part, kind);
  }

  #continueOrOpen(kind: OpenBlock['kind'], events: CanonicalEvent[]): OpenBlock {
    const open = this.#open;
    if (open?.kind === kind && open.signature === undefined) return open;
    this.close(events);
    const opened = { index: this.#start({ kind }, events), kind, signature: undefined, text: '' };
    this.#open = opened;
    return opened;
  }

  #readBareSignature(part: JsonObject): void {
    const open = this.#open;
    const on = part.thought === true ? 'thinking' : 'text';
    if (open === undefined || (on === 'thinking' && open.kind === 'text')) return;
    open.signature ??= this.#signatureOf(part, on);
  }

  #readCall(part: JsonObject, call: JsonObject, events: CanonicalEvent[]): void {
    const { name } = call;
    const args = readArguments(call.args);
    if (typeof name !== 'string' || name === '') return;
    const signature = this.#signatureOf(part, 'tool-call');
    if (this.#open?.kind === 'thinking') this.#open.signature ??= signature;
    this.close(events);
    const id = this.#takeCallId(call.id);
    const index = this.#start({ kind: 'tool-call', id, name, signature }, events);
    if (Object.keys(args).length > 0) {
      const json = JSON.stringify(args);
      events.push({ kind: 'block-delta', index, delta: { kind: 'arguments', json } });
    }
    events.push({ kind: 'block-end', index });
    this.hasContent = true;
    this.hasToolCalls = true;
  }

  /** A call without an id, or with that of an earlier call, gets a fresh one. */
  #takeCallId(given: JsonValue | undefined): string {
    const { callIds } = this.#context;
    const isUsable = typeof given === 'string' && given !== '' && !callIds.has(given);
    const id = isUsable ? given : this.#context.createCallId();
    callIds.add(id);
    return id;
  }

  #readMedia(part: JsonObject, blob: JsonObject, events: CanonicalEvent[]): void {
    const { mimeType, data } = blob;
    if (typeof data !== 'string' || data === '') return;
    const mediaType = typeof mimeType === 'string' ? mimeType : 'application/octet-stream';
    const block = { kind: 'media', mediaType, base64: data } as const;
    if (part.thought === true) this.#addDraft({ ...block, isDraft: true }, events);
    else this.#addWhole(block, part, events);
  }

  /** A text of its own: a signature beside it must not come to vouch for the address, which is not its part. */
  #readFile(part: JsonObject, file: JsonObject, events: CanonicalEvent[]): void {
    const link = fileLink(file);
    if (link === undefined || part.thought === true) return;
    this.close(events);
    this.#readText({}, link, events);
    this.close(events);
  }

  /** What an image model draws while it thinks is no content: an answer of drafts alone is empty. */
  #addDraft(block: BlockOpening, events: CanonicalEvent[]): void {
    if (!this.#context.showsDrafts) return;
    this.close(events);
    events.push({ kind: 'block-end', index: this.#start(block, events) });
  }

  #addWhole(block: BlockOpening, part: JsonObject, events: CanonicalEvent[]): void {
    this.close(events);
    const index = this.#start(block, events);
    const media = block.kind === 'media' ? block : undefined;
    const signature = this.#signatureOf(part, media && 'media');
    const isSignedMedia = media !== undefined && signature !== undefined;
    events.push({
      kind: 'block-end',
      index,
      signature,
      ...(isSignedMedia ? { signedContent: media.base64 } : {}),
    });
    this.hasContent = true;
  }

  #start(block: BlockOpening, events: CanonicalEvent[]): number {
    const index = this.#context.takeIndex();
    this.partStarts.push(this.text.length);
    events.push({ kind: 'block-start', index, choice: this.#choice, block });
    return index;
  }

  #signatureOf(part: JsonObject, on: Signature['on']): Signature | undefined {
    const value = part.thoughtSignature ?? part.thought_signature;
    if (typeof value !== 'string' || value === '') return undefined;
    return { value, family: this.#context.signatureFamily, on };
  }
}

/** The wire has an object. What compatible upstreams put there instead (its JSON text, a list) is not lost. */
function readArguments(args: JsonValue | undefined): JsonObject {
  if (args === undefined || args === null || args === '') return {};
  if (isJsonObject(args)) return args;
  const value = typeof args === 'string' ? valueOfText(args) : args;
  return isJsonObject(value) ? value : { value };
}

function valueOfText(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function isBare(part: JsonObject): boolean {
  return Object.keys(part).every((key) => key.startsWith('thought'));
}

function readCode({ language, code, id }: JsonObject): BlockOpening {
  return {
    kind: 'code',
    language: typeof language === 'string' ? language.toLowerCase() : 'python',
    code: typeof code === 'string' ? code : '',
    ...(typeof id === 'string' ? { id } : {}),
  };
}

function readCodeResult({ outcome, output, id }: JsonObject): BlockOpening {
  return {
    kind: 'code-result',
    outcome: readOutcome(outcome),
    output: typeof output === 'string' ? output : '',
    ...(typeof id === 'string' ? { id } : {}),
  };
}

function readOutcome(outcome: JsonValue | undefined): 'ok' | 'failed' | 'timeout' {
  if (outcome === 'OUTCOME_DEADLINE_EXCEEDED') return 'timeout';
  return outcome === 'OUTCOME_FAILED' ? 'failed' : 'ok';
}
