// Vercel `ai` with its four providers against the whole gateway.

import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  Output,
  streamText,
  tool,
} from 'ai';
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

interface Provider {
  readonly name: string;
  readonly model: string;
  open(model: string, apiKey: string): LanguageModel;
  /** What makes the model think. */
  readonly thinking: Thinking;
  /** False where the provider reads no thoughts. */
  readonly showsThoughts: boolean;
}

type Thinking = NonNullable<Parameters<typeof generateText>[0]['providerOptions']>;

const PROVIDERS: readonly Provider[] = [
  {
    name: '@ai-sdk/openai',
    model: 'alpha-3-flash',
    open: (model, apiKey) => createOpenAI({ apiKey, baseURL: `${app.url}/v1` }).chat(model),
    thinking: { openai: { reasoningEffort: 'high', forceReasoning: true } },
    showsThoughts: false,
  },
  {
    name: '@ai-sdk/openai-compatible',
    model: 'alpha-3-flash',
    open: (model, apiKey) =>
      createOpenAICompatible({
        name: 'isthmus',
        apiKey,
        baseURL: `${app.url}/v1`,
        includeUsage: true,
        supportsStructuredOutputs: true,
      })(model),
    thinking: { isthmus: { reasoningEffort: 'high' } },
    showsThoughts: true,
  },
  {
    name: '@ai-sdk/anthropic',
    model: 'beta-sonnet-4-6',
    open: (model, apiKey) => createAnthropic({ apiKey, baseURL: `${app.url}/v1` })(model),
    thinking: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2048 } } },
    showsThoughts: true,
  },
  {
    name: '@ai-sdk/google',
    model: 'alpha-3-flash',
    open: (model, apiKey) =>
      createGoogleGenerativeAI({ apiKey, baseURL: `${app.url}/v1beta` })(model),
    thinking: { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } } },
    showsThoughts: true,
  },
];

const tools = {
  weather: tool({
    description: WEATHER.description,
    inputSchema: jsonSchema<{ city: string }>(WEATHER.schema),
    execute: async ({ city }) => weatherIn(city),
  }),
};

describe.each(PROVIDERS)('$name', (provider) => {
  const model = (name = provider.model, key = KEY): LanguageModel => provider.open(name, key);
  const thinking = { providerOptions: provider.thinking };
  const maxOutputTokens = 4000;

  test('text, whole and streamed', async () => {
    const question = { model: model(), system: 'Be brief.', prompt: 'Good day', maxOutputTokens };
    const whole = await generateText(question);
    expect(whole.text).toContain(GREETING);
    expect(whole.text).toContain('beginning "Be brief."');
    expect(whole.finishReason).toBe('stop');
    const streamed = streamText(question);
    expect(await streamed.text).toBe(whole.text);
    expect(await streamed.finishReason).toBe('stop');
    expect(await streamed.usage).toMatchObject({
      inputTokens: whole.usage.inputTokens,
      outputTokens: whole.usage.outputTokens,
    });
    expect(whole.usage.inputTokens).toBeGreaterThan(0);
  });

  test.each([
    ['without thinking', {}],
    ['while thinking', thinking],
  ])('a tool loop of two turns, %s, whole and streamed', async (_how, options) => {
    const stopWhen = isStepCount(4);
    const about = { model: model(), tools, prompt: CALL_ONCE, stopWhen, maxOutputTokens };
    const question = { ...about, ...options };
    const whole = await generateText(question);
    expect(whole.steps).toHaveLength(2);
    expect(whole.text).toContain(`${RESULT_SEEN}: ${weatherIn('Paris')}`);
    const streamed = streamText(question);
    expect(await streamed.text).toContain(`${RESULT_SEEN}: ${weatherIn('Paris')}`);
    expect(await streamed.steps).toHaveLength(2);
  });

  test('parallel calls, whole and streamed', async () => {
    const stopWhen = isStepCount(4);
    const question = { model: model(), tools, prompt: CALL_TWICE, stopWhen, maxOutputTokens };
    const whole = await generateText(question);
    const cities = whole.steps[0]?.toolCalls.map((call) => call.input);
    expect(cities).toEqual([{ city: 'Paris' }, { city: 'Oslo' }]);
    expect(whole.text).toContain(weatherIn('Paris'));
    expect(whole.text).toContain(weatherIn('Oslo'));
    expect(await streamText(question).text).toContain(weatherIn('Oslo'));
  });

  test('thoughts are counted, and shown apart from text where the provider shows any', async () => {
    const question = { model: model(), prompt: 'Think first', maxOutputTokens, ...thinking };
    const whole = await generateText(question);
    expect(whole.text).not.toContain('Reading the request');
    const streamed = streamText(question);
    expect(await streamed.text).toBe(whole.text);
    expect(await streamed.reasoningText).toBe(whole.reasoningText);
    if (provider.showsThoughts) expect(whole.reasoningText).toContain('Reading the request');
    else expect(whole.usage.outputTokenDetails.reasoningTokens).toBeGreaterThan(0);
  });

  test('a conversation goes on after thoughts', async () => {
    const messages: ModelMessage[] = [{ role: 'user', content: 'Think first' }];
    const first = await generateText({ model: model(), messages, maxOutputTokens, ...thinking });
    messages.push(...first.response.messages, { role: 'user', content: 'Go on' });
    const second = await generateText({ model: model(), messages, maxOutputTokens, ...thinking });
    expect(second.text).toContain('received 3 turns');
  });

  test('a picture arrives whole', async () => {
    const { text } = await generateText({
      model: model(),
      maxOutputTokens,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'file', data: PNG, mediaType: 'image/png' },
          ],
        },
      ],
    });
    expect(text).toContain(PNG_REPORT);
  });

  test('an object follows its schema', async () => {
    const schema = jsonSchema<{ city: string }>({ ...WEATHER.schema, additionalProperties: false });
    const { output } = await generateText({
      model: model(),
      maxOutputTokens,
      prompt: 'As JSON',
      output: Output.object({ schema }),
    });
    expect(output).toEqual({ city: expect.any(String) });
  });

  test('a wrong key is a 401, an unknown model a 404', async () => {
    const ask = { prompt: 'Hi', maxRetries: 0, maxOutputTokens };
    const refused = generateText({ model: model(provider.model, 'sk-wrong'), ...ask });
    await expect(refused).rejects.toMatchObject({ constructor: APICallError, statusCode: 401 });
    const unknown = generateText({ model: model('no-such-model'), ...ask });
    await expect(unknown).rejects.toMatchObject({
      constructor: APICallError,
      statusCode: 404,
      message: expect.stringContaining('no-such-model'),
    });
  });

  test('P081 a stream the upstream cuts is an error', async () => {
    const errors: unknown[] = [];
    const streamed = streamText({
      model: model(),
      prompt: 'UPSTREAM-CUT',
      maxRetries: 0,
      maxOutputTokens,
      onError: ({ error }) => void errors.push(error),
    });
    await streamed.consumeStream();
    expect(errors).not.toEqual([]);
    await expect(Promise.resolve(streamed.finishReason)).resolves.not.toBe('stop');
  });
});
