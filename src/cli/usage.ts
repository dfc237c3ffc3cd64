// `isthmus usage`: what was used, by time, model, account, key, owner, team, tag or protocol, as a table, CSV or JSON.

import { Option } from 'commander';
import { CALENDAR_STEPS } from '../lib/calendar.ts';
import { csvLine } from '../lib/csv.ts';
import type { JsonObject } from '../lib/json.ts';
import { USAGE_GROUPS } from '../monitor/request-store.ts';
import { toDollars } from '../pricing/cost.ts';
import {
  type AddCommand,
  type Context,
  gatewayCommand,
  ownZone,
  readSpan,
  readTime,
} from './command.ts';
import { objectsOf, type Said, textOf, writeTable } from './terminal.ts';

type UsageFlags = Said<'by' | 'step' | 'timeZone' | (typeof NARROWING)[number], string> &
  Said<'from' | 'to', number> & { readonly last: number; readonly format: 'table' | 'csv' };

/** Whose usage alone is shown: the names of the flags are those of the admin API. */
const NARROWING = ['owner', 'team', 'tag', 'model', 'account'] as const;

export const addUsageCommand: AddCommand = gatewayCommand<UsageFlags>({
  name: 'usage',
  description: 'show requests, tokens and cost by time, model, account, key, owner, team or tag',
  options: [
    new Option('--by <what>', 'group by').choices(USAGE_GROUPS.filter((name) => name !== 'none')),
    new Option('--step <span>', 'interval of the sums; day without --by').choices(CALENDAR_STEPS),
    new Option('--last <span>', 'how far back from now, or from --to')
      .argParser(readSpan)
      .default(readSpan('7d'), '7d'),
    new Option('--from <time>', 'beginning, in place of --last').argParser(readTime),
    new Option('--to <time>', 'end; now when absent').argParser(readTime),
    new Option('--owner <name>', 'only of keys of this owner'),
    new Option('--team <name>', 'only of keys of this team'),
    new Option('--tag <word>', 'only of keys with this tag'),
    new Option('--model <name>', 'only of this model'),
    new Option('--account <label>', 'only of this account'),
    new Option(
      '--time-zone <zone>',
      'time zone of hours and days; that of this machine when absent',
    ),
    new Option('--format <format>', 'for people or for a spreadsheet')
      .choices(['table', 'csv'])
      .default('table'),
  ],
  examples: [
    ['usage', 'The last seven days, day by day.'],
    ['usage --by owner --last 30d', 'Who used how much within 30 days.'],
    ['usage --owner ada@example.org --step month --last 90d', 'What one person used, by month.'],
    ['usage --by model --step week --from 2026-10-01 --format csv', 'For a spreadsheet.'],
  ],
  load: async () => showUsage,
});

/** The figures of a row, by the name of their column. */
const FIGURES = {
  requests: 'requests',
  errors: 'errors',
  input: 'inputTokens',
  output: 'outputTokens',
  cached: 'cachedTokens',
  'cache write': 'cacheWriteTokens',
  thought: 'thoughtTokens',
  images: 'images',
} as const;

/** Money in US dollars; nothing where no request had a price. */
const money =
  (figure: string) =>
  (row: JsonObject): string =>
    Number(row.pricedRequests ?? 0) === 0 ? '-' : toDollars(Number(row[figure] ?? 0)).toFixed(4);

const MONEY = {
  'cost (USD)': money('costNanos'),
  'flat rate (USD)': money('flatRateNanos'),
  'cache saved (USD)': money('cacheSavingsNanos'),
};

const SUMMED = [
  ...Object.values(FIGURES),
  ...(['pricedRequests', 'costNanos', 'flatRateNanos', 'cacheSavingsNanos'] as const),
];

async function showUsage(
  { client, terminal, clock, answer }: Context,
  _argument: string,
  flags: UsageFlags,
): Promise<void> {
  const { by, step, last, from, to = clock.now(), timeZone = ownZone(), format } = flags;
  const query = new URLSearchParams({
    ...{ from: String(from ?? Math.max(0, to - last)), to: String(to), timeZone },
    ...{ step: step ?? 'day', by: by ?? 'none' },
  });
  for (const name of NARROWING) {
    const value = flags[name];
    if (value !== undefined) query.set(name, value);
  }
  const ask = () => client.call('GET', `/api/usage?${query}`);
  const usage = await ask();
  const hasTime = step !== undefined || by === undefined;
  const buckets = objectsOf(usage, 'buckets');
  const rows = hasTime ? buckets : sumGroups(buckets);
  // A request with several tags is in several rows.
  if (by === 'tag') query.set('by', 'none');
  const total = sum(by === 'tag' ? objectsOf(await ask(), 'buckets') : rows);
  answer({ timeZone, rows: [...rows], total }, () => {
    const columns = {
      ...(hasTime && { time: (row: JsonObject) => writeTime(row, step, timeZone) }),
      ...(by !== undefined && { [by]: nameOf }),
      ...FIGURES,
      ...MONEY,
    };
    if (format === 'csv') return terminal.print(writeCsv(columns, rows));
    if (rows.length === 0) return terminal.note('Nothing was used within this time.');
    terminal.print(writeTable(columns, rows.length > 1 ? [...rows, total] : rows));
  });
}

const TOTAL = 'total';

/** The sums of a group over all times, the most used first. */
function sumGroups(buckets: readonly JsonObject[]): readonly JsonObject[] {
  const groups = Map.groupBy(buckets, (bucket) => textOf(bucket, 'group'));
  const rows = Array.from(groups, ([group, members]) => {
    const { groupName } = members.at(-1) ?? {};
    return { group, ...(groupName !== undefined && { groupName }), ...sumFigures(members) };
  });
  return rows.toSorted((left, right) => tokensOf(right) - tokensOf(left));
}

function sum(rows: readonly JsonObject[]): JsonObject {
  return { at: null, group: TOTAL, ...sumFigures(rows) };
}

function sumFigures(rows: readonly JsonObject[]): Record<string, number> {
  return Object.fromEntries(
    SUMMED.map((field) => [field, rows.reduce((total, row) => total + Number(row[field] ?? 0), 0)]),
  );
}

function tokensOf(row: JsonObject): number {
  return Number(row.inputTokens) + Number(row.outputTokens);
}

function nameOf(row: JsonObject): string {
  return textOf(row, 'groupName') || textOf(row, 'group') || '-';
}

/** As a day, or a day and an hour, of that zone. */
function writeTime(row: JsonObject, step: string | undefined, timeZone: string): string {
  if (typeof row.at !== 'number') return TOTAL;
  // Sweden writes dates as ISO 8601 does.
  const parts = new Intl.DateTimeFormat('sv-SE', {
    ...{ timeZone, dateStyle: 'short' },
    ...(step === 'hour' && { timeStyle: 'short' }),
  });
  return parts.format(row.at);
}

type Columns = Parameters<typeof writeTable>[0];

function writeCsv(columns: Columns, rows: readonly JsonObject[]): string {
  const cells = Object.values(columns);
  const lines = rows.map((row) =>
    csvLine(cells.map((cell) => (typeof cell === 'string' ? textOf(row, cell) : cell(row)))),
  );
  return [csvLine(Object.keys(columns)), ...lines].join('\r\n');
}
