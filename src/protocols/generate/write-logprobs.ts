// Log-probabilities in this protocol's shape: the chosen tokens and, beside each, its alternatives.

import type { Logprobs, RatedToken } from '../../canonical/event.ts';
import type { JsonObject } from '../../lib/json.ts';

/**
 * The candidate's `avgLogprobs` and `logprobsResult`; nothing when the upstream gave none.
 * Source: ai.google.dev, "GenerateContent API reference", `LogprobsResult`.
 */
export function writeLogprobs(logprobs: Logprobs | undefined): JsonObject {
  if (logprobs === undefined) return {};
  const { average, tokens } = logprobs;
  const written: JsonObject = average === undefined ? {} : { avgLogprobs: average };
  if (tokens.length === 0) return written;
  const result: JsonObject = { chosenCandidates: tokens.map(writeToken) };
  if (tokens.some(({ alternatives }) => alternatives.length > 0)) {
    result.topCandidates = tokens.map(({ alternatives }) => ({
      candidates: alternatives.map(writeToken),
    }));
  }
  return { ...written, logprobsResult: result };
}

function writeToken({ token, id, logprob }: RatedToken): JsonObject {
  return { token, ...(id === undefined ? {} : { tokenId: id }), logProbability: logprob };
}
