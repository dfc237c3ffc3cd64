import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { frame, reply } from './decode.test-support.ts';

const rated = (token: string, logProbability?: number): JsonObject =>
  logProbability === undefined ? { token } : { token, tokenId: 7, logProbability };

test('log-probabilities of all frames are joined, alternatives beside their token', () => {
  const first = {
    chosenCandidates: [rated('He', -0.1), rated('l', -0.5)],
    topCandidates: [
      { candidates: [rated('He', -0.1), rated('Yo', -2)] },
      { candidates: [rated('l', -0.5)] },
    ],
  };
  const { choices } = reply(
    frame([{ text: 'Hel' }], { logprobsResult: first }),
    frame([{ text: 'lo' }], {
      finishReason: 'STOP',
      avgLogprobs: -0.2,
      logprobsResult: { chosenCandidates: [rated('lo')] },
    }),
  );
  const he = { token: 'He', id: 7, logprob: -0.1 };
  const l = { token: 'l', id: 7, logprob: -0.5 };
  expect(choices[0]?.end.logprobs).toEqual({
    average: -0.2,
    tokens: [
      { ...he, alternatives: [he, { token: 'Yo', id: 7, logprob: -2 }] },
      { ...l, alternatives: [l] },
      { token: 'lo', logprob: 0, alternatives: [] },
    ],
  });
});

test('an answer without them has none, and odd shapes are passed over', () => {
  const end = (rest: JsonObject) =>
    reply(frame([{ text: 'a' }], { finishReason: 'STOP', ...rest })).choices[0]?.end;
  expect(end({})?.logprobs).toBeUndefined();
  expect(end({ logprobsResult: 'none' })?.logprobs).toBeUndefined();
  expect(end({ logprobsResult: { chosenCandidates: [1, {}, null] } })?.logprobs).toBeUndefined();
  const logprobsResult = { chosenCandidates: [rated('a', -1)], topCandidates: [7] };
  expect(end({ logprobsResult })?.logprobs?.tokens).toMatchObject([{ alternatives: [] }]);
  expect(end({ avgLogprobs: -3 })?.logprobs).toEqual({ tokens: [], average: -3 });
});

test('an average that a later frame does not repeat stays', () => {
  const { choices } = reply(
    frame([{ text: 'a' }], { avgLogprobs: -3 }),
    frame([{ text: 'b' }], {
      finishReason: 'STOP',
      logprobsResult: { chosenCandidates: [rated('b', -1)] },
    }),
  );
  expect(choices[0]?.end.logprobs).toMatchObject({ average: -3, tokens: [{ token: 'b' }] });
});
