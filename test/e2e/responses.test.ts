// The official client on the Responses and text completion surfaces, against the whole gateway.

import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai';
import OpenAI, { BadRequestError, NotFoundError } from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import {
  CALL_ONCE,
  CALL_TWICE,
  GREETING,
  PNG,
  PNG_REPORT,
  RESULT_SEEN,
  WEATHER,
  weatherIn,
} from '../support/prompts.ts';

type Input = OpenAI.Responses.ResponseInputItem[];
type Answer = OpenAI.Responses.Response;

let app: TestApp;
let client: OpenAI;

beforeAll(async () => {
  app = await startApp({ environment: STRICT });
  client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: KEY, maxRetries: 0 });
});
afterAll(() => app.close());

const MODEL = 'alpha-3-pro-high';
const TOOLS: OpenAI.Responses.Tool[] = [
  {
    type: 'function',
    name: WEATHER.name,
    description: WEATHER.description,
    parameters: { ...WEATHER.schema, additionalProperties: false },
    strict: true,
  },
];

async function ask(
  body: OpenAI.Responses.ResponseCreateParamsNonStreaming,
  isStream: boolean,
): Promise<Answer> {
  return isStream
    ? client.responses.stream({ ...body, stream: true }).finalResponse()
    : client.responses.create(body);
}

function callsOf({ output }: Answer) {
  return output.filter((item) => item.type === 'function_call');
}

function resultOf(call: OpenAI.Responses.ResponseFunctionToolCall): Input[number] {
  const { city } = z.object({ city: z.string() }).parse(JSON.parse(call.arguments));
  return { type: 'function_call_output', call_id: call.call_id, output: weatherIn(city) };
}

/** What the official client adds to calls it parsed is its own. */
function sentBack({ output }: Answer): Input {
  return output.flatMap((item): Input => {
    if (item.type === 'message' || item.type === 'reasoning') return [item];
    if (item.type !== 'function_call') return [];
    const { type, id, call_id, name, arguments: text } = item;
    return [{ type, call_id, name, arguments: text, ...(id === undefined ? {} : { id }) }];
  });
}

describe.each([false, true])('stream=%s', (isStream) => {
  test('instructions and a text are answered, with usage', async () => {
    const answer = await ask({ model: MODEL, instructions: 'Be brief.', input: 'Hi' }, isStream);
    expect(answer.output_text).toContain(GREETING);
    expect(answer.output_text).toContain('beginning "Be brief."');
    expect(answer.status).toBe('completed');
    expect(answer.model).toBe(MODEL);
    expect(answer.usage?.total_tokens).toBeGreaterThan(0);
  });

  test('a loop with parallel calls runs without anything kept, the proofs coming back', async () => {
    const input: Input = [{ role: 'user', content: CALL_TWICE }];
    const body = {
      model: MODEL,
      input,
      tools: TOOLS,
      store: false,
      include: ['reasoning.encrypted_content' as const],
      reasoning: { effort: 'low' as const, summary: 'auto' as const },
    };
    const first = await ask(body, isStream);
    expect(callsOf(first)).toHaveLength(2);
    expect(first.output[0]).toMatchObject({ type: 'reasoning', encrypted_content: /^gw1:/ });
    input.push(...sentBack(first), ...callsOf(first).map(resultOf));
    const last = await ask(body, isStream);
    expect(last.output_text).toContain(RESULT_SEEN);
  });

  test('a loop runs on what is kept, by the id of the response before', async () => {
    const first = await ask({ model: MODEL, input: CALL_ONCE, tools: TOOLS }, isStream);
    const input = callsOf(first).map(resultOf);
    const body = { model: MODEL, tools: TOOLS, previous_response_id: first.id };
    const second = await ask({ ...body, input }, isStream);
    expect(second.output_text).toContain(RESULT_SEEN);
    const third = await ask({ ...body, previous_response_id: second.id, input: 'Hi' }, isStream);
    expect(third.output_text).toContain(GREETING);
  });

  test('a picture is seen', async () => {
    const image_url = `data:image/png;base64,${PNG}`;
    const content: OpenAI.Responses.ResponseInputContent[] = [
      { type: 'input_text', text: 'What is this?' },
      { type: 'input_image', image_url, detail: 'auto' },
    ];
    const answer = await ask({ model: MODEL, input: [{ role: 'user', content }] }, isStream);
    expect(answer.output_text).toContain(PNG_REPORT);
  });
});

