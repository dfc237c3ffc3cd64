// Reads the log-probabilities of a candidate's tokens.

import type { Logprobs, RatedToken, TokenLogprob } from '../../canonical/event.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { itemsOf, objectOf } from '../read-values.ts';

/** Grows with the frames of one candidate. */
export interface GatheredLogprobs extends Logprobs {
  readonly tokens: TokenLogprob[];
  average: number | undefined;
}

/**
 * Adds what this frame tells: tokens are added up, the last average counts.
 * `topCandidates` has an entry a decoding step, as `chosenCandidates` has.
 * Source: ai.google.dev, "GenerateContent API reference", `LogprobsResult`.
 */
export function addLogprobs(
  choice: { logprobs: GatheredLogprobs | undefined },
  { logprobsResult, avgLogprobs }: JsonObject,
): void {
  const tokens = isJsonObject(logprobsResult) ? readTokens(logprobsResult) : [];
  const average = readNumber(avgLogprobs) ?? choice.logprobs?.average;
  if (tokens.length === 0 && average === undefined) return;
  const gathered: GatheredLogprobs = choice.logprobs ?? { tokens: [], average };
  for (const token of tokens) gathered.tokens.push(token);
  gathered.average = average;
  choice.logprobs = gathered;
}

function readTokens({ chosenCandidates, topCandidates }: JsonObject): TokenLogprob[] {
  const steps = itemsOf(topCandidates);
  return itemsOf(chosenCandidates).flatMap((chosen, index) => {
    const token = readToken(chosen);
    if (token === undefined) return [];
    const step = steps[index];
    const alternatives = itemsOf(objectOf(step)?.candidates);
    return [{ ...token, alternatives: alternatives.flatMap((one) => readToken(one) ?? []) }];
  });
}

/** An absent log-probability is 0: the wire leaves zeros out. */
function readToken(value: JsonValue): RatedToken | undefined {
  if (!isJsonObject(value) || typeof value.token !== 'string') return undefined;
  const { token } = value;
  return { token, id: readNumber(value.tokenId), logprob: readNumber(value.logProbability) ?? 0 };
}
