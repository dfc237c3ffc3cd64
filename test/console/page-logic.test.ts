// What the pages of the console work out by themselves.

import { expect, test } from 'vitest';
import { findMatches, splitByMatches } from '../../console/src/components/find-matches.ts';
import { keepTyped } from '../../console/src/components/keep-typed.ts';
import { mergeRows } from '../../console/src/components/merge-rows.ts';
import { placeTicks } from '../../console/src/components/place-ticks.ts';
import { chooseExample } from '../../console/src/pages/keys/choose-example.ts';
import {
  badLimits,
  findProblem,
  isInCurfew,
  readValues,
  writeChange,
  writeNewKey,
} from '../../console/src/pages/keys/key-values.ts';
import {
  hasBadAmount,
  takeTyped,
  textOf,
} from '../../console/src/pages/playground/draft-amounts.ts';
import { suggestModel } from '../../console/src/pages/playground/suggest-model.ts';
import { lastStep, readFilters, writeQuery } from '../../console/src/pages/requests/filters.ts';
import { groupAttempts } from '../../console/src/pages/requests/group-attempts.ts';
import { groupConsidered } from '../../console/src/pages/requests/group-considered.ts';
import { findExposure } from '../../console/src/pages/security/find-exposure.ts';
import {
  findUpstreamProblem,
  readUpstream,
  writeUpstream,
} from '../../console/src/pages/settings/upstream-values.ts';
import {
  cacheShare,
  freshTokens,
  isPartlyPriced,
  sumBySteps,
} from '../../console/src/pages/usage/sum-usage.ts';
import { writeCsv } from '../../console/src/pages/usage/write-csv.ts';
import { patchOf, valueAt } from '../../console/src/settings/section-values.ts';
import type { UsageBucket } from '../../src/admin/contract.ts';

const NOW = Date.UTC(2026, 0, 1, 12);

/** A key that is made. */
const MAKING = { now: NOW, edited: undefined };

const rows = (...ids: readonly string[]) => ids.map((id) => ({ id }));

test('new rows go before the ones that are known, each once', () => {
  expect(mergeRows(rows('c', 'b'), rows('b', 'a'), false)).toEqual({
    rows: rows('c', 'b', 'a'),
    hasGap: false,
  });
});

test('a newest page that shares nothing with the older ones may leave rows out', () => {
  expect(mergeRows(rows('d', 'c'), rows('a'), false).hasGap).toBe(true);
  expect(mergeRows(rows('d', 'c'), rows('a'), true).hasGap).toBe(false);
  expect(mergeRows([], rows('a'), false).hasGap).toBe(false);
});

test('filters come from the address, and nothing else does', () => {
  const filters = readFilters({ status: '429', search: 'x', range: '1h', id: 'r1', tab: 'bodies' });
  expect(filters).toEqual({ status: '429', search: 'x', range: '1h' });
  expect(writeQuery(filters, NOW)).toEqual({ status: '429', search: 'x', from: NOW - 3_600_000 });
  expect(writeQuery({ search: ' req_1\n' }, NOW)).toEqual({ search: 'req_1' });
  expect(writeQuery({ search: ' ' }, NOW)).toEqual({});
  expect(readFilters({ range: 'ever', search: '', status: 'abc' })).toEqual({});
  expect(readFilters({ status: '5xx' })).toEqual({ status: '5xx' });
  expect(readFilters({ replica: 'gateway-1/2' })).toEqual({ replica: 'gateway-1/2' });
});

test('a range of time moves on in steps, and no other filter does', () => {
  expect(lastStep({ range: '15m' }, NOW + 59_999)).toBe(NOW);
  expect(lastStep({ range: '15m' }, NOW + 60_000)).toBe(NOW + 60_000);
  expect(lastStep({ status: '429' }, NOW)).toBe(0);
});

test('places of a text are found in any case, and cut it without loss', () => {
  const matches = findMatches('One one ONE', 'one');
  expect(matches).toEqual([0, 4, 8]);
  const pieces = splitByMatches('One one ONE', matches, 3);
  expect(pieces.map(({ piece }) => piece).join('')).toBe('One one ONE');
});

