import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CATALOG } from './catalog.ts';
import { createFamilies, familyOf } from './families.ts';

const listOf = (ids: readonly string[]): ReadonlyMap<string, unknown> =>
  new Map(ids.map((id) => [id, {}]));

const newest = (name: string, ids: readonly string[]) => createFamilies().newest(name, listOf(ids));

test.each([
  [
    'a stable model before a preview',
    ['gemini-3-flash-preview', 'gemini-3.8-flash'],
    'gemini-3.8-flash',
  ],
  [
    'a stable one before a newer preview',
    ['gemini-4-flash-preview', 'gemini-3.8-flash'],
    'gemini-3.8-flash',
  ],
  [
    'no older generation before a preview',
    ['gemini-2.5-flash', 'gemini-3-flash-preview'],
    'gemini-3-flash-preview',
  ],
  [
    'an older generation where there is no other',
    ['gemini-2.5-flash', 'gemini-1.5-flash'],
    'gemini-2.5-flash',
  ],
  [
    'numbers as numbers',
    ['gemini-9-flash', 'gemini-10-flash', 'gemini-9.9-flash'],
    'gemini-10-flash',
  ],
  ['parts of a version as numbers', ['gemini-4.9-flash', 'gemini-4.10-flash'], 'gemini-4.10-flash'],
  [
    'a preview before an experiment',
    ['gemini-5-flash-exp', 'gemini-4-flash-preview'],
    'gemini-4-flash-preview',
  ],
  [
    'the id without a revision',
    ['gemini-4-flash-001', 'gemini-4-flash', 'gemini-4-flash-002'],
    'gemini-4-flash',
  ],
  ['the last revision', ['gemini-4-flash-001', 'gemini-4-flash-002'], 'gemini-4-flash-002'],
  [
    'the last preview',
    [
      'gemini-4-flash-preview-04-17',
      'gemini-4-flash-preview-09-2025',
      'gemini-4-flash-preview-05-20',
    ],
    'gemini-4-flash-preview-09-2025',
  ],
  [
    'ids behind the name of their maker',
    ['google/gemini-3-flash-preview', 'google/gemini-3.8-flash', 'google/gemini-3.9-flash:free'],
    'google/gemini-3.8-flash',
  ],
  [
    'a number before a name for the latest',
    ['gemini-flash-latest', 'gemini-4-flash'],
    'gemini-4-flash',
  ],
  [
    'the latest before an older generation',
    ['gemini-flash-latest', 'gemini-2.5-flash'],
    'gemini-flash-latest',
  ],
  ['the neutral words', ['alpha-4-flash', 'alpha-3.5-flash', 'alpha-4-pro'], 'alpha-4-flash'],
  ['any case', ['Models/Gemini-4-Flash'], 'Models/Gemini-4-Flash'],
])('B2: flash takes %s', (_case, ids, id) => {
  expect(newest('alpha-3-flash', ids)).toBe(id);
  expect(newest('alpha-3-flash', ids.toReversed())).toBe(id);
  expect(newest('gemini-3-flash', ids)).toBe(id);
});

const VARIANTS = [
  ...[
    'gemini-9-flash-lite',
    'gemini-9-flash-image',
    'gemini-9-flash-preview-tts',
    'gemini-9-flash-live',
  ],
  ...[
    'gemini-9-flash-native-audio-latest',
    'gemini-live-9-flash',
    'gemini-9-flash-thinking-exp-01-21',
  ],
  ...[
    'gemini-9-flash-customtools',
    'gemini-9-flash-8b',
    'gemini-9-flash-embedding',
    'gemma-9-flash',
    'flash',
  ],
];

test.each(VARIANTS)('B2: %s is not taken for the plain family', (id) => {
  expect(newest('alpha-3-flash', [id])).toBeUndefined();
  expect(newest('alpha-3-flash', [id, 'gemini-2.5-flash'])).toBe('gemini-2.5-flash');
});

