// What a client's own protocol calls the fields that rules speak of, in receipts and errors.

import { GatewayError } from './error.ts';
import { memberPath } from './field-reader.ts';
import { type Receipt, receiptWithin } from './receipt.ts';

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
  | 'top_k'
  | 'logprobs'
  | 'thinking'
  | 'response_format'
  | 'response_schema'
  | 'size'
  | 'service_tier'
  /** Calls of the answer, followed by the tool's name. */
  | 'tool_calls'
  /** The JSON of a structured answer, followed by the place in it. */
  | 'answer';

/** The client's own paths; a field that is not listed has the same name there. */
export type ClientNames = Readonly<Partial<Record<RuleField, string>>>;

/** Runs `work` so that what it notes, and the request error it may throw, name the client's own fields. */
export function inClientNames<Result>(
  names: ClientNames | undefined,
  receipt: Receipt,
  work: (receipt: Receipt) => Result,
): Result {
  if (names === undefined) return work(receipt);
  try {
    return work(renamingReceipt(receipt, names));
  } catch (error) {
    throw renameField(error, (field) => rename(field, names));
  }
}

/** The same for work on the content of one field of the client's request. */
export function withinField<Result>(
  field: string,
  receipt: Receipt,
  work: (receipt: Receipt) => Result,
): Result {
  if (field === '') return work(receipt);
  try {
    return work(receiptWithin(receipt, field));
  } catch (error) {
    throw renameField(error, (inner) => memberPath(field, inner));
  }
}

/** The receipt for rules that go on noting while an answer arrives. */
export function receiptInClientNames(names: ClientNames | undefined, receipt: Receipt): Receipt {
  if (names === undefined) return receipt;
  return renamingReceipt(receipt, names);
}

function renamingReceipt(receipt: Receipt, names: ClientNames): Receipt {
  return {
    entries: receipt.entries,
    add: (action, path, reason) => receipt.add(action, rename(path, names), reason),
  };
}

/** The path with its first word replaced: `stop[5]` → `stop_sequences[5]`. */
function rename(path: string, names: ClientNames): string {
  const end = path.search(/[.[]/);
  const word = end < 0 ? path : path.slice(0, end);
  // Most requests lose nothing, so that their names are not worth a table.
  const [, own] = Object.entries(names).find(([name]) => name === word) ?? [];
  return own === undefined ? path : own + path.slice(word.length);
}

/** Messages that begin with the field's name begin with the client's name for it. */
function renameField(thrown: unknown, nameOf: (field: string) => string): unknown {
  if (!(thrown instanceof GatewayError) || thrown.field === undefined) return thrown;
  const { kind, source, reason, field, retryAfterMs, failure, cause } = thrown;
  const own = nameOf(field);
  if (own === field) return thrown;
  const message = thrown.message.startsWith(`${field}:`)
    ? own + thrown.message.slice(field.length)
    : thrown.message;
  const options = { kind, source, message, reason, field: own, retryAfterMs, failure };
  return new GatewayError({ ...options, cause: cause ?? thrown });
}
