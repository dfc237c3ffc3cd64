import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GatewayError } from '../canonical/error.ts';
import { realModelName } from '../wire/vocabulary.ts';
import { CATALOG } from './catalog.ts';
import { allPresets, PRESETS, presetPatch } from './mapping.ts';
import { sayRouteStep } from './model-names.ts';
import { createRouter, type Router } from './router.ts';

type Route = ReturnType<Router['route']>;

type Preset = (typeof PRESETS)[number];

const TARGETS = ['a', 'b', 'x', 't', 'p', 'c', 'm', '1', '2'];

function route(
  name: string,
  mapping: Record<string, string> = {},
  offered: readonly string[] = TARGETS,
): Route {
  const router = createRouter({ mapping: () => mapping, offered: offering(offered) });
  return router.route(name);
}

function failure(name: unknown, mapping: Record<string, string> = {}): GatewayError {
  try {
    // The server hands over whatever stood in the body.
    route(name as string, mapping);
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('the name was routed');
}

test.each([
  ['V001', { 'gpt*': 'a', 'gpt-4*': 'b' }, 'gpt-4-turbo', 'b'],
  ['V001', { 'gpt*': 'a', 'gpt-4*': 'b' }, 'gpt-3.5', 'a'],
  ['V002', { 'gpt-4*': 'a', 'gpt-4o': 'b' }, 'gpt-4o', 'b'],
  ['V003', { 'beta-opus-*': 'a', 'beta-opus*thinking': 'b' }, 'beta-opus-4-5-thinking', 'b'],
  ['V003', { 'beta-opus-*': 'a', 'beta-opus*thinking': 'b' }, 'beta-opus-4', 'a'],
  ['V004', { 'beta-*-sonnet-*': 'x' }, 'beta-3-5-sonnet-20241022', 'x'],
  ['V005', { 'prefix*': 'p', '*': 'c', 'a*b*c': 'm' }, 'prefix-1', 'p'],
  ['V005', { 'prefix*': 'p', '*': 'c', 'a*b*c': 'm' }, 'zzz', 'c'],
  ['V005', { 'prefix*': 'p', '*': 'c', 'a*b*c': 'm' }, 'a-test-b-foo-c', 'm'],
])('%s: %j sends %s to %s', (_id, mapping, name, target) => {
  expect(route(name, mapping).target).toBe(target);
});

test('a name no pattern matches stays as it is when an account offers it (V004)', () => {
  expect(route('random-model', { '*thinking*': 't' }, ['random-model']).target).toBe(
    'random-model',
  );
});

test('equal patterns are decided by code points, always the same way (V007, P131)', () => {
  for (let run = 0; run < 100; run += 1) {
    const mapping = run % 2 === 0 ? { 'a*': '1', '*a': '2' } : { '*a': '2', 'a*': '1' };
    expect(route('aa', mapping).target).toBe('2');
  }
});

test('an exact key matches as written first, then without regard to case', () => {
  const mapping = { 'GPT-4': 'a', 'gpt-4': 'b' };
  expect(route('GPT-4', mapping).target).toBe('a');
  expect(route('gpt-4', mapping).target).toBe('b');
  expect(route('Gpt-4', mapping).target).toBe('a');
});

test.each(CATALOG.map(({ id }) => id))('catalogue id %s is its own target', (id) => {
  expect(route(id).target).toBe(id);
  expect(route(`models/${id}`).target).toBe(id);
});

test.each([
  ['gemini-3-flash', 'alpha-3-flash'],
  ['claude-sonnet-4-6-thinking', 'beta-sonnet-4-6-thinking'],
  ['gemini-3-pro', 'alpha-3-pro-high'],
  ['gpt-5.2-codex', 'alpha-3-pro-high'],
  ['gpt-4o-mini', 'alpha-3-flash'],
  ['o3', 'alpha-3-pro-high'],
  ['o4-mini', 'alpha-3-pro-low'],
  ['o7-mini', 'alpha-3-pro-low'],
  ['o9-deep-research', 'alpha-3-pro-high'],
  ['gpt-9', 'alpha-3-pro-high'],
  ['claude-haiku-9', 'alpha-3-flash'],
  ['claude-opus-5-5', 'beta-opus-4-6-thinking'],
  ['claude-sonnet-4-5-20250929', 'beta-sonnet-4-6'],
  ['claude-3-5-haiku-latest', 'alpha-3-flash'],
  ['gemini-2.5-pro', 'alpha-3-pro-high'],
  ['gemini-3.1-flash-image-preview', 'alpha-3-pro-image'],
  ['gpt-image-1', 'alpha-3-pro-image'],
  ['gemini-nano-banana-2.1', 'alpha-3-pro-image'],
])('%s stands for %s', (name, target) => {
  expect(route(name).target).toBe(target);
});

test('a model an account really offers is not replaced by an alias (P133)', () => {
  expect(route('gemini-2.5-pro', {}, ['gemini-2.5-pro']).target).toBe('gemini-2.5-pro');
  expect(route('alpha-2.5-pro', {}, ['gemini-2.5-pro']).target).toBe('gemini-2.5-pro');
});

test.each([
  ['claude-opus-4-5', 'claude-opus-4-5-20251101'],
  ['beta-opus-4-5', 'claude-opus-4-5-20251101'],
  ['Claude-Sonnet-4-6', 'claude-sonnet-4-6@20260217'],
  ['gpt-4o', 'gpt-4o-2024-11-20'],
  ['house-1', 'house-1'],
])('%s is the model that an account offers under that name and its date, %s', (name, id) => {
  const offered = [
    ...['gpt-4o-2024-08-06', 'gpt-4o-2024-11-20', 'gpt-4o-mini-2024-07-18', 'claude-opus-4-6'],
    ...['claude-opus-4-5-20251101', 'claude-sonnet-4-6@20260217', 'house-1', 'house-1-20260101'],
  ];
  const found = route(name, {}, offered);
  expect(found.target).toBe(id);
  expect(found).not.toHaveProperty('thinking');
  expect(route(`${name}-low`, {}, offered)).toMatchObject({ target: id, effort: 'low' });
});

test.each([
  ['gpt-4o-2024-08-06', 'gpt-4o'],
  ['openai/gpt-4o-2024-08-06', 'gpt-4o'],
  ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
  ['beta-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
  // One that is offered with its date stays.
  ['o3-2025-04-16', 'o3-2025-04-16'],
  ['gemini-2.5-flash-2025-09-01', 'gemini-2.5-flash'],
])('%s is the model that an account offers without the date, %s', (name, id) => {
  const offered = [
    ...['gpt-4o', 'claude-sonnet-4-5', 'o3', 'o3-2025-04-16', 'gemini-2.5-flash', 'gemini-3-pro'],
  ];
  expect(route(name, {}, offered).target).toBe(id);
  expect(route(`${name}-low`, {}, offered)).toMatchObject({ target: id, effort: 'low' });
});

test.each([
  // The version that is named, not the newest of its family.
  ['claude-sonnet-8.5', 'claude-sonnet-8-5-20271212'],
  ['anthropic/claude-sonnet-8.5', 'claude-sonnet-8-5-20271212'],
  ['claude-sonnet-8-5-latest', 'claude-sonnet-8-5-20271212'],
  ['claude-opus-8-1', 'claude-opus-8.1'],
  ['claude-8-5-haiku-latest', 'claude-8-5-haiku-20271001'],
  ['gpt-9-latest', 'gpt-9'],
  ['gemini-7-5-flash', 'gemini-7.5-flash'],
  ['gemini-flash-latest', 'alpha-3-flash'],
  ['claude-sonnet-4.6', 'beta-sonnet-4-6'],
  // Also of the catalogue's own names.
  ['claude-opus-4-6', 'claude-opus-4.6'],
  ['beta-opus-4-6', 'claude-opus-4.6'],
])('%s is another spelling of %s', (name, id) => {
  const offered = [
    ...['claude-sonnet-8-5-20271212', 'claude-sonnet-9', 'claude-opus-8.1', 'claude-opus-9'],
    'claude-opus-4.6',
    ...[
      'claude-8-5-haiku-20271001',
      'claude-haiku-9',
      'gpt-9',
      'gemini-7.5-flash',
      'gemini-8-flash',
    ],
  ];
  expect(route(name, {}, offered).target).toBe(id);
  expect(route(`${name}-low`, {}, offered)).toMatchObject({ target: id, effort: 'low' });
});

test.each([{}, { 'draw*': 'gemini-nano-banana-2.1' }])(
  'a drawing model of another word that accounts offer has ratio and size in its name: %j',
  (mapping) => {
    const asked = Object.keys(mapping).length === 0 ? 'gemini-nano-banana-2.1' : 'drawer';
    expect(route(`${asked}-16-9-4k`, mapping, ['gemini-nano-banana-2.1'])).toMatchObject({
      target: 'gemini-nano-banana-2.1',
      image: { aspectRatio: '16:9', size: '4K' },
    });
  },
);

test('names imply reasoning', () => {
  expect(route('alpha-3-pro-high')).toMatchObject({ effort: 'high' });
  expect(route('gemini-3-pro-low')).toMatchObject({ effort: 'low' });
  expect(route('beta-opus-4-6-thinking')).toMatchObject({ thinking: 'on' });
  expect(route('alpha-3-flash')).not.toHaveProperty('thinking');
});

test.each([
  ['alpha-3-pro-low', { effort: 'low' }],
  ['beta-opus-4-6-thinking', { thinking: 'on' }],
])('names imply the same where accounts offer them in the other spelling: %s', (id, implied) => {
  const real = realModelName(id);
  for (const name of [id, real, real.toUpperCase()]) {
    expect(route(name, {}, [real])).toMatchObject({ target: real, ...implied });
  }
});

test('variant words at the end are taken off and kept (V118)', () => {
  expect(route('alpha-3-flash-online')).toMatchObject({ target: 'alpha-3-flash', webSearch: true });
  expect(route('gemini-3-flash-thinking-online')).toMatchObject({
    target: 'alpha-3-flash',
    thinking: 'on',
    webSearch: true,
  });
  expect(route('gpt-5-low')).toMatchObject({ target: 'alpha-3-pro-low', effort: 'low' });
  expect(route('claude-sonnet-4-5-thinking')).toMatchObject({
    target: 'beta-sonnet-4-6-thinking',
    thinking: 'on',
  });
});

test('keys are read like names: without a leading "models/", as model lists spell them (P130)', () => {
  const mapping = {
    'models/gemini-x': 'a',
    'models/gemini-y*': 'b',
    'gemini-x': 'c',
    'models/z': 'a',
  };
  expect(route('models/z', mapping).target).toBe('a');
  expect(route('z', mapping).target).toBe('a');
  expect(route('gemini-y-1', mapping).target).toBe('b');
  expect(route('models/gemini-x', mapping).target).toBe('c');
  expect(route('MODELS/gemini-y-1', mapping).target).toBe('b');
  expect(route('w', { 'Models/w': 'Models/ALPHA-3-flash' }).target).toBe('alpha-3-flash');
});

test('the mapping also sees names without their variant words (P132)', () => {
  expect(route('gpt-4o-online', { 'gpt-4o': 'x' })).toMatchObject({ target: 'x', webSearch: true });
  expect(route('gpt-9-high', { 'gpt-9': 'x' })).toMatchObject({ target: 'x', effort: 'high' });
});

test('a target is resolved, but not mapped again (P130)', () => {
  const mapping = { one: 'gemini-3-pro-low', 'gemini-3-pro-low': 'x', two: 'gpt-4o' };
  expect(route('one', mapping)).toMatchObject({ target: 'alpha-3-pro-low', effort: 'low' });
  expect(route('two', mapping).target).toBe('alpha-3-pro-high');
  expect(route('three', { three: 'models/a' }).target).toBe('a');
});

test('what the asked name says comes before what the target’s says', () => {
  const mapping = { one: 'alpha-3-pro-low', 'my-image': 'alpha-3-pro-image-2k' };
  expect(route('one', mapping).effort).toBe('low');
  expect(route('one-high', mapping)).toMatchObject({ target: 'alpha-3-pro-low', effort: 'high' });
  expect(route('my-image', mapping).image).toEqual({ size: '2K' });
  expect(route('my-image-4k', mapping).image).toEqual({ size: '4K' });
});

test.each([
  ['alpha-3-pro-image-16x9-4k', '16:9', '4K'],
  ['alpha-3-pro-image-4k-16-9', '16:9', '4K'],
  ['gemini-3-pro-image-21-9-4k', '21:9', '4K'],
  ['alpha-3-pro-image-hd', undefined, '4K'],
  ['alpha-3-pro-image-1-1', '1:1', undefined],
  ['alpha-3-pro-image-preview-2k', undefined, '2K'],
  ['gemini-nano-banana-2.1-16-9-4k', '16:9', '4K'],
  ['nano-banana-pro-2k', undefined, '2K'],
])('%s sets the image parameters aside (V133)', (name, aspectRatio, size) => {
  const { target, image } = route(name);
  expect(target).toBe('alpha-3-pro-image');
  expect(image?.aspectRatio).toBe(aspectRatio);
  expect(image?.size).toBe(size);
});

test('the mapping sees an image model without its suffix; an exact key of the whole name wins', () => {
  expect(route('alpha-3-pro-image-4k', { 'alpha-3-pro-image': 'x' })).toMatchObject({
    target: 'x',
    image: { size: '4K' },
  });
  expect(route('alpha-3-pro-image-4k', { 'alpha-3-pro-image-4k': 'x' })).not.toHaveProperty(
    'image',
  );
});

const PAINTERS = {
  'paint*': 'alpha-3-pro-image',
  painter4: 'gemini-3-pro-image-4k',
  'my-painter': 'Alpha-3-pro-image',
  'draw-*': 'alpha-3-pro-image-2k',
  'painter-tall-4k': 'alpha-3-pro-image',
  'texts*': 'alpha-3-flash',
};

test.each([
  ['painter-16-9-4k', { aspectRatio: '16:9', size: '4K' }],
  ['painter-hd-online', { size: '4K' }],
  ['painter4-16-9', { aspectRatio: '16:9', size: '4K' }],
  ['painter4-2k', { size: '2K' }],
  ['my-painter-9x16', { aspectRatio: '9:16' }],
  ['MY-PAINTER-4k', { size: '4K' }],
  // Only the whole name matches: `draw-*` wants something behind the dash.
  ['draw-16-9', { aspectRatio: '16:9', size: '2K' }],
  ['openai/painter-1-1', { aspectRatio: '1:1' }],
] as const)('the suffix of %s is read behind the mapping as well', (name, image) => {
  const found = route(name, PAINTERS);
  expect(found.target).toBe('alpha-3-pro-image');
  expect(found.image).toEqual(image);
});

test('a mapped name is looked up whole first, and only image models have a suffix', () => {
  expect(route('painter-tall-4k', PAINTERS)).not.toHaveProperty('image');
  expect(route('painter-v2', PAINTERS)).not.toHaveProperty('image');
  expect(route('painter-3-5', PAINTERS)).not.toHaveProperty('image');
  expect(route('painter-2026-10-24', PAINTERS)).not.toHaveProperty('image');
  expect(route('texts-16-9-4k', PAINTERS)).toMatchObject({ target: 'alpha-3-flash' });
  expect(route('texts-8k', PAINTERS)).not.toHaveProperty('image');
});

test.each([
  ...['painter-8k', 'painter-17-9', 'painter-17x9-4k', 'painter-16-9-16-9', 'draw-99k'],
  ...['my-painter-8k', 'painter4-8k', 'my-painter-banana'],
])('the end of the mapped name %s is not understood and refused', (name) => {
  expect(failure(name, PAINTERS)).toMatchObject({ kind: 'invalid-request', field: 'model' });
  const offered = Object.assign(new Set<string>(), {
    isComplete: false,
    servedAs: () => undefined,
  });
  const router = createRouter({ mapping: () => PAINTERS, offered });
  expect(router.explain(name).error?.text).toContain('is not understood');
});

test.each([
  [{ 'beta-opus-*': 'x' }, 'claude-opus-4-5', 'x'],
  [{ 'claude-sonnet-*': 'x' }, 'beta-sonnet-4-6', 'x'],
  [{ 'Gemini-9': 'x' }, 'ALPHA-9', 'x'],
  [{ 'alpha-9': 'a', 'gemini-9': 'b' }, 'gemini-9', 'b'],
  [{ 'alpha-9': 'a', 'gemini-9': 'b' }, 'alpha-9', 'a'],
  [{ 'gemini-*': 'a', 'alpha-9': 'b' }, 'gemini-9', 'b'],
  [{ 'claude-opus-*': 'a', 'beta-opus-*': 'b' }, 'beta-opus-4', 'b'],
  [{ 'claude-opus-*': 'a', 'beta-opus-*': 'b' }, 'claude-opus-4', 'a'],
  [{ '*': 'a', 'beta-*': 'b' }, 'claude-opus-4', 'b'],
  [{ 'claude-*': 'a', 'beta-opus-*': 'b' }, 'claude-opus-4', 'b'],
  [{ m: 'Claude-Sonnet-4-6' }, 'm', 'beta-sonnet-4-6'],
])('both vocabularies serve in %j: %s goes to %s', (mapping, name, target) => {
  expect(route(name, mapping).target).toBe(target);
});

test.each([
  ...['-banana', '-17-9', '-8k', '-16-9-16-9', '-4k-2k', '-3-1-4k', '-preview-17-9'],
  ...['-', '-16', '-9', '-16-', '-9-4k-'],
])('the image suffix %s is not understood and refused', (suffix) => {
  for (const model of ['alpha-3-pro-image', 'gemini-3-pro-image']) {
    expect(failure(`${model}${suffix}`)).toMatchObject({
      kind: 'invalid-request',
      field: 'model',
    });
  }
});

test.each([
  ...['gpt-image-1', 'gpt-image-1.5', 'gpt-image-1-mini', 'gpt-image-1-2025-05-01'],
  ...['gemini-3-pro-image-001', 'gemini-3-pro-image-preview-11-2025', 'gemini-3-pro-image-11-2025'],
])('the numbers of the release %s are no suffix', (name) => {
  expect(route(name)).toMatchObject({ target: 'alpha-3-pro-image' });
  expect(route(name)).not.toHaveProperty('image');
});

test('B9: the refusal of a suffix names every ratio and size that is read', () => {
  const { message } = failure('alpha-3-pro-image-17-9');
  for (const ratio of ['1-1', '2-3', '3-2', '3-4', '4-3', '4-5', '5-4', '9-16', '16-9', '21-9']) {
    expect(message).toContain(` ${ratio}`);
    expect(route(`alpha-3-pro-image-${ratio}`).image?.aspectRatio).toBe(ratio.replace('-', ':'));
  }
  for (const size of ['1k', '2k', '4k', 'standard', 'medium', 'hd'])
    expect(message).toContain(size);
});

test('an unknown name with the word image in it is simply not found', () => {
  expect(failure('my-image-thing')).toMatchObject({ kind: 'not-found' });
});

test('an unknown name is not found and says where the names are', () => {
  expect(failure('random-model')).toMatchObject({ kind: 'not-found', reason: 'model-not-found' });
  expect(failure('random-model').message).toContain('see GET /v1/models');
});

test('a mapping that leads nowhere says so', () => {
  expect(failure('gpt-4', { 'gpt-*': 'alpha-*' }).message).toContain('without "*"');
  expect(failure('gpt-4', { 'gpt-*': 'nobody' }).message).toContain('no account offers');
});

test.each([[''], [' '], [42], [undefined], ['models/'], ['a\nb'], ['a'.repeat(257)]])(
  'the name %j is malformed',
  (name) => {
    expect(failure(name)).toMatchObject({ kind: 'invalid-request', field: 'model' });
  },
);

test('a changed mapping counts from the next request on (P190)', () => {
  let mapping: Record<string, string> = { m: 'a' };
  const router = createRouter({ mapping: () => mapping, offered: offering(TARGETS) });
  expect(router.route('m').target).toBe('a');
  mapping = { m: 'b' };
  expect(router.route('m').target).toBe('b');
});

test('B1: the list is the sorted union of all exact names that are served', () => {
  const offered = offering(['zeta', 'alpha-3-flash', 'resting']);
  const served = new Set(['zeta', 'alpha-3-flash']);
  const router = createRouter({
    mapping: () => ({ 'my-model': 'zeta', gone: 'a', late: 'resting', 'gpt*': 'zeta' }),
    offered: {
      ...offered,
      servedAs: (target: string) => (served.has(target) ? target : undefined),
    },
  });
  expect(router.list()).toEqual(['alpha-3-flash', 'gemini-3-flash', 'my-model', 'zeta']);
});

test('B2: a name an account offers in its own words is that model, whatever is newer', () => {
  const listed = ['gemini-3-flash', 'gemini-4-flash', 'gemini-3-pro'];
  expect(route('gemini-3-flash', {}, listed).target).toBe('gemini-3-flash');
  expect(route('alpha-3-flash', {}, listed).target).toBe('gemini-3-flash');
  expect(route('gemini-3-pro', {}, listed)).toMatchObject({ target: 'gemini-3-pro' });
  expect(route('my', { my: 'alpha-3-flash' }, listed).target).toBe('gemini-3-flash');
  expect(route('gemini-3-flash', {}, ['gemini-4-flash']).target).toBe('alpha-3-flash');
  expect(route('gpt-4o-mini', {}, listed).target).toBe('alpha-3-flash');
});

test.each([
  ['claude-haiku-4-5', ['claude-haiku-5', 'claude-3-5-haiku', 'gemini-4-flash'], 'claude-haiku-5'],
  ['claude-haiku-4-5', ['gemini-4-flash'], 'alpha-3-flash'],
  ['gpt-4o', ['gpt-6.10', 'gpt-6.9', 'gpt-7-preview', 'gpt-6.10-pro', 'gemini-4-pro'], 'gpt-6.10'],
  ['gpt-4.1', ['gpt-4o', 'gpt-oss-120b', 'gemini-4-pro'], 'alpha-3-pro-high'],
  ['o3', ['gpt-6.1-2027-02-03', 'gpt-6', 'gpt-6-mini'], 'gpt-6.1-2027-02-03'],
  ['codex-9', ['gpt-6', 'gpt-7-mini'], 'gpt-6'],
  ['o4-mini', ['gpt-7', 'gpt-6-mini'], 'gpt-6-mini'],
  ['gpt-3.5-turbo', ['gpt-7', 'gpt-6-mini'], 'gpt-6-mini'],
  ['gpt-4.1-nano', ['gpt-7-mini', 'gpt-6-nano'], 'gpt-6-nano'],
  ['gpt-4.1-nano', ['gpt-7', 'gpt-7-mini'], 'gpt-7-mini'],
  ['gpt-4.1-mini', ['gpt-7'], 'alpha-3-flash'],
  ['gpt-4o-mini-tts', ['gpt-7-mini'], 'alpha-3-flash'],
  ['gemini-2.5-flash-lite', ['gemini-4-flash-lite', 'gemini-4-flash'], 'gemini-4-flash-lite'],
  ['gemini-2.5-flash-lite', ['gemini-4-flash'], 'alpha-3-flash'],
  ['gemini-2.5-flash-lite', ['alpha-3-flash', 'alpha-4-flash-lite'], 'alpha-4-flash-lite'],
  ['text-embedding-3-small', ['gemini-embedding-2'], 'gemini-embedding-2'],
  ['text-embedding-3-small', ['gemini-embedding-2', 'gemini-embedding-001'], 'alpha-embedding-001'],
  ['text-embedding-3-small', [], 'alpha-embedding-001'],
])('B2: %s goes to the newest of its family in %j', (name, listed, target) => {
  expect(route(name, {}, listed).target).toBe(target);
});

test('an explanation tells each step and never throws', () => {
  const router = createRouter({
    mapping: () => ({ 'gpt-*': 'gemini-3-flash' }),
    offered: offering(),
  });
  const { steps } = router.explain('gpt-9-online');
  expect(steps.map(({ kind }) => kind)).toEqual(['variant', 'mapping-pattern', 'own-name']);
  expect(steps.map(sayRouteStep)).toEqual([
    '"gpt-9-online" is "gpt-9" with web search',
    'custom_mapping (pattern) "gpt-*" gives "gemini-3-flash"',
    '"gemini-3-flash" is a name of "alpha-3-flash"',
  ]);
  expect(router.explain('nothing').error?.text).toContain('not known');
});

/** The mapping with a preset in it. */
function applied(mapping: Readonly<Record<string, string>>, preset: Preset) {
  const changed = { ...mapping, ...presetPatch(mapping, preset, PRESETS) };
  return Object.fromEntries(
    Object.entries(changed).flatMap(([name, target]) => (target === null ? [] : [[name, target]])),
  );
}

test('a preset replaces what the mapping said of the same name', () => {
  for (const preset of PRESETS) {
    const [name = '', target] = Object.entries(preset.mapping)[0] ?? [];
    expect(applied({ [name]: 'mine' }, preset)[name]).toBe(target);
  }
});

test('the preset applied last decides, whichever was applied before', () => {
  for (const first of PRESETS) {
    for (const last of PRESETS) {
      const mapping = applied(applied({ mine: 'x' }, first), last);
      expect(mapping).toEqual({ mine: 'x', ...last.mapping });
    }
  }
});

test('a preset leaves alone what goes to an upstream or a target, and every name that covers', () => {
  const own = { 'gpt-5*': '@coding', 'claude-*': 'anthropic/claude-sonnet-4-6', 'o1*': 'mine' };
  const [preset] = allPresets({});
  if (preset === undefined) throw new Error('no preset');
  const mapping = applied(own, preset);
  expect(mapping).toMatchObject({ ...own, 'o1*': preset.mapping['o1*'] });
  expect(mapping).toMatchObject({ 'gpt-4*': preset.mapping['gpt-4*'] });
  expect(Object.keys(mapping).filter((name) => name.startsWith('claude'))).toEqual(['claude-*']);
});

test('a preset of the operator leads to targets, and goes when another one comes', () => {
  const mapping = { 'gpt-*': '@coding', 'claude-*': 'anthropic/claude-sonnet-4-6' };
  const presets = allPresets({ ours: mapping });
  const ours = presets.at(-1);
  const [usual] = presets;
  if (ours === undefined || usual === undefined) throw new Error('no presets');
  const first = presetPatch({ mine: 'x' }, ours, presets);
  expect(first).toEqual(mapping);
  const next = presetPatch({ mine: 'x', ...mapping }, usual, presets);
  expect(next).toEqual({ 'gpt-*': null, 'claude-*': null, ...usual.mapping });
});

test('presets merge into the mapping, keep other entries and lead to catalogue models', () => {
  for (const preset of PRESETS) {
    const mapping = applied({ mine: 'x' }, preset);
    expect(mapping.mine).toBe('x');
    for (const [pattern, target] of Object.entries(preset.mapping)) {
      expect(route(pattern.replaceAll('*', '-'), mapping).target).toBe(target);
      expect(route(pattern.replaceAll('*', '-'), mapping, []).asked).toBeDefined();
    }
    for (const { id } of CATALOG) {
      const { target } = route(id, mapping);
      expect(route(realModelName(id), mapping).target).toBe(target);
      expect(route(target).target).toBe(target);
    }
  }
});

test('any name ends in a route or a client error, whatever the mapping', () => {
  const piece = fc.constantFrom(
    'gpt',
    '-',
    '4',
    '*',
    'image',
    '4k',
    'online',
    'high',
    'é',
    '\u0000',
  );
  const name = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(name, fc.dictionary(name, name, { maxKeys: 5 }), (asked, mapping) => {
      const router = createRouter({ mapping: () => mapping, offered: offering(['gpt-4']) });
      const { route: found, error } = router.explain(asked);
      expect((found === undefined) !== (error === undefined)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

function offering(names: readonly string[] = [], isComplete = true) {
  const set = new Set(names);
  return {
    has: (name: string) => set.has(name),
    servedAs: (name: string) => name,
    isComplete,
    [Symbol.iterator]: () => set.values(),
  };
}

test('while a model list is unknown, a name nobody knows is passed on as it is', () => {
  const router = createRouter({ mapping: () => ({}), offered: offering([], false) });
  expect(router.route('some-model-of-theirs').target).toBe('some-model-of-theirs');
  expect(router.route('gpt-4o').target).not.toBe('gpt-4o');
});

test('an embedding model is never replaced by another one', () => {
  expect(route('text-embedding-3-large').target).toBe('alpha-embedding-001');
  expect(route('gemini-embedding-001').target).toBe('alpha-embedding-001');
  expect(route('gemini-embedding-2', {}, ['gemini-embedding-2']).target).toBe('gemini-embedding-2');
  expect(route('text-embedding-005', {}, ['text-embedding-005']).target).toBe('text-embedding-005');
  for (const name of ['gemini-embedding-2', 'alpha-embedding-2', 'gemini-embedding-exp']) {
    expect(failure(name).reason).toBe('model-not-found');
  }
});

test('image models of other vendors take ratio and size in their names, too', () => {
  expect(route('dall-e-3-16-9')).toMatchObject({
    target: 'alpha-3-pro-image',
    image: { aspectRatio: '16:9' },
  });
  expect(route('dall-e-3-hd-1x1')).toMatchObject({ image: { aspectRatio: '1:1', size: '4K' } });
  expect(route('imagen-4.0-generate-001-4k')).toMatchObject({ image: { size: '4K' } });
  for (const name of ['dall-e-3', 'dall-e-2', 'imagen-4.0-generate-001', 'gpt-4-1-1']) {
    expect(route(name)).not.toHaveProperty('image');
  }
});

test.each([
  ['openai/gpt-4o', 'alpha-3-pro-high'],
  ['OpenAI/GPT-4o-mini', 'alpha-3-flash'],
  ['google/gemini-3-flash', 'alpha-3-flash'],
  ['gemini/gemini-2.5-pro', 'alpha-3-pro-high'],
  ['vertex_ai/gemini-3-pro-image-16-9-4k', 'alpha-3-pro-image'],
  ['openrouter/anthropic/claude-sonnet-4.5', 'beta-sonnet-4-6'],
  ['anthropic/claude-sonnet-4-6-thinking', 'beta-sonnet-4-6-thinking'],
  ['publishers/google/models/alpha-3-flash', 'alpha-3-flash'],
])('the name of a provider before a name is left out: %s goes to %s', (name, target) => {
  expect(route(name)).toMatchObject({ asked: name, target });
});

test('a name with a provider is looked up whole first, and in the mapping without it', () => {
  expect(route('openai/gpt-4o', {}, ['openai/gpt-4o']).target).toBe('openai/gpt-4o');
  expect(route('openai/gpt-4o', { 'openai/*': 'a', 'gpt-4o': 'b' }).target).toBe('a');
  expect(route('openai/gpt-4o', { 'gpt-4o': 'b' }).target).toBe('b');
  for (const name of ['acme/gpt-4o', 'openai/llama-3', 'openai/']) {
    expect(failure(name).reason).toBe('model-not-found');
  }
  const offered = offering([], false);
  const router = createRouter({ mapping: () => ({}), offered });
  expect(router.route('openai/llama-3').target).toBe('openai/llama-3');
  expect(router.route('openai/gpt-4o').target).toBe('alpha-3-pro-high');
});

test.each([
  ['gpt-4o', 'openai/gpt-4o'],
  ['GPT-4o-2024-08-06', 'openai/gpt-4o'],
  ['gpt-4o-mini', 'openai/gpt-4o-mini'],
  ['claude-sonnet-4-5', 'anthropic/claude-sonnet-4.5'],
  ['claude-sonnet-4-5-20250929', 'anthropic/claude-sonnet-4.5'],
  ['beta-sonnet-4.5', 'anthropic/claude-sonnet-4.5'],
  ['claude-sonnet-4-6', 'anthropic/claude-sonnet-4.6'],
  ['deepseek-chat', 'DeepSeek/DeepSeek-Chat'],
  // What somebody offers under the very name goes before it.
  ['o3', 'o3'],
  // Newest of the family, where nobody has the model itself.
  ['gpt-4.1', 'openai/gpt-5.2'],
  ['claude-3-5-haiku-latest', 'anthropic/claude-haiku-4.5'],
])('%s is the model that a service offers behind the name of its maker, %s', (name, id) => {
  const offered = [
    ...['azure/openai/gpt-4o', 'openai/gpt-4o', 'openai/gpt-4o-mini', 'openai/gpt-5.2', 'o3'],
    ...['anthropic/claude-sonnet-4.5', 'anthropic/claude-haiku-4.5', 'DeepSeek/DeepSeek-Chat'],
    ...['anthropic/claude-sonnet-4.6', 'anthropic/claude-sonnet-5'],
    ...['openai/o3', 'openai/gpt-oss-120b', 'openai/gpt-5.2-pro'],
  ];
  expect(route(name, {}, offered).target).toBe(id);
  expect(route(`${name}-low`, {}, offered)).toMatchObject({ target: id, effort: 'low' });
});

test('a remembered route is found anew once the mapping or the offers change', () => {
  let mapping: Readonly<Record<string, string>> = {};
  const offered = Object.assign(new Set(['m-one', 'm-two']), {
    ...{ isComplete: true, revision: 1, servedAs: (name: string) => name },
  });
  const router = createRouter({ mapping: () => mapping, offered });
  const first = router.route('m-one');
  expect(router.route('m-one')).toBe(first);
  mapping = { 'm-one': 'm-two' };
  expect(router.route('m-one').target).toBe('m-two');
  mapping = {};
  expect(router.route('m-one').target).toBe('m-one');
  offered.delete('m-one');
  offered.revision += 1;
  expect(() => router.route('m-one')).toThrow('is not known here');
});

const offeringUpstreams = (names: readonly string[]) => ({
  ...offering(names),
  hasUpstream: (id: string) => id === 'local' || id === 'anthropic',
});

test('behind an upstream the date is that of a model which it serves', () => {
  const lists: Readonly<Record<string, readonly string[]>> = {
    azure: ['gpt-4o-2024-08-06'],
    openai: ['gpt-4o-2024-11-20', 'gpt-4.1'],
  };
  const router = createRouter({
    mapping: () => ({}),
    offered: {
      ...offering(Object.values(lists).flat()),
      hasUpstream: (id) => id in lists,
      servedAs: (target, id = '') => lists[id]?.find((listed) => listed === target),
    },
  });
  expect(router.explain('azure/gpt-4o').servedAs).toBe('gpt-4o-2024-08-06');
  expect(router.explain('openai/gpt-4o').servedAs).toBe('gpt-4o-2024-11-20');
  expect(router.explain('openai/gpt-4.1-2025-04-14').servedAs).toBe('gpt-4.1');
});

test('a name as it is offered comes first, then the upstream it names, then the stripped name', () => {
  const offered = offeringUpstreams(['anthropic/claude-x', 'claude-y']);
  const router = createRouter({ mapping: () => ({}), offered });
  expect(router.route('anthropic/claude-x')).toMatchObject({ target: 'anthropic/claude-x' });
  expect(router.route('anthropic/claude-x').upstreamId).toBeUndefined();
  expect(router.route('anthropic/claude-y')).toMatchObject({
    target: 'claude-y',
    upstreamId: 'anthropic',
  });
  expect(router.route('local/llama-3.2:3b')).toMatchObject({
    target: 'llama-3.2:3b',
    upstreamId: 'local',
  });
  expect(router.route('openai/claude-y')).toMatchObject({ target: 'claude-y' });
});

test('behind an upstream no alias replaces a name that nobody lists, and no provider is taken off', () => {
  const router = createRouter({ mapping: () => ({}), offered: offeringUpstreams(['x']) });
  expect(router.route('gpt-4o').target).toBe('alpha-3-pro-high');
  for (const name of ['gpt-4o', 'openai/gpt-5', 'anthropic/claude-3-opus']) {
    const upstreamId = 'local';
    expect(router.route(`local/${name}`)).toMatchObject({ target: name, upstreamId });
  }
});

test('a mapping may go to steps of models, each with weights, in the order of its entry', () => {
  const targets = {
    coding: { steps: [['local/llama'], [{ to: 'claude-y', weight: 3 }, 'gone-model']] },
  };
  const router = createRouter({
    mapping: () => ({ 'gpt-5': '@coding', broken: '@nothing' }),
    offered: offeringUpstreams(['claude-y']),
    targets: () => targets,
  });
  const { chain, target, upstreamId } = router.route('gpt-5-high');
  expect({ target, upstreamId }).toEqual({ target: 'llama', upstreamId: 'local' });
  expect(chain).toMatchObject([
    [{ model: { target: 'llama', upstreamId: 'local', effort: 'high' }, weight: 1 }],
    [
      { model: { target: 'claude-y', effort: 'high' }, weight: 3 },
      { model: { target: 'gone-model' }, weight: 1 },
    ],
  ]);
  expect(() => router.route('broken')).toThrow(/proxy\.targets has no steps/);
  expect(router.explain('gpt-5').steps.map(sayRouteStep).join('; ')).toContain(
    '"@coding" tries local/llama → claude-y → gone-model',
  );
});

test('of a misspelt name the nearest listed one is known that is allowed, and none of a name that is listed', () => {
  const offered = offering(['alpha-3-flash', 'alpha-3-flask']);
  const router = createRouter({ mapping: () => ({ mine: 'alpha-3-flash' }), offered });
  expect(router.meant('alpha-3-flsh')).toBe('alpha-3-flash');
  expect(router.meant('openai/alpha-3-flsh')).toBe('alpha-3-flash');
  expect(router.meant('mime')).toBe('mine');
  expect(router.meant('alpha-3-flsh', (name) => !name.endsWith('h'))).toBe('alpha-3-flask');
  expect(router.meant('alpha-3-flsh', () => false)).toBeUndefined();
  expect(router.meant('nothing-like-it')).toBeUndefined();
  expect(router.meant('alpha-3-flask')).toBeUndefined();
});

test('a misspelt family is meant as that, where it is served', () => {
  const serving = offering(['gemini-3-pro']);
  const router = createRouter({ mapping: () => NO_MAPPING, offered: serving });
  expect(router.meant('gemini-2.5-prro')).toBe('gemini-2.5-pro');
  expect(router.meant('Gemini-2.5-Prro')).toBe('gemini-2.5-pro');
  const lacking = { ...serving, servedAs: () => undefined };
  const other = createRouter({ mapping: () => NO_MAPPING, offered: lacking });
  expect(other.meant('gemini-2.5-prro')).toBeUndefined();
});

test('behind an upstream the names of its own lists are meant', () => {
  const offered = {
    ...offeringUpstreams(['claude-y']),
    listedBy: (id: string) => (id === 'local' ? ['gpt-4.1'] : []),
  };
  const router = createRouter({ mapping: () => NO_MAPPING, offered });
  expect(router.meant('local/gpt-4.11')).toBe('local/gpt-4.1');
  expect(router.meant('local/claude-yy')).toBeUndefined();
  expect(router.meant('local/gpt-4.11', (name) => name === 'gpt-4.1')).toBeUndefined();
});

test('the suggestion follows the offers', () => {
  const offered = { ...offering(['local-small']), revision: 1 };
  const router = createRouter({ mapping: () => NO_MAPPING, offered });
  expect(router.meant('local-smal')).toBe('local-small');
  Object.assign(offered, offering(['omega-7-ultra']), { revision: 2 });
  expect(router.meant('local-smal')).toBeUndefined();
  expect(router.meant('omega-7-ulta')).toBe('omega-7-ultra');
});

const NO_MAPPING = {};
