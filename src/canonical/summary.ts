// Summaries that a client asks for in place of an answer, and that stand for what was said before.

import type { CanonicalRequest } from './request.ts';

/** What the model is told where the client has no words of its own for it. */
export const SUMMARY_INSTRUCTIONS =
  'Do not answer the conversation above: summarize it, so that it can go on from your summary alone. ' +
  'Keep the task and all that was asked for, decisions and facts, exact names and figures, ' +
  'what is done, what is left, and the next step. Write the summary and nothing else.';

/** The request in words; what would only shape an answer is left out. */
export function askForSummary(request: CanonicalRequest, instructions: string): CanonicalRequest {
  return {
    ...request,
    turns: [...request.turns, { role: 'user', parts: [{ kind: 'text', text: instructions }] }],
    toolChoice: { kind: 'none' },
    parallelToolCalls: undefined,
    stopSequences: [],
    outputFormat: { kind: 'text' },
  };
}

/** What the model is told of a summary in its history. */
export function tellSummary(summary: string): string {
  return `Summary of the conversation so far:\n\n${summary}`;
}
