import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import { createSeedPool } from '../../test/support/seed-pool.ts';
import { CATALOG } from '../routing/catalog.ts';
import { createFamilies } from '../routing/families.ts';
import { PRESETS } from '../routing/mapping.ts';
import { EXACT_ALIASES } from '../routing/model-names.ts';
import { createRouter } from '../routing/router.ts';
import { createGeminiApiProfile } from '../upstreams/generate/profiles.ts';
import { createModelDirectory } from './model-directory.ts';

type Options = Parameters<typeof createRouter>[0];

interface Situation {
  /** The list of each account; null for one that cannot be read. */
  readonly lists: readonly (readonly string[] | null)[];
  readonly disabled?: readonly number[] | undefined;
  readonly mapping?: Readonly<Record<string, string>> | undefined;
  readonly targets?: ReturnType<NonNullable<Options['targets']>> | undefined;
}

function benchOf({ lists, disabled = [], mapping = {}, targets = {} }: Situation) {
  const rule = createFamilies();
  const families = () => rule;
  const { pool, book } = createSeedPool({
    accounts: lists.map((_list, index) => ({ id: `a${index}` })),
    upstream: {
      ...createFakeUpstream(() => ({ frames: ['end'] })),
      modelIds: createGeminiApiProfile({}).modelIds,
      listModels: async ({ accountId }) => {
        const list = lists[Number(accountId.slice(1))];
        if (!list) throw new Error('no list');
        return list.map((id) => ({ id }));
      },
    },
    clock: createFakeClock(),
    families,
  });
  const router = createRouter({
    ...{ mapping: () => mapping, targets: () => targets, families },
    offered: pool.offered,
  });
  const directory = createModelDirectory({ router, pool });
  /** Where a request for the name would end. */
  const ask = (name: string): string => {
    const { route } = router.explain(name);
    if (route === undefined) return 'not-found';
    const result = pool.lease({ model: route.target, exclude: new Set(), clientKeyId: 'k' });
    if (result.kind === 'lease') result.lease.release({ kind: 'neutral' });
    return result.kind === 'none' ? result.reason : result.kind;
  };
  return {
    ...{ book, pool, router, directory, ask },
    /** The names of the list, once every list was read and the accounts are disabled. */
    async list(): Promise<readonly string[]> {
      await directory.list();
      for (const index of disabled) book.apply(`a${index}`, { kind: 'disable' });
      return (await directory.list()).map(({ id }) => id);
    },
  };
}

test('B1: an upstream of two models has no other names in its list than those they serve', async () => {
  const house = benchOf({ lists: [['house-1', 'house-2']] });
  expect(await house.list()).toEqual(['house-1', 'house-2']);
  expect(await house.directory.get('alpha-3-flash')).toBeUndefined();
  const next = benchOf({ lists: [['gemini-4-pro', 'gemini-4-flash']] });
  const names = await next.list();
  expect(names).toContain('alpha-3-flash');
  expect(names).toContain('claude-opus-4-6-thinking');
  expect(names.filter((name) => /image|embedding/.test(name))).toEqual([]);
});

test('a model whose limits nobody tells is listed without any', async () => {
  const { directory } = benchOf({ lists: [['house-1', 'alpha-3-flash']] });
  const limits = (await directory.list()).map((model) => [model.id, model.inputTokenLimit]);
  expect(limits).toContainEqual(['house-1', undefined]);
  expect(limits).toContainEqual(['alpha-3-flash', 1_048_576]);
  expect(await directory.get('house-1')).toMatchObject({ outputTokenLimit: undefined });
});

test('B2: models of a generation that does not exist yet serve every well-known text name', async () => {
  for (const words of ['gemini', 'alpha']) {
    const bench = benchOf({ lists: [[`${words}-4-pro`, `${words}-4-flash`]] });
    await bench.list();
    const wellKnown = [
      ...['gpt-5', 'gpt-4o-mini', 'o3', 'o4-mini', 'codex-mini-latest', 'chatgpt-4o-latest'],
      ...[
        'claude-sonnet-4-5',
        'claude-opus-4-1',
        'claude-3-5-haiku-latest',
        'claude-haiku-4-5-20251001',
      ],
      ...['gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.5-flash-lite', 'gemini-3-flash-preview'],
      ...[
        'gemini-pro-latest',
        'alpha-3-pro-low',
        'beta-sonnet-4-6-thinking',
        'anthropic/claude-opus-9',
      ],
    ];
    for (const name of wellKnown) expect([name, bench.ask(name)]).toEqual([name, 'lease']);
  }
});

