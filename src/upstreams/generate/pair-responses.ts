// Finds the call each function response of native contents answers.

import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';

export interface NativeCall {
  readonly id: string | undefined;
  readonly name: string;
  /** Index of the content it stands in. */
  readonly step: number;
  answer: NativeResponse | undefined;
}

export interface NativeResponse {
  readonly part: JsonObject;
  readonly response: JsonObject;
  readonly id: string | undefined;
  readonly name: string;
  /** Index of the content it stands in. */
  readonly place: number;
}

interface Pairing {
  /** The calls of each content, in order, with their answers. */
  readonly calls: ReadonlyMap<number, readonly NativeCall[]>;
  /** Responses to calls that have their response already. */
  readonly repeated: readonly NativeResponse[];
  /** Responses to no earlier call. */
  readonly orphans: readonly NativeResponse[];
}

/**
 * By id; a response without an id, or with one that no call has, belongs to the first open call of
 * its name. A later step that uses an id or a name again closes the earlier calls to it.
 */
export function pairResponses(contents: readonly JsonValue[]): Pairing {
  const ledger = new Ledger();
  for (const [index, content] of contents.entries()) ledger.read(content, index);
  return ledger;
}

class Ledger implements Pairing {
  readonly calls = new Map<number, readonly NativeCall[]>();
  readonly repeated: NativeResponse[] = [];
  readonly orphans: NativeResponse[] = [];
  readonly #byId = new Map<string, CallQueue>();
  readonly #byName = new Map<string, CallQueue>();
  readonly #answered = new Set<string>();

  read(content: JsonValue, index: number): void {
    if (!isJsonObject(content)) return;
    if (content.role === 'model') {
      const calls = callsIn(content, index);
      if (calls.length > 0) this.calls.set(index, calls);
      for (const call of calls) this.#open(call);
      return;
    }
    const responses = responsesIn(content, index);
    // Those with ids first: one without must not take the call of another.
    const unnamed = responses.filter((response) => !this.#answerById(response));
    for (const response of unnamed) this.#answerByName(response);
  }

  #open(call: NativeCall): void {
    if (call.id !== undefined) addOpen(this.#byId, call.id, call);
    addOpen(this.#byName, call.name, call);
  }

  /** True when the response is dealt with: its id is that of a call. */
  #answerById(response: NativeResponse): boolean {
    const calls = response.id === undefined ? undefined : this.#byId.get(response.id);
    if (calls === undefined) return false;
    const open = firstOpen(calls);
    if (open === undefined) this.repeated.push(response);
    else this.#answer(open, response);
    return true;
  }

  #answerByName(response: NativeResponse): void {
    const calls = this.#byName.get(response.name);
    const open = calls && firstOpen(calls);
    if (open !== undefined) this.#answer(open, response);
    else if (this.#answered.has(response.name)) this.repeated.push(response);
    else this.orphans.push(response);
  }

  #answer(call: NativeCall, response: NativeResponse): void {
    call.answer = response;
    this.#answered.add(call.name);
  }
}

/** Calls of one step that share an id or a name; those before `next` have their answers. */
interface CallQueue {
  readonly calls: NativeCall[];
  next: number;
}

function addOpen(index: Map<string, CallQueue>, key: string, call: NativeCall): void {
  const queue = index.get(key);
  if (queue?.calls[0]?.step === call.step) queue.calls.push(call);
  else index.set(key, { calls: [call], next: 0 });
}

function firstOpen(queue: CallQueue): NativeCall | undefined {
  while (queue.calls[queue.next]?.answer !== undefined) queue.next += 1;
  return queue.calls[queue.next];
}

function callsIn(content: JsonObject, step: number): NativeCall[] {
  return partsOf(content).flatMap((part) => {
    const call = isJsonObject(part) ? part.functionCall : undefined;
    if (!isJsonObject(call) || typeof call.name !== 'string') return [];
    return { id: readId(call), name: call.name, step, answer: undefined };
  });
}

function responsesIn(content: JsonObject, place: number): NativeResponse[] {
  return partsOf(content).flatMap((part) => {
    const response = isJsonObject(part) ? part.functionResponse : undefined;
    if (!isJsonObject(part) || !isJsonObject(response)) return [];
    const name = typeof response.name === 'string' ? response.name : '';
    return { part, response, id: readId(response), name, place };
  });
}

function readId({ id }: JsonObject): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined;
}

export function partsOf(content: JsonValue): readonly JsonValue[] {
  return isJsonObject(content) && Array.isArray(content.parts) ? content.parts : [];
}
