import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import type { JsonObject } from '../lib/json.ts';
import { runCommand } from './run-command.test-support.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2026-11-27T12:00:00Z');

function bucket(at: number, group: string, tokens: number): JsonObject {
  return {
    ...{ at, group, requests: 1, errors: 0, inputTokens: tokens, outputTokens: 1 },
    ...{ cachedTokens: 0, cacheWriteTokens: 0, thoughtTokens: 0, images: 0 },
  };
}

const BUCKETS = [
  bucket(NOW - DAY, 'small', 10),
  bucket(NOW - DAY, 'large', 100),
  bucket(NOW, 'small', 20),
];

async function usage(line: string, buckets: readonly JsonObject[] = BUCKETS) {
  const asked: URLSearchParams[] = [];
  const terminal = await runCommand(`usage --time-zone UTC ${line}`, {
    clock: createFakeClock(NOW),
    connect: async () => ({
      async call(_method, path) {
        asked.push(new URL(path, 'http://gateway').searchParams);
        return { spans: [], buckets: [...buckets] };
      },
      close: async () => undefined,
    }),
  });
  return { ...terminal, query: Object.fromEntries(asked[0] ?? []) };
}

test('usage is shown day by day with a total, of the last seven days', async () => {
  const { printed, query } = await usage('');
  expect(query).toEqual({
    ...{ from: String(NOW - 7 * DAY), to: String(NOW) },
    ...{ timeZone: 'UTC', step: 'day', by: 'none' },
  });
  const lines = printed.join().split('\n');
  expect(lines[0]).toMatch(/^TIME +REQUESTS +ERRORS +INPUT +OUTPUT/);
  expect(lines[1]).toMatch(/^2026-11-26 +1 +0 +10 /);
  expect(lines.at(-1)).toMatch(/^total +3 +0 +130 +3/);
});

test('by model it is summed over the time, the most used first', async () => {
  const { printed, query } = await usage('--by model --last 12h');
  expect(query).toMatchObject({ by: 'model', from: String(NOW - DAY / 2) });
  const lines = printed.join().split('\n');
  expect(lines.map((line) => line.split(/ +/)[0])).toEqual(['MODEL', 'large', 'small', 'total']);
  expect(lines[2]).toMatch(/^small +2 +0 +30 /);
});

test('a key is shown by its name, by step and key together row by row', async () => {
  const named = BUCKETS.map((one) => ({ ...one, groupName: `of ${one.group}` }));
  const { printed } = await usage('--by key --step day', named);
  expect(printed.join()).toMatch(/^2026-11-26 +of small +1 /m);
});

test('usage is narrowed to whom it is of, and what has two tags counts once in the total', async () => {
  const { query } = await usage('--owner ada@example.org --team Lab --tag ci --step month');
  expect(query).toMatchObject({ owner: 'ada@example.org', team: 'Lab', tag: 'ci', step: 'month' });
  const asked: string[] = [];
  const { printed } = await runCommand('usage --by tag', {
    clock: createFakeClock(NOW),
    connect: async () => ({
      async call(_method, path) {
        const by = new URL(path, 'http://gateway').searchParams.get('by') ?? '';
        asked.push(by);
        const buckets =
          by === 'tag' ? ['a', 'b'].map((tag) => bucket(NOW, tag, 5)) : [bucket(NOW, '', 5)];
        return { spans: [], buckets };
      },
      close: async () => undefined,
    }),
  });
  expect(asked).toEqual(['tag', 'none']);
  expect(printed.join()).toMatch(/^total +1 +0 +5 /m);
});

test('JSON has the rows and their total', async () => {
  const { printed } = await usage('--by model --json');
  expect(JSON.parse(printed.join())).toMatchObject({
    timeZone: 'UTC',
    rows: [
      { group: 'large', inputTokens: 100 },
      { group: 'small', inputTokens: 30 },
    ],
    total: { inputTokens: 130 },
  });
});

test('CSV quotes what needs it, and no cell is a formula', async () => {
  const evil = [bucket(NOW, '=HYPERLINK("http://a","b")', 1), bucket(NOW, 'a,b', 1)];
  const { printed } = await usage('--by model --format csv', evil);
  expect(printed.join().split('\r\n')).toEqual([
    'model,requests,errors,input,output,cached,cache write,thought,images,cost (USD),flat rate (USD),cache saved (USD)',
    '"\'=HYPERLINK(""http://a"",""b"")",1,0,1,1,0,0,0,0,-,-,-',
    '"a,b",1,0,1,1,0,0,0,0,-,-,-',
  ]);
});

test.each([['--last soon'], ['--from yesterday'], ['--by weather'], ['--from 2026-13-45']])(
  '%s is refused before anything is asked',
  async (flag) => {
    await expect(usage(flag)).rejects.toThrow(/^error: option/);
  },
);

test('a span from before the epoch begins there', async () => {
  const { query } = await usage('--last 99999w');
  expect(query.from).toBe('0');
});

test('where nothing was used that is said', async () => {
  const { printed, notes } = await usage('', []);
  expect([printed, notes]).toEqual([[], ['Nothing was used within this time.']]);
});

test('money is shown where requests had a price, and summed', async () => {
  const priced = (at: number) => ({
    ...bucket(at, 'm', 10),
    ...{
      pricedRequests: 1,
      costNanos: 1_250_000_000,
      flatRateNanos: 0,
      cacheSavingsNanos: -500_000_000,
    },
  });
  const { printed } = await usage('', [priced(NOW - DAY), priced(NOW)]);
  const lines = printed.join().split('\n');
  expect(lines[0]).toMatch(/COST \(USD\) +FLAT RATE \(USD\) +CACHE SAVED \(USD\)/);
  expect(lines.at(-1)).toMatch(/2\.5000 +0\.0000 +-1\.0000$/);
});