test('a name whose first target nobody offers is listed while a later one serves it', async () => {
  const bench = benchOf({
    lists: [['gemini-4-flash']],
    mapping: { smart: '@smart', dull: '@dull' },
    targets: {
      smart: { steps: [['retired-model'], ['smart'], ['gemini-4-flash']] },
      dull: { steps: [['retired-model'], ['dull']] },
    },
  });
  const names = await bench.list();
  expect(names).toContain('smart');
  expect(names).not.toContain('dull');
  expect(await bench.directory.get('smart')).toMatchObject({ id: 'smart' });
});

test('a listed name stays while its accounts cool down, and goes when the last one is disabled', async () => {
  const bench = benchOf({ lists: [['gemini-4-flash']] });
  expect(await bench.list()).toContain('gemini-4-flash');
  const failure = { kind: 'rate-limited', retryAfterMs: 60_000 } as const;
  bench.book.apply('a0', { kind: 'failure', model: 'gemini-4-flash', failure });
  expect(await bench.list()).toContain('gemini-4-flash');
  bench.book.apply('a0', { kind: 'disable' });
  expect(await bench.list()).toEqual([]);
  expect(bench.ask('gemini-4-flash')).toBe('unusable');
  bench.book.apply('a0', { kind: 'enable' });
  expect(await bench.list()).toContain('alpha-3-flash');
});

test('an account whose list cannot be read is asked for anything, so the catalogue is listed', async () => {
  const bench = benchOf({ lists: [null] });
  expect(await bench.list()).toEqual(expect.arrayContaining(CATALOG.map(({ id }) => id)));
  const failure = { kind: 'model-not-found' } as const;
  const id = bench.pool.offered.servedAs('alpha-3-flash') ?? '';
  bench.book.apply('a0', { kind: 'failure', model: id, failure });
  expect(await bench.list()).not.toContain('alpha-3-flash');
  expect(bench.ask('alpha-3-flash')).toBe('not-offered');
});

const BUILT_IN = [...CATALOG.map(({ id }) => id), ...EXACT_ALIASES.keys()];

const ids = fc.constantFrom(
  ...[
    'gemini-4-pro',
    'gemini-3.8-flash',
    'gemini-3-flash-preview',
    'gemini-2.5-flash-lite',
    'house',
  ],
  ...['gemini-3-pro-image-preview', 'gemini-embedding-001', 'claude-sonnet-5', 'beta-haiku-6'],
  ...BUILT_IN,
);
const lists = fc.array(
  fc.option(fc.uniqueArray(ids, { minLength: 1, maxLength: 5 }), { freq: 8 }),
  {
    maxLength: 4,
  },
);
const targets = fc.oneof(ids, fc.constantFrom('nobody', 'gpt-5', 'alpha-3-flsh', 'gemini-9-pro'));
const own = fc.dictionary(
  fc.constantFrom('mine', 'gpt-5', 'alpha-3-flash', 'my-*', 'claude-*'),
  targets,
);
const mappings = fc.oneof(own, fc.constantFrom(...PRESETS.map(({ mapping }) => mapping)));
const disabled = fc.uniqueArray(fc.nat(3), { maxLength: 3 });

test('B1: every listed name is served and described, and every built-in name that is not listed is refused', async () => {
  await fc.assert(
    fc.asyncProperty(lists, disabled, mappings, async (all, off, mapping) => {
      const bench = benchOf({ lists: all, disabled: off.filter((at) => at < all.length), mapping });
      const names = await bench.list();
      for (const name of names) {
        expect([name, bench.ask(name)]).toEqual([name, 'lease']);
        expect((await bench.directory.get(name))?.id).toBe(name);
        expect(name).not.toContain('*');
      }
      const listed = new Set(names);
      // Mapped to a name that only an account without a readable list may know.
      const isPassedOn = (name: string): boolean =>
        bench.router.explain(name).steps.some(({ kind }) => kind === 'passed-on');
      // Of accounts that are disabled nobody says that they lack a model.
      const refusals =
        off.length > 0 || all.length === 0
          ? ['not-found', 'not-offered', 'unusable', 'no-accounts']
          : ['not-found', 'not-offered'];
      for (const name of BUILT_IN.filter((one) => !listed.has(one) && !isPassedOn(one))) {
        expect(refusals).toContain(bench.ask(name));
        expect(await bench.directory.get(name)).toBeUndefined();
      }
    }),
    { numRuns: 150 },
  );
});