test('a form that is read anew keeps what was typed in it, and shows the rest as it is now', () => {
  const before = { name: 'a', limit: 2, models: ['m'], mcp: { on: false, vision: false } };
  const typed = { ...before, limit: 5, mcp: { on: true, vision: false } };
  const read = { name: 'b', limit: 3, models: ['m', 'n'], mcp: { on: false, vision: true } };
  expect(keepTyped(before, typed, read)).toEqual({
    ...{ name: 'b', limit: 5, models: ['m', 'n'] },
    mcp: { on: true, vision: true },
  });
});

test('attempts of several calls stand below their call, in the order of the calls', () => {
  const attempt = { account: 'ann', considered: [], model: 'm' };
  const attemptsList = [
    { ...attempt, upstreamCall: 2, outcome: 'path' },
    { ...attempt, upstreamCall: 1, outcome: 'ok' },
    { ...attempt, upstreamCall: 2, outcome: 'ok' },
  ];
  const shown = groupAttempts({ attemptsList, upstreamCalls: 3 }).map(({ call, steps }) => [
    call,
    steps.map((step) => (step.kind === 'attempt' ? step.attempt.outcome : step.kind)),
  ]);
  expect(shown).toEqual([
    [1, ['ok']],
    [2, ['path', 'ok']],
  ]);
  const single = [{ ...attempt, outcome: 'ok' }];
  expect(groupAttempts({ attemptsList: single })).toMatchObject([
    { call: undefined, steps: [{ attempt: single[0], number: 1 }] },
  ]);
  expect(groupAttempts({ attemptsList: [] })).toEqual([]);
});

test('a target that was left stands behind the attempts that were made on it', () => {
  const attempt = { account: 'ann', considered: [], model: 'm' };
  const attemptsList = [
    { ...attempt, outcome: 'overloaded' },
    { ...attempt, outcome: 'ok' },
  ];
  const left = { to: 'c', reason: 'overloaded' } as const;
  const fallbacks = [
    { ...left, from: 'a', afterAttempts: 0 },
    { ...left, from: 'b', afterAttempts: 1 },
  ];
  const [group] = groupAttempts({ attemptsList, fallbacks });
  expect(
    group?.steps.map((step) => (step.kind === 'attempt' ? step.number : step.fallback.from)),
  ).toEqual(['a', 1, 'b', 2]);
});

test('accounts of which much the same was found are one line, and those apart keep theirs', () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const lower = ids.map((accountId) => ({ accountId, verdict: 'is of a lower tier' }));
  const chosen = { accountId: 'x', verdict: 'chosen' };
  expect(groupConsidered([...lower.slice(0, 4), chosen, ...lower.slice(4)])).toEqual([
    { verdict: 'is of a lower tier', count: 5, accountIds: ids },
    { verdict: 'chosen', count: 1, accountIds: ['x'] },
  ]);
  expect(groupConsidered(lower.slice(0, 3))).toHaveLength(3);
  const told = { verdict: 'has no quota left', count: 90, accountIds: ['a', 'b'] };
  expect(groupConsidered([told])).toEqual([told]);
});

test('a curfew over midnight counts by the clocks of its zone', () => {
  const curfew = { from: '23:00', to: '06:00', timeZone: 'Asia/Tokyo' };
  expect(isInCurfew(curfew, Date.UTC(2026, 0, 1, 15))).toBe(true);
  expect(isInCurfew(curfew, Date.UTC(2026, 0, 1, 3))).toBe(false);
});

test('limits that are empty are taken away, and a new key has none to take away', () => {
  const values = { ...readValues(undefined, 'UTC'), name: ' Ada ', tokensPerMinute: '2,000' };
  const change = writeChange(values, MAKING);
  expect(change).toMatchObject({
    name: 'Ada',
    tokensPerMinute: 2000,
    maxAddresses: null,
    maxConcurrency: null,
    curfew: null,
  });
  expect(writeNewKey(change, 'Ada')).toEqual({
    name: 'Ada',
    tokensPerMinute: 2000,
    tags: [],
    allowedModels: [],
  });
});

