// A coding CLI's session on the Responses surface: one account, ids that stay, tools it runs itself.

import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { RESULT_SEEN, WEATHER } from '../support/prompts.ts';

const MODEL = 'alpha-3-pro-high';
let app: TestApp;
let client: OpenAI;

beforeAll(async () => {
  app = await startApp();
  client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'any', maxRetries: 0 });
});
afterAll(() => app.close());

async function lastAccount(): Promise<unknown> {
  return (await app.sandbox.requests()).at(-1)?.account;
}

test.each([
  ['session-id', { headers: { 'session-id': '01a1-codex' } }, {}],
  ['prompt_cache_key', {}, { prompt_cache_key: '01a1-cache' }],
])('%s keeps a session on one account', async (_name, options, fields) => {
  const accounts = new Set<unknown>();
  for (let turn = 0; turn < 4; turn += 1) {
    await client.responses.create({ model: MODEL, input: `Turn ${turn}`, ...fields }, options);
    accounts.add(await lastAccount());
  }
  expect(accounts.size).toBe(1);
});

test.each(['Hi', 'Tell me of the weather in Oslo'])(
  'a conversation that is gone on with stays on the account of its first answer: %s',
  async (input) => {
    let previous = await client.responses.create({ model: MODEL, input });
    const accounts = new Set([await lastAccount()]);
    for (let turn = 0; turn < 4; turn += 1) {
      previous = await client.responses.create({
        ...{ model: MODEL, input: `Turn ${turn}`, instructions: `You are agent ${turn}.` },
        previous_response_id: previous.id,
      });
      accounts.add(await lastAccount());
    }
    expect(accounts.size).toBe(1);
  },
);

test('ids are new in every answer, and those of a kept one stay', async () => {
  const body = { model: MODEL, input: 'Hi', reasoning: { summary: 'auto' as const } };
  const answers = [
    await client.responses.create(body),
    await client.responses.stream(body).finalResponse(),
  ];
  const ids = answers.flatMap(({ id, output }) => [id, ...output.map((item) => item.id)]);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { id, output } of answers) {
    const kept = await client.responses.retrieve(id);
    expect(kept.output.map((item) => item.id)).toEqual(output.map((item) => item.id));
  }
});

test.each([false, true])(
  'a shell of the client is called and answered (stream=%s)',
  async (stream) => {
    const tools: OpenAI.Responses.Tool[] = [{ type: 'shell', environment: { type: 'local' } }];
    const input: OpenAI.Responses.ResponseInput = [
      { role: 'user', content: 'CALL-TOOL shell {"commands":["ls"]}' },
    ];
    const body = { model: MODEL, tools, store: false };
    const ask = (): Promise<OpenAI.Responses.Response> =>
      stream
        ? client.responses.stream({ ...body, input }).finalResponse()
        : client.responses.create({ ...body, input });
    const { output } = await ask();
    const call = output.find((item) => item.type === 'shell_call');
    if (call === undefined) throw new Error('The shell was not called.');
    expect(call.action.commands).toEqual(['ls']);
    const { call_id, action } = call;
    const outcome = { type: 'exit' as const, exit_code: 0 };
    input.push(
      { type: 'shell_call', call_id, action },
      { type: 'shell_call_output', call_id, output: [{ stdout: 'a.txt', stderr: '', outcome }] },
    );
    expect((await ask()).output_text).toContain(RESULT_SEEN);
  },
);

test('tokens are counted without an answer, those of the conversation before included', async () => {
  const { id } = await client.responses.create({ model: MODEL, input: 'One two three four five.' });
  const count = async (body: OpenAI.Responses.InputTokenCountParams) =>
    (await client.responses.inputTokens.count({ model: MODEL, ...body })).input_tokens;
  const alone = await count({ input: 'Hi' });
  expect(alone).toBeGreaterThan(0);
  expect(await count({ input: 'Hi', previous_response_id: id })).toBeGreaterThan(alone);
  const tool = { type: 'function' as const, name: WEATHER.name, strict: false };
  const tools = [{ ...tool, parameters: WEATHER.schema }];
  expect(await count({ input: 'Hi', tools })).toBeGreaterThanOrEqual(alone);
});

test('a conversation is compacted to one item, which the next request goes on from', async () => {
  const compacted = await client.responses.compact({ model: MODEL, input: 'One two three.' });
  expect(compacted).toMatchObject({
    object: 'response.compaction',
    output: [{ type: 'compaction', encrypted_content: expect.stringMatching(/./) }],
    usage: { total_tokens: expect.any(Number) },
  });
  const [item] = compacted.output;
  if (item?.type !== 'compaction') throw new Error('no compaction');
  const input = [item, { role: 'user' as const, content: 'Go on.' }];
  const { status } = await client.responses.create({ model: MODEL, input });
  expect(status).toBe('completed');
  const nameless = client.post('/responses/compact', { body: { input: 'x' } });
  await expect(nameless).rejects.toMatchObject({ status: 400, param: 'model' });
});

test('what is not offered is refused with the way out', async () => {
  const { id } = await client.responses.create({ model: MODEL, input: 'Hi' });
  for (const query of [{ stream: true as const }, { starting_after: 3 }]) {
    const [param] = Object.keys(query);
    await expect(client.responses.retrieve(id, query)).rejects.toMatchObject({
      status: 400,
      param,
    });
  }
  expect(
    await client.responses.retrieve(id, { include: ['reasoning.encrypted_content'] }),
  ).toMatchObject({ id });
});
