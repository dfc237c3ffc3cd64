// Reads the log-probabilities of one candidate, frame by frame.

import type { Logprobs, RatedToken, TokenLogprob } from '../../canonical/event.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';

/** Grows with the frames of one candidate. */
export interface GatheredLogprobs extends Logprobs {
  readonly tokens: TokenLogprob[];
  average: number | undefined;
}

/**
 * What is known so far with what this frame adds: tokens are added up, the last average counts.
 * `topCandidates` has an entry a decoding step, as `chosenCandidates` has.
 * Source: ai.google.dev, "GenerateContent API reference", `LogprobsResult`.
 */
export function addLogprobs(
  known: GatheredLogprobs | undefined,
  { logprobsResult, avgLogprobs }: JsonObject,
): GatheredLogprobs | undefined {
  if (logprobsResult === undefined && avgLogprobs === undefined) return known;
  const tokens = isJsonObject(logprobsResult) ? readTokens(logprobsResult) : [];
  const average = readNumber(avgLogprobs) ?? known?.average;
  if (tokens.length === 0 && average === undefined) return known;
  const gathered = known ?? { tokens: [], average };
  for (const token of tokens) gathered.tokens.push(token);
  gathered.average = average;
  return gathered;
}

function readTokens({ chosenCandidates, topCandidates }: JsonObject): TokenLogprob[] {
  const steps = listOf(topCandidates);
  return listOf(chosenCandidates).flatMap((chosen, index) => {
    const token = readToken(chosen);
    if (token === undefined) return [];
    const step = steps[index];
    const alternatives = isJsonObject(step) ? listOf(step.candidates) : [];
    return [{ ...token, alternatives: alternatives.flatMap((one) => readToken(one) ?? []) }];
  });
}

/** An absent log-probability is 0: the wire leaves zeros out. */
function readToken(value: JsonValue): RatedToken | undefined {
  if (!isJsonObject(value) || typeof value.token !== 'string') return undefined;
  const { token } = value;
  return { token, id: readNumber(value.tokenId), logprob: readNumber(value.logProbability) ?? 0 };
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
