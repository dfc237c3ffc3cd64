// Responses that are made in the background, with the official client: polled, cancelled, deleted, bounded.

import OpenAI, { APIError } from 'openai';
import type {
  Response as ResponseObject,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
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

describe('read along', () => {
  const STREAMED = { ...ASKED, input: 'UPSTREAM-WORDS 50', stream: true } as const;

  async function take(
    stream: AsyncIterable<ResponseStreamEvent>,
    most = Number.POSITIVE_INFINITY,
  ): Promise<ResponseStreamEvent[]> {
    const events: ResponseStreamEvent[] = [];
    for await (const event of stream) if (events.push(event) >= most) break;
    return events;
  }

  const numbersOf = (events: readonly ResponseStreamEvent[]): number[] =>
    events.map(({ sequence_number: number }) => number);

  test('a stream says at once that it is queued, and ends as the response is kept', async () => {
    const events = await take(await client.responses.create(STREAMED));
    expect(numbersOf(events)).toEqual(events.map((_event, index) => index));
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual([
      ...['response.created', 'response.queued', 'response.in_progress'],
    ]);
    const last = events.at(-1);
    if (last?.type !== 'response.completed') throw new Error(`It ended with ${last?.type}.`);
    const {
      completed_at: _at,
      output_text: _text,
      ...kept
    } = await client.responses.retrieve(last.response.id);
    expect(last.response).toMatchObject({ ...kept, background: true });
  });

  test('who left reads on behind what they have, also when it has ended', async () => {
    const begun = await take(
      await client.responses.create({ ...STREAMED, input: 'UPSTREAM-SLOW 200 Hello there' }),
      3,
    );
    const [first] = begun;
    if (first?.type !== 'response.created') throw new Error('It did not begin.');
    const { id } = first.response;
    const again = { stream: true, starting_after: 2 } as const;
    const rest = await take(await client.responses.retrieve(id, again));
    expect(numbersOf([...begun, ...rest])).toEqual([...begun, ...rest].map((_one, at) => at));
    expect(rest.at(-1)).toMatchObject({ type: 'response.completed', response: { id } });
    expect(await take(await client.responses.retrieve(id, again))).toEqual(rest);
    const whole = await client.responses.stream({ response_id: id }).finalResponse();
    expect(whole.output_text).toContain('Hello there');
    const all = { stream: true, starting_after: begun.length + rest.length - 1 } as const;
    expect(await take(await client.responses.retrieve(id, all))).toEqual([]);
    const behind = { stream: true, starting_after: 10_000 } as const;
    await expect(client.responses.retrieve(id, behind)).rejects.toMatchObject({ status: 400 });
  });

  test.each([
    ['before anything came', { status: 400, message: 'No.' }],
    ['in the middle', { cutAfterEvents: 2 }],
  ])('what fails %s ends its stream', async (_when, fault) => {
    await app.sandbox.addFault(fault);
    const events = await take(await client.responses.create(STREAMED));
    const last = events.at(-1);
    if (last?.type !== 'response.failed') throw new Error(`It ended with ${last?.type}.`);
    expect(numbersOf(events)).toEqual(events.map((_event, index) => index));
    const kept = await client.responses.retrieve(last.response.id);
    expect(kept).toMatchObject({ status: 'failed', error: last.response.error });
  });

  test('cancelling ends the stream of everyone who reads', async () => {
    const stream = await client.responses.create({ ...SLOW, stream: true });
    const events: ResponseStreamEvent[] = [];
    for await (const event of stream) {
      events.push(event);
      if (event.type === 'response.queued') await client.responses.cancel(event.response.id);
    }
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'cancelled' },
    });
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
    [{ background: 'yes' }, 'background'],
  ])('%j is a 400 that names the field', async (fields, param) => {
    const call = client.post('/responses', { body: { ...ASKED, ...fields } });
    await expect(call).rejects.toMatchObject({ status: 400, param });
  });

  test('more than one may hold', async () => {
    const call = client.responses.create({ ...ASKED, input: 'x'.repeat(16 * 1024 * 1024) });
    await expect(call).rejects.toMatchObject({ status: 413, param: 'background' });
  });

  test('a stream of what was not asked for as one', async () => {
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
