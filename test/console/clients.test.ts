// The snippets of the page Clients: what they are filled with stays one text, and goes to the right path.

import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { SetUp } from '../../console/src/pages/clients/client.ts';
import {
  CLIENTS,
  findClient,
  findWay,
  pickModel,
  searchClients,
} from '../../console/src/pages/clients/clients.ts';
import { findKeyNeed, placeholderKey } from '../../console/src/pages/clients/key-need.ts';
import { quoteScript, quoteText, quoteWord, writeWord } from '../../src/clients/write-settings.ts';

const SET_UP: SetUp = { address: 'http://gateway.example:8045', key: 'sk-one', model: 'a-model' };

const WAYS = CLIENTS.flatMap((client) =>
  client.ways.map((way) => ({ id: `${client.id} ${way.id}`, client, way })),
);

/** The path behind the address, of every client in every way; curl names whole paths. */
const BASES: Readonly<Record<string, string>> = {
  'claude-code': '',
  codex: '/v1',
  'gemini-cli': '',
  opencode: '/v1',
  kilo: '/v1',
  'qwen-code': '/v1',
  copilot: '/v1',
  pi: '/v1',
  cline: '/v1',
  continue: '/v1/',
  aider: '/v1',
  openai: '/v1',
  anthropic: '',
  'google-genai': '',
  'vercel-ai openai': '/v1',
  'vercel-ai openai-compatible': '/v1',
  'vercel-ai anthropic': '/v1',
  'vercel-ai google': '/v1beta',
  curl: '/v1/models /v1/chat/completions',
  'other openai': '/v1',
  'other anthropic': '',
  'other google': '',
};

test.each(WAYS)('$id is sent to the path of its protocol', ({ id, client, way }) => {
  const code = way.write(SET_UP).map((step) => step.code);
  const paths = [...code.join('\n').matchAll(/http:\/\/gateway\.example:8045([\w/]*)/g)];
  expect(paths.map(([, path]) => path).join(' ')).toBe(BASES[id] ?? BASES[client.id]);
});

test.each(WAYS)('$id holds the key and the model, and no step twice', ({ client, way }) => {
  const steps = way.write(SET_UP);
  const code = steps.map((step) => step.code).join('\n');
  expect(code).toContain('sk-one');
  expect(code).toContain('a-model');
  expect(new Set(steps.map(({ kind }) => kind)).size).toBe(steps.length);
  expect(new Set(client.ways.map(({ id }) => id)).size).toBe(client.ways.length);
});

const HOSTILE = `a'b"c\\d$(e)\`f\`;g #h $i ‘j’ %k! 模型 <b>`;

/** What a text becomes between the quotes of each language, in commands also as JSON. */
function formsOf(text: string): readonly string[] {
  const inJson = JSON.stringify(text).slice(1, -1);
  // pi reads a dollar sign as the beginning of a variable.
  const escaped = inJson.replaceAll('$', '$$$$');
  const words = [text, inJson].flatMap((one) => [
    quoteWord(one, 'posix'),
    quoteWord(one, 'powershell'),
  ]);
  const quoted = [...words, quoteScript(text), quoteText(text)].map((one) => one.slice(1, -1));
  return [...quoted, inJson, escaped];
}

test.each(WAYS)(
  '$id keeps a key and a model of any characters in its quotes',
  ({ client, way }) => {
    // An app is given the bare text.
    if (client.id === 'other') return;
    const write = (text: string): readonly string[] =>
      way.write({ ...SET_UP, key: text, model: text }).flatMap(({ code }) => code.split('\n'));
    const forms = formsOf(HOSTILE);
    const harmless = write('~');
    const hostile = write(HOSTILE);
    expect(hostile).toHaveLength(harmless.length);
    for (const [index, line] of harmless.entries()) {
      const allowed = forms.map((form) => line.replaceAll('~', () => form));
      expect(allowed).toContain(hostile[index]);
    }
  },
);

const IN_POSIX = WAYS.filter(({ way }) => way.id === 'posix');

