// The official client of Generate-Content against the whole gateway, under both version prefixes.

import {
  ApiError,
  type Content,
  type GenerateContentConfig,
  type GenerateContentResponse,
  GoogleGenAI,
  type Part,
} from '@google/genai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

let app: TestApp;

beforeAll(async () => {
  app = await startApp({ environment: STRICT });
});
afterAll(() => app.close());

const MODEL = 'alpha-3-flash';
const TOOLS = [
  {
    functionDeclarations: [
      {
        name: WEATHER.name,
        description: WEATHER.description,
        parametersJsonSchema: WEATHER.schema,
      },
    ],
  },
];
const THINKING: GenerateContentConfig = {
  thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 },
};

/** An answer, whole or put together from its stream. */
interface Told {
  readonly parts: readonly Part[];
  readonly last: GenerateContentResponse;
}

describe.each([
  [undefined, false],
  [undefined, true],
  ['v1beta', false],
  ['v1beta', true],
  ['v1alpha', false],
] as const)('with apiVersion=%s and stream=%s', (apiVersion, stream) => {
  const ask = (contents: Content[], config: GenerateContentConfig = {}): Promise<Told> =>
    askWith(clientWith(KEY, apiVersion), { stream, contents, config });

  test('a plain question is answered, with usage', async () => {
    const { parts, last } = await ask([user('Good day')], { systemInstruction: 'Be brief.' });
    expect(textOf(parts)).toContain(GREETING);
    expect(textOf(parts)).toContain('"Good day"');
    expect(textOf(parts)).toContain('beginning "Be brief."');
    expect(last.candidates?.[0]?.finishReason).toBe('STOP');
    expect(last.usageMetadata?.totalTokenCount).toBeGreaterThan(0);
  });

  test.each([
    ['without thinking', {}],
    ['while thinking', THINKING],
  ])(
    'a tool loop of two turns with its signatures ends with the result, %s',
    async (_how, more) => {
      const first = await ask([user(CALL_ONCE)], { tools: TOOLS, ...more });
      expect(callsOf(first.parts)).toMatchObject([{ name: 'weather', args: { city: 'Paris' } }]);
      expect(first.parts.some((part) => part.thoughtSignature !== undefined)).toBe(true);
      const history = [user(CALL_ONCE), said(first.parts), resultsOf(first.parts)];
      const second = await ask(history, { tools: TOOLS, ...more });
      expect(textOf(second.parts)).toContain(`${RESULT_SEEN}: ${weatherIn('Paris')}`);
    },
  );

  test('P001 a client that drops the signatures does the tool loop too', async () => {
    const first = await ask([user(CALL_ONCE)], { tools: TOOLS });
    const bare = callsOf(first.parts).map((functionCall) => ({ functionCall }));
    const history = [user(CALL_ONCE), said(bare), resultsOf(first.parts)];
    const second = await ask(history, { tools: TOOLS });
    expect(textOf(second.parts)).toContain(RESULT_SEEN);
  });

  test('parallel calls stay apart', async () => {
    const first = await ask([user(CALL_TWICE)], { tools: TOOLS });
    const cities = callsOf(first.parts).map((call) => call.args?.city);
    expect(cities).toEqual(['Paris', 'Oslo']);
    const history = [user(CALL_TWICE), said(first.parts), resultsOf(first.parts)];
    const second = await ask(history, { tools: TOOLS });
    expect(textOf(second.parts)).toContain(weatherIn('Paris'));
    expect(textOf(second.parts)).toContain(weatherIn('Oslo'));
  });

  test('thoughts come as thought parts', async () => {
    const { parts, last } = await ask([user('Think first')], THINKING);
    const thoughts = parts.filter((part) => part.thought === true).map((part) => part.text);
    expect(thoughts.join('')).toContain('Reading the request');
    expect(textOf(parts)).not.toContain('Reading the request');
    expect(last.usageMetadata?.thoughtsTokenCount).toBeGreaterThan(0);
  });

  test('a picture arrives whole', async () => {
    const picture: Part = { inlineData: { mimeType: 'image/png', data: PNG } };
    const { parts } = await ask([{ role: 'user', parts: [picture, { text: 'What is this?' }] }]);
    expect(textOf(parts)).toContain(PNG_REPORT);
  });

  test('the search tool is granted', async () => {
    const { last } = await ask([user('Look it up')], { tools: [{ googleSearch: {} }] });
    const grounding = last.candidates?.[0]?.groundingMetadata;
    expect(grounding?.groundingChunks?.[0]?.web?.uri).toMatch(/^https?:/);
  });

  test('a wrong key, an unknown model and a wrong field are ApiErrors', async () => {
    const contents = [user('Hi')];
    const stranger = clientWith('sk-wrong', apiVersion);
    await expect(askWith(stranger, { stream, contents })).rejects.toMatchObject({
      constructor: ApiError,
      status: 401,
      message: expect.stringContaining('UNAUTHENTICATED'),
    });
    const client = clientWith(KEY, apiVersion);
    const failed = askWith(client, { stream, contents, model: 'no-such-model' });
    await expect(failed).rejects.toMatchObject({ constructor: ApiError, status: 404 });
    await expect(ask(contents, { temperature: 9 })).rejects.toMatchObject({
      constructor: ApiError,
      status: 400,
      message: expect.stringContaining('INVALID_ARGUMENT'),
    });
  });

  test('P081 an answer the upstream cuts makes the SDK throw', async () => {
    await expect(ask([user('UPSTREAM-CUT')])).rejects.toThrow();
  });
});

