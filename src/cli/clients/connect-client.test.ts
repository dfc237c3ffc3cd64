import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { countOf } from '../../../test/support/counts.ts';
import { CODING_CLIENTS } from '../../clients/coding-clients.ts';
import { createTestHome, type TestHome } from './clients.test-support.ts';
import { readTree } from './settings-formats.ts';

let at: TestHome;
beforeEach(async () => {
  at = await createTestHome();
});

const IDS = CODING_CLIENTS.map(({ id }) => id);

describe.each(IDS)('%s', (id) => {
  test('is connected where it had no settings, and has none again when that is taken back', async () => {
    const before = at.snapshot();
    const shown = await at.connect(id);
    expect(shown.printed.at(-1)).toContain(`is connected to ${at.url}`);
    expect(Object.keys(at.snapshot()).length).toBeGreaterThan(Object.keys(before).length);
    const again = await at.connect(id);
    expect(again.printed).toEqual([expect.stringContaining('is already connected')]);
    expect(again.asked).toEqual([]);
    await at.connect(id, { undo: true, yes: true });
    expect(at.snapshot()).toEqual(before);
  });

  test('holds the address, the key and the model', async () => {
    at.keys.add('sk-given-0123456789');
    await at.connect(id, { yes: true, key: 'sk-given-0123456789', model: 'an-alias' });
    const files = Object.values(at.snapshot()).join('\n');
    for (const text of [at.url, 'sk-given-0123456789', 'an-alias']) expect(files).toContain(text);
  });

  test('shows the difference without the key, and writes nothing in a dry run', async () => {
    at.keys.add('sk-given-0123456789');
    const before = at.snapshot();
    const { printed } = await at.connect(id, { dryRun: true, key: 'sk-given-0123456789' });
    expect(printed.join('\n')).toMatch(/^\+.*…6789/m);
    expect(printed.join('\n')).not.toContain('sk-given');
    expect(at.snapshot()).toEqual(before);
    expect(at.made).toEqual([]);
  });
});

test('asks first; without a terminal it wants to be told', async () => {
  const before = at.snapshot();
  await expect(at.connect('codex', {}, { answers: ['n'] })).rejects.toThrow('Nothing was changed.');
  await expect(at.connect('codex', {}, { input: '' })).rejects.toThrow('add --yes');
  expect(at.snapshot()).toEqual(before);
  const { asked } = await at.connect('codex', {}, { answers: ['y'] });
  expect(asked).toEqual(['Write this for Codex CLI? [y/N] ']);
  await expect(at.connect('codex', { undo: true }, { answers: [''] })).rejects.toThrow('Nothing');
  expect((await at.connect('codex')).printed.join()).toContain('already connected');
});

test('makes a key where one is needed, named after the client, and uses it again', async () => {
  at.keys.add('sk-of-somebody');
  const { notes } = await at.connect('codex');
  expect(at.made).toEqual(['/api/keys {"name":"Codex CLI"}']);
  expect(notes.join()).toContain('A key named "Codex CLI" was made for it.');
  expect(at.read('.codex/config.toml')).toContain(
    'experimental_bearer_token = "sk-made-0-0123456789"',
  );
  await at.connect('codex', { yes: true, model: 'alpha-3-flash' });
  await at.connect('codex', { undo: true, yes: true });
  await at.connect('codex');
  expect(at.made).toHaveLength(1);
  at.keys.delete('sk-made-0-0123456789');
  await at.connect('codex');
  expect(at.read('.codex/config.toml')).toContain('sk-made-1-0123456789');
  await at.connect('codex', { undo: true, yes: true });
  expect(at.snapshot()).toEqual({});
});

test('makes none for a model that is not offered, and shows the model that it will write', async () => {
  at.keys.add('sk-of-somebody');
  await expect(at.connect('codex', { yes: true, model: 'alpha-3-flsh' })).rejects.toThrow(
    'Did you mean alpha-3-flash?',
  );
  expect(at.made).toEqual([]);
  await at.connect('codex', { yes: true, model: 'an-alias' });
  expect(at.read('.codex/config.toml')).toContain('model = "an-alias"');
  at.models.splice(0, Infinity, 'draws-image', 'one', 'two');
  at.unserved.add('one');
  const { printed } = await at.connect('aider', { dryRun: true });
  expect(printed.join()).toContain('+model: "openai/two"');
});

