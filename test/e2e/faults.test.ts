// What clients notice of upstream trouble: nothing while another account can help, then their protocol's error.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { countOf } from '../support/counts.ts';
import { type Answer, PROTOCOL_CALLS, send, withoutIds } from '../support/protocol-calls.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
/** What the test before did to the accounts is long ago. */
beforeEach(async () => {
  await app.sandbox.clearFaults();
  app.clock.skip(48 * 3_600_000);
  const { book } = app.app;
  for (const { record } of book.list()) book.apply(record.id, { kind: 'enable' });
});

/** Bytes between the places a stream is cut at. */
const CUT_EVERY = countOf({ slow: 17, everyday: 67 });

/** The account the first attempt goes to. */
const FIRST = { account: 'ada@sandbox.example' };
const ASK_FIRST = { 'x-preferred-account': 'key-1@env' };

/** Faults of one account or of the way to it. */
const FAULTS: readonly (readonly [string, JsonObject])[] = [
  ['a limit', { status: 429, reason: 'RATE_LIMIT_EXCEEDED', retryDelay: '12s' }],
  ['a used-up quota', { status: 429, reason: 'QUOTA_EXHAUSTED' }],
  ['a refused credential', { status: 401 }],
  ['a forbidden account', { status: 403 }],
  ['a failing server', { status: 500 }],
  ['a bad gateway', { status: 502 }],
  ['a connection that dies before the first byte', { cutAfterBytes: 0, count: 2 }],
  ['a connection that dies within the first event', { cutAfterBytes: 20 }],
  ['a body that ends within the first event', { cutAfterBytes: 20, cutKind: 'end' }],
  ['an answer without content', { emptyStream: true }],
];
const STREAM_FAULTS: readonly (readonly [string, JsonObject])[] = [
  ['an error in place of the first event', { errorAfterEvents: 0 }],
  ['a bare error in place of the first event', { errorAfterEvents: 0, rawError: true }],
];

describe.each(PROTOCOL_CALLS)('$name', (call) => {
  describe.each([false, true])('stream=%s', (stream) => {
    const faults = stream ? [...FAULTS, ...STREAM_FAULTS] : FAULTS;
    test.each(faults)('V146 %s of one account is invisible', async (_what, fault) => {
      const expected = await send(app.url, call, { stream, headers: ASK_FIRST });
      await app.sandbox.addFault({ ...FIRST, ...fault });
      const answer = await send(app.url, call, { stream, headers: ASK_FIRST });
      expect(answer.status).toBe(200);
      expect(Number(answer.headers.get('x-isthmus-attempts'))).toBeGreaterThan(1);
      expect(withoutIds(answer)).toEqual(withoutIds(expected));
      if (stream) expect(call.isComplete(answer.text)).toBe(true);
    });

    test('an overloaded upstream is asked once more', async () => {
      await app.sandbox.addFault({ status: 503 });
      expect((await send(app.url, call, { stream })).status).toBe(200);
    });

    test('V147 when all accounts are limited: 429 with the wait', async () => {
      const limit = { status: 429, reason: 'RATE_LIMIT_EXCEEDED', retryDelay: '12s' };
      await app.sandbox.addFault({ ...limit, count: 2 });
      for (const attempts of ['2', null]) {
        const answer = await send(app.url, call, { stream });
        expect(answer.status).toBe(429);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(9);
        expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(12);
        expect(answer.headers.get('x-isthmus-attempts')).toBe(attempts);
        const words = {
          chat: 'rate_limit_exceeded',
          messages: 'rate_limit_error',
          generate: 'RESOURCE_EXHAUSTED',
        };
        expect(answer.body).toEqual(call.error({ status: 429, ...words }));
      }
    });

    test('P146 when all credentials are refused: 503, never 401 or 403', async () => {
      await app.sandbox.addFault({ status: 401, count: 9 });
      const answer = await send(app.url, call, { stream });
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).not.toBeNull();
      const words = {
        chat: 'upstream_account_unavailable',
        messages: 'api_error',
        generate: 'UNAVAILABLE',
      };
      expect(answer.body).toEqual(call.error({ status: 503, ...words }));
    });

    test('an upstream that stays overloaded: its own status', async () => {
      await app.sandbox.addFault({ status: 503, count: 9 });
      const answer = await send(app.url, call, { stream });
      expect(answer.status).toBe(call.name === 'messages' ? 529 : 503);
      expect(answer.headers.get('retry-after')).not.toBeNull();
    });

    test('a request the upstream refuses is not tried elsewhere', async () => {
      await app.sandbox.addFault({ status: 400 });
      const answer = await send(app.url, call, { stream });
      expect(answer.status).toBe(400);
      expect(answer.headers.get('x-isthmus-attempts')).toBe('1');
    });
  });

  test.each(['reset', 'end'])(
    'P081 a stream cut anywhere (%s) ends in an error or was never begun',
    async (cutKind) => {
      const whole = await send(app.url, call, { stream: true });
      const length = await upstreamLength(whole);
      let late = 0;
      const cuts = [length - 2, length - 1, length];
      for (let cut = 1; cut < length; cut += CUT_EVERY) cuts.push(cut);
      for (const cutAfterBytes of cuts) {
        app.clock.skip(600_000);
        await app.sandbox.addFault({ cutAfterBytes, cutKind });
        const answer = await send(app.url, call, { stream: true });
        expect(answer.status).toBe(200);
        const isComplete = call.isComplete(answer.text);
        expect(isComplete, `cut after ${cutAfterBytes}:\n${answer.text}`).toBe(
          !call.hasError(answer.text),
        );
        if (isComplete) expect(withoutIds(answer)).toEqual(withoutIds(whole));
        else late += 1;
      }
      expect(late).toBeGreaterThan(10);
    },
  );

  test.each([false, true])(
    'an error event in the middle ends the stream (bare=%s)',
    async (bare) => {
      await app.sandbox.addFault({ errorAfterEvents: 2, rawError: bare });
      const answer = await send(app.url, call, { stream: true });
      expect(answer.status).toBe(200);
      expect(call.hasError(answer.text)).toBe(true);
      expect(call.isComplete(answer.text)).toBe(false);
    },
  );

  test('P091 what cannot be read is an error, never left out in silence', async () => {
    await app.sandbox.addFault({ garbage: true });
    const answer = await send(app.url, call, { stream: true });
    expect(call.hasError(answer.text)).toBe(true);
    expect(call.isComplete(answer.text)).toBe(false);
  });
});

/** What the sandbox itself would send for the question of a translated call. */
async function upstreamLength(answer: Answer): Promise<number> {
  expect(answer.status).toBe(200);
  const request = (await app.sandbox.requests()).at(-1);
  const headers = { 'content-type': 'application/json', ...app.sandbox.authorization };
  const response = await fetch(`${app.sandbox.url}${String(request?.path)}?alt=sse`, {
    method: 'POST',
    headers,
    body: JSON.stringify(request?.body),
  });
  return (await response.text()).length;
}
