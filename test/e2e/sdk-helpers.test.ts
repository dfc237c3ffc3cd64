// The helper classes of the official clients as judges: accumulators, parsers, tool runners, chats.

import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import { type CallableTool, type FunctionCall, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import {
  CALL_ONCE,
  CALL_TWICE,
  GREETING,
  RESULT_SEEN,
  WEATHER,
  weatherIn,
} from '../support/prompts.ts';

let app: TestApp;
let openai: OpenAI;
let anthropic: Anthropic;
let genai: GoogleGenAI;

beforeAll(async () => {
  app = await startApp({ environment: STRICT });
  openai = new OpenAI({ apiKey: KEY, baseURL: `${app.url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: KEY, baseURL: app.url, maxRetries: 0 });
  genai = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: app.url } });
});
afterAll(() => app.close());

const MODEL = 'alpha-3-flash';
const TWO_STEPS = `${CALL_ONCE} THEN-CALL-TOOL weather {"city":"Oslo"}`;
/** Neither its length nor its signs are what the upstream takes. */
const LONG_NAME = `mcp__${'a-long-server-name_'.repeat(5)}__read`;
const City = z.object({ city: z.string() });

describe('openai', () => {
  const user = (content: string) => [{ role: 'user' as const, content }];

  test('the stream helper tells its text, its end and its usage', async () => {
    const stream = openai.chat.completions.stream({
      model: MODEL,
      messages: user('Good day'),
      stream_options: { include_usage: true },
    });
    const seen: string[] = [];
    stream.on('content.delta', ({ delta }) => seen.push(delta));
    const answer = await stream.finalChatCompletion();
    expect(seen.join('')).toBe(answer.choices[0]?.message.content);
    expect(seen.join('')).toContain(GREETING);
    expect(await stream.totalUsage()).toMatchObject({ total_tokens: answer.usage?.total_tokens });
  });

  test('the stream helper parses the arguments of calls side by side', async () => {
    const stream = openai.chat.completions.stream({
      model: MODEL,
      messages: user(CALL_TWICE),
      tools: [zodFunction({ name: WEATHER.name, parameters: City })],
    });
    const done: unknown[] = [];
    stream.on('tool_calls.function.arguments.done', (call) => done.push(call.parsed_arguments));
    const [choice] = (await stream.finalChatCompletion()).choices;
    expect(done).toEqual([{ city: 'Paris' }, { city: 'Oslo' }]);
    expect(choice?.finish_reason).toBe('tool_calls');
    expect(choice?.message.tool_calls).toMatchObject(
      done.map((parsed_arguments) => ({ type: 'function', function: { parsed_arguments } })),
    );
  });

  test('parse gives the object and the arguments their types', async () => {
    const shaped = await openai.chat.completions.parse({
      model: MODEL,
      messages: user('As JSON'),
      response_format: zodResponseFormat(City, 'city'),
    });
    expect(shaped.choices[0]?.message.parsed).toEqual({ city: expect.any(String) });
    const called = await openai.chat.completions.parse({
      model: MODEL,
      messages: user(CALL_ONCE),
      tools: [zodFunction({ name: WEATHER.name, parameters: City })],
    });
    const [call] = called.choices[0]?.message.tool_calls ?? [];
    expect(call).toMatchObject({ function: { parsed_arguments: { city: 'Paris' } } });
  });

  test.each([false, true])(
    'values the upstream only has as texts parse, stream=%s',
    async (stream) => {
      const Rating = z.object({
        stars: z.union([z.literal(1), z.literal(2)]),
        version: z.literal(3),
      });
      const asked = {
        model: MODEL,
        messages: user('As JSON'),
        response_format: zodResponseFormat(Rating, 'rating'),
      };
      const shaped = stream
        ? await openai.chat.completions.stream(asked).finalChatCompletion()
        : await openai.chat.completions.parse(asked);
      expect(shaped.choices[0]?.message.parsed).toEqual({ stars: 1, version: 3 });
    },
  );

  test.each([false, true])('the tool runner goes on to the end, stream=%s', async (stream) => {
    const cities: string[] = [];
    const body = {
      model: MODEL,
      messages: user(TWO_STEPS),
      tools: [
        {
          type: 'function' as const,
          function: {
            name: WEATHER.name,
            description: WEATHER.description,
            parameters: WEATHER.schema,
            parse: (text: string) => City.parse(JSON.parse(text)),
            function: ({ city }: z.infer<typeof City>) => {
              cities.push(city);
              return weatherIn(city);
            },
          },
        },
      ],
    };
    const runner = stream
      ? openai.chat.completions.runTools({ ...body, stream: true })
      : openai.chat.completions.runTools({ ...body, stream: false });
    expect(await runner.finalContent()).toContain(`${RESULT_SEEN}: ${weatherIn('Oslo')}`);
    expect(cities).toEqual(['Paris', 'Oslo']);
  });

  test.each([false, true])(
    'a repaired call goes back as it was signed, stream=%s',
    async (stream) => {
      const parameters = { type: 'object', properties: { days: { enum: [1, 2] } } };
      const asked = {
        model: MODEL,
        messages: user('CALL-TOOL forecast {"days":"2"}'),
        tools: [{ type: 'function' as const, function: { name: 'forecast', parameters } }],
      };
      const called = stream
        ? await openai.chat.completions.stream(asked).finalChatCompletion()
        : await openai.chat.completions.create(asked);
      const message = called.choices[0]?.message;
      const [call] = message?.tool_calls ?? [];
      if (message === undefined || call?.type !== 'function') throw new Error('no call');
      expect(call.function.arguments).toBe('{"days":2}');
      const result = { role: 'tool' as const, tool_call_id: call.id, content: 'sun' };
      // With the signature the client carries, and by the id of the call alone.
      const plain = { id: call.id, type: call.type, function: call.function };
      for (const returned of [call, plain]) {
        const history = [...asked.messages, { ...message, tool_calls: [returned] }, result];
        const { data, response } = await openai.chat.completions
          .create({ ...asked, messages: history })
          .withResponse();
        expect(data.choices[0]?.message.content).toContain(RESULT_SEEN);
        expect(response.headers.get('x-isthmus-attempts')).toBe('1');
      }
    },
  );

  test.each([false, true])('a name the upstream refuses comes back, stream=%s', async (stream) => {
    const body = {
      model: MODEL,
      messages: user('Read it'),
      tools: [zodFunction({ name: LONG_NAME, parameters: City })],
      tool_choice: { type: 'function' as const, function: { name: LONG_NAME } },
    };
    const answer = stream
      ? await openai.chat.completions.stream(body).finalChatCompletion()
      : await openai.chat.completions.parse(body);
    const message = answer.choices[0]?.message;
    const [call] = message?.tool_calls ?? [];
    if (message === undefined || call === undefined) throw new Error('no call');
    expect(call).toMatchObject({ function: { name: LONG_NAME } });
    const next = await openai.chat.completions.create({
      model: MODEL,
      tools: body.tools,
      messages: [
        ...body.messages,
        message,
        { role: 'tool', tool_call_id: call.id, content: 'rain' },
      ],
    });
    expect(next.choices[0]?.message.content).toContain(`${RESULT_SEEN}: rain`);
  });
});

describe('anthropic', () => {
  const hello = (content: string) => ({
    model: 'beta-sonnet-4-6',
    max_tokens: 4000,
    messages: [{ role: 'user' as const, content }],
  });

  test('the message stream tells text and thinking, and the signature of a call', async () => {
    const thinking = { type: 'enabled', budget_tokens: 2048 } as const;
    const tools = [{ name: WEATHER.name, input_schema: WEATHER.schema }];
    const seen = { text: '', thinking: '', signature: '' };
    const ask = (prompt: string) => {
      const stream = anthropic.messages.stream({ ...hello(prompt), tools, thinking });
      stream.on('text', (_piece, text) => Object.assign(seen, { text }));
      stream.on('thinking', (_piece, thought) => Object.assign(seen, { thinking: thought }));
      stream.on('signature', (signature) => Object.assign(seen, { signature }));
      return stream.finalMessage();
    };
    const said = await ask('Think first');
    expect(said.content).toMatchObject([
      { type: 'thinking', thinking: seen.thinking },
      { type: 'text', text: seen.text },
    ]);
    expect(seen.text).toContain('Think first');
    const called = await ask(CALL_ONCE);
    expect(called.content).toMatchObject([
      { type: 'thinking', thinking: seen.thinking, signature: seen.signature },
      { type: 'tool_use' },
    ]);
    expect(seen.signature).not.toBe('');
  });

  test('the message stream tells the input of a call piece by piece', async () => {
    const tools = [{ name: WEATHER.name, input_schema: WEATHER.schema }];
    const stream = anthropic.messages.stream({ ...hello(CALL_ONCE), tools });
    let pieces = '';
    stream.on('inputJson', (piece) => {
      pieces += piece;
    });
    const { stop_reason } = await stream.finalMessage();
    expect(JSON.parse(pieces)).toEqual({ city: 'Paris' });
    expect(stop_reason).toBe('tool_use');
  });

  test.each([false, true])('parse gives the object its type, stream=%s', async (stream) => {
    const format = jsonSchemaOutputFormat({
      ...WEATHER.schema,
      additionalProperties: false,
    } as const);
    const body = { ...hello('As JSON'), output_config: { format } };
    const answer = stream
      ? await anthropic.messages.stream(body).finalMessage()
      : await anthropic.messages.parse(body);
    expect(answer.parsed_output).toEqual({ city: expect.any(String) });
  });

  test.each([false, true])('the tool runner takes two steps, stream=%s', async (stream) => {
    const cities: string[] = [];
    const runner = anthropic.beta.messages.toolRunner({
      ...hello(TWO_STEPS),
      stream,
      thinking: { type: 'enabled', budget_tokens: 2048 },
      tools: [
        betaZodTool({
          name: WEATHER.name,
          description: WEATHER.description,
          inputSchema: City,
          run: ({ city }) => {
            cities.push(city);
            return weatherIn(city);
          },
        }),
      ],
    });
    const last = await runner.runUntilDone();
    expect(JSON.stringify(last.content)).toContain(`${RESULT_SEEN}: ${weatherIn('Oslo')}`);
    expect(cities).toEqual(['Paris', 'Oslo']);
  });

  test.each([false, true])(
    'the tool runner goes on from a summary it asked for, stream=%s',
    async (stream) => {
      const runner = anthropic.beta.messages.toolRunner({
        ...hello(TWO_STEPS),
        stream,
        thinking: { type: 'adaptive' },
        tools: [
          betaZodTool({
            name: WEATHER.name,
            description: WEATHER.description,
            inputSchema: City,
            run: ({ city }) => weatherIn(city),
          }),
        ],
      });
      const stops: unknown[] = [];
      for await (const step of runner) {
        const { stop_reason } = 'finalMessage' in step ? await step.finalMessage() : step;
        stops.push(stop_reason);
        if (stops.length === 1) runner.compactBeforeNextTurn();
      }
      expect(stops).toContain('compaction');
      const [first] = runner.params.messages;
      expect(first).toMatchObject({ role: 'assistant', content: [{ type: 'compaction' }] });
      expect(stops.at(-1)).toBe('end_turn');
    },
  );

  test('the tool runner goes on when a tool is removed and another takes its name', async () => {
    const weather = (answer: string) =>
      betaZodTool({
        name: WEATHER.name,
        description: WEATHER.description,
        inputSchema: City,
        run: () => answer,
      });
    const runner = anthropic.beta.messages.toolRunner({
      ...hello(TWO_STEPS),
      tools: [weather('first')],
    });
    const stops: unknown[] = [];
    for await (const { stop_reason } of runner) {
      stops.push(stop_reason);
      if (stops.length > 1) continue;
      runner.removeTools(WEATHER.name);
      runner.addTools(weather('second'));
    }
    expect(stops).toEqual(['tool_use', 'tool_use', 'end_turn']);
    expect(JSON.stringify(runner.params.messages)).toContain(`${RESULT_SEEN}: second`);
  });

  test.each([false, true])('a name the upstream refuses comes back, stream=%s', async (stream) => {
    const body = {
      ...hello('Read it'),
      tools: [{ name: LONG_NAME, input_schema: WEATHER.schema }],
    };
    const forced = { ...body, tool_choice: { type: 'tool' as const, name: LONG_NAME } };
    const { content } = stream
      ? await anthropic.messages.stream(forced).finalMessage()
      : await anthropic.messages.create(forced);
    const call = content.find((block) => block.type === 'tool_use');
    expect(call?.name).toBe(LONG_NAME);
    const results = [
      { type: 'tool_result' as const, tool_use_id: call?.id ?? '', content: 'rain' },
    ];
    const next = await anthropic.messages.create({
      ...body,
      messages: [
        ...body.messages,
        { role: 'assistant', content },
        { role: 'user', content: results },
      ],
    });
    expect(JSON.stringify(next.content)).toContain(`${RESULT_SEEN}: rain`);
  });
});

describe('genai', () => {
  test.each([false, true])('a chat keeps its history, stream=%s', async (stream) => {
    const chat = genai.chats.create({
      model: MODEL,
      config: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } },
    });
    const say = async (message: string): Promise<string> => {
      if (!stream) return (await chat.sendMessage({ message })).text ?? '';
      const chunks = await Array.fromAsync(await chat.sendMessageStream({ message }));
      return chunks.map((chunk) => chunk.text ?? '').join('');
    };
    expect(await say('Good day')).toContain('"Good day"');
    expect(await say('And again')).toContain('"And again"');
    const roles = chat.getHistory(true).map(({ role }) => role);
    expect(roles.filter((role) => role === 'user')).toHaveLength(2);
    expect(roles.at(-1)).toBe('model');
  });

  test.each([false, true])('a chat takes function responses, stream=%s', async (stream) => {
    const functionDeclarations = [{ name: WEATHER.name, parametersJsonSchema: WEATHER.schema }];
    const chat = genai.chats.create({
      model: MODEL,
      config: { tools: [{ functionDeclarations }] },
    });
    const say = async (message: Parameters<typeof chat.sendMessage>[0]['message']) =>
      stream
        ? await Array.fromAsync(await chat.sendMessageStream({ message }))
        : [await chat.sendMessage({ message })];
    const calls = (await say(CALL_TWICE)).flatMap((chunk) => chunk.functionCalls ?? []);
    expect(calls.map(({ args }) => args?.city)).toEqual(['Paris', 'Oslo']);
    const told = await say(calls.toReversed().map(responseTo));
    expect(told.map((chunk) => chunk.text ?? '').join('')).toContain(weatherIn('Oslo'));
  });

  test.each([false, true])('functions are called by the SDK itself, stream=%s', async (stream) => {
    const { tool, cities } = weatherTool();
    const request = {
      model: MODEL,
      contents: TWO_STEPS,
      config: { tools: [tool], automaticFunctionCalling: { maximumRemoteCalls: 5 } },
    };
    const text = stream
      ? (await Array.fromAsync(await genai.models.generateContentStream(request)))
          .map((chunk) => chunk.text ?? '')
          .join('')
      : (await genai.models.generateContent(request)).text;
    expect(text).toContain(`${RESULT_SEEN}: ${weatherIn('Oslo')}`);
    expect(cities).toEqual(['Paris', 'Oslo']);
  });

  test('a chat calls functions by itself and goes on after them', async () => {
    const { tool } = weatherTool();
    const chat = genai.chats.create({ model: MODEL, config: { tools: [tool] } });
    expect((await chat.sendMessage({ message: CALL_TWICE })).text).toContain(weatherIn('Paris'));
    expect((await chat.sendMessage({ message: 'Good day' })).text).toContain('"Good day"');
  });
});

function responseTo(call: FunctionCall) {
  const response = { output: weatherIn(String(call.args?.city)) };
  return { functionResponse: { id: call.id ?? '', name: call.name ?? '', response } };
}

function weatherTool(): { readonly tool: CallableTool; readonly cities: string[] } {
  const cities: string[] = [];
  const tool: CallableTool = {
    tool: async () => ({
      functionDeclarations: [{ name: WEATHER.name, parametersJsonSchema: WEATHER.schema }],
    }),
    callTool: async (calls) =>
      calls.map((call) => {
        cities.push(String(call.args?.city));
        return responseTo(call);
      }),
  };
  return { tool, cities };
}