test('P200: leaves no other credential that would be sent beside its own, and takes that back', async () => {
  const before = '{"env":{"ANTHROPIC_API_KEY":"sk-ant-of-the-person"}}\n';
  at.put('.claude/settings.json', before);
  const { printed } = await at.connect('claude-code');
  expect(JSON.parse(at.read('.claude/settings.json'))).toMatchObject({
    env: { ANTHROPIC_AUTH_TOKEN: 'any-key', ANTHROPIC_API_KEY: '' },
  });
  expect(printed.join()).not.toContain('sk-ant-of-the-person');
  await at.connect('claude-code', { undo: true, yes: true });
  expect(at.read('.claude/settings.json')).toBe(before);
});

test('makes none where every word is taken', async () => {
  await at.connect('claude-code');
  expect(at.made).toEqual([]);
  expect(JSON.parse(at.read('.claude/settings.json'))).toEqual({
    env: {
      ANTHROPIC_BASE_URL: at.url,
      ANTHROPIC_AUTH_TOKEN: 'any-key',
      ANTHROPIC_API_KEY: '',
      ANTHROPIC_MODEL: 'beta-sonnet-4-6',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'beta-sonnet-4-6',
      ...{ CLAUDE_CODE_USE_BEDROCK: '', CLAUDE_CODE_USE_VERTEX: '', CLAUDE_CODE_USE_FOUNDRY: '' },
    },
  });
});

test('refuses a key, a model and an address that are wrong before it writes', async () => {
  at.keys.add('sk-right');
  at.put('key', 'sk-wrong\n');
  const refused = (flags: object) => expect(at.connect('codex', { yes: true, ...flags })).rejects;
  await refused({ keyFile: join(at.home, 'key') }).toThrow('refuses this key');
  await refused({ key: 'sk-right', model: 'alpha-3-flsh' }).toThrow('Did you mean alpha-3-flash?');
  await refused({ url: 'http://127.0.0.1:9' }).toThrow('No gateway answers at http://127.0.0.1:9');
  await refused({ key: 'a', keyFile: 'b' }).toThrow('do not go together');
  await expect(at.connect('no-such', {})).rejects.toThrow('There are: claude-code, codex');
  expect(Object.keys(at.snapshot())).toEqual([join(at.home, 'key')]);
});

test('takes a key from the standard input, which is read once', async () => {
  at.keys.add('sk-given-0123456789');
  await at.connect('codex', { yes: true, keyFile: '-' }, { input: 'sk-given-0123456789\n' });
  expect(at.read('.codex/config.toml')).toContain('sk-given-0123456789');
});

test('takes a model that is offered where that of the examples is not', async () => {
  at.models.splice(0, Infinity, 'draws-image', 'one', 'two');
  await at.connect('codex');
  expect(at.read('.codex/config.toml')).toContain('model = "one"');
  at.unserved.add('one');
  await at.connect('aider');
  expect(at.read('.aider.conf.yml')).toContain('openai/two');
  at.models.splice(0, Infinity);
  await expect(at.connect('pi')).rejects.toThrow('isthmus accounts add');
});

test('leaves a file alone that is not of its format, and names the line; nothing else is written then', async () => {
  at.put('.pi/agent/settings.json', '{\n  "theme": dark\n}\n');
  at.keys.add('sk-of-somebody');
  const before = at.snapshot();
  await expect(at.connect('pi')).rejects.toThrow(/settings\.json was left as it is\. Line 2/);
  at.put('.codex/config.toml', Buffer.from([0x61, 0xff]));
  await expect(at.connect('codex')).rejects.toThrow('no text in UTF-8');
  expect(at.snapshot()).toMatchObject(before);
  expect(at.made).toEqual([]);
});

