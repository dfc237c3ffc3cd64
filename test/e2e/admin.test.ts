// The admin API and the commands over the whole gateway.

import { Command } from 'commander';
import { afterEach, expect, test } from 'vitest';
import { createHttpClient } from '../../src/cli/admin-client.ts';
import { addAdminCommands } from '../../src/cli/admin-commands.ts';
import { createFakeTerminal } from '../../src/cli/fake-terminal.test-support.ts';
import { startApp, type TestApp } from '../support/app.ts';

let app: TestApp | undefined;

afterEach(async () => {
  await app?.close();
  app = undefined;
});

async function start(): Promise<TestApp> {
  app = await startApp({ environment: { WEB_PASSWORD: 'the-password' } });
  return app;
}

async function isthmus({ url, clock }: TestApp, ...words: readonly string[]) {
  const terminal = createFakeTerminal({ input: '' });
  const program = new Command('isthmus').exitOverride();
  addAdminCommands(program, {
    terminal,
    clock,
    connect: async () => createHttpClient({ url, password: 'the-password' }),
  });
  await program.parseAsync([...words, '--json'], { from: 'user' });
  return JSON.parse(terminal.printed.join('\n'));
}

const ask = ({ url }: TestApp, model: string) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  }).then(({ status }) => status);

test('accounts of the environment are listed, tested, and disabled for this run', async () => {
  const gateway = await start();
  const { accounts } = await isthmus(gateway, 'accounts', 'list');
  expect(accounts).toMatchObject([{ label: 'key-1@env' }, { label: 'key-2@env' }]);
  expect(await isthmus(gateway, 'accounts', 'test', 'key-1@env')).toMatchObject({ isUsable: true });
  for (const name of ['key-1@env', 'key-2@env']) {
    await isthmus(gateway, 'accounts', 'disable', name);
  }
  expect(await ask(gateway, 'alpha-3-flash')).toBe(503);
  await isthmus(gateway, 'accounts', 'enable', 'key-2@env');
  expect(await ask(gateway, 'alpha-3-flash')).toBe(200);
});

test('a mapping counts from the next request on, and the route of a name is explained', async () => {
  const gateway = await start();
  expect(await ask(gateway, 'my-own-name')).toBe(404);
  const changed = await fetch(`${gateway.url}/api/config/mapping`, {
    method: 'PATCH',
    headers: { authorization: 'Bearer the-password', 'content-type': 'application/json' },
    body: JSON.stringify({ 'my-*': 'alpha-3-flash' }),
  });
  expect(changed.status).toBe(200);
  expect(await ask(gateway, 'my-own-name')).toBe(200);
  expect(await isthmus(gateway, 'route', 'my-own-name')).toMatchObject({ target: 'alpha-3-flash' });
});
