// `isthmus usage`: what was used, by time, model, account, key or protocol, as a table, CSV or JSON.

import { Option } from 'commander';
import { csvLine } from '../lib/csv.ts';
import type { JsonObject } from '../lib/json.ts';
import { toDollars } from '../pricing/cost.ts';
import { type AddCommand, gatewayCommand } from './command.ts';
import { readSpan, readTime } from './flag-values.ts';
import { type Context, objectsOf, type Said, textOf, writeTable } from './terminal.ts';

type UsageFlags = Said<'by' | 'step' | 'timeZone', string> &
  Said<'from' | 'to', number> & { readonly last: number; readonly format: 'table' | 'csv' };

const STEPS = ['hour', 'day', 'week'];

export const addUsageCommand: AddCommand = gatewayCommand<UsageFlags>({
  name: 'usage',
  description: 'show requests, tokens and cost by time, model, account or key',
  options: [
    new Option('--by <what>', 'sum for each of these').choices([
      ...['model', 'account', 'key', 'protocol'],
    ]),
    new Option('--step <span>', 'sum for each of these; day without --by').choices(STEPS),
    new Option('--last <span>', 'how far back from now, or from --to')
      .argParser(readSpan)
      .default(readSpan('7d'), '7d'),
    new Option('--from <time>', 'beginning, in place of --last').argParser(readTime),
    new Option('--to <time>', 'end; now when absent').argParser(readTime),
    new Option('--time-zone <zone>', 'whose hours and days; those of this machine when absent'),
    new Option('--format <format>', 'for people or for a spreadsheet')
      .choices(['table', 'csv'])
      .default('table'),
  ],
  examples: [
    ['usage', 'The last seven days, day by day.'],
    ['usage --by key --last 30d', 'Who used how much within 30 days.'],
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

/** Figures that are added up for a total. */
const SUMMED = [
  ...Object.values(FIGURES),
  ...(['pricedRequests', 'costNanos', 'flatRateNanos', 'cacheSavingsNanos'] as const),
];

async function showUsage(
  { client, terminal, clock, answer }: Context,
  _argument: string,
  { by, step, last, from, to = clock.now(), timeZone = ownZone(), format }: UsageFlags,
): Promise<void> {
  const query = new URLSearchParams({
    ...{ from: String(from ?? to - last), to: String(to), timeZone },
    ...{ step: step ?? 'day', by: by ?? 'none' },
  });
  const usage = await client.call('GET', `/api/usage?${query}`);
  const hasTime = step !== undefined || by === undefined;
  const buckets = objectsOf(usage, 'buckets');
  const rows = hasTime ? buckets : sumGroups(buckets);
  const total = sum(rows);
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

function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
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
