// Clients of other services of Chat Completions, with the paths and headers those have.

import OpenAI, { AuthenticationError, AzureOpenAI } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import { IMAGE_MODEL, pixelsOf } from '../support/pictures.ts';
import { GREETING } from '../support/prompts.ts';

const MODEL = 'alpha-3-flash';
const MESSAGES = [{ role: 'user' as const, content: 'Good day' }];

let app: TestApp;
let azure: AzureOpenAI;

beforeAll(async () => {
  app = await startApp({ environment: STRICT });
  azure = azureWith({ apiKey: KEY });
});
afterAll(() => app.close());

const azureWith = (options: { readonly apiKey: string; readonly deployment?: string }) =>
  new AzureOpenAI({ endpoint: app.url, apiVersion: '2024-10-21', maxRetries: 0, ...options });

test('AzureOpenAI talks, streams, embeds, draws and lists models', async () => {
  const answer = await azure.chat.completions.create({ model: MODEL, messages: MESSAGES });
  expect(answer.choices[0]?.message.content).toContain(GREETING);
  let text = '';
  for await (const chunk of azure.chat.completions.stream({ model: MODEL, messages: MESSAGES })) {
    text += chunk.choices[0]?.delta.content ?? '';
  }
  expect(text).toContain(GREETING);
  const vectors = await azure.embeddings.create({ model: 'alpha-embedding-001', input: 'cat' });
  expect(vectors.data[0]?.embedding).toHaveLength(768);
  const drawn = await azure.images.generate({ model: IMAGE_MODEL, prompt: 'A red boat' });
  expect(pixelsOf(drawn.data?.[0]?.b64_json ?? '')).toHaveLength(2);
  const response = await azure.responses.create({ model: MODEL, input: 'Good day' });
  expect(response.output_text).toContain(GREETING);
  const { data } = await azure.models.list();
  expect(data.map(({ id }) => id)).toContain(MODEL);
});

test('a deployment is the model of a body that names none', async () => {
  const named = azureWith({ apiKey: KEY, deployment: MODEL });
  const answer = await named.chat.completions.create({ model: '', messages: MESSAGES });
  expect(answer.model).toBe(MODEL);
  const other = await named.chat.completions.create({
    model: 'alpha-2.5-flash',
    messages: MESSAGES,
  });
  expect(other.model).toBe('alpha-2.5-flash');
});

test('a wrong api-key is refused, and the right one never goes up', async () => {
  const wrong = azureWith({ apiKey: 'wrong' });
  const refused = wrong.chat.completions.create({ model: MODEL, messages: MESSAGES });
  await expect(refused).rejects.toThrow(AuthenticationError);
  await azure.chat.completions.create({ model: MODEL, messages: MESSAGES });
  expect(JSON.stringify(await app.sandbox.requests())).not.toContain(KEY);
});

test.each(['/openai/v1', '/v1beta/openai'])('%s is the base of the same paths', async (base) => {
  const client = new OpenAI({ baseURL: app.url + base, apiKey: KEY, maxRetries: 0 });
  const answer = await client.chat.completions.create({ model: MODEL, messages: MESSAGES });
  expect(answer.choices[0]?.message.content).toContain(GREETING);
  const model = await client.models.retrieve(MODEL);
  expect(model.id).toBe(MODEL);
});
