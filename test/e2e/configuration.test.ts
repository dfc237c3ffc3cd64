// Settings act on the running gateway: the config file on the next request, the environment at the start.

import { afterEach, describe, expect, test } from 'vitest';
import { KEY, startApp, startGateway, type TestApp } from '../support/app.ts';
import { PROTOCOL_CALLS, readAnswer, send } from '../support/protocol-calls.ts';

const HELLO = [{ role: 'user', content: 'Hello' }];
const CONTENTS = [{ role: 'user', parts: [{ text: 'Hello' }] }];

let app: Pick<TestApp, 'close'> | undefined;
afterEach(() => app?.close());

describe.each(PROTOCOL_CALLS)('$name', (call) => {
  test('P190 a changed custom_mapping counts from the next request on', async () => {
    const running = await startApp();
    app = running;
    const model = 'my-own-name';
    expect((await send(running.url, call, { model })).status).toBe(404);
    await running.editConfig({ proxy: { custom_mapping: { 'my-*': 'alpha-3-pro-low' } } });
    const answer = await send(running.url, call, { model });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-isthmus-model')).toBe('alpha-3-pro-low');
    await running.editConfig({ proxy: { custom_mapping: {} } });
    expect((await send(running.url, call, { model })).status).toBe(404);
  });

  test('without any account the sandbox answers, as npm start says', async () => {
    const running = await startGateway({});
    app = running;
    expect(running.app.isSandbox).toBe(true);
    expect(running.app.pool.accounts().map(({ label }) => label)).toEqual([
      'ada@sandbox.example',
      'grace@sandbox.example',
      'messages@sandbox.example',
      'chat@sandbox.example',
    ]);
    expect((await send(running.url, call)).status).toBe(200);
  });
});

test('exact mapping names are listed, patterns are not', async () => {
  const custom_mapping = { 'my-model': 'alpha-3-flash', 'team-*': 'alpha-3-flash' };
  const running = await startApp({ file: { proxy: { custom_mapping } } });
  app = running;
  const { text } = await readAnswer(await fetch(`${running.url}/v1/models`));
  expect(text).toContain('"my-model"');
  expect(text).not.toContain('team-');
});

test('a mapping to a model nobody offers says so', async () => {
  const custom_mapping = { 'my-model': 'nowhere' };
  const running = await startApp({ file: { proxy: { custom_mapping } } });
  app = running;
  const [chat] = PROTOCOL_CALLS;
  if (chat === undefined) throw new Error('The protocol is missing.');
  const answer = await send(running.url, chat, { model: 'my-model' });
  expect(answer.status).toBe(404);
  expect(answer.text).toContain('custom_mapping sends');
});

test('a key written into the file is wanted from the next request on', async () => {
  const running = await startApp();
  app = running;
  const models = (headers: Record<string, string> = {}) =>
    fetch(`${running.url}/v1/models`, { headers }).then(({ status }) => status);
  expect(await models()).toBe(200);
  await running.editConfig({ api_key: KEY, proxy: { auth_mode: 'strict' } });
  expect(await models()).toBe(401);
  expect(await models({ authorization: `Bearer ${KEY}` })).toBe(200);
});

test.each([
  [
    'translate',
    {
      protocol: 'chat',
      body: { model: 'alpha-3-flash', reasoning_effort: 'low', messages: HELLO },
    },
  ],
  [
    'relay',
    {
      protocol: 'generate',
      model: 'alpha-3-flash',
      body: { contents: CONTENTS, generationConfig: { thinkingConfig: { thinkingLevel: 'LOW' } } },
    },
  ],
])('a changed thinking mode counts from the next request on (%s)', async (lane, question) => {
  const running = await startApp();
  app = running;
  const translate = async () => {
    const headers = { 'content-type': 'application/json' };
    // One account, so that the answers differ in nothing but what the mode changes.
    const body = JSON.stringify({ ...question, account: 'key-1@env' });
    const init = { method: 'POST', headers, body };
    return (await readAnswer(await fetch(`${running.url}/api/translate`, init))).text;
  };
  const before = await translate();
  expect(before).toContain(`"lane":"${lane}"`);
  expect(before).toContain('"thinkingBudget":8192');
  await running.editConfig({ proxy: { thinking: { mode: 'custom', budget: 2048 } } });
  expect(await translate()).toContain('"thinkingBudget":2048');
  await running.editConfig({ proxy: { thinking: { mode: 'auto' } } });
  expect(await translate()).toBe(before);
});
