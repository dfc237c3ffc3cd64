// Reads how much the model shall think, what of it the client wants to see, and the shape of the answer.

import type { Effort, Reasoning, ReasoningAmount } from '../../canonical/effort.ts';
import {
  amountOfWord,
  BUDGET_KEYS,
  LEVEL_KEYS,
  noteOverruled,
  type SaidAmount,
} from '../../canonical/effort.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type { OutputFormat } from '../../canonical/request.ts';
import { SUMMARY_INSTRUCTIONS, tellSummary } from '../../canonical/text-forms.ts';
import { readNumber } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { usedKey } from '../../lib/read-values.ts';
import { ANYTHING, FREE, needed, numberIn, openObjectOf, STRING } from '../body-schema.ts';
import { readToolChange, type ToolChange } from './read-tools.ts';
import { type Block, type Body, check, EFFORTS, note, unknownTag, unknownWord } from './schema.ts';

/** Manual thinking budgets the protocol takes, in tokens. */
const BUDGET = numberIn({ min: 1024, integer: true });

/**
 * Precedence: disabled, then a budget, then the effort of the current turn, `output_config.effort`
 * and `thinking.effort`; an effort counts without `thinking` as well. What another field overrules
 * is noted; that a turn has an effort of its own is what such an effort is for.
 * @throws GatewayError for an unknown type and for a budget below 1024.
 */
export function readReasoning(
  { output_config, thinking }: Body,
  turnEffort: Effort | undefined,
  receipt: Receipt,
): Reasoning {
  const effort = output_config?.effort;
  const settled = effort ? saidEffort('output_config.effort', effort) : undefined;
  const own = thinking ? readOwn(thinking) : undefined;
  const ofTurn = turnEffort && saidEffort('messages', turnEffort);
  const said = ofTurn ?? settled ?? own;
  if (settled && own) noteOverruled(own, settled, receipt);
  if (!thinking) return { amount: said?.amount ?? { kind: 'unset' } };
  noteDisplay(thinking, receipt);
  const byEffort = said?.amount ?? { kind: 'adaptive' };
  switch (thinking.type) {
    case 'disabled': {
      const amount: ReasoningAmount = { kind: 'off' };
      if (said) noteOverruled(said, { path: 'thinking.type', amount }, receipt);
      return { amount, showThoughts: false };
    }
    case 'enabled': {
      const budget = readBudget(thinking);
      if (said && budget) noteOverruled(said, budget, receipt);
      return { amount: budget?.amount ?? byEffort, showThoughts: true };
    }
    case 'between_tools':
    case 'adaptive':
      noteWithoutBudget(thinking, receipt);
      return { amount: byEffort, showThoughts: true };
    default:
      throw unknownTag(
        thinking,
        'thinking',
        "'enabled', 'adaptive', 'disabled' or 'between_tools'",
      );
  }
}

type Thinking = NonNullable<Body['thinking']>;

function saidEffort(path: string, effort: Effort): SaidAmount {
  return { path, amount: { kind: 'effort', effort } };
}

/** `budget_tokens`, or what the options of client libraries call it. */
function readBudget(thinking: Thinking): SaidAmount | undefined {
  const key = usedKey(thinking, BUDGET_KEYS);
  if (key === undefined) return undefined;
  const path = `thinking.${key}`;
  const tokens = readNumber(check({ value: thinking[key], path }, BUDGET).value);
  return tokens === undefined ? undefined : { path, amount: { kind: 'budget', tokens } };
}

function noteWithoutBudget(thinking: Thinking, receipt: Receipt): void {
  if (thinking.type === 'between_tools') {
    const reason = told`Thinking cannot be limited to the time between tool calls; the model decides.`;
    note(receipt, 'approximated', 'thinking.type', reason);
  }
  const key = usedKey(thinking, BUDGET_KEYS);
  if (key === undefined) return;
  const reason = told`Only thinking of the type enabled has a budget.`;
  note(receipt, 'dropped', `thinking.${key}`, reason);
}

/** Its effort, or a level in the words of other protocols, which client libraries send as they are. */
function readOwn(thinking: Thinking): SaidAmount | undefined {
  if (thinking.effort) return saidEffort('thinking.effort', thinking.effort);
  const key = usedKey(thinking, LEVEL_KEYS);
  if (key === undefined) return undefined;
  const path = `thinking.${key}`;
  const word = check({ value: thinking[key], path }, STRING).value;
  const amount = amountOfWord(word.toLowerCase());
  if (amount === undefined) throw unknownWord(path, EFFORTS);
  return { path, amount };
}

const FORMAT = openObjectOf({ type: needed(STRING), schema: ANYTHING });
const WITH_SCHEMA = openObjectOf({ schema: needed(FREE) });

/** `output_config.format`, or `output_format` as older betas wrote it. */
export function readOutputFormat(body: Body, receipt: Receipt): OutputFormat {
  const newer = body.output_config?.format;
  const older = body.output_format;
  if (newer && older && JSON.stringify(newer) !== JSON.stringify(older)) {
    const reason = told`${'output_config.format'} says something else and takes precedence.`;
    note(receipt, 'dropped', 'output_format', reason);
  }
  const value = newer ?? older ?? undefined;
  if (value === undefined) return { kind: 'text' };
  const path = newer ? 'output_config.format' : 'output_format';
  const format = check({ value, path }, FORMAT).value;
  if (format.type !== 'json_schema') throw unknownTag(format, path, "'json_schema'");
  if (typeof format.schema === 'boolean') return { kind: 'json-schema', schema: format.schema };
  return { kind: 'json-schema', schema: check({ value, path }, WITH_SCHEMA).value.schema };
}

/** Clients learn new words for it faster than gateways: what it says of looks alone refuses no request. */
function noteDisplay({ display }: Thinking, receipt: Receipt): void {
  if ((display ?? null) === null || display === 'summarized' || display === 'omitted') return;
  note(receipt, 'approximated', 'thinking.display', told`Thoughts are shown as summaries.`);
}

/**
 * How to sum up the conversation, where that is asked for in place of the next answer.
 * Source: Messages API, "Compaction on demand" and "Compaction at a token threshold".
 * @throws GatewayError for a kind of compaction nobody here knows.
 */
export function readSummaryWish(compaction: NonNullable<Body['compaction']>): string {
  if (compaction.type !== 'summarize') throw unknownTag(compaction, 'compaction', "'summarize'");
  const instructions = compaction.instructions ?? '';
  return instructions.trim() === '' ? SUMMARY_INSTRUCTIONS : instructions;
}

/** A summary in the history: everything before it is no longer part of the conversation. */
export interface Summary {
  readonly text: string;
  /** Index of the first block behind it in the content of its message. */
  readonly end: number;
  /** What became of the tools until there; absent when the block does not say. */
  readonly toolChanges: readonly ToolChange[] | undefined;
}

/** The last summary of an assistant message that can be read. */
export function findSummary(content: readonly Block[], message: string): Summary | undefined {
  const index = content.findLastIndex(
    (block) => block.type === 'compaction' && Boolean(block.content),
  );
  const block = content[index];
  if (block?.type !== 'compaction' || !block.content) return undefined;
  const text = tellSummary(block.content);
  const path = `${message}.content.${index}.tool_changes`;
  const toolChanges = block.tool_changes?.flatMap(
    (change, place) => readToolChange(change, `${path}.${place}`).change ?? [],
  );
  return { text, end: index + 1, toolChanges };
}
