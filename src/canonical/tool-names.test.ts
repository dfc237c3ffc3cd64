import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assistant, requestOf } from '../../test/support/canonical.ts';
import type { Tool } from './request.ts';
import { acceptedToolNames } from './tool-names.ts';

const ACCEPTED = /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/;
const toolsOf = (...names: readonly string[]): Tool[] =>
  names.map((name) => ({ kind: 'function', name }));

test('names that upstreams take are left alone', () => {
  const names = ['w', '_x', 'mcp__a__b', 'a.b:c-d', 'n'.repeat(64)];
  expect(acceptedToolNames(requestOf({ tools: toolsOf(...names) })).size).toBe(0);
});

test('a refused name keeps its words and gets the digest of itself', () => {
  const names = acceptedToolNames(requestOf({ tools: toolsOf('files/read all', '1st') }));
  expect(names.get('files/read all')).toMatch(/^files_read_all_[0-9a-f]{8}$/);
  expect(names.get('1st')).toMatch(/^_1st_[0-9a-f]{8}$/);
});

test('a name is the same beside other tools, and in history and choice alone', () => {
  const name = 'é/w';
  const alone = acceptedToolNames(requestOf({ tools: toolsOf(name) })).get(name);
  const call = { kind: 'tool-call', id: '1', name, input: {} } as const;
  expect(acceptedToolNames(requestOf({ tools: toolsOf('a/b', name) })).get(name)).toBe(alone);
  expect(acceptedToolNames(requestOf({ turns: [assistant(call)] })).get(name)).toBe(alone);
  const toolChoice = { kind: 'required', names: [name] } as const;
  expect(acceptedToolNames(requestOf({ toolChoice })).get(name)).toBe(alone);
});

test('a made name steps aside for a tool that has it', () => {
  const made = acceptedToolNames(requestOf({ tools: toolsOf('a b') })).get('a b') ?? '';
  const names = acceptedToolNames(requestOf({ tools: toolsOf('a b', made) }));
  expect(names.get('a b')).not.toBe(made);
  expect(names.size).toBe(1);
});

test('any names become accepted and stay apart', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 140 })), (given) => {
      const names = acceptedToolNames(requestOf({ tools: toolsOf(...given) }));
      const sent = given.map((name) => names.get(name) ?? name);
      expect(sent.every((name) => ACCEPTED.test(name))).toBe(true);
      expect(new Set(sent).size).toBe(given.length);
    }),
  );
});
