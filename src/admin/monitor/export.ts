// `/api/export/…`: records of requests and usage as CSV or JSON, written piece by piece; the log and figures as text.

import { nextTurn } from '../../lib/chunked-json.ts';
import { csvLine } from '../../lib/csv.ts';
import { textOf } from '../../lib/localized-message.ts';
import { partial } from '../../lib/object-schema.ts';
import { LOG_LEVELS } from '../../monitor/log-files.ts';
import { METRICS_TYPE } from '../../monitor/metrics-text.ts';
import type { RequestRow } from '../../monitor/record.ts';
import { USAGE_FIGURES, type UsageBreakdown, type UsageSum } from '../../monitor/request-store.ts';
import { toDollars } from '../../pricing/cost.ts';
import { CURRENCY } from '../../pricing/prices.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute } from '../route.ts';
import { QUERY_CURSOR, UP_TO_1000 } from '../schemas.ts';
import { FILTER_QUERY, readFilter } from './requests.ts';
import { LOGS_SCHEMA } from './schemas.ts';
import { readUsageQuery, USAGE_FILTER_QUERY, USAGE_SPAN_QUERY } from './usage.ts';

type Cell = string | number | boolean | undefined;

const FORMAT = { enum: ['csv', 'json'], description: '`csv` when absent.' } as const;

const ANSWERS = {
  200: {
    description: 'A file, sent while it is read. JSON is a list of objects.',
    contentType: 'text/csv',
    schema: { type: 'string' },
    jsonSchema: { type: 'array', items: { type: 'object' } },
  },
} as const;

const PAGE = 200;

export function createExportRoutes({
  monitor,
  clock,
  keyName,
}: Pick<MonitorRouteOptions, 'monitor' | 'clock' | 'keyName'>): readonly ApiRoute[] {
  const { store } = monitor;
  return [
    defineRoute({
      at: 'GET /api/export/requests',
      access: 'viewer',
      title: 'exports request logs as a file, newest first',
      query: partial({ format: FORMAT, ...FILTER_QUERY }),
      answers: ANSWERS,
      async run({ query: { format = 'csv', ...filter }, caller }) {
        const wanted = readFilter(filter, caller);
        async function* rows(): AsyncGenerator<RequestRow> {
          let cursor: string | undefined;
          do {
            const page = await store.list(wanted, { limit: PAGE, cursor, isCounted: false });
            yield* page.rows;
            cursor = page.nextCursor;
          } while (cursor !== undefined);
        }
        return download('requests', format, tableOf(rows(), REQUEST_COLUMNS));
      },
    }),
    defineRoute({
      at: 'GET /api/export/usage',
      access: 'viewer',
      title:
        'exports usage as a file, by time, model, account, key, owner, team, tags and protocol',
      query: partial({ format: FORMAT, ...USAGE_SPAN_QUERY, ...USAGE_FILTER_QUERY }),
      answers: ANSWERS,
      async run({ query: { format = 'csv', ...asked } }) {
        const { spans, filter } = readUsageQuery(asked, clock.now());
        async function* rows(): AsyncGenerator<UsageBreakdown> {
          for (const span of spans) {
            for (const row of await store.breakdown(span, filter)) {
              yield { ...row, keyName: keyName(row.keyId) ?? row.keyName };
            }
          }
        }
        return download('usage', format, tableOf(rows(), USAGE_COLUMNS));
      },
    }),
  ];
}

type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

const time = (at: number): string => new Date(at).toISOString();
const money = (nanos: number | undefined): number | undefined =>
  nanos === undefined ? undefined : toDollars(nanos);

const snakeCase = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Columns that are called as their fields. */
const plain = (...fields: readonly Exclude<keyof RequestRow, 'receipt' | 'error' | 'tags'>[]) =>
  Object.fromEntries(fields.map((field) => [snakeCase(field), (row: RequestRow) => row[field]]));

const REQUEST_COLUMNS: Columns<RequestRow> = {
  time: ({ at }) => time(at),
  ...plain('requestId', 'protocol', 'surface', 'stream', 'status', 'outcome'),
  ...plain('model', 'upstreamModel', 'account', 'keyId'),
  key: ({ keyName }) => keyName,
  ...plain('owner', 'team'),
  tags: ({ tags }) => tags?.join('; '),
  client: ({ clientAddress }) => clientAddress,
  ...plain('replica', 'attempts', 'firstEventMs', 'totalMs', 'inputTokens', 'outputTokens'),
  ...plain('cachedTokens', 'cacheWriteTokens', 'thoughtTokens', 'images'),
  cost: ({ costNanos }) => money(costNanos),
  flat_rate_cost: ({ flatRateNanos }) => money(flatRateNanos),
  cache_savings: ({ cacheSavingsNanos }) => money(cacheSavingsNanos),
  currency: ({ costBasis }) => costBasis && CURRENCY,
  price: ({ costBasis }) => costBasis,
  error: ({ error }) => error && textOf(error),
};