describe.each([undefined, 'v1beta'])('with apiVersion=%s', (apiVersion) => {
  test('the model list and a single model', async () => {
    const { models } = clientWith(KEY, apiVersion);
    const names = (await Array.fromAsync(await models.list())).map((model) => model.name);
    expect(names).toContain(`models/${MODEL}`);
    expect(await models.get({ model: MODEL })).toMatchObject({
      name: `models/${MODEL}`,
      inputTokenLimit: expect.any(Number),
      outputTokenLimit: expect.any(Number),
    });
    await expect(models.get({ model: 'no-such-model' })).rejects.toMatchObject({ status: 404 });
  });

  test('V115 a token count grows with the prompt', async () => {
    const { models } = clientWith(KEY, apiVersion);
    const count = async (text: string): Promise<number> =>
      (await models.countTokens({ model: MODEL, contents: text })).totalTokens ?? 0;
    const short = await count('Hi');
    expect(short).toBeGreaterThan(0);
    expect(await count('Hi '.repeat(100))).toBeGreaterThan(short);
  });
});

test('finish reasons come through', async () => {
  const finish = async (marker: string): Promise<string | undefined> => {
    const contents = [user(marker)];
    const { last } = await askWith(clientWith(KEY), { stream: true, contents });
    return last.candidates?.[0]?.finishReason ?? last.promptFeedback?.blockReason;
  };
  expect(await finish('UPSTREAM-FINISH MAX_TOKENS')).toBe('MAX_TOKENS');
  expect(await finish('UPSTREAM-FINISH SAFETY')).toBe('SAFETY');
  expect(await finish('UPSTREAM-BLOCK')).toBe('PROHIBITED_CONTENT');
});

interface Ask {
  readonly stream: boolean;
  readonly contents: Content[];
  readonly config?: GenerateContentConfig;
  readonly model?: string;
}

async function askWith(
  client: GoogleGenAI,
  { stream, model = MODEL, ...rest }: Ask,
): Promise<Told> {
  const answers = stream
    ? await Array.fromAsync(await client.models.generateContentStream({ model, ...rest }))
    : [await client.models.generateContent({ model, ...rest })];
  const last = answers.at(-1);
  if (last === undefined) throw new Error('The stream was empty.');
  const parts = answers.flatMap((answer) => answer.candidates?.[0]?.content?.parts ?? []);
  return { parts, last };
}

function clientWith(apiKey: string, apiVersion?: string): GoogleGenAI {
  return new GoogleGenAI({
    apiKey,
    httpOptions: { baseUrl: app.url },
    ...(apiVersion === undefined ? {} : { apiVersion }),
  });
}

function user(text: string): Content {
  return { role: 'user', parts: [{ text }] };
}

function said(parts: readonly Part[]): Content {
  return { role: 'model', parts: [...parts] };
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join('');
}

function callsOf(parts: readonly Part[]) {
  return parts.flatMap((part) => part.functionCall ?? []);
}

function resultsOf(parts: readonly Part[]): Content {
  return {
    role: 'user',
    parts: callsOf(parts).map((call) => ({
      functionResponse: {
        name: call.name ?? '',
        response: { output: weatherIn(String(call.args?.city)) },
        ...(call.id === undefined ? {} : { id: call.id }),
      },
    })),
  };
}