test.skipIf(process.platform === 'win32')(
  'says that others may read the key in a file that they could read before',
  async () => {
    const path = at.put('.claude/settings.json', '{}');
    chmodSync(path, 0o644);
    const words = `Other users of this machine may read the key in ${path}`;
    expect((await at.connect('claude-code')).notes.join()).toContain(words);
    await at.connect('claude-code', { undo: true, yes: true });
    chmodSync(path, 0o600);
    expect((await at.connect('claude-code')).notes.join()).not.toContain('Other users');
  },
);

test('keeps the mode of a file and a copy of it; a link stays a link', async () => {
  const target = at.put('dotfiles/claude.json', '{ "theme": "dark" }');
  chmodSync(target, 0o644);
  mkdirSync(join(at.home, '.claude'));
  symlinkSync(target, join(at.home, '.claude/settings.json'));
  const before = at.snapshot();
  await at.connect('claude-code');
  expect(lstatSync(join(at.home, '.claude/settings.json')).isSymbolicLink()).toBe(true);
  expect(statSync(target).mode & 0o777).toBe(0o644);
  const copies = join(at.folder, 'data/isthmus-clients');
  expect(readFileSync(join(copies, 'claude-code.settings.json.before'), 'utf8')).toBe(
    '{ "theme": "dark" }',
  );
  expect(statSync(join(copies, 'connections.json')).mode & 0o777).toBe(0o600);
  await at.connect('claude-code', { undo: true, yes: true });
  expect(at.snapshot()).toEqual(before);
});

test('after an edit it takes back only what it wrote', async () => {
  at.put('.codex/config.toml', 'model = "gpt" # mine\n');
  await at.connect('codex');
  const edited = at
    .read('.codex/config.toml')
    .replace('model_provider = "isthmus"', 'model_provider = "other"');
  at.put('.codex/config.toml', `${edited}\n[tui]\ntheme = "dark"\n`);
  await at.connect('codex', { undo: true, yes: true });
  expect(at.read('.codex/config.toml')).toContain('model = "gpt" # mine');
  expect(readTree('toml', at.read('.codex/config.toml'))).toEqual({
    ...{ model: 'gpt', model_provider: 'other', tui: { theme: 'dark' } },
  });
});

test("a client that writes its file anew has the old one back, a person's words stay", async () => {
  const before = '{ "version": 1, "modes": {}, /* mine */ "providers": {} }';
  at.put('.cline/data/settings/providers.json', before);
  await at.connect('cline');
  const stored = readTree('json', at.read('.cline/data/settings/providers.json'));
  const { providers } = stored as { providers: { 'openai-compatible': object } };
  const used = { 'openai-compatible': { ...providers['openai-compatible'], updatedAt: 'now' } };
  const rewrite = (end: string) =>
    at.put(
      '.cline/data/settings/providers.json',
      `${JSON.stringify({ ...stored, providers: used }, null, 4)}${end}`,
    );
  rewrite('');
  await at.connect('cline', { undo: true, yes: true });
  expect(at.read('.cline/data/settings/providers.json')).toBe(before);
  await at.connect('cline');
  rewrite(' // later\n');
  await at.connect('cline', { undo: true, yes: true });
  expect(at.read('.cline/data/settings/providers.json')).toContain('// later');
  expect(readTree('json', at.read('.cline/data/settings/providers.json'))).toEqual(
    readTree('json', before),
  );
});

test.each([
  ['codex', '.codex/config.toml', '# top\ntheme = "dark" # why\n\n# end\n'],
  ['codex', '.codex/config.toml', 'theme = "dark"\n\n\n[tui] # mine\n  a = [1,2]\n'],
  ['continue', '.continue/config.yaml', '\n\ntheme: dark\n\n\n# models:\n#   - name: X\n'],
  ['continue', '.continue/config.yaml', 'models: [{name: A, provider: openai}]\ntheme: dark\n'],
  ['aider', '.aider.conf.yml', 'model: gpt-4o # mine\ntheme: dark\n'],
  ['aider', '.aider.conf.yml', '{ theme: dark }\n'],
  ['copilot', '.bashrc', 'theme=dark\nexport COPILOT_MODEL=mine\n'],
  ['gemini-cli', '.gemini/.env', 'export GEMINI_API_KEY="mine" # work\ntheme=dark\n'],
  ['claude-code', '.claude/settings.json', '{"theme":"dark"}'],
  ['claude-code', '.claude/settings.json', '{\n  "env": {},\n  "theme": "dark"\n}\n'],
  ['pi', '.pi/agent/settings.json', '{\n\t"theme": "dark",\n\t"list": [1, 2]\n}\n'],
])('%s: an edit is all that differs when it is taken back: %s %j', async (id, file, text) => {
  at.put(file, text);
  await at.connect(id);
  at.put(file, at.read(file).replace('dark', 'light'));
  await at.connect(id, { undo: true, yes: true });
  expect(at.read(file)).toBe(text.replace('dark', 'light'));
});