test.each([
  [
    'alpha-3-pro-high',
    ['gemini-3-pro-preview', 'gemini-3.1-pro-preview-customtools', 'gemini-3.1-pro-preview'],
    'gemini-3.1-pro-preview',
  ],
  ['alpha-3-pro-low', ['alpha-4-pro-high', 'alpha-4-pro-low'], 'alpha-4-pro-low'],
  ['alpha-3-pro-low', ['alpha-4-pro-high'], 'alpha-4-pro-high'],
  [
    'alpha-3-pro-image',
    ['gemini-4-flash-image', 'gemini-4-pro-image', 'gemini-4-pro'],
    'gemini-4-pro-image',
  ],
  [
    'alpha-3-pro-image',
    ['gemini-3.1-flash-image-preview', 'gemini-3-pro-image-preview'],
    'gemini-3-pro-image-preview',
  ],
  [
    'alpha-3-pro-image',
    ['gemini-3-pro-image-preview', 'gemini-4-flash-image'],
    'gemini-4-flash-image',
  ],
  [
    'alpha-3-pro-image',
    ['gemini-2.5-flash-image', 'gemini-nano-banana-2.1'],
    'gemini-nano-banana-2.1',
  ],
  ['alpha-3-pro-image', ['nano-banana-pro-preview'], 'nano-banana-pro-preview'],
  ['alpha-3-pro-image', ['gemini-4-pro', 'imagen-4.0-generate-001'], undefined],
  [
    'beta-sonnet-4-6',
    ['claude-sonnet-4-5-20250929', 'claude-sonnet-5', 'gemini-9-pro'],
    'claude-sonnet-5',
  ],
  [
    'beta-sonnet-4-6',
    ['claude-3-5-sonnet-20241022', 'claude-3-7-sonnet-latest'],
    'claude-3-7-sonnet-latest',
  ],
  ['beta-sonnet-4-6', ['claude-opus-5', 'gemini-4-pro', 'gemini-4-flash'], 'gemini-4-pro'],
  [
    'beta-sonnet-4-6-thinking',
    ['beta-sonnet-5', 'beta-sonnet-5-thinking'],
    'beta-sonnet-5-thinking',
  ],
  ['beta-opus-4-6-thinking', ['claude-opus-4-1@20250805', 'claude-opus-4-6'], 'claude-opus-4-6'],
  ['alpha-embedding-001', ['gemini-embedding-2'], undefined],
  ['gemini-9-flash', ['gemini-8-flash'], undefined],
])('B2: %s in %j is %s', (name, ids, id) => {
  expect(newest(name, ids)).toBe(id);
});

test('B2: two models of a generation that does not exist yet serve every text name of the catalogue', () => {
  for (const words of ['gemini', 'alpha']) {
    const ids = [`${words}-4-pro`, `${words}-4-flash`];
    for (const { id, drawsImages, tasks } of CATALOG) {
      const isText = !drawsImages && tasks.some((task) => task === 'generate');
      const found = newest(id, ids);
      expect(found === undefined).toBe(!isText);
      if (isText) expect(found).toBe(ids[id.includes('flash') ? 1 : 0]);
    }
  }
});

test('the best of a list does not depend on its order, and of two generations it is the newer', () => {
  const version = fc.tuple(fc.integer({ min: 3, max: 40 }), fc.integer({ min: 0, max: 30 }));
  const versions = fc.uniqueArray(version, { minLength: 1, selector: String });
  fc.assert(
    fc.property(versions, fc.constantFrom('', '-preview', '-001'), (all, end) => {
      const ids = all.map(([major, minor]) => `gemini-${major}.${minor}-pro${end}`);
      const [best = [0, 0]] = all.toSorted((a, b) => b[0] - a[0] || b[1] - a[1]);
      expect(newest('alpha-3-pro-high', ids)).toBe(`gemini-${best[0]}.${best[1]}-pro${end}`);
    }),
  );
});