test('an end that nobody changed stays to the millisecond, also one that is over', () => {
  const used = { requests: 0, tokens: 0, images: 0 };
  const expiresAt = NOW - 86_400_000 + 41_234;
  const edited = {
    ...{
      id: 'k',
      prefix: 'sk-1',
      createdAt: 1,
      enabled: true,
      tags: [],
      allowedModels: [],
      revision: 1,
    },
    ...{ name: 'Ada', expiresAt, usedToday: used },
  };
  const saving = { now: NOW, edited };
  const values = { ...readValues(edited, 'UTC'), name: 'Grace' };
  expect(findProblem(values, saving)).toBeUndefined();
  expect(writeChange(values, saving)).not.toHaveProperty('expiresAt');
  expect(writeChange({ ...values, expiry: 'never' }, saving)).toMatchObject({ expiresAt: null });
  const later = { ...values, expiresAt: '2031-01-01T00:00' };
  expect(writeChange(later, saving).expiresAt).toBe(new Date(2031, 0, 1).getTime());
});

test('a key without a name, with a past end or an empty curfew is not sent', () => {
  const values = readValues(undefined, 'UTC');
  expect(findProblem(values, MAKING)).toBe('name');
  const named = { ...values, name: 'Ada' };
  const past = { ...named, expiry: 'custom', expiresAt: '2020-01-01T00:00' } as const;
  expect(findProblem(past, MAKING)).toBe('expiresAt');
  expect(findProblem({ ...past, expiresAt: '' }, MAKING)).toBe('expiresAt');
  expect(findProblem({ ...named, hasCurfew: true, curfewTo: '23:00' }, MAKING)).toBe('curfew');
  expect(findProblem({ ...named, hasCurfew: true, curfewFrom: '' }, MAKING)).toBe('curfew');
  expect(findProblem(named, MAKING)).toBeUndefined();
  expect(findProblem({ ...named, tokensPerMinute: '5k' }, MAKING)).toBe('limit');
  expect(badLimits({ ...named, tokensPerMinute: '1', maxAddresses: '0' })).toEqual([
    'maxAddresses',
  ]);
});

const EXPOSED = {
  address: 'http://127.0.0.1:8045',
  authMode: 'auto',
  consolePassword: 'own' as const,
  network: {},
  filter: {},
  rules: 0,
  keys: [],
  budgets: [],
};

test('a gateway of one machine has nothing to worry about', () => {
  const tones = findExposure(EXPOSED).map(({ tone }) => tone);
  expect(tones).not.toContain('bad');
  expect(tones).not.toContain('warn');
});

test('a gateway key that opens the console as well is called out', () => {
  const [first] = findExposure({ ...EXPOSED, consolePassword: 'gateway-key' });
  expect(first).toMatchObject({ tone: 'warn', title: 'keyPassword' });
});

test('without keys on the network the worst stands first', () => {
  const [first] = findExposure({ ...EXPOSED, authMode: 'off', network: { host: '0.0.0.0' } });
  expect(first).toMatchObject({ tone: 'bad', title: 'modeOffNetwork' });
});

test('proxies and origins that stand for everybody are called out', () => {
  const network = { trusted_proxies: ['0.0.0.0/0'], cors_origins: ['*'] };
  const bad = findExposure({ ...EXPOSED, network }).filter(({ tone }) => tone === 'bad');
  expect(bad.map(({ title }) => title)).toEqual(['anyOrigin', 'wideProxy']);
});

const ENTRY = {
  profile: 'generic',
  base_url: 'https://a.example',
  limits: { 'm-1': { requests: 5, window_minutes: 60 }, 'm-2': { requests: 1, window_minutes: 1 } },
  oauth: { client_id: 'c', client_secret: { isSet: true }, extra_parameters: { hd: 'x' } },
};

test('an upstream that is saved as it was read stays as it is', () => {
  const patch = writeUpstream(readUpstream('work', ENTRY), ENTRY);
  expect(patch).toMatchObject({ base_url: 'https://a.example', limits: ENTRY.limits });
  expect(patch.oauth).toMatchObject({ client_id: 'c', extra_parameters: { hd: 'x' } });
  expect(patch.oauth).not.toHaveProperty('client_secret');
});

test('what is taken out of a table of an upstream leaves the file', () => {
  const values = { ...readUpstream('work', ENTRY), limits: 'm-1 = 7 / 60', base_url: '' };
  expect(writeUpstream(values, ENTRY)).toMatchObject({
    base_url: null,
    limits: { 'm-1': { requests: 7, window_minutes: 60 }, 'm-2': null },
  });
});