test.each(IN_POSIX)('the commands of $id run nothing but their program', ({ client, way }) => {
  const programs = ['claude', 'codex', 'gemini', 'opencode', 'kilo', 'qwen', 'copilot', 'pi'];
  const stubs = [...programs, 'cline', 'cn', 'aider', 'curl'].map(
    (name) => `${name}() { printf '%s\\n' "$@"; }`,
  );
  const commands = way
    .write({ ...SET_UP, key: HOSTILE, model: HOSTILE })
    .filter(({ file }) => file === undefined)
    .map(({ code }) => code);
  const script = [...stubs, ...commands, 'export -p'].join('\n');
  const { status, stdout, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8', env: {} });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const isGiven = commands.some((code) => code.includes('$(e)'));
  if (isGiven) expect(stdout).toContain('$(e)');
  if (client.id === 'curl') {
    const body = stdout.split('\n').find((line) => line.startsWith('{')) ?? '';
    expect(JSON.parse(body)).toMatchObject({ model: HOSTILE });
  }
});

test('a word of a shell is quoted where it needs to be', () => {
  expect(writeWord('http://127.0.0.1:8045/v1', 'posix')).toBe('http://127.0.0.1:8045/v1');
  for (const text of ['', 'a b', '~', '-m', '=ls', '$HOME', 'a;b', 'http://[::1]:8045']) {
    expect(writeWord(text, 'posix')).toBe(`'${text}'`);
    expect(writeWord(text, 'powershell')).toBe(`'${text}'`);
  }
  expect(quoteWord("it's", 'posix')).toBe(`'it'\\''s'`);
  expect(quoteWord('it’s', 'powershell')).toBe(`'it’’s'`);
});

test('a text in quotes is read back as it was', () => {
  for (const text of [HOSTILE, '\\', "\\'", '\\"', 'a\nb\u2028c\u0000']) {
    expect(JSON.parse(quoteText(text))).toBe(text);
    expect(new Function(`return ${quoteScript(text)}`)()).toBe(text);
  }
});

test('a client is found by its id, its name and what it speaks; the first one stands for an unknown id', () => {
  expect(findClient('codex').name).toBe('Codex CLI');
  expect(findClient('no-such')).toBe(CLIENTS[0]);
  expect(searchClients('CLAUDE').map(({ id }) => id)).toEqual(['claude-code', 'anthropic']);
  expect(searchClients(' ')).toEqual(CLIENTS);
  expect(new Set(CLIENTS.map(({ id }) => id)).size).toBe(CLIENTS.length);
});

test('the shell is the chosen one, else that of the system', () => {
  const codex = findClient('codex');
  expect(findWay(codex, undefined, false).id).toBe('posix');
  expect(findWay(codex, undefined, true).id).toBe('powershell');
  expect(findWay(codex, 'posix', true).id).toBe('posix');
  expect(findWay(findClient('openai'), 'posix', true).id).toBe('javascript');
});

test('the model of a client is the one of its examples, or one that is offered', () => {
  const model = (id: string, target: string | null = id) => ({
    servedAs: target,
    ...{ id, target, displayName: id, description: '', inputTokenLimit: 1, outputTokenLimit: 1 },
    ...{ supportsThinking: false, drawsImages: false, tasks: ['generate'] },
  });
  const codex = findClient('codex');
  expect(pickModel([model('first'), model(codex.model)], codex)).toBe(codex.model);
  expect(pickModel([model(codex.model, null), model('other')], codex)).toBe('other');
  expect(pickModel([], codex)).toBe(codex.model);
});

test('says who needs a key as the gateway asks for it', () => {
  const need = (authMode: string, hostname: string, hasKeys: boolean) =>
    findKeyNeed({ authMode, hostname, hasKeys });
  expect(need('off', 'gateway.example', true)).toBe('never');
  expect(need('auto', '127.0.0.1', false)).toBe('elsewhere');
  expect(need('auto', '[::1]', true)).toBe('noWrong');
  expect(need('auto', 'gateway.example', false)).toBe('always');
  expect(need('strict', 'localhost', false)).toBe('always');
  expect(placeholderKey('elsewhere')).toBe('any-key');
  expect(placeholderKey('noWrong')).toBe('YOUR_KEY');
});
