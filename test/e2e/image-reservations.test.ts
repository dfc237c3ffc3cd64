// Image calls at once on quotas that are known to the call: what is left is sent, and nothing more.

import OpenAI, { APIError } from 'openai';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import { IMAGE_MODEL } from '../support/pictures.ts';

const FIRST = 'ada@sandbox.example';
const SECOND = 'grace@sandbox.example';

let app: TestApp;
let client: OpenAI;

beforeEach(async () => {
  app = await startApp({ environment: STRICT });
  client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: KEY, maxRetries: 0 });
});
afterEach(() => app.close());

test('200 calls at once send what is left, the others are told at once', async () => {
  await leave(15, 5);
  const outcomes = tally(await drawAtOnce(200));
  expect(outcomes).toEqual({ drawn: 20, 'quota_exceeded after no attempts': 180 });
});

test('calls whose clients leave, or that fail, give back what they reserved', async () => {
  await leave(3, 0);
  await app.sandbox.addFault({ status: 400, message: 'No.', count: 2 });
  expect(tally(await drawAtOnce(2))).toEqual({ 'invalid_request_error after 1 attempts': 2 });
  await app.sandbox.addFault({ delayMs: 60_000, count: 1 });
  const gone = app.nextLine();
  const abort = new AbortController();
  const leaving = client.images
    .generate({ model: IMAGE_MODEL, prompt: 'a slow boat' }, { signal: abort.signal })
    .catch(() => 'left');
  const asked = async () => JSON.stringify((await app.sandbox.requests()).at(-1));
  await expect.poll(asked, { interval: 5 }).toContain('a slow boat');
  abort.abort();
  expect(await leaving).toBe('left');
  await gone;
  expect(tally(await drawAtOnce(5))).toEqual({
    drawn: 3,
    'quota_exceeded after no attempts': 2,
  });
});

test('several images of one call reserve one each, and those without room are left out', async () => {
  await leave(2, 1);
  const answer = await client.images.generate({ model: IMAGE_MODEL, prompt: 'A boat', n: 5 });
  expect(answer.data).toHaveLength(3);
});

/** Sets what is left of the accounts' image quotas, and resolves when the gateway knows. */
async function leave(first: number, second: number): Promise<void> {
  const { book } = app.app;
  for (const [account, remaining] of [
    [FIRST, first],
    [SECOND, second],
  ] as const) {
    await steer({ account, model: IMAGE_MODEL, remaining });
  }
  const known = new Promise<void>((resolve) => {
    const end = book.subscribe(() => {
      const left = book.list().map(({ quotas }) => quotas.get(IMAGE_MODEL)?.remainingCalls);
      if (left[0] !== first || left[1] !== second) return;
      end();
      resolve();
    });
  });
  app.app.start();
  await known;
}

async function steer(body: JsonObject): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(`${app.sandbox.url}/sandbox/quota`, init);
  if (!answer.ok) throw new Error(await answer.text());
}

async function drawAtOnce(count: number): Promise<readonly string[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      client.images.generate({ model: IMAGE_MODEL, prompt: `boat ${index}` }).then(
        () => 'drawn',
        (error: unknown) => {
          if (!(error instanceof APIError)) return String(error);
          const attempts = error.headers?.get('x-isthmus-attempts') ?? 'no';
          return `${error.type} after ${attempts} attempts`;
        },
      ),
    ),
  );
}

function tally(outcomes: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