test('lines of an upstream that cannot be read are named', () => {
  const values = { ...readUpstream('work', ENTRY), limits: 'm-1 = 7 / 60\nnonsense' };
  expect(findUpstreamProblem(values, [])).toEqual({ field: 'limits', line: 2 });
  expect(findUpstreamProblem(readUpstream('a b', {}), [])).toEqual({ field: 'id', kind: 'bad' });
  expect(findUpstreamProblem(readUpstream('w', {}), ['w'])).toEqual({ field: 'id', kind: 'taken' });
});

test('single values of a section are read and patched in their place', () => {
  expect(valueAt({ protection: { enabled: true } }, ['protection', 'enabled'])).toBe(true);
  expect(valueAt({}, ['__proto__', 'toString'])).toBeUndefined();
  expect(patchOf(['protection', 'enabled'], false)).toEqual({ protection: { enabled: false } });
});

const bucket = (at: number, group: string, change: Partial<UsageBucket> = {}): UsageBucket => ({
  at,
  group,
  requests: 1,
  errors: 0,
  inputTokens: 100,
  outputTokens: 10,
  cachedTokens: 25,
  cacheWriteTokens: 15,
  pricedRequests: 1,
  costNanos: 2_000_000,
  flatRateNanos: 0,
  cacheSavingsNanos: 1000,
  thoughtTokens: 5,
  images: 0,
  ...change,
});

test('usage is summed by step and group, with the steps in which nothing happened', () => {
  const steps = sumBySteps({
    spans: [0, 10, 20],
    totals: [bucket(0, '', { requests: 2 }), bucket(20, '')],
    buckets: [bucket(0, 'a'), bucket(20, 'a')],
    others: [bucket(0, '', { inputTokens: 7 })],
  });
  expect(steps.map(({ sum }) => sum.requests)).toEqual([2, 0, 1]);
  expect(steps.map(({ others }) => others.inputTokens)).toEqual([7, 0, 0]);
  expect(steps[0]?.groups.get('a')?.inputTokens).toBe(100);
});

test('a cost is of a part where good answers have no price', () => {
  expect(isPartlyPriced(bucket(0, 'a', { requests: 5, errors: 2, pricedRequests: 3 }))).toBe(false);
  expect(isPartlyPriced(bucket(0, 'a', { requests: 5, errors: 1, pricedRequests: 3 }))).toBe(true);
  expect(isPartlyPriced(bucket(0, 'a', { requests: 5, errors: 0, pricedRequests: 0 }))).toBe(false);
});

test('a share needs something to share', () => {
  expect(cacheShare(bucket(0, 'a'))).toBe(0.25);
  expect(freshTokens(bucket(0, 'a'))).toBe(60);
  expect(cacheShare(bucket(0, 'a', { inputTokens: 0 }))).toBeUndefined();
});

test('a table for spreadsheets quotes its cells and holds no formulas', () => {
  const usage = { spans: [0], buckets: [bucket(0, '=cmd("x")'), bucket(0, 'a,b')] };
  const grouping = { by: 'model', nameOf: (group: string) => group };
  const [header, first, second] = writeCsv(usage, grouping).split('\r\n');
  expect(header?.startsWith('from,model,requests')).toBe(true);
  expect(first).toContain(`"'=cmd(""x"")"`);
  expect(second).toContain('"a,b"');
});

test('a table for spreadsheets says the names that the page says', () => {
  const usage = { spans: [0], buckets: [bucket(0, 'key_1')] };
  const [, first] = writeCsv(usage, { by: 'key', nameOf: () => 'Ada' }).split('\r\n');
  expect(first).toContain(',Ada,');
  expect(first).not.toContain('key_1');
});

test('a table for spreadsheets of no groups has a line for each step', () => {
  const usage = { spans: [0, 10], buckets: [bucket(10, '')] };
  const lines = writeCsv(usage, undefined).trim().split('\r\n');
  expect(lines.map((line) => line.split(',')[1])).toEqual(['requests', '0', '1']);
});

