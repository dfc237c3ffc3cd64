import { expect, test } from 'vitest';
import { boundAccounts, type Detour, nextBinding, type SessionBinding } from './session-binding.ts';

function bindingOf(
  home: string,
  models: readonly string[] = ['m'],
  detours: Readonly<Record<string, Detour>> = {},
): SessionBinding {
  return { home, models, detours: new Map(Object.entries(detours)) };
}

const lasting = (accountId: string): Detour => ({ accountId, returns: false });
const soft = (accountId: string): Detour => ({ accountId, returns: true });

test('a model goes home first while its detour is only for a rest, and to a lasting one first', () => {
  expect(boundAccounts(bindingOf('a'), 'm')).toEqual(['a']);
  expect(boundAccounts(bindingOf('a', ['m'], { m: soft('b') }), 'm')).toEqual(['a', 'b']);
  expect(boundAccounts(bindingOf('a', ['m'], { m: lasting('b') }), 'm')).toEqual(['b', 'a']);
  expect(boundAccounts(bindingOf('a', ['m'], { m: lasting('b') }), 'n')).toEqual(['a']);
});

test.each<
  readonly [string, SessionBinding | undefined, Parameters<typeof nextBinding>[1], unknown]
>([
  [
    'a new session is at home where it first went',
    undefined,
    { model: 'm', chosen: 'a', fate: 'gone' },
    bindingOf('a'),
  ],
  [
    'back home a detour ends',
    bindingOf('a', ['m'], { m: soft('b') }),
    { model: 'm', chosen: 'a', fate: 'ready' },
    bindingOf('a'),
  ],
  [
    'who was told to go elsewhere stays there',
    bindingOf('a'),
    { model: 'm', chosen: 'b', fate: 'ready' },
    bindingOf('b'),
  ],
  [
    'home rests: a detour until it is back',
    bindingOf('a'),
    { model: 'm', chosen: 'b', fate: 'resting' },
    bindingOf('a', ['m'], { m: soft('b') }),
  ],
  [
    'a lasting detour rests: nothing moves',
    bindingOf('a', ['m'], { m: lasting('b') }),
    { model: 'm', chosen: 'c', fate: 'resting' },
    bindingOf('a', ['m'], { m: lasting('b') }),
  ],
  [
    'home is gone: the session moves',
    bindingOf('a', ['m', 'n'], { n: lasting('b') }),
    { model: 'm', chosen: 'c', fate: 'gone' },
    bindingOf('c'),
  ],
  [
    'a lasting detour is gone: home stays home',
    bindingOf('a', ['m', 'n'], { m: lasting('b') }),
    { model: 'm', chosen: 'c', fate: 'gone' },
    bindingOf('a', ['m', 'n'], { m: lasting('c') }),
  ],
  [
    'home cannot serve the only model: the session moves',
    bindingOf('a'),
    { model: 'm', chosen: 'b', fate: 'unfit' },
    bindingOf('b'),
  ],
  [
    'home cannot serve one model of several: that one has a detour',
    bindingOf('a', ['m', 'n']),
    { model: 'm', chosen: 'b', fate: 'unfit' },
    bindingOf('a', ['m', 'n'], { m: lasting('b') }),
  ],
  [
    'a lasting detour cannot serve it any more, home can',
    bindingOf('a', ['m', 'n'], { m: lasting('b') }),
    { model: 'm', chosen: 'a', fate: 'unfit' },
    bindingOf('a', ['m', 'n']),
  ],
])('%s', (_what, binding, move, expected) => {
  expect(nextBinding(binding, move)).toEqual(expected);
});

test('a session that names many models is not followed into all of them', () => {
  let binding = nextBinding(undefined, { model: 'm0', chosen: 'a', fate: 'gone' });
  for (let count = 1; count < 50; count += 1) {
    binding = nextBinding(binding, { model: `m${count}`, chosen: 'b', fate: 'unfit' });
  }
  expect(binding.home).toBe('a');
  expect(binding.models).toHaveLength(8);
  expect([...binding.detours.keys()]).toEqual(['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7']);
});
