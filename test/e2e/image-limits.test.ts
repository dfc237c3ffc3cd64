// Image calls when accounts fail or run out: partial answers, other accounts, and the quota of images.

import OpenAI, { APIError, RateLimitError } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import { dailyBudget } from '../support/budgets.ts';
import { refusalOf } from '../support/official-clients.ts';
import { IMAGE_MODEL } from '../support/pictures.ts';

let app: TestApp;
let client: OpenAI;

beforeAll(async () => {
  app = await startApp({ environment: STRICT });
  client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: KEY, maxRetries: 0 });
});
afterEach(() => app.sandbox.clearFaults());
afterAll(() => app.close());

describe('several images of which some fail', () => {
  test('what succeeded is answered, and the receipt says what is missing', async () => {
    await app.sandbox.addFault({ status: 400, message: 'No.', count: 1 });
    const { data, response } = await client.images
      .generate({ model: IMAGE_MODEL, prompt: 'A red boat', n: 3 })
      .withResponse();
    expect(data.data).toHaveLength(2);
    expect(response.headers.get('x-isthmus-receipt')).toContain('dropped=1');
  });

  test('a fault that another account does not have costs nothing', async () => {
    await app.sandbox.addFault({ status: 503, count: 1 });
    const answer = await client.images.generate({ model: IMAGE_MODEL, prompt: 'A red boat', n: 3 });
    expect(answer.data).toHaveLength(3);
  });

  test('when all fail, their error is the answer', async () => {
    await app.sandbox.addFault({ status: 400, message: 'No.', count: 3 });
    const error = await refusalOf(post({ model: IMAGE_MODEL, prompt: 'x', n: 3 }));
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error' });
  });
});

describe('other accounts', () => {
  test.each([
    { status: 429, reason: 'RATE_LIMIT_EXCEEDED' },
    { status: 429, reason: 'QUOTA_EXHAUSTED' },
    { status: 500 },
    { status: 503 },
    { status: 404, message: `models/${IMAGE_MODEL} is not found.` },
  ])('P115 after %j the other account draws', async (fault) => {
    app.clock.skip(48 * 3_600_000);
    await app.sandbox.addFault(fault);
    const { data, response } = await client.images
      .generate({ model: IMAGE_MODEL, prompt: 'A red boat' })
      .withResponse();
    expect(data.data).toHaveLength(1);
    expect(response.headers.get('x-isthmus-attempts')).toBe('2');
  });
});

test('P115 an account that may not use the model is passed over', async () => {
  for (const account of [FIRST, SECOND]) {
    app.clock.skip(48 * 3_600_000);
    await steer(`/sandbox/accounts/${account}`, { forbiddenModels: [IMAGE_MODEL] });
    const answer = await client.images.generate({ model: IMAGE_MODEL, prompt: 'A red boat' });
    expect(answer.data).toHaveLength(1);
    await steer(`/sandbox/accounts/${account}`, { forbiddenModels: [] });
  }
});

describe('quota', () => {
  test('P114 images run out apart from text, and the error has the form of images', async () => {
    app.clock.skip(48 * 3_600_000);
    await leave(0, 0);
    const error = await refusalOf(post({ model: `${IMAGE_MODEL}-4k`, prompt: 'x' }));
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error.error).toEqual({
      type: 'quota_exceeded',
      message: expect.stringMatching(
        /^No accounts are available with quota for the requested model\. Try again in \d+ \w+\.$/,
      ),
    });
    const words = await client.chat.completions.create({
      model: 'alpha-3-flash',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(words.choices).toHaveLength(1);
    await leave(1000, 1000);
  });

  test('200 calls at once draw exactly what the quota holds', async () => {
    app.clock.skip(48 * 3_600_000);
    await leave(20, 0);
    const calls = Array.from({ length: 200 }, async (_, index) =>
      client.images.generate({ model: IMAGE_MODEL, prompt: `boat ${index}` }).then(
        () => 'drawn',
        (error: unknown) => (error instanceof APIError ? error.type : 'other'),
      ),
    );
    const results = await Promise.all(calls);
    expect(results.filter((result) => result === 'drawn')).toHaveLength(20);
    expect(results.filter((result) => result === 'quota_exceeded')).toHaveLength(180);
    await leave(1000, 1000);
  });
});

test('a limit of images notes nothing of native requests, which go as they came', async () => {
  const { access } = app.app;
  const { secret, listed } = await access.keys.create({ name: 'Ada' });
  await access.budgets.create(dailyBudget(listed.key.id, 'images', 5));
  const inlineData = { mimeType: 'video/mp4', data: 'AAAA' };
  const parts = [{ inlineData, videoMetadata: { fps: 1 } }, { text: 'Hi' }];
  const answer = await fetch(`${app.url}/v1beta/models/alpha-3-flash:generateContent`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${secret}`,
      'x-isthmus-strict': '1',
    },
    body: JSON.stringify({ contents: [{ role: 'user', parts }] }),
  });
  expect(await answer.json()).toMatchObject({ candidates: [expect.anything()] });
  expect(answer.headers.get('x-isthmus-receipt')).toBeNull();
});

async function post(body: JsonObject): Promise<OpenAI.ImagesResponse> {
  return client.post('/images/generations', { body });
}

const FIRST = 'ada@sandbox.example';
const SECOND = 'grace@sandbox.example';

/** Sets what is left of the image quota of both accounts. */
async function leave(first: number, second: number): Promise<void> {
  await steer('/sandbox/quota', { account: FIRST, model: IMAGE_MODEL, remaining: first });
  await steer('/sandbox/quota', { account: SECOND, model: IMAGE_MODEL, remaining: second });
}

async function steer(path: string, body: JsonObject): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(app.sandbox.url + path, init);
  if (!answer.ok) throw new Error(await answer.text());
}
