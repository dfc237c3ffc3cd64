// `/api/requests` and `/api/usage`: the records of model requests, and what they used by time and by whom.

import { includesRole } from '../../access/role.ts';
import { invalidRequest } from '../../canonical/error.ts';
import { CALENDAR_STEPS, type CalendarStep } from '../../lib/calendar.ts';
import { told } from '../../lib/localized-message.ts';
import { partial } from '../../lib/object-schema.ts';
import type { RequestRecord } from '../../monitor/record.ts';
import {
  type RequestFilter,
  type StatusFilter,
  USAGE_GROUPS,
  type UsageGroup,
  type UsageRow,
} from '../../monitor/request-store.ts';
import { cutSpans } from '../../monitor/usage.ts';
import type { AdminCaller } from '../../server/admin-route.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute, refuseUnknown } from '../route.ts';
import { DIGITS, REQUEST_STATUS, UP_TO_200 } from '../schemas.ts';
import {
  judgeReplay,
  LEADING_USAGE_SCHEMA,
  REMOVED_SCHEMA,
  REQUEST_DETAIL_SCHEMA,
  REQUEST_LIST_SCHEMA,
  type RequestDetailJson,
  USAGE_SCHEMA,
} from './schemas.ts';

const TIME = { type: 'string', pattern: DIGITS } as const;
const WORD = { type: 'string', minLength: 1, maxLength: 320 } as const;

const STARS = 'With `*` for any run of characters, in any case: `*part*`.';

/** What narrows a list of requests. */
export const FILTER_QUERY = {
  from: { ...TIME, description: 'Milliseconds since the epoch, inclusive.' },
  to: { ...TIME, description: 'Milliseconds since the epoch, exclusive.' },
  status: {
    type: 'string',
    pattern: REQUEST_STATUS,
    description: '`ok`, `error`, `cancelled`, `4xx`, `5xx` or a status code.',
  },
  protocol: WORD,
  surface: WORD,
  model: {
    ...WORD,
    description: `As the client wrote it or as the upstream calls it; several with commas between them. ${STARS}`,
  },
  account: { ...WORD, description: `E-mail or label. ${STARS}` },
  key: { ...WORD, description: `Id or name of the client key. ${STARS}` },
  replica: { ...WORD, description: `Name of the gateway or worker that served it. ${STARS}` },
  session: { ...WORD, description: `As the records have it. ${STARS}` },
  client: { ...WORD, description: `Address of the client. ${STARS}` },
  error: { ...WORD, description: 'An `errorGroup` of the records, whole.' },
  owner: { ...WORD, description: `Whose key it was then. ${STARS}` },
  team: { ...WORD, description: `The team of the key then. ${STARS}` },
  tag: { ...WORD, description: 'A tag that the key had then.' },
  search: {
    ...WORD,
    description:
      'The beginning of an id, or part of a model, account, path, error or kept body in any case.',
  },
} as const;

const LIST_QUERY = partial({
  cursor: {
    type: 'string',
    maxLength: 64,
    description: 'The `nextCursor` of an earlier answer.',
  },
  limit: { type: 'string', pattern: UP_TO_200, description: '1 to 200; 50.' },
  ...FILTER_QUERY,
});

const REMOVE_QUERY = partial({
  before: { ...TIME, description: 'Only those that began earlier; all when absent.' },
});

const DEFAULT_LIMIT = 50;