/** Sums of nothing priced are no cost of 0. */
const priced =
  (figure: 'costNanos' | 'flatRateNanos' | 'cacheSavingsNanos') =>
  (row: UsageSum): Cell =>
    row.pricedRequests === 0 ? undefined : toDollars(row[figure]);

const MONEY = {
  costNanos: 'cost',
  flatRateNanos: 'flat_rate_cost',
  cacheSavingsNanos: 'cache_savings',
} as const;

const USAGE_COLUMNS: Columns<UsageBreakdown> = {
  from: ({ at }) => time(at),
  model: ({ model }) => model,
  account: ({ account }) => account,
  key_id: ({ keyId }) => keyId,
  key: ({ keyName }) => keyName,
  owner: ({ owner }) => owner,
  team: ({ team }) => team,
  tags: ({ tags }) => tags.join('; '),
  protocol: ({ protocol }) => protocol,
  ...Object.fromEntries(
    USAGE_FIGURES.map((figure) => {
      const isMoney =
        figure === 'costNanos' || figure === 'flatRateNanos' || figure === 'cacheSavingsNanos';
      if (isMoney) return [MONEY[figure], priced(figure)];
      return [snakeCase(figure), (row: UsageSum): Cell => row[figure]];
    }),
  ),
  currency: ({ pricedRequests }) => (pricedRequests === 0 ? undefined : CURRENCY),
};

interface Table {
  readonly names: readonly string[];
  readonly rows: AsyncGenerator<readonly Cell[]>;
}

function tableOf<Row>(rows: AsyncGenerator<Row>, columns: Columns<Row>): Table {
  const reads = Object.values(columns);
  async function* cells(): AsyncGenerator<readonly Cell[]> {
    for await (const row of rows) yield reads.map((read) => read(row));
  }
  return { names: Object.keys(columns), rows: cells() };
}

/** The first piece is made before the answer begins: where nothing can be read it is a refusal, no broken file. */
async function download(name: string, format: 'csv' | 'json', table: Table) {
  const pieces = gather(format === 'csv' ? writeCsv(table) : writeJson(table));
  const first = await pieces.next();
  async function* all(): AsyncGenerator<string> {
    if (first.done !== true) yield first.value;
    yield* pieces;
  }
  const chunks = all();
  const contentType =
    format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8';
  return { kind: 'download', contentType, fileName: `isthmus-${name}.${format}`, chunks } as const;
}

async function* writeCsv({ names, rows }: Table): AsyncGenerator<string> {
  yield `${csvLine(names)}\r\n`;
  for await (const row of rows) yield `${csvLine(row)}\r\n`;
}

async function* writeJson({ names, rows }: Table): AsyncGenerator<string> {
  let before = '[\n';
  for await (const row of rows) {
    yield before + JSON.stringify(Object.fromEntries(names.map((name, at) => [name, row[at]])));
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

const CHUNK = 16_384;

/** Lines are sent many at once. */
async function* gather(lines: AsyncGenerator<string>): AsyncGenerator<string> {
  let text = '';
  for await (const line of lines) {
    text += line;
    if (text.length < CHUNK) continue;
    yield text;
    text = '';
    // What comes from memory, and goes to a client that takes it at once, would never wait.
    await nextTurn();
  }
  if (text !== '') yield text;
}

// `GET /api/logs` and `GET /metrics`: the end of the log, and the figures for Prometheus.

const LOGS_QUERY = partial({
  cursor: QUERY_CURSOR,
  limit: { type: 'string', pattern: UP_TO_1000, description: '1 to 1000; 200.' },
  level: { enum: LOG_LEVELS, description: 'The least level.' },
  search: { type: 'string', minLength: 1, maxLength: 256, description: 'Part of a line.' },
});

const DEFAULT_LIMIT = 200;

export function createLogsRoute({ logFiles }: Pick<MonitorRouteOptions, 'logFiles'>): ApiRoute {
  return defineRoute({
    at: 'GET /api/logs',
    access: 'viewer',
    title: 'shows the log, newest lines first',
    query: LOGS_QUERY,
    answers: { 200: { description: 'One page of it.', schema: LOGS_SCHEMA } },
    async run({ query: { cursor, limit, level, search } }) {
      if (logFiles === undefined) return answerJson({ lines: [] });
      const asked = { limit: Number(limit ?? DEFAULT_LIMIT), cursor, level, search };
      return answerJson(await logFiles.read(asked));
    },
  });
}

/** Tools on this machine read it without a credential: nothing in it names anybody. */
export function createMetricsRoute({ metrics }: Pick<MonitorRouteOptions, 'metrics'>): ApiRoute {
  const route = defineRoute({
    at: 'GET /metrics',
    access: 'viewer',
    title: 'returns the metrics for Prometheus, of all workers together',
    answers: {
      200: {
        description: 'Prometheus text.',
        schema: { type: 'string' },
        contentType: 'text/plain',
      },
    },
    async run() {
      return { kind: 'text', text: await metrics(), contentType: METRICS_TYPE };
    },
  });
  return { ...route, isOpenLocally: true };
}
