// Reads how much the model shall think, what of it the client wants to see, and the shape of the answer.

import { amountOfWord, BUDGET_KEYS, LEVEL_KEYS, usedKey } from '../../canonical/effort.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type {
  CanonicalRequest,
  Effort,
  OutputFormat,
  Reasoning,
  ReasoningAmount,
} from '../../canonical/request.ts';
import { askForSummary, SUMMARY_INSTRUCTIONS, tellSummary } from '../../canonical/text-forms.ts';
import { isJsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { readToolChange, type ToolChange } from './read-tools.ts';
import {
  asScope,
  fieldAt,
  note,
  objectAt,
  optionalArrayAt,
  optionalIntegerAt,
  optionalObjectAt,
  optionalStringAt,
  optionalWordAt,
  pathOf,
  type Scope,
  stringAt,
  tagOf,
  unknownTag,
  unknownWord,
} from './schema.ts';

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
/** Smallest manual thinking budget the protocol takes, in tokens. */
const MIN_BUDGET = 1024;

/** The `effort` of a `thinking` or `output_config` object. */
export function readEffort(scope: Scope): Effort | undefined {
  return optionalWordAt(scope, 'effort', EFFORTS);
}

/** True when thinking blocks shall be answered without their text (`display:"omitted"`). */
export function readOmitsThinking(body: Scope): boolean {
  const thinking = optionalObjectAt(body, 'thinking');
  return thinking !== undefined && optionalStringAt(thinking, 'display') === 'omitted';
}

/** True when `thinking` switches it on; an effort alone leaves the choice to the model. */
export function asksToThink(body: Scope): boolean {
  const thinking = optionalObjectAt(body, 'thinking');
  return thinking !== undefined && tagOf(thinking) !== 'disabled';
}

/** An amount, and the field that says it. */
interface SaidAmount {
  readonly path: string;
  readonly amount: ReasoningAmount;
}

interface ReasoningContext {
  readonly turnEffort: Effort | undefined;
  readonly receipt: Receipt;
}

/**
 * Precedence: disabled, then a budget, then the effort of the current turn, `output_config.effort`
 * and `thinking.effort`; an effort counts without `thinking` as well. What another field overrules
 * is noted; that a turn has an effort of its own is what such an effort is for.
 * @throws GatewayError for an unknown type or effort and for a budget below 1024.
 */
export function readReasoning(body: Scope, { turnEffort, receipt }: ReasoningContext): Reasoning {
  const config = optionalObjectAt(body, 'output_config');
  const thinking = optionalObjectAt(body, 'thinking');
  const settled = config && readSaidEffort(config);
  const own = thinking && (readSaidEffort(thinking) ?? readLevel(thinking));
  const ofTurn = turnEffort && saidEffort('messages', turnEffort);
  const said = ofTurn ?? settled ?? own;
  if (settled !== undefined) noteLoser(own, settled, receipt);
  if (thinking === undefined) return { amount: said?.amount ?? { kind: 'unset' } };
  noteDisplay(thinking, receipt);
  const byEffort = said?.amount ?? { kind: 'adaptive' };
  switch (tagOf(thinking)) {
    case 'disabled': {
      const off: SaidAmount = { path: pathOf(thinking, 'type'), amount: { kind: 'off' } };
      noteLoser(said, off, receipt);
      return { amount: off.amount, showThoughts: false };
    }
    case 'enabled': {
      const budget = readBudget(thinking);
      if (budget !== undefined) noteLoser(said, budget, receipt);
      return { amount: budget?.amount ?? byEffort, showThoughts: true };
    }
    case 'between_tools':
      note(receipt, 'approximated', {
        path: pathOf(thinking, 'type'),
        reason: told`Thinking cannot be limited to the time between tool calls; the model decides.`,
      });
      noteBudget(thinking, receipt);
      return { amount: byEffort, showThoughts: true };
    case 'adaptive':
      noteBudget(thinking, receipt);
      return { amount: byEffort, showThoughts: true };
    default:
      throw unknownTag(thinking, "'enabled', 'adaptive', 'disabled' or 'between_tools'");
  }
}

function readSaidEffort(scope: Scope): SaidAmount | undefined {
  const effort = readEffort(scope);
  return effort && saidEffort(pathOf(scope, 'effort'), effort);
}

function saidEffort(path: string, effort: Effort): SaidAmount {
  return { path, amount: { kind: 'effort', effort } };
}

function noteLoser(loser: SaidAmount | undefined, winner: SaidAmount, receipt: Receipt): void {
  if (loser === undefined || isSame(loser.amount, winner.amount)) return;
  const reason = told`${winner.path} says something else and wins.`;
  note(receipt, 'dropped', { path: loser.path, reason });
}

function isSame(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** `budget_tokens`, or what the options of client libraries call it. */
function readBudget(thinking: Scope): SaidAmount | undefined {
  const key = usedKey(thinking.value, BUDGET_KEYS);
  const tokens = key && optionalIntegerAt(thinking, key, { min: MIN_BUDGET });
  if (key === undefined || typeof tokens !== 'number') return undefined;
  return { path: pathOf(thinking, key), amount: { kind: 'budget', tokens } };
}

function noteBudget(thinking: Scope, receipt: Receipt): void {
  const key = usedKey(thinking.value, BUDGET_KEYS);
  if (key === undefined) return;
  const reason = told`Only thinking of the type enabled has a budget.`;
  note(receipt, 'dropped', { path: pathOf(thinking, key), reason });
}

/** A level in the words of other protocols, which client libraries send as they are. */
function readLevel(thinking: Scope): SaidAmount | undefined {
  const key = usedKey(thinking.value, LEVEL_KEYS);
  const word = key && optionalStringAt(thinking, key);
  if (key === undefined || word === undefined) return undefined;
  const amount = amountOfWord(word.toLowerCase());
  if (amount === undefined) throw unknownWord(pathOf(thinking, key), EFFORTS);
  return { path: pathOf(thinking, key), amount };
}

/** `output_config.format`, or `output_format` as older betas wrote it. */
export function readOutputFormat(body: Scope, receipt: Receipt): OutputFormat {
  const config = optionalObjectAt(body, 'output_config');
  const newer = config && optionalObjectAt(config, 'format');
  const older = optionalObjectAt(body, 'output_format');
  const format = newer ?? older;
  if (newer && older && !isSame(newer.value, older.value)) {
    const reason = told`${newer.path} says something else and wins.`;
    note(receipt, 'dropped', { path: older.path, reason });
  }
  if (format === undefined) return { kind: 'text' };
  if (tagOf(format) !== 'json_schema') throw unknownTag(format, "'json_schema'");
  if (typeof fieldAt(format, 'schema') === 'boolean') {
    return { kind: 'json-schema', schema: format.value.schema === true };
  }
  return { kind: 'json-schema', schema: objectAt(format, 'schema').value };
}

/** Clients learn new words for it faster than gateways: what it says of looks alone refuses no request. */
function noteDisplay(thinking: Scope, receipt: Receipt): void {
  const display = optionalStringAt(thinking, 'display');
  if (display === undefined || display === 'summarized' || display === 'omitted') return;
  note(receipt, 'approximated', {
    path: pathOf(thinking, 'display'),
    reason: told`Thoughts are shown as summaries.`,
  });
}

/**
 * A request for a summary of the conversation in place of its next answer.
 * Source: Messages API, "Compaction on demand" and "Compaction at a token threshold".
 */
export interface SummaryWish {
  readonly instructions: string;
}

/** @throws GatewayError for a kind of compaction nobody here knows. */
export function readSummaryWish(body: Scope): SummaryWish | undefined {
  const wish = optionalObjectAt(body, 'compaction');
  if (wish === undefined) return undefined;
  if (tagOf(wish) !== 'summarize') throw unknownTag(wish, "'summarize'");
  const instructions = optionalStringAt(wish, 'instructions') ?? '';
  return { instructions: instructions.trim() === '' ? SUMMARY_INSTRUCTIONS : instructions };
}

/** The request for a summary in words. */
export function askInWords(
  request: CanonicalRequest,
  { instructions }: SummaryWish,
  receipt: Receipt,
): CanonicalRequest {
  const reason = told`The model is asked for the summary in words.`;
  note(receipt, 'approximated', { path: 'compaction', reason });
  return askForSummary(request, instructions);
}

/** A summary in the history: everything before it is no longer part of the conversation. */
export interface Summary {
  readonly text: string;
  /** Index of the first block behind it in the content of its message. */
  readonly end: number;
  /** What became of the tools until there; absent when the block does not say. */
  readonly toolChanges?: readonly ToolChange[];
}

/** The last summary of an assistant message that can be read. */
export function findSummary(message: Scope): Summary | undefined {
  const content = fieldAt(message, 'content');
  if (!Array.isArray(content)) return undefined;
  const index = content.findLastIndex(
    (block) => isJsonObject(block) && block.type === 'compaction' && Boolean(block.content),
  );
  if (index < 0) return undefined;
  const block = asScope(content[index], `${pathOf(message, 'content')}.${index}`);
  const text = tellSummary(stringAt(block, 'content'));
  const toolChanges = readToolChanges(block);
  return { text, end: index + 1, ...(toolChanges === undefined ? {} : { toolChanges }) };
}

function readToolChanges(block: Scope): readonly ToolChange[] | undefined {
  const path = pathOf(block, 'tool_changes');
  return optionalArrayAt(block, 'tool_changes')?.flatMap((item, index) => {
    const change = asScope(item, `${path}.${index}`);
    const kind = tagOf(change) === 'tool_removal' ? 'removed' : 'added';
    return readToolChange(change, kind).change ?? [];
  });
}
