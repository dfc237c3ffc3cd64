import { expect, test } from 'vitest';
import { requestOf, user } from '../../test/support/canonical.ts';
import { invalidRequest } from '../canonical/error.ts';
import { TokenEstimator } from './stream-observer.ts';

const prompt = requestOf({ turns: [user('x'.repeat(4000))] });

test('text counts about a token for four bytes, an image its tile', () => {
  const estimator = new TokenEstimator();
  const image = { kind: 'base64', base64: 'A'.repeat(100_000) } as const;
  const picture = requestOf({
    turns: [user({ kind: 'media', modality: 'image', mediaType: 'image/png', source: image })],
  });
  expect(estimator.estimate(prompt)).toBe(1000);
  expect(estimator.estimate(picture)).toBe(258);
  expect(estimator.estimate(requestOf({}))).toBe(1);
});

test('a relayed body that is not understood here counts about a token for four bytes as well', () => {
  const estimator = new TokenEstimator();
  const body = { messages: [{ role: 'user', content: 'x'.repeat(400) }] };
  const call = {
    relay: { wire: 'messages', body },
    get request(): never {
      throw invalidRequest('messages', 'messages: not understood.');
    },
  };
  expect(estimator.estimateCall(call)).toBe(Math.ceil(JSON.stringify(body).length / 4));
});

test('observed counts move the estimate towards the upstream, outliers only so far', () => {
  const estimator = new TokenEstimator();
  for (let turn = 0; turn < 60; turn += 1) estimator.observe(prompt, 1300);
  expect(estimator.estimate(prompt)).toBeGreaterThan(1290);
  expect(estimator.estimate(prompt)).toBeLessThanOrEqual(1300);
  for (let turn = 0; turn < 200; turn += 1) estimator.observe(prompt, 10 ** 9);
  expect(estimator.estimate(prompt)).toBeLessThanOrEqual(4000);
});

test('a change of the upstream’s counting is still learned after many answers', () => {
  const estimator = new TokenEstimator();
  for (let turn = 0; turn < 1000; turn += 1) estimator.observe(prompt, 1000);
  for (let turn = 0; turn < 1000; turn += 1) estimator.observe(prompt, 2000);
  expect(estimator.estimate(prompt)).toBeGreaterThan(1900);
});
