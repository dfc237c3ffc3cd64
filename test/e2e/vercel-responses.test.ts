// The Responses provider of the AI SDK, against the whole gateway.

import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, generateText, isStepCount } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import { RESULT_SEEN } from '../support/prompts.ts';

let app: TestApp;
let openai: ReturnType<typeof createOpenAI>;

beforeAll(async () => {
  app = await startApp({ environment: STRICT });
  openai = createOpenAI({ baseURL: `${app.url}/v1`, apiKey: KEY });
});
afterAll(() => app.close());

const MODEL = 'alpha-3-flash';

test('a prompt that is blocked is an error that says so', async () => {
  const refused = generateText({ model: openai(MODEL), prompt: 'UPSTREAM-BLOCK', maxRetries: 0 });
  await expect(refused).rejects.toMatchObject({
    constructor: APICallError,
    message: expect.stringContaining('refused'),
  });
});

test('a shell call comes back as the model signed it', async () => {
  const { text } = await generateText({
    model: openai(MODEL),
    prompt: 'CALL-TOOL local_shell {"command":["ls"]}',
    tools: { local_shell: openai.tools.localShell({ execute: async () => ({ output: 'files' }) }) },
    stopWhen: isStepCount(2),
    maxRetries: 0,
  });
  expect(text).toContain(`${RESULT_SEEN}: files`);
  const sent = JSON.stringify((await app.sandbox.requests()).at(-1)?.body);
  expect(sent).toContain('"args":{"command":["ls"]}');
  expect(sent).not.toContain('skip_thought_signature_validator');
});
