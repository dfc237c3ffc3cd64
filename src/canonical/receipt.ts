// The translation receipt: every lossy step of one request, so that nothing is dropped silently.

import { type Sentence, told } from '../lib/localized-message.ts';
import { isShared, SharedMemo } from '../lib/shared-json.ts';
import { changed, GatewayError } from './error.ts';

export const RECEIPT_ACTIONS = ['dropped', 'approximated', 'repaired', 'capped'] as const;
export type ReceiptAction = (typeof RECEIPT_ACTIONS)[number];

export interface ReceiptEntry {
  /** Path of the field in the client's own request, such as `tools[2].input_schema`. */
  readonly path: string;
  readonly action: ReceiptAction;
  readonly reason: Sentence;
}

/** Collects entries while a request is read, transformed and encoded. The same entry counts once. */
export interface Receipt {
  readonly entries: readonly ReceiptEntry[];
  add(action: ReceiptAction, path: string, reason: Sentence): void;
}

/** The receipt of a whole request, of which several bodies may be sent until one is answered. */
export interface RequestReceipt extends Receipt {
  /** Takes back what was added for a body that another one stands in for; what others added too stays. */
  withdraw(entries: readonly ReceiptEntry[]): void;
}

/** More than anybody reads; a body may hold as many things to tell of as it holds fields. */
const MAX_ENTRIES = 1000;
const MORE = told`more was changed than is listed here`;

export function createReceipt(): RequestReceipt {
  const entries: ReceiptEntry[] = [];
  /** How often each was added; most requests note nothing. */
  let counts: Map<string, number> | undefined;
  return {
    entries,
    add(action, path, reason) {
      if (entries.length > MAX_ENTRIES) return;
      if (entries.length === MAX_ENTRIES) {
        entries.push({ path: '', action, reason: MORE });
        return;
      }
      const key = keyOf({ action, path, reason });
      counts ??= new Map();
      const before = counts.get(key) ?? 0;
      counts.set(key, before + 1);
      if (before === 0) entries.push({ path, action, reason });
    },
    withdraw(gone) {
      for (const key of gone.map(keyOf)) {
        const times = (counts?.get(key) ?? 0) - 1;
        if (times > 0) counts?.set(key, times);
        else if (counts?.delete(key) === true) {
          const at = entries.findIndex((entry) => keyOf(entry) === key);
          entries.splice(at, 1);
        }
      }
    },
  };
}

function keyOf({ action, path, reason }: ReceiptEntry): string {
  return `${action} ${path} ${reason.text}`;
}

/** Notes into `receipt` what is met in a field of the client's request. */
export function receiptWithin(receipt: Receipt, field: string): Receipt {
  return {
    entries: receipt.entries,
    add: (action, path, reason) => receipt.add(action, memberPath(field, path), reason),
  };
}

/** Remembers what is made of shared lists, with the entries that belong into the receipt of every request. */
export class NotedMemo<Made> {
  readonly #noted = new SharedMemo<{
    readonly made: Made;
    readonly notes: readonly ReceiptEntry[];
  }>();

  /** `variant` names everything else that the result and its entries depend on. */
  get(
    list: object,
    { variant, receipt }: { readonly variant: string; readonly receipt: Receipt },
    make: (receipt: Receipt) => Made,
  ): Made {
    if (!isShared(list)) return make(receipt);
    const { made, notes } = this.#noted.get(list, variant, () => {
      const own = createReceipt();
      return { made: make(own), notes: own.entries };
    });
    for (const { action, path, reason } of notes) receipt.add(action, path, reason);
    return made;
  }
}

/** The advisory header's value, such as `dropped=2;approximated=0;repaired=1`; undefined when nothing was lost. */
export function summarizeReceipt(receipt: Receipt): string | undefined {
  if (receipt.entries.length === 0) return undefined;
  const count = (...actions: ReceiptAction[]): number =>
    receipt.entries.filter((entry) => actions.includes(entry.action)).length;
  return `dropped=${count('dropped')};approximated=${count('approximated', 'capped')};repaired=${count('repaired')}`;
}

/** On an answer, the summary of what was lost of its request. */
export const RECEIPT_HEADER = 'x-isthmus-receipt';

/** Tells what another gateway, to which the request was sent, says it lost: it alone knows the fields. */
export function addSummary(receipt: Receipt, summary: string): void {
  for (const action of RECEIPT_ACTIONS) {
    const count = new RegExp(`\\b${action}=([1-9]\\d{0,5})\\b`).exec(summary)?.[1];
    if (count === undefined) continue;
    receipt.add(
      action,
      '',
      told`The gateway at the upstream noted ${count} of these; its own record of the request names them.`,
    );
  }
}

/** The path of a member of the object at `parent`. */
export function memberPath(parent: string, key: string): string {
  return parent === '' ? key : `${parent}.${key}`;
}

/** The fields rules name, in the words they use; a path may go on behind the word. */
type RuleField =
  | 'system'
  | 'messages'
  | 'redacted_thinking'
  | 'tool_choice'
  | 'parallel_tool_calls'
  | 'max_tokens'
  | 'stop'
  | 'n'
  | 'seed'
  | 'temperature'
  | 'top_p'
  | 'top_k'
  | 'presence_penalty'
  | 'frequency_penalty'
  | 'logprobs'
  | 'thinking'
  | 'response_format'
  | 'response_schema'
  | 'size'
  | 'speech'
  | 'modalities'
  | 'media_resolution'
  | 'safety_settings'
  | 'service_tier'
  | 'verbosity'
  /** Calls of the answer, followed by the tool's name. */
  | 'tool_calls'
  /** The JSON of a structured answer, followed by the place in it. */
  | 'answer';

/** The client's own paths; a field that is not listed has the same name there. */
export type ClientNames = Readonly<Partial<Record<RuleField, string>>>;

/** For rules, whose words for fields are not the client's. */
export function receiptInClientNames(names: ClientNames | undefined, receipt: Receipt): Receipt {
  if (names === undefined) return receipt;
  return {
    entries: receipt.entries,
    add: (action, path, reason) => receipt.add(action, clientField(path, names), reason),
  };
}

/** The path with its first word replaced: `stop[5]` → `stop_sequences[5]`. */
export function clientField(path: string, names: ClientNames | undefined = {}): string {
  const end = path.search(/[.[]/);
  const word = end < 0 ? path : path.slice(0, end);
  const own = isNamed(word, names) ? names[word] : undefined;
  return own === undefined ? path : own + path.slice(word.length);
}

function isNamed(word: string, names: ClientNames): word is RuleField {
  return Object.hasOwn(names, word);
}

/** A request error with another field. Messages that begin with the field's name begin with the new one. */
export function renameField(thrown: unknown, nameOf: (field: string) => string): unknown {
  if (!(thrown instanceof GatewayError) || thrown.field === undefined) return thrown;
  const { field } = thrown;
  const own = nameOf(field);
  if (own === field) return thrown;
  const { message } = thrown;
  const named = message.startsWith(`${field}:`) ? own + message.slice(field.length) : undefined;
  return changed(thrown, {
    ...(named !== undefined && { message: named }),
    field: own,
    cause: thrown.cause ?? thrown,
  });
}
