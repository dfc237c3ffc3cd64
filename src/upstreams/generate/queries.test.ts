import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { GatewayError } from '../../canonical/error.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ClientRequest } from '../transport/client.ts';
import { access } from './client.test-support.ts';
import { createGeminiApiProfile, createGenericProfile } from './profiles.ts';
import { createQuotaReader } from './queries.ts';

const HOUR = 3_600_000;
const { signal } = new AbortController();

function readerOf(answer: () => JsonObject) {
  const requests: ClientRequest[] = [];
  const clock = createFakeClock();
  const client = {
    readObject: async (request: ClientRequest) => {
      requests.push(request);
      return answer();
    },
  };
  const profile = createGenericProfile({ baseUrl: 'http://u', vocabulary: 'real', auth: 'query' });
  return { read: createQuotaReader({ client, profile, clock }), requests, clock, client };
}

const refusal = (status: number) => (): never => {
  throw new GatewayError({
    kind: 'not-found',
    source: 'upstream',
    message: 'refused',
    failure: { kind: 'path', status },
  });
};

test('tier, project and each model’s rest are read', async () => {
  const { read, requests } = readerOf(() => ({
    tier: 'PRO',
    project: 'proj-1',
    models: [
      { name: 'models/a', remainingFraction: 0.25, resetTime: '2026-11-20T12:00:00Z' },
      { name: 'b', remainingFraction: '0.5', resetTime: '2026-11-20T12:00:00.5+01:00' },
    ],
  }));
  expect(await read(access, signal)).toEqual({
    tier: 'pro',
    projectId: 'proj-1',
    models: [
      { id: 'a', remainingFraction: 0.25, resetsAt: Date.UTC(2026, 10, 20, 12) },
      { id: 'b', remainingFraction: 0.5, resetsAt: Date.UTC(2026, 10, 20, 11) + 500 },
    ],
  });
  expect(requests[0]).toMatchObject({ method: 'GET', path: '/v1beta/quota?key=secret-key' });
});

test('calls that are left are read where the upstream counts them', async () => {
  const amounts = ['20', 7, 0, '-1', 1.5, 'many', undefined];
  const { read } = readerOf(() => ({
    models: amounts.map((remainingAmount, index) => ({
      name: `m${index}`,
      remainingFraction: 0.5,
      ...(remainingAmount === undefined ? {} : { remainingAmount }),
    })),
  }));
  const quota = await read(access, signal);
  expect(quota?.models.map(({ remainingCalls }) => remainingCalls)).toEqual([
    20,
    7,
    0,
    ...Array.from({ length: 4 }, () => undefined),
  ]);
});

test('an amount of something else than requests is none of calls', async () => {
  const row = { name: 'a', remainingFraction: 0.5, remainingAmount: '20' };
  const countOf = async (tokenType: string) => {
    const quota = await readerOf(() => ({ models: [{ ...row, tokenType }] })).read(access, signal);
    return quota?.models[0]?.remainingCalls;
  };
  expect([await countOf('REQUESTS'), await countOf('TOKENS')]).toEqual([20, undefined]);
});

test('V152, P140: a row without a fraction means nothing is left, beside rows that have one', async () => {
  const { read } = readerOf(() => ({
    models: [
      { name: 'a' },
      { name: 'b', remainingFraction: null },
      { name: 'c', remainingFraction: 1 },
    ],
  }));
  const quota = await read(access, signal);
  expect(quota?.models.map((model) => model.remainingFraction)).toEqual([0, 0, 1]);
});

test.each<[string, JsonObject]>([
  ['A10: a list of models', { models: [{ name: 'models/a', displayName: 'A' }, { name: 'b' }] }],
  ['nothing', {}],
  ['words for figures', { models: [{ name: 'a', remainingFraction: 'much', resetTime: 'soon' }] }],
  ['an unknown tier', { tier: 'platinum', models: {} }],
  ['rows that are none', { models: [7, null, {}, { name: '' }, { name: 5 }] }],
])('%s says nothing of a quota', async (_name, answer) => {
  expect(await readerOf(() => answer).read(access, signal)).toBeUndefined();
});

test('a reset time alone is a figure: nothing is left until then', async () => {
  const resetTime = '2026-11-20T12:00:00Z';
  const { read } = readerOf(() => ({ models: [{ name: 'a', resetTime }] }));
  expect(await read(access, signal)).toMatchObject({
    models: [{ id: 'a', remainingFraction: 0, resetsAt: Date.parse(resetTime) }],
  });
});

test.each<[string, JsonObject, object]>([
  ['a tier alone', { tier: 'free' }, { tier: 'free', projectId: undefined, models: [] }],
  ['figures beyond the range', { models: [{ name: 'a', remainingFraction: 7 }] }, rows('a', 1)],
  ['negative figures', { models: [{ name: 'a', remainingFraction: '-1' }] }, rows('a', 0)],
  ['a model twice', { models: [{ name: 'a', remainingFraction: 1 }, { name: 'a' }] }, rows('a', 0)],
  [
    'dates that are none',
    { models: [{ name: 'a', remainingFraction: 0.5, resetTime: 'soon' }] },
    rows('a', 0.5),
  ],
])('an answer with %s is read as far as it goes', async (_name, answer, expected) => {
  expect(await readerOf(() => answer).read(access, signal)).toMatchObject(expected);
});

test('an upstream without the call is asked again after an hour only', async () => {
  let answer: () => JsonObject = refusal(404);
  const { read, requests, clock } = readerOf(() => answer());
  expect(await read(access, signal)).toBeUndefined();
  answer = () => ({ tier: 'free' });
  expect(await read(access, signal)).toBeUndefined();
  expect(requests).toHaveLength(1);
  await clock.advance(HOUR);
  expect(await read(access, signal)).toMatchObject({ tier: 'free' });
});

test('other refusals are told and not remembered', async () => {
  const { read, requests } = readerOf(refusal(503));
  await expect(read(access, signal)).rejects.toMatchObject({ failure: { status: 503 } });
  await expect(read(access, signal)).rejects.toThrow();
  expect(requests).toHaveLength(2);
});

test('an upstream of a profile without the call is never asked', async () => {
  const { client, clock, requests } = readerOf(() => ({}));
  const read = createQuotaReader({ client, profile: createGeminiApiProfile(), clock });
  expect(await read(access, signal)).toBeUndefined();
  expect(requests).toEqual([]);
});

function rows(id: string, remainingFraction: number): object {
  return { models: [{ id, remainingFraction, resetsAt: undefined }] };
}