test('the playground suggests a model that does what is asked for, and no second name', () => {
  const model = { tasks: ['generate'], drawsImages: false };
  const models = [
    { ...model, id: 'embedder', target: 'embedder', tasks: ['embed'] },
    { ...model, id: 'gpt-4o', target: 'alpha-3-flash' },
    { ...model, id: 'painter', target: 'painter', drawsImages: true },
    { ...model, id: 'alpha-3-flash', target: 'alpha-3-flash' },
  ].map((one) => ({ ...MODEL, ...one }));
  expect(suggestModel(models, false)).toBe('alpha-3-flash');
  expect(suggestModel(models, true)).toBe('painter');
  expect(suggestModel([], false)).toBe('');
  const own = { ...MODEL, ...model, id: 'claude-x', target: 'claude-x', servedAs: 'claude-x' };
  expect(suggestModel([...models, own], false)).toBe('claude-x');
});

test('a new key is shown with a model that it may use and that goes somewhere', () => {
  const models = ['painter', 'gpt-large', 'own-model'].map((id) => {
    const isDrawing = id === 'painter';
    return { ...MODEL, id, target: id, tasks: ['generate' as const], drawsImages: isDrawing };
  });
  expect(chooseExample(['own-*'], models)).toBe('own-model');
  expect(chooseExample([], models)).toBe('gpt-large');
  expect(chooseExample(['gone', 'own-*'], models)).toBe('own-model');
  expect(chooseExample(['own-*', 'gone'], [])).toBe('gone');
  const usual = { ...MODEL, id: 'alpha-3-flash', tasks: ['generate' as const], drawsImages: false };
  expect(chooseExample([], [...models, { ...usual, target: 'x' }])).toBe('alpha-3-flash');
  expect(chooseExample([], [...models, { ...usual, target: null }])).toBe('gpt-large');
});

const MODEL = {
  ...{ displayName: '', description: '', supportsThinking: false, servedAs: null },
  ...{ inputTokenLimit: 1, outputTokenLimit: 1 },
};

test('an amount of the playground is sent as it was typed or not at all', () => {
  const draft = { ...DRAFT, protocol: 'chat' as const };
  const warm = takeTyped(draft, 'temperature', '1.5');
  expect(warm.temperature).toBe(1.5);
  expect(hasBadAmount(warm, { temperature: '1.5' })).toBe(false);
  const typed = { temperature: '1.5 or so' };
  expect(takeTyped(warm, 'temperature', typed.temperature)).toEqual(warm);
  expect([textOf('temperature', warm, typed), hasBadAmount(warm, typed)]).toEqual([
    ...[typed.temperature, true],
  ]);
  // What suits one protocol may be too much for another.
  expect(hasBadAmount({ ...warm, protocol: 'messages' }, {})).toBe(true);
  expect(hasBadAmount({ ...warm, protocol: 'images' }, { maxTokens: 'many' })).toBe(false);
  expect(hasBadAmount({ ...warm, protocol: 'images' }, { count: '' })).toBe(true);
  expect(takeTyped(warm, 'temperature', '').temperature).toBeUndefined();
});

const DRAFT = {
  ...{
    model: 'm',
    system: '',
    turns: [],
    tools: [],
    stream: true,
    size: '',
    quality: '',
    count: 1,
  },
  ...{ maxTokens: undefined, temperature: undefined, thinkingTokens: undefined },
};

test('below columns each name stands once, where it begins, and not too many do', () => {
  const days = (...hours: readonly number[]) =>
    hours.flatMap((count, day) => Array.from({ length: count }, () => `Nov ${day + 1}`));
  const shown = (names: readonly string[], most: number) =>
    placeTicks(names, most).map(
      ({ index, isMinor }) => `${names[index]}@${index}${isMinor ? '-' : ''}`,
    );
  expect(shown(days(13, 24, 24), 8)).toEqual(['Nov 1@0', 'Nov 2@13-', 'Nov 3@37']);
  expect(shown(days(2, 24, 24), 8)).toEqual(['Nov 2@2', 'Nov 3@26-']);
  expect(shown(['0', '1', '2', '3', '4'], 2)).toEqual(['0@0', '3@3-']);
  expect(shown(['one'], 8)).toEqual(['one@0']);
  expect(shown([], 8)).toEqual([]);
});
