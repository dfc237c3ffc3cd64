// Responses that are made in the background, with the official client: polled, cancelled, deleted, bounded.

import OpenAI, { APIError } from 'openai';
import type { Response as ResponseObject } from 'openai/resources/responses/responses';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';

const MODEL = 'alpha-3-flash';
const ASKED = { model: MODEL, input: 'Hello there', background: true } as const;
const SLOW = { ...ASKED, input: 'UPSTREAM-SLOW 60000 Hello' } as const;

let app: TestApp;
let client: OpenAI;

beforeAll(async () => {
  app = await startApp();
  client = clientOf(app);
});
afterEach(() => app.sandbox.clearFaults());
afterAll(() => app.close());

function clientOf({ url }: TestApp, apiKey = 'any'): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
}

async function ended(id: string): Promise<ResponseObject> {
  return expect
    .poll(() => client.responses.retrieve(id), { interval: 5 })
    .not.toMatchObject({ status: expect.stringMatching(/queued|in_progress/) })
    .then(() => client.responses.retrieve(id));
}

describe('from the question to the answer', () => {
  test('the client is told at once, and finds the answer when it looks again', async () => {
    const queued = await client.responses.create(ASKED);
    expect(queued).toMatchObject({ status: 'queued', background: true, output: [], usage: null });
    const answer = await ended(queued.id);
    expect(answer).toMatchObject({ id: queued.id, status: 'completed', background: true });
    expect(answer.created_at).toBe(queued.created_at);
    expect(answer.completed_at).toBeGreaterThanOrEqual(queued.created_at);
    expect(answer.output_text).toContain('Hello there');
    expect(answer.usage?.total_tokens).toBeGreaterThan(0);
    const items = await client.responses.inputItems.list(queued.id);
    expect(items.data).toHaveLength(1);
    const next = await client.responses.create({
      model: MODEL,
      input: 'And now?',
      previous_response_id: queued.id,
    });
    expect(next.status).toBe('completed');
  });

  test('while it is made it says so, and cannot be gone on from', async () => {
    const { id } = await client.responses.create(SLOW);
    expect(await client.responses.retrieve(id)).toMatchObject({
      status: 'in_progress',
      output: [],
    });
    const next = client.responses.create({ model: MODEL, input: 'x', previous_response_id: id });
    await expect(next).rejects.toMatchObject({ status: 400, param: 'previous_response_id' });
    await client.responses.cancel(id);
  });

  test('a limit of tokens makes it incomplete', async () => {
    const { id } = await client.responses.create({ ...ASKED, max_output_tokens: 3 });
    expect(await ended(id)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
  });

  test.each([
    ['before anything came', { status: 400, message: 'No.' }],
    ['in the middle', { cutAfterEvents: 2 }],
  ])('what fails %s is a failed response', async (_when, fault) => {
    await app.sandbox.addFault(fault);
    const { id } = await client.responses.create({ ...ASKED, input: 'UPSTREAM-WORDS 200' });
    const answer = await ended(id);
    expect(answer).toMatchObject({ id, status: 'failed', error: { code: expect.any(String) } });
    expect(answer.error?.message).not.toBe('');
    const next = client.responses.create({ model: MODEL, input: 'x', previous_response_id: id });
    await expect(next).rejects.toMatchObject({ status: 400 });
  });

  test('it becomes part of its conversation when it is there', async () => {
    const { id: conversation } = await client.conversations.create();
    const { id } = await client.responses.create({ ...ASKED, conversation });
    await ended(id);
    const items = await client.conversations.items.list(conversation);
    expect(items.data).toHaveLength(2);
  });
});

describe('ending it early', () => {
  test('a cancelled response stays cancelled, and the call upstream ends', async () => {
    const { id } = await client.responses.create(SLOW);
    await expect.poll(lastCall, { interval: 5 }).toMatchObject({ body: { contents: [SLOW_TURN] } });
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' });
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' });
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'cancelled', error: null });
    await expect.poll(lastCall, { interval: 5 }).toMatchObject({ ended: 'client-gone' });
  });

  test('what has ended is shown as it ended', async () => {
    const { id } = await client.responses.create(ASKED);
    await ended(id);
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'completed' });
  });

  test('only what is made in the background can be cancelled', async () => {
    const { id } = await client.responses.create({ model: MODEL, input: 'Hi' });
    await expect(client.responses.cancel(id)).rejects.toMatchObject({ status: 400 });
    await expect(client.responses.cancel('resp_none')).rejects.toMatchObject({ status: 404 });
  });

  test('a deleted response does not come back', async () => {
    const { id } = await client.responses.create(SLOW);
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await expect(client.responses.cancel(id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('what is refused', () => {
  test.each([
    [{ store: false }, 'background'],
    [{ stream: true }, 'stream'],
    [{ background: 'yes' }, 'background'],
  ])('%j is a 400 that names the field', async (fields, param) => {
    const call = client.post('/responses', { body: { ...ASKED, ...fields } });
    await expect(call).rejects.toMatchObject({ status: 400, param });
  });

  test('more than one may hold', async () => {
    const call = client.responses.create({ ...ASKED, input: 'x'.repeat(16 * 1024 * 1024) });
    await expect(call).rejects.toMatchObject({ status: 413, param: 'background' });
  });

  test('a stream of it, begun later', async () => {
    const { id } = await client.responses.create(ASKED);
    await ended(id);
    const call = client.responses.retrieve(id, { stream: true });
    await expect(call).rejects.toMatchObject({ status: 400, param: 'stream' });
  });

  test('an unknown model, at the end', async () => {
    const { id } = await client.responses.create({ ...ASKED, model: 'no-such-model' });
    expect(await ended(id)).toMatchObject({ status: 'failed' });
  });
});

test('number is bounded, and keys see their own alone', async () => {
  const strict = await startApp({ environment: STRICT });
  const mine = clientOf(strict, KEY);
  const { secret } = await strict.app.access.keys.create({ name: 'Ada' });
  const hers = clientOf(strict, secret);
  const calls = Array.from({ length: 20 }, () =>
    mine.responses.create(SLOW).then(
      ({ id }) => id,
      (error: unknown) => (error instanceof APIError ? error.status : String(error)),
    ),
  );
  const outcomes = await Promise.all(calls);
  expect(outcomes.filter((outcome) => outcome === 429)).toHaveLength(4);
  const [first = ''] = outcomes.filter((outcome) => typeof outcome === 'string');
  for (const ask of ['retrieve', 'cancel', 'delete'] as const) {
    await expect(hers.responses[ask](first)).rejects.toMatchObject({ status: 404 });
  }
  expect(await mine.responses.cancel(first)).toMatchObject({ status: 'cancelled' });
  const { id } = await hers.responses.create(ASKED);
  expect(id).toMatch(/^resp_/);
  // Waiting for what is being made would take a minute, which no test has.
  await strict.close();
});

test('a key pays for what is made in the background, and no more', async () => {
  const strict = await startApp({ environment: STRICT });
  const { secret, listed } = await strict.app.access.keys.create({ name: 'Ada' });
  const hers = clientOf(strict, secret);
  const { id } = await hers.responses.create(ASKED);
  const used = () => strict.app.access.keys.get(listed.key.id)?.usedToday;
  await expect.poll(async () => (await hers.responses.retrieve(id)).status).toBe('completed');
  const { usage } = await hers.responses.retrieve(id);
  await expect.poll(() => used()?.tokens).toBe(usage?.total_tokens);
  await strict.close();
});

const SLOW_TURN = expect.objectContaining({ parts: [{ text: SLOW.input }] });

async function lastCall(): Promise<unknown> {
  return (await app.sandbox.requests()).at(-1);
}