export function createRequestRoutes({
  monitor,
  clock,
  protocols,
}: Pick<MonitorRouteOptions, 'monitor' | 'clock' | 'protocols'>): readonly ApiRoute[] {
  return [
    defineRoute({
      at: 'GET /api/requests',
      access: 'viewer',
      title: 'lists model requests, the latest first',
      query: LIST_QUERY,
      answers: { 200: { description: 'One page of them.', schema: REQUEST_LIST_SCHEMA } },
      async run({ query, caller }) {
        const { cursor, limit, ...filter } = query;
        const page = await monitor.store.list(readFilter(filter, caller), {
          cursor,
          limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
        });
        const { rows: requests, nextCursor, total } = page;
        return answerJson({ requests, nextCursor, total });
      },
    }),
    defineRoute({
      at: 'GET /api/requests/{id}',
      access: 'viewer',
      title: 'shows one model request',
      parameter: 'Id of the request, or its `x-request-id`.',
      answers: { 200: { description: 'All that is kept.', schema: REQUEST_DETAIL_SCHEMA } },
      async run({ parameter, caller }) {
        const record = await findRequest(monitor, parameter);
        const { row, details, bodies } = record;
        const { pathModel: _, ...shown } = details;
        const { replay } = judgeReplay(record, protocols);
        const seen = maySeeBodies(caller) ? bodies : undefined;
        const detail = { ...row, ...shown, keepsBodies: bodies !== undefined, ...seen, replay };
        return answerJson(detail satisfies Loose<RequestDetailJson>);
      },
    }),
    defineRoute({
      at: 'DELETE /api/requests',
      access: 'operator',
      shows: 'nothing',
      title: 'removes records of model requests; usage stays',
      query: REMOVE_QUERY,
      answers: { 200: { description: 'How many were removed.', schema: REMOVED_SCHEMA } },
      async run({ query: { before } }) {
        const at = before === undefined ? clock.now() + 1 : Number(before);
        return answerJson({ removed: await monitor.store.removeBefore(at) });
      },
    }),
  ];
}

/** @throws GatewayError not-found */
export async function findRequest(
  monitor: Pick<MonitorRouteOptions['monitor'], 'find'>,
  id: string,
): Promise<RequestRecord> {
  const record = await monitor.find(id);
  return (
    record ??
    refuseUnknown(told`There is no request of this id. It may have been removed by its age.`)
  );
}

/** Absent fields of records are undefined, and lists read-only; both are the same in JSON. */
type Loose<Shape> = { readonly [Key in keyof Shape]?: unknown };

type FilterQuery = Readonly<Partial<Record<keyof typeof FILTER_QUERY, string>>>;

/** What people asked the models, and were answered, is for who runs the gateway. */
export function maySeeBodies({ role }: Pick<AdminCaller, 'role'>): boolean {
  return includesRole(role, 'operator');
}

export function readFilter(query: FilterQuery, caller: Pick<AdminCaller, 'role'>): RequestFilter {
  const { from, to, status, ...names } = query;
  return {
    ...names,
    ...(!maySeeBodies(caller) && { searchesBodies: false }),
    from: from === undefined ? undefined : Number(from),
    to: to === undefined ? undefined : Number(to),
    status: status === undefined ? undefined : readStatus(status),
  };
}

function readStatus(status: string): StatusFilter {
  if (status === 'ok' || status === 'error' || status === 'cancelled') {
    return { kind: 'outcome', outcome: status };
  }
  const first = Number(status.charAt(0));
  if (status.endsWith('xx')) return { kind: 'range', least: first * 100, most: first * 100 + 99 };
  const code = Number(status);
  if (Number.isInteger(code)) return { kind: 'range', least: code, most: code };
  throw invalidRequest('status', told`status: must be ok, error, cancelled, 4xx, 5xx or a code.`);
}

/** Of which time usage is shown, and in which pieces. */
export const USAGE_SPAN_QUERY = {
  from: { ...TIME, description: 'Milliseconds since the epoch; a day ago.' },
  to: { ...TIME, description: 'Milliseconds since the epoch; now.' },
  step: { enum: CALENDAR_STEPS, description: '`hour` when absent.' },
  timeZone: {
    type: 'string',
    maxLength: 64,
    description: 'In whose days, weeks and months, such as `Europe/Zurich`; UTC when absent.',
  },
} as const;

/** Whose usage is shown. */
export const USAGE_FILTER_QUERY = {
  model: { ...WORD, description: 'As usage calls it: only what this model served.' },
  account: { ...WORD, description: 'E-mail or label: only of this account.' },
  key: { ...WORD, description: 'Id of the key: only of this key.' },
  protocol: { ...WORD, description: 'Only of this protocol.' },
  owner: { ...WORD, description: 'Only of keys that were this owner’s.' },
  team: { ...WORD, description: 'Only of keys that were this team’s.' },
  tag: { ...WORD, description: 'Only of keys that had this tag.' },
} as const;

