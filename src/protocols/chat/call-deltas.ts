// Writes the tool calls of one choice as deltas: an opening, then pieces of its arguments.

import type { BlockOpening } from '../../canonical/event.ts';
import type { Signature } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../lib/json.ts';
import type { AnswerOptions } from './answer-options.ts';
import { writeExtraContent, writeFreeformInput } from './answer-shapes.ts';

type CallOpening = Extract<BlockOpening, { kind: 'tool-call' }>;

interface OpenCall {
  readonly form: 'function' | 'custom' | 'legacy' | 'hidden';
  readonly index: number;
  readonly isSigned: boolean;
  hasArguments: boolean;
  /** The arguments so far of a custom call, which are written in one piece. */
  held: string;
}

/**
 * One open call at a time, as blocks of a choice follow one another. All results are delta JSON or ''.
 * Openings carry id, type and name; `openai` refuses a stream whose first delta of a call lacks one.
 */
export class CallWriter {
  readonly #options: AnswerOptions;
  #count = 0;
  #current: OpenCall | undefined;

  constructor(options: AnswerOptions) {
    this.#options = options;
  }

  /** Calls opened so far. */
  get count(): number {
    return this.#count;
  }

  open(call: CallOpening): string {
    const isSigned = call.signature !== undefined;
    const form = formOf(call, this.#count, this.#options);
    const opened = { form, index: this.#count, isSigned, hasArguments: false, held: '' };
    this.#current = opened;
    this.#count += 1;
    return writeOpening(opened, call, this.#options);
  }

  addArguments(json: string): string {
    const current = this.#current;
    if (current === undefined || json === '') return '';
    current.hasArguments = true;
    if (current.form !== 'custom') return writePiece(current, json, '');
    current.held += json;
    return '';
  }

  /**
   * Ends the open call, if any: whatever was held back, and `{}` for a call without arguments. A
   * signature its opening did not have comes with it; the clients' parsers take it in any delta.
   */
  close(signature: Signature | undefined): string {
    const ended = this.#current;
    this.#current = undefined;
    if (ended === undefined) return '';
    const late = ended.isSigned ? undefined : signature;
    const extra =
      late === undefined
        ? ''
        : `,"extra_content":${JSON.stringify(writeExtraContent(late, this.#options.extensionKey))}`;
    if (ended.form === 'custom') return writePiece(ended, readFreeformInput(ended.held), extra);
    if (!ended.hasArguments) return writePiece(ended, '{}', extra);
    return extra === '' ? '' : writePiece(ended, '', extra);
  }
}

/** The deprecated form holds one call: further ones cannot be shown. */
function formOf(call: CallOpening, count: number, options: AnswerOptions): OpenCall['form'] {
  if (options.freeformTools.has(call.name)) return 'custom';
  if (options.callForm === 'tool_calls') return 'function';
  return count === 0 ? 'legacy' : 'hidden';
}

function writeOpening(open: OpenCall, call: CallOpening, options: AnswerOptions): string {
  const { id, name, signature } = call;
  const extra =
    signature === undefined
      ? {}
      : { extra_content: writeExtraContent(signature, options.extensionKey) };
  switch (open.form) {
    case 'function':
      return writeCallDelta({
        index: open.index,
        id,
        type: 'function',
        function: { name, arguments: '' },
        ...extra,
      });
    case 'custom':
      return writeCallDelta({
        index: open.index,
        id,
        type: 'custom',
        custom: { name, input: '' },
        ...extra,
      });
    case 'legacy':
      return JSON.stringify({ function_call: { name, arguments: '' } });
    case 'hidden':
      return '';
    default:
      return open.form satisfies never;
  }
}

function writeCallDelta(call: JsonObject): string {
  return `{"tool_calls":[${JSON.stringify(call)}]}`;
}

/** `extra` is more members of the call; the deprecated form has no place for them. */
function writePiece(open: OpenCall, piece: string, extra: string): string {
  const text = JSON.stringify(piece);
  switch (open.form) {
    case 'function':
      return `{"tool_calls":[{"index":${open.index},"function":{"arguments":${text}}${extra}}]}`;
    case 'custom':
      return `{"tool_calls":[{"index":${open.index},"custom":{"input":${text}}${extra}}]}`;
    case 'legacy':
      return piece === '' ? '' : `{"function_call":{"arguments":${text}}}`;
    case 'hidden':
      return '';
    default:
      return open.form satisfies never;
  }
}

function readFreeformInput(json: string): string {
  if (json === '') return '';
  try {
    const input = parseJson(json);
    return isJsonObject(input) ? writeFreeformInput(input) : json;
  } catch {
    return json;
  }
}
