// How much the sandbox thinks, and the summary it shows when asked to.

import type { SandboxModel } from '../models.ts';
import { countTextTokens, cutToTokens } from '../tokens.ts';
import type { GenerateRequest, ThinkingConfig } from '../wire.ts';
import type { LastTurn } from './last-turn.ts';
import { quote } from './reflection.ts';

export interface Thinking {
  readonly tokens: number;
  /** Empty unless the request includes thoughts. */
  readonly summary: string;
}

const NO_THINKING: Thinking = { tokens: 0, summary: '' };

/** Thinks within its budget and within half of the output limit, so that an answer always has room. */
export function planThinking(
  request: GenerateRequest,
  model: SandboxModel,
  turn: LastTurn,
): Thinking {
  const { thinkingConfig = {}, maxOutputTokens } = request.generationConfig ?? {};
  const budget = thinkingConfig.thinkingBudget ?? -1;
  if (budget === 0 || !isThinking(thinkingConfig, model)) return NO_THINKING;
  const thoughts = writeThoughts(thinkingConfig, turn);
  const tokens = Math.min(
    countTextTokens(thoughts),
    budget > 0 ? budget : Number.POSITIVE_INFINITY,
    maxOutputTokens === undefined ? Number.POSITIVE_INFINITY : Math.floor(maxOutputTokens / 2),
  );
  const summary = thinkingConfig.includeThoughts === true ? cutToTokens(thoughts, tokens) : '';
  return { tokens, summary };
}

function isThinking(config: ThinkingConfig, { thinking }: SandboxModel): boolean {
  if (thinking === undefined) return false;
  return (
    config.thinkingBudget !== undefined ||
    config.thinkingLevel !== undefined ||
    config.includeThoughts === true
  );
}

function writeThoughts(config: ThinkingConfig, turn: LastTurn): string {
  const subject =
    turn.results.length > 0
      ? `Function responses received: ${turn.results.length}.`
      : `The user says ${quote(turn.text, 40)}.`;
  return `**Reading the request**\n\n${subject} I think ${describeAmount(config)}.`;
}

function describeAmount({ thinkingBudget, thinkingLevel }: ThinkingConfig): string {
  if (thinkingBudget !== undefined && thinkingBudget > 0) {
    return `within ${thinkingBudget} tokens`;
  }
  return thinkingLevel === undefined ? 'as much as I like' : `at level ${thinkingLevel}`;
}