test('an answer of a schema is parsed', async () => {
  const Shape = z.object({ kind: z.enum(['a', 'b']), count: z.number() });
  const answer = await client.responses.parse({
    model: MODEL,
    input: 'json please',
    text: { format: zodTextFormat(Shape, 'shape') },
  });
  expect(answer.output_parsed).toMatchObject({ kind: 'a' });
});

test('a kept response can be read, listed and deleted, by its own key alone', async () => {
  const answer = await client.responses.create({ model: MODEL, input: 'Hi' });
  expect(await client.responses.retrieve(answer.id)).toMatchObject({ id: answer.id });
  const items = await client.responses.inputItems.list(answer.id);
  expect(items.data).toMatchObject([{ type: 'message', role: 'user' }]);
  await client.responses.delete(answer.id);
  await expect(client.responses.retrieve(answer.id)).rejects.toBeInstanceOf(NotFoundError);
  await expect(
    client.responses.create({ model: MODEL, input: 'x', previous_response_id: answer.id }),
  ).rejects.toMatchObject({
    ...{ status: 400, code: 'previous_response_not_found', param: 'previous_response_id' },
  });
});

test('what is not stored cannot be gone on with', async () => {
  const answer = await client.responses.create({ model: MODEL, input: 'Hi', store: false });
  await expect(client.responses.retrieve(answer.id)).rejects.toBeInstanceOf(NotFoundError);
  await expect(client.responses.cancel('resp_none')).rejects.toBeInstanceOf(NotFoundError);
});

test('what is not offered is refused by name', async () => {
  const body = { model: MODEL, input: 'x', background: true, store: false };
  await expect(client.responses.create(body)).rejects.toMatchObject({ param: 'background' });
  await expect(client.responses.create({ model: MODEL, input: [] })).rejects.toBeInstanceOf(
    BadRequestError,
  );
});

test('a WebSocket is refused so that clients go on over HTTP', async () => {
  const { request } = await import('node:http');
  const status = await new Promise((resolve, reject) => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket', authorization: `Bearer ${KEY}` };
    request(`${app.url}/v1/responses`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
  expect(status).toBe(426);
});

const provider = () => createOpenAI({ apiKey: KEY, baseURL: `${app.url}/v1` });
const tools = {
  weather: tool({
    description: WEATHER.description,
    inputSchema: jsonSchema<{ city: string }>(WEATHER.schema),
    execute: ({ city }) => weatherIn(city),
  }),
};

test.each([true, false])('the Vercel client runs its tool loop (store=%s)', async (store) => {
  const options = {
    model: provider().responses(MODEL),
    prompt: CALL_ONCE,
    tools,
    stopWhen: isStepCount(3),
    providerOptions: { openai: { store, reasoningSummary: 'auto', forceReasoning: true } },
  };
  expect((await generateText(options)).text).toContain(RESULT_SEEN);
  expect(await streamText(options).text).toContain(RESULT_SEEN);
});

test('text completions answer prompts, streamed and not, several at once', async () => {
  const one = await client.completions.create({ model: MODEL, prompt: 'Hi', max_tokens: 400 });
  expect(one.choices[0]?.text).toContain(GREETING);
  const many = await client.completions.create({
    model: MODEL,
    prompt: ['one', 'two'],
    echo: true,
    max_tokens: 400,
  });
  expect(many.choices.map(({ index, text }) => [index, text.slice(0, 3)])).toEqual([
    [0, 'one'],
    [1, 'two'],
  ]);
  let text = '';
  const body = { model: MODEL, prompt: 'Hi', max_tokens: 400, stream: true as const };
  for await (const { choices } of await client.completions.create(body)) {
    text += choices[0]?.text ?? '';
  }
  expect(text).toContain(GREETING);
});
