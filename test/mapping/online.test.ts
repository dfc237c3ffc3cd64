// A search that the model's name asks for: its citations stand at the passages they support.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { readAnswer } from '../support/protocol-calls.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

async function ask(model: string, more: JsonObject): Promise<JsonObject> {
  const messages = [{ role: 'user', content: 'Who won?' }];
  const answer = await readAnswer(
    await fetch(`${app.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages, ...more }),
    }),
  );
  expect(answer.status, answer.text).toBe(200);
  // The one narrowing of this file: the body came from `parseJson`.
  const [choice] = Object(answer.body).choices as JsonValue[];
  if (!isJsonObject(choice) || !isJsonObject(choice.message)) throw new Error(answer.text);
  return choice.message;
}

test('a name that ends in -online is cited as one with search options is', async () => {
  const asked = await ask('alpha-3-flash', { web_search_options: {} });
  const online = await ask('alpha-3-flash-online', {});
  expect(asked.annotations).not.toEqual([]);
  expect(online.annotations).toEqual(asked.annotations);
});
