// Reads what a client says of summaries: the wish for one, and those that stand for earlier messages.
// Source: Messages API, "Compaction on demand" and "Compaction at a token threshold".

import { type Receipt, told } from '../../canonical/receipt.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import { askForSummary, SUMMARY_INSTRUCTIONS, tellSummary } from '../../canonical/summary.ts';
import { isJsonObject } from '../../lib/json.ts';
import {
  asScope,
  fieldAt,
  note,
  optionalArrayAt,
  optionalObjectAt,
  optionalStringAt,
  pathOf,
  type Scope,
  stringAt,
  tagOf,
  unknownTag,
} from './fields.ts';
import { readToolChange, type ToolChange } from './tool-changes.ts';

/** The wish for a summary of the conversation in place of its next answer. */
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