test('a model that the operator prefers goes before the newest where it is offered', () => {
  const families = createFamilies({ pro: ['gemini-3-pro'], opus: ['claude-opus-4'] });
  const ids = listOf(['gemini-3-pro', 'gemini-4-pro']);
  expect(families.preferred('alpha-3-pro-high', ids)).toBe('gemini-3-pro');
  expect(families.preferred('beta-opus-4-6-thinking', ids)).toBe('gemini-3-pro');
  const withOpus = listOf(['gemini-3-pro', 'claude-opus-5']);
  expect(families.preferred('beta-opus-4-6-thinking', withOpus)).toBeUndefined();
  expect(families.newest('beta-opus-4-6-thinking', withOpus)).toBe('claude-opus-5');
  expect(families.preferred('alpha-3-pro-high', listOf(['gemini-4-pro']))).toBeUndefined();
  expect(families.preferred('alpha-3-flash', ids)).toBeUndefined();
  expect(families.preferred('gemini-3-pro-high', ids)).toBeUndefined();
  expect(families.newest('gemini-3-pro-high', ids)).toBe('gemini-3-pro');
  expect(families.unlisted('alpha-3-pro-low')).toBe('gemini-3-pro');
  expect(createFamilies({ pro: ['Alpha-3-pro'] }).newest('alpha-3-pro-low', ids)).toBe(
    'gemini-3-pro',
  );
  const haiku = createFamilies({ haiku: ['claude-haiku-4'] });
  expect(haiku.newestOf('haiku', ['claude-haiku-5', 'claude-haiku-4'])).toBe('claude-haiku-4');
});

test('an operator may name models of other words for a family, best first, the newest of a pattern', () => {
  const families = createFamilies({ flash: ['first', 'house-fast-*'] });
  const ids = ['house-fast-9', 'house-fast-10', 'house-slow-30', 'gemini-4-flash'];
  expect(families.newest('alpha-3-flash', listOf(ids))).toBe('house-fast-10');
  expect(families.newest('alpha-3-flash', listOf([...ids, 'first']))).toBe('first');
  expect(families.newest('alpha-3-flash', listOf(['gemini-4-flash']))).toBe('gemini-4-flash');
  expect(families.unlisted('alpha-3-flash')).toBe('first');
});

test.each([
  ['claude-sonnet-4-6', 'claude-sonnet-4-6', undefined],
  ['claude-sonnet-4-6', 'anthropic/claude-sonnet-4.6', undefined],
  ['claude-sonnet-4-6', 'claude-sonnet-4-6-20260217', undefined],
  ['claude-sonnet-4-6', 'claude-sonnet-4-5', 'version'],
  ['claude-sonnet-4-6', 'gemini-5-pro', 'family'],
  ['gemini-3-flash', 'gemini-3-flash-preview', 'version'],
  ['beta-sonnet-4-6', 'beta-sonnet-4-6', undefined],
  // A name of the catalogue is no wish for one version: the newest is as good.
  ['alpha-3-flash', 'gemini-3-flash', 'version'],
  ['alpha-3-flash', 'gemini-3.8-flash', 'version'],
  ['claude-opus-4-5', 'claude-opus-5', undefined],
])('who asks for %s and gets %s loses %s', (name, id, loss) => {
  expect(createFamilies().lossOf(name, id)).toBe(loss);
});

test('what the operator prefers is no loss', () => {
  const families = createFamilies({ sonnet: ['house-*'] });
  expect(families.lossOf('claude-sonnet-4-6', 'house-large')).toBeUndefined();
});

test('an id with another word in it belongs to no family', () => {
  expect(familyOf('gemini-3.1-flash-image-preview')).toBe('image');
  expect(familyOf('gemini-2.5-flash-preview-tts')).toBeUndefined();
  expect(familyOf('gpt-4o')).toBeUndefined();
});
