import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createFakeTerminal } from '../fake-terminal.test-support.ts';
import { createTestHome, type TestHome } from './clients.test-support.ts';
import { prepareLaunch } from './launch-client.ts';

let at: TestHome;
beforeEach(async () => {
  at = await createTestHome();
  mkdirSync(join(at.folder, 'bin'));
  for (const name of ['claude', 'gemini', 'qwen']) {
    writeFileSync(join(at.folder, 'bin', name), '', { mode: 0o755 });
  }
});

const launch = (id = 'gemini-cli', flags: { readonly model?: string } = {}) =>
  prepareLaunch(at.context(createFakeTerminal()), { id, args: ['-p'], flags });

/** With an address of its own and nothing else said, Gemini CLI knows no way to sign in. */
test.each([
  undefined,
  '{ "ui": { "theme": "x" } }',
  '{ "security": { "auth": { "selectedType": "oauth-personal" } } }',
])('Gemini CLI with the settings %j is launched with a copy that takes a key', async (text) => {
  if (text !== undefined) at.put('.gemini/settings.json', text);
  const before = at.snapshot();
  const { variables } = await launch();
  const copy = join(variables.GEMINI_CLI_HOME ?? '', '.gemini/settings.json');
  expect(JSON.parse(readFileSync(copy, 'utf8'))).toEqual({
    ...(text?.includes('ui') && { ui: { theme: 'x' } }),
    security: { auth: { selectedType: 'gemini-api-key' } },
    modelConfigs: { customAliases: askedAside('gemini-3-flash') },
  });
  expect(at.snapshot()).toEqual(before);
});

/** What Gemini CLI asks for a web search and for the summary of a long session. */
function askedAside(model: string) {
  return expect.objectContaining({
    'gemini-3-flash-base': { extends: 'base', modelConfig: { model } },
    'chat-compression-default': { modelConfig: { model } },
  });
}

test('one that asks another model aside is launched with a copy that asks the one it is launched with', async () => {
  await at.connect('gemini-cli');
  const { variables } = await launch('gemini-cli', { model: 'an-alias' });
  const copy = join(variables.GEMINI_CLI_HOME ?? '', '.gemini/settings.json');
  expect(JSON.parse(readFileSync(copy, 'utf8'))).toMatchObject({
    modelConfigs: { customAliases: askedAside('an-alias') },
  });
});

test('one that is connected keeps its settings and its history', async () => {
  await at.connect('gemini-cli');
  const { path, args, variables } = await launch();
  expect(path).toBe(join(at.folder, 'bin/gemini'));
  expect(args).toEqual(['-m', 'gemini-3-flash', '-p']);
  expect(variables).toMatchObject({ GOOGLE_GEMINI_BASE_URL: at.url, GEMINI_API_KEY: 'any-key' });
  expect(variables).not.toHaveProperty('GEMINI_CLI_HOME');
});

test('Qwen Code is told that the model is shown pictures', async () => {
  const { variables } = await launch('qwen-code');
  const defaults = readFileSync(variables.QWEN_CODE_SYSTEM_DEFAULTS_PATH ?? '', 'utf8');
  expect(JSON.parse(defaults)).toEqual({
    model: { generationConfig: { modalities: { image: true, pdf: true } } },
  });
});

/** What its settings name as `env` takes the place of the variables of its process; a file it is started with does not. */
test('Claude Code is launched on the gateway whatever address or cloud its settings name', async () => {
  const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', CLAUDE_CODE_USE_BEDROCK: '1' };
  at.put('.claude/settings.json', JSON.stringify({ env }));
  const before = at.snapshot();
  const { args, variables } = await launch('claude-code');
  const [flag, file = '', ...others] = args;
  expect([flag, others]).toEqual(['--settings', ['-p']]);
  const settings = {
    ANTHROPIC_BASE_URL: at.url,
    ANTHROPIC_AUTH_TOKEN: 'any-key',
    ...{ CLAUDE_CODE_USE_BEDROCK: '', CLAUDE_CODE_USE_VERTEX: '', CLAUDE_CODE_USE_FOUNDRY: '' },
  };
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ env: settings });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(variables).toMatchObject(settings);
  expect(at.snapshot()).toEqual(before);
});

test.each([
  [{}, undefined],
  [{ HTTPS_PROXY: 'http://proxy.test:3128' }, '127.0.0.1'],
  [{ all_proxy: 'socks://127.0.0.1:7890/', no_proxy: 'a.test' }, 'a.test,127.0.0.1'],
  [{ HTTP_PROXY: 'http://proxy.test:3128', NO_PROXY: '*' }, '*,127.0.0.1'],
])(
  'with the variables %j a client calls the gateway itself, not its proxy',
  async (given, list) => {
    Object.assign(at.variables, given);
    const { variables } = await launch();
    expect([variables.NO_PROXY, variables.no_proxy]).toEqual([list, list]);
  },
);

test('a gateway elsewhere is called as the variables say', async () => {
  Object.assign(at.variables, { HTTPS_PROXY: 'http://proxy.test:3128' });
  const context = at.context(createFakeTerminal());
  const findGateway = async () => {
    const { url, ...rest } = await context.findGateway();
    return { ...rest, url: url.replace('127.0.0.1', 'localhost.test'), fetch: () => fetch(url) };
  };
  const request = { id: 'gemini-cli', args: [], flags: { model: 'gemini-3-flash' } };
  const { variables } = await prepareLaunch({ ...context, findGateway }, request);
  expect(variables).not.toHaveProperty('NO_PROXY');
});
