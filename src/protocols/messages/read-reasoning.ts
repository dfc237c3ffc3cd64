// Reads how much the model shall think, what of it the client wants to see, and the shape of the answer.

import { amountOfWord } from '../../canonical/effort.ts';
import { type Receipt, told } from '../../canonical/receipt.ts';
import type { Effort, OutputFormat, Reasoning, ReasoningAmount } from '../../canonical/request.ts';
import { BUDGET_KEYS, LEVEL_KEYS, usedKey } from '../../canonical/thinking-words.ts';
import {
  fieldAt,
  note,
  objectAt,
  optionalIntegerAt,
  optionalObjectAt,
  optionalStringAt,
  optionalWordAt,
  pathOf,
  type Scope,
  tagOf,
  unknownTag,
  unknownWord,
} from './fields.ts';

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

/**
 * Precedence: disabled, then a budget, then the effort of the current turn, `output_config.effort`
 * and `thinking.effort`; an effort counts without `thinking` as well.
 * @throws GatewayError for an unknown type or effort and for a budget below 1024.
 */
export function readReasoning(
  body: Scope,
  { turnEffort, receipt }: { readonly turnEffort: Effort | undefined; readonly receipt: Receipt },
): Reasoning {
  const config = optionalObjectAt(body, 'output_config');
  const thinking = optionalObjectAt(body, 'thinking');
  const configEffort = config === undefined ? undefined : readEffort(config);
  const thinkingEffort = thinking === undefined ? undefined : readEffort(thinking);
  const effort = turnEffort ?? configEffort ?? thinkingEffort;
  const byEffort: ReasoningAmount | undefined =
    effort === undefined ? thinking && readLevel(thinking) : { kind: 'effort', effort };
  if (thinking === undefined) return { amount: byEffort ?? { kind: 'unset' } };
  noteDisplay(thinking, receipt);
  switch (tagOf(thinking)) {
    case 'disabled':
      return { amount: { kind: 'off' }, showThoughts: false };
    case 'enabled': {
      const tokens = readBudget(thinking);
      const budget: ReasoningAmount | undefined =
        tokens === undefined ? undefined : { kind: 'budget', tokens };
      return { amount: budget ?? byEffort ?? { kind: 'adaptive' }, showThoughts: true };
    }
    case 'between_tools':
      note(receipt, 'approximated', {
        path: pathOf(thinking, 'type'),
        reason: told`Thinking cannot be limited to the time between tool calls; the model decides.`,
      });
      noteBudget(thinking, receipt);
      return { amount: byEffort ?? { kind: 'adaptive' }, showThoughts: true };
    case 'adaptive':
      noteBudget(thinking, receipt);
      return { amount: byEffort ?? { kind: 'adaptive' }, showThoughts: true };
    default:
      throw unknownTag(thinking, "'enabled', 'adaptive', 'disabled' or 'between_tools'");
  }
}

/** `budget_tokens`, or what the options of client libraries call it. */
function readBudget(thinking: Scope): number | undefined {
  const key = usedKey(thinking.value, BUDGET_KEYS);
  return key === undefined ? undefined : optionalIntegerAt(thinking, key, { min: MIN_BUDGET });
}

function noteBudget(thinking: Scope, receipt: Receipt): void {
  const key = usedKey(thinking.value, BUDGET_KEYS);
  if (key === undefined) return;
  const reason = told`Only thinking of the type enabled has a budget.`;
  note(receipt, 'dropped', { path: pathOf(thinking, key), reason });
}

/** A level in the words of other protocols, which client libraries send as they are. */
function readLevel(thinking: Scope): ReasoningAmount | undefined {
  const key = usedKey(thinking.value, LEVEL_KEYS);
  const word = key && optionalStringAt(thinking, key);
  if (key === undefined || word === undefined) return undefined;
  const amount = amountOfWord(word.toLowerCase());
  if (amount === undefined) throw unknownWord(pathOf(thinking, key), EFFORTS);
  return amount;
}

/** `output_config.format`, or `output_format` as older betas wrote it. */
export function readOutputFormat(body: Scope): OutputFormat {
  const config = optionalObjectAt(body, 'output_config');
  const format =
    (config && optionalObjectAt(config, 'format')) ?? optionalObjectAt(body, 'output_format');
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
