import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { CODING_CLIENTS } from '../../clients/coding-clients.ts';
import { createTestHome, type TestHome } from '../clients/clients.test-support.ts';
import { createFakeTerminal } from '../fake-terminal.test-support.ts';
import { checkClients, findClients } from './checks.ts';

const KEY = 'sk-given-0123456789';

let at: TestHome;
beforeEach(async () => {
  at = await createTestHome();
  at.keys.add(KEY);
});

const found = () => findClients(at.context(createFakeTerminal()).machine);
const find = (id: string) => found().find((one) => one.id === id);

/** What doctor says of them to the gateway of the home. */
async function say(id: string) {
  const clients = found().filter((one) => one.id === id);
  const [finding] = await checkClients(clients, {
    url: at.url,
    takesKey: async (key) => at.keys.has(key),
    unserved: new Set(['an-alias']),
  });
  return finding;
}

test('nothing is found where there is nothing', () => {
  for (const client of found()) {
    expect(client).toMatchObject({ isInstalled: false, address: undefined, key: undefined });
  }
});

test.each(CODING_CLIENTS.map(({ id }) => id))(
  '%s is found as it was connected: address, key and model',
  async (id) => {
    await at.connect(id, { yes: true, key: KEY, model: 'gemini-3-flash' });
    const client = find(id);
    expect(client).toMatchObject({ key: KEY, model: 'gemini-3-flash', place: { kind: 'file' } });
    expect(client?.address?.replace(/\/$/, '')).toBe(at.url + client?.basePath);
    expect(client).not.toHaveProperty('other');
    expect(await say(id)).toMatchObject({ severity: 'ok' });
    at.keys.delete(KEY);
    expect(await say(id)).toMatchObject({
      severity: 'error',
      message: expect.stringContaining('does not accept the key'),
    });
  },
);

test('settings that cannot be read hide no other client', async () => {
  mkdirSync(join(at.home, '.codex/config.toml'), { recursive: true });
  expect(await say('codex')).toMatchObject({
    severity: 'warning',
    message: expect.stringContaining('cannot be read'),
  });
});

test('a model nobody serves is found', async () => {
  await at.connect('opencode', { yes: true, key: KEY, model: 'an-alias' });
  expect(await say('opencode')).toMatchObject({
    message: expect.stringContaining('an-alias, which nobody serves'),
  });
});

test('settings that were made by hand are read as well', async () => {
  at.put('.codex/config.toml', `[model_providers.isthmus]\nbase_url = "${at.url}"\n`);
  expect(await say('codex')).toMatchObject({ message: expect.stringContaining('wrong base path') });
  at.put('.codex/config.toml', `[model_providers.isthmus]\nbase_url = "${at.url}/v1"\n`);
  expect(await say('codex')).toMatchObject({
    severity: 'warning',
    message: expect.stringContaining('model_provider = nothing leads it elsewhere'),
  });
  at.put('.claude/settings.json', '{"env":{"ANTHROPIC_BASE_URL":"https://llm.example/x"}}');
  expect(await say('claude-code')).toMatchObject({
    severity: 'info',
    message: expect.stringContaining('points to https://llm.example'),
  });
  at.put('.claude/settings.json', '{"env":');
  expect(await say('claude-code')).toMatchObject({
    severity: 'warning',
    message: expect.stringContaining('cannot be read'),
  });
});

test('a key beside the token leads nowhere else, and is not shown', async () => {
  const env = {
    ANTHROPIC_BASE_URL: at.url,
    ANTHROPIC_AUTH_TOKEN: KEY,
    ANTHROPIC_API_KEY: 'sk-mine',
  };
  at.put('.claude/settings.json', JSON.stringify({ env }));
  expect(find('claude-code')).not.toHaveProperty('other');
});

test('another provider chosen in the client is told from the one that was set up', async () => {
  await at.connect('opencode', { yes: true, key: KEY });
  at.put(
    '.config/opencode/opencode.jsonc',
    at.read('.config/opencode/opencode.jsonc').replace('"isthmus/', '"openrouter/'),
  );
  expect(await say('opencode')).toMatchObject({
    message: expect.stringContaining('model = "openrouter/alpha-3-flash" leads it elsewhere'),
  });
});

test.skipIf(process.platform === 'win32')(
  'a program without settings is installed and not connected',
  async () => {
    const path = join(at.folder, 'bin/claude');
    mkdirSync(join(at.folder, 'bin'));
    writeFileSync(path, '');
    chmodSync(path, 0o755);
    expect(await say('claude-code')).toMatchObject({
      severity: 'info',
      message: 'Claude Code is not connected.',
    });
  },
);

test('SDKs are found by the variables of this shell, with the key that they use', () => {
  Object.assign(at.variables, {
    OPENAI_BASE_URL: 'http://127.0.0.1:8045',
    OPENAI_API_KEY: 'k',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:8045',
    ANTHROPIC_API_KEY: 'a',
    ANTHROPIC_AUTH_TOKEN: 'b',
    COPILOT_PROVIDER_BASE_URL: 'http://127.0.0.1:8045/v1',
  });
  expect(find('sdk-openai')).toMatchObject({
    ...{ address: 'http://127.0.0.1:8045', key: 'k', basePath: '/v1' },
    place: { kind: 'variable', name: 'OPENAI_BASE_URL' },
  });
  expect(find('sdk-anthropic')).toMatchObject({ key: 'b', basePath: '' });
  expect(find('sdk-google')).toMatchObject({ address: undefined });
  expect(find('copilot')).toMatchObject({ address: 'http://127.0.0.1:8045/v1' });
});