const USAGE_FIELDS = {
  ...USAGE_SPAN_QUERY,
  ...USAGE_FILTER_QUERY,
  by: {
    enum: USAGE_GROUPS,
    description: '`none` when absent. Of a key with several tags each `tag` counts all of it.',
  },
} as const;

const USAGE_QUERY = partial(USAGE_FIELDS);

const LEADING_QUERY = partial({
  ...USAGE_FIELDS,
  leading: {
    type: 'string',
    pattern: UP_TO_200,
    description: 'How many groups lead, those with the most tokens: 1 to 200; 7.',
  },
  limit: {
    type: 'string',
    pattern: UP_TO_200,
    description: 'How many groups are listed with the sums of all of the time: 1 to 200; 100.',
  },
});

const DEFAULT_LEADING = 7;
const DEFAULT_GROUPS = 100;

type SpanQuery = Readonly<Partial<Record<'from' | 'to' | 'timeZone', string>>> & {
  readonly step?: CalendarStep;
};

/** Whose usage, and of which time. */
export function readUsageQuery<Query extends SpanQuery>(query: Query, now: number) {
  const { from: _from, to: _to, step: _step, timeZone: _zone, ...filter } = query;
  return { spans: cutSpans(readUsageSpan(query, now)), filter };
}

function readUsageSpan(query: SpanQuery, now: number) {
  const { step = 'hour', timeZone = 'UTC' } = query;
  const to = query.to === undefined ? now : Number(query.to);
  const from = query.from === undefined ? to - DAY_MS : Number(query.from);
  return { from, to, step, timeZone };
}

const DAY_MS = 86_400_000;

export function createUsageRoutes({
  monitor,
  clock,
  keyName,
}: Pick<MonitorRouteOptions, 'monitor' | 'clock' | 'keyName'>): readonly ApiRoute[] {
  const named = (rows: readonly UsageRow[], by: UsageGroup): readonly UsageRow[] =>
    by === 'key'
      ? rows.map((row) => ({ ...row, groupName: keyName(row.group) ?? row.groupName }))
      : rows;
  return [
    defineRoute({
      at: 'GET /api/usage',
      access: 'viewer',
      title: 'shows what was used, by time and by whom',
      query: USAGE_QUERY,
      answers: { 200: { description: 'Sums, oldest first.', schema: USAGE_SCHEMA } },
      async run({ query }) {
        const { by = 'none', ...asked } = query;
        const { spans, filter } = readUsageQuery(asked, clock.now());
        const rows = await monitor.store.usage(spans, by, filter);
        return answerJson({ spans: spans.map((span) => span.from), buckets: named(rows, by) });
      },
    }),
    defineRoute({
      at: 'GET /api/usage/leading',
      access: 'viewer',
      title: 'shows who used the most, by time, and what all others used together',
      query: LEADING_QUERY,
      answers: { 200: { description: 'Sums, oldest first.', schema: LEADING_USAGE_SCHEMA } },
      async run({ query }) {
        const { by = 'none', leading, limit, ...asked } = query;
        const { spans, filter } = readUsageQuery(asked, clock.now());
        const usage = await monitor.store.leadingUsage(
          { spans, by, filter },
          Number(leading ?? DEFAULT_LEADING),
        );
        const groups = usage.groups.slice(0, Number(limit ?? DEFAULT_GROUPS));
        return answerJson({
          spans: spans.map((span) => span.from),
          totals: usage.totals.map(withoutGroup),
          buckets: named(usage.buckets, by),
          others: usage.others.map(withoutGroup),
          groups: named(groups, by).map(({ at: _, ...group }) => group),
          groupCount: usage.groups.length,
        });
      },
    }),
  ];
}

const withoutGroup = ({ group: _, ...row }: UsageRow) => row;