test('a line that is added after it stays a line', async () => {
  at.put('.bashrc', 'alias a=b');
  await at.connect('copilot');
  at.put('.bashrc', `${at.read('.bashrc')}alias c=d\n`);
  await at.connect('copilot', { undo: true, yes: true });
  expect(at.read('.bashrc')).toBe('alias a=b\nalias c=d\n');
  at.put('.claude/settings.json', '');
  await at.connect('claude-code');
  at.put('.claude/settings.json', `${at.read('.claude/settings.json')}// mine\n`);
  await at.connect('claude-code', { undo: true, yes: true });
  expect(at.read('.claude/settings.json')).toMatch(/^\{\s*\}\n\/\/ mine\n$/);
});

test('a link that leads to no file yet stays, with the file behind it gone again', async () => {
  mkdirSync(join(at.home, '.codex'));
  mkdirSync(join(at.home, 'dotfiles'));
  const link = join(at.home, '.codex/config.toml');
  symlinkSync('../dotfiles/codex.toml', link);
  await at.connect('codex');
  expect(at.read('dotfiles/codex.toml')).toContain(at.url);
  await at.connect('codex', { undo: true, yes: true });
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(() => at.read('dotfiles/codex.toml')).toThrow('ENOENT');
});

test('a file that cannot be written is named, and the one written before it is as it was', async () => {
  at.put('.gemini/settings.json', '{"theme":"dark"}');
  symlinkSync('/proc/none/.env', join(at.home, '.gemini/.env'));
  await expect(at.connect('gemini-cli')).rejects.toThrow(
    /\.gemini\/\.env cannot be written: ENOENT/,
  );
  expect(at.read('.gemini/settings.json')).toBe('{"theme":"dark"}');
  const { printed } = await at.connect('gemini-cli', { undo: true, yes: true });
  expect(printed.join()).toContain('is not connected');
});

test('a file that cannot be read is named, and the list of clients shows the others', async () => {
  await at.connect('codex');
  rmSync(join(at.home, '.codex/config.toml'));
  mkdirSync(join(at.home, '.codex/config.toml'));
  await expect(at.connect('codex')).rejects.toThrow(
    /config\.toml was left as it is\. It cannot be/,
  );
  const [table = ''] = (await at.connect('', {})).printed;
  expect(table).toMatch(/^codex +Codex CLI +no +settings unreadable/m);
});

