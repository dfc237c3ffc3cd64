// How an answer ended, in this protocol's words.

import type { ChoiceEnd, FinishReason } from '../../canonical/event.ts';
import type { JsonObject } from '../../lib/json.ts';
import { writeLogprobs } from './write-logprobs.ts';

/** There is no finish reason for tool calls, nor for stop sequences: both are STOP. */
const FINISH_REASONS: Readonly<Record<Exclude<FinishReason, 'prompt-blocked'>, string>> = {
  stop: 'STOP',
  'tool-calls': 'STOP',
  'stop-sequence': 'STOP',
  'max-tokens': 'MAX_TOKENS',
  safety: 'SAFETY',
};

/** More exact words an upstream of this family may have used for the same ending. */
const EXACT_REASONS: Readonly<Record<string, FinishReason>> = {
  LANGUAGE: 'stop',
  OTHER: 'stop',
  RECITATION: 'safety',
  BLOCKLIST: 'safety',
  PROHIBITED_CONTENT: 'safety',
  SPII: 'safety',
  IMAGE_SAFETY: 'safety',
  IMAGE_PROHIBITED_CONTENT: 'safety',
  IMAGE_RECITATION: 'safety',
  ESCALATION: 'safety',
  MODEL_ARMOR: 'safety',
};

const BLOCK_REASONS = new Set([
  'SAFETY',
  'OTHER',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'IMAGE_SAFETY',
  'MODEL_ARMOR',
  'JAILBREAK',
]);

/** The candidate's `finishReason` and `finishMessage`, and what is known of the whole choice. */
export function writeFinish(end: ChoiceEnd): JsonObject {
  const finish: JsonObject = { finishReason: writeReason(end), ...writeLogprobs(end.logprobs) };
  if (end.message !== undefined) finish.finishMessage = end.message;
  return finish;
}

/** The answer's `promptFeedback` when the prompt itself was refused. */
export function writePromptFeedback(end: ChoiceEnd): JsonObject {
  const raw = end.rawReason ?? '';
  const feedback: JsonObject = { blockReason: BLOCK_REASONS.has(raw) ? raw : 'OTHER' };
  if (end.message !== undefined) feedback.blockReasonMessage = end.message;
  return feedback;
}

function writeReason(end: ChoiceEnd): string {
  const raw = end.rawReason ?? '';
  if (Object.hasOwn(EXACT_REASONS, raw) && EXACT_REASONS[raw] === end.reason) return raw;
  return end.reason === 'prompt-blocked' ? 'OTHER' : FINISH_REASONS[end.reason];
}