test('what is beside the new values keeps its form', async () => {
  at.put('.claude/settings.json', '{\n  "list": [1, 2],\n  "a": {"b": 1}\n}\n');
  await at.connect('claude-code');
  expect(at.read('.claude/settings.json')).toMatch(
    /^\{\n {2}"list": \[1, 2\],\n {2}"a": \{"b": 1\},\n {2}"env": \{\n {4}"ANTHROPIC_BASE_URL"/,
  );
});

test('an edit survives being connected again', async () => {
  at.put('.claude/settings.json', '{ "model": "opus" }');
  await at.connect('claude-code');
  at.put('.claude/settings.json', at.read('.claude/settings.json').replace('"opus"', '"haiku"'));
  await at.connect('claude-code', { yes: true, model: 'an-alias' });
  expect(JSON.parse(at.read('.claude/settings.json'))).toMatchObject({
    model: 'haiku',
    env: { ANTHROPIC_MODEL: 'an-alias' },
  });
  await at.connect('claude-code', { undo: true, yes: true });
  expect(JSON.parse(at.read('.claude/settings.json'))).toEqual({ model: 'haiku' });
});

test('finds the folder that a variable of the client names', async () => {
  const other = join(at.home, 'elsewhere');
  at.variables.CLAUDE_CONFIG_DIR = '~/elsewhere';
  at.variables.GEMINI_CLI_HOME = other;
  at.variables.XDG_CONFIG_HOME = other;
  at.variables.CLINE_DIR = other;
  for (const id of ['claude-code', 'gemini-cli', 'opencode', 'cline']) await at.connect(id);
  const files = Object.keys(at.snapshot()).map((path) => path.slice(other.length + 1));
  for (const file of [
    'settings.json',
    '.gemini/.env',
    'opencode/opencode.jsonc',
    'data/settings/providers.json',
  ]) {
    expect(files).toContain(file);
  }
});

test('a client with settings in two places has both, and gives back each', async () => {
  at.put('.claude/settings.json', '{ "model": "opus" }');
  at.put('work/settings.json', '{ "model": "haiku" }');
  const before = at.snapshot();
  await at.connect('claude-code');
  at.variables.CLAUDE_CONFIG_DIR = '~/work';
  await at.connect('claude-code');
  delete at.variables.CLAUDE_CONFIG_DIR;
  expect((await at.connect('claude-code')).printed.join()).toContain('already connected');
  await at.connect('claude-code', { undo: true, yes: true });
  expect(at.read('.claude/settings.json')).toBe('{ "model": "opus" }');
  // Also where the variable is not set any more.
  await at.connect('claude-code', { undo: true, yes: true });
  expect(at.snapshot()).toEqual(before);
});

/** Of a model that is not in their lists they take for granted that it reads text alone. */
test.each([
  ['opencode', '.config/opencode/opencode.jsonc', /"input": \[\s*"text",\s*"image",\s*"pdf"\s*\]/],
  ['kilo', '.config/kilo/kilo.jsonc', /"input": \[\s*"text",\s*"image",\s*"pdf"\s*\]/],
  ['qwen-code', '.qwen/settings.json', /"modalities": \{\s*"image": true,\s*"pdf": true\s*\}/],
  ['pi', '.pi/agent/models.json', /"reasoning": true,\s*"input": \[\s*"text",\s*"image"\s*\]/],
  ['continue', '.continue/config.yaml', /\bimage_input\b/],
])('%s is told that the model is shown pictures', async (id, file, words) => {
  await at.connect(id);
  expect(at.read(file)).toMatch(words);
});

test('opencode is given the file that it has', async () => {
  at.put('.config/opencode/config.json', '{}');
  await at.connect('opencode');
  expect(at.read('.config/opencode/config.json')).toContain(at.url);
});

test.each([
  ['/usr/bin/zsh', '.zshrc', 'export COPILOT_MODEL=alpha-3-flash # isthmus'],
  ['/usr/bin/fish', '.config/fish/config.fish', "set -gx COPILOT_MODEL 'alpha-3-flash' # isthmus"],
  ['/bin/bash', '.bashrc', 'export COPILOT_MODEL=alpha-3-flash # isthmus'],
])('the variables of Copilot go into the start file of %s', async (shell, file, line) => {
  at.variables.SHELL = shell;
  at.put(file, '# mine');
  const before = at.snapshot();
  await at.connect('copilot');
  expect(at.read(file)).toContain(`${line}\n`);
  await at.connect('copilot', { undo: true, yes: true });
  expect(at.snapshot()).toEqual(before);
});

test('the settings of a project are those that git ignores, where a client has them', async () => {
  const path = join(at.folder, 'project/.claude/settings.local.json');
  await at.connect('claude-code', { yes: true, scope: 'project' });
  expect(readFileSync(path, 'utf8')).toContain(at.url);
  expect(at.snapshot()).toEqual({});
  await at.connect('claude-code', { undo: true, yes: true, scope: 'project' });
  expect(() => readFileSync(path)).toThrow('ENOENT');
  await expect(at.connect('codex', { scope: 'project' })).rejects.toThrow(
    'no settings of a project',
  );
});

test('the variables of an SDK are printed, or written into a file that is named', async () => {
  const { printed } = await at.connect('sdk-openai', {});
  expect(printed).toEqual([`export OPENAI_BASE_URL=${at.url}/v1\nexport OPENAI_API_KEY=any-key`]);
  const path = join(at.folder, 'project/.env');
  mkdirSync(join(at.folder, 'project'));
  writeFileSync(path, 'OTHER=1\nGEMINI_API_KEY=mine\n');
  await at.connect('sdk-google', { yes: true, variablesFile: '.env' });
  expect(readFileSync(path, 'utf8')).toBe(
    `OTHER=1\nGEMINI_API_KEY=any-key\nGOOGLE_GEMINI_BASE_URL=${at.url}\n`,
  );
  await at.connect('sdk-google', { undo: true, yes: true, variablesFile: '.env' });
  expect(readFileSync(path, 'utf8')).toBe('OTHER=1\nGEMINI_API_KEY=mine\n');
  await expect(at.connect('codex', { variablesFile: '.env' })).rejects.toThrow('goes with an SDK');
});

test('what is to be done with a client wants one', async () => {
  for (const flags of [{ undo: true, yes: true }, { dryRun: true }, { model: 'alpha-3-flash' }]) {
    await expect(at.connect('', flags)).rejects.toThrow('Name a client');
  }
});

test('lists the clients of this machine with their state, in words and as JSON', async () => {
  mkdirSync(join(at.folder, 'bin'));
  writeFileSync(join(at.folder, 'bin/codex'), '', { mode: 0o755 });
  await at.connect('codex');
  await at.connect('pi');
  at.put('.pi/agent/models.json', '{}');
  const [table = ''] = (await at.connect('', {})).printed;
  expect(table).toMatch(/^codex +Codex CLI +yes +connected to http/m);
  expect(table).toMatch(/^pi +pi +no +edited since/m);
  expect(table).toMatch(/^aider +aider +no +not connected/m);
  const { printed } = await at.connect('', { json: true });
  expect(JSON.parse(printed.join())).toMatchObject({
    clients: expect.arrayContaining([
      expect.objectContaining({ id: 'codex', program: join(at.folder, 'bin/codex') }),
    ]),
  });
  const undone = await at.connect('aider', { undo: true, json: true });
  expect(JSON.parse(undone.printed.join())).toEqual({
    ...{ client: 'aider', state: 'not connected', changed: false },
  });
});

/** Files as people have them: their own fields, with spaces, comments and line ends of all kinds. */
const names = fc.constantFrom('theme', 'env', 'model', 'x-y', 'provider', 'providers', 'models');
const json = fc
  .tuple(
    fc.dictionary(names, fc.oneof(fc.string(), fc.integer(), fc.constant({ a: 1 })), {
      maxKeys: 5,
    }),
    fc.constantFrom(0, 1, 2, 4, '\t'),
    fc.constantFrom('', '// mine\n', '/* a */ '),
    fc.constantFrom('', '\n', '\n\n'),
    fc.boolean(),
  )
  .map(([object, indent, comment, end, isWindows]) => {
    const text = `${comment}${JSON.stringify(object, null, indent)}${end}`;
    return isWindows ? text.replaceAll('\n', '\r\n') : text;
  });

test.each([
  ['claude-code', '.claude/settings.json'],
  ['opencode', '.config/opencode/opencode.json'],
  ['pi', '.pi/agent/settings.json'],
  ['qwen-code', '.qwen/settings.json'],
  ['cline', '.cline/data/settings/providers.json'],
])('%s: connected and taken back, every file is byte for byte what it was', async (id, file) => {
  const numRuns = countOf({ slow: 300, everyday: 12 });
  await fc.assert(
    fc.asyncProperty(json, async (text) => {
      at.put(file, text);
      const before = at.snapshot();
      try {
        await at.connect(id);
      } catch (error) {
        // A field of theirs holds something else than an object: that is left alone.
        expect(String(error)).toContain('was left as it is');
        expect(at.snapshot()).toEqual(before);
        return;
      }
      expect(at.read(file)).not.toBe(text);
      await at.connect(id, { undo: true, yes: true });
      expect(at.snapshot()).toEqual(before);
    }),
    { numRuns },
  );
});
