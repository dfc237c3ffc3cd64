// `/api/requests`: the records of model requests, and whether one of them can be sent again.

import { includesRole } from '../../access/people.ts';
import { clientError, type GatewayError, invalidRequest } from '../../canonical/error.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { partial } from '../../lib/object-schema.ts';
import type { RequestRecord } from '../../monitor/record.ts';
import {
  NAMED_GROUPS,
  type RequestFilter,
  type StatusFilter,
} from '../../monitor/request-store.ts';
import type { ClientProtocol, ProtocolRoute } from '../../protocols/protocol.ts';
import type { AdminCaller } from '../../server/admin-route.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute, refuseUnknown } from '../route.ts';
import { QUERY_CURSOR, QUERY_NAME, QUERY_TIME, REQUEST_STATUS, UP_TO_200 } from '../schemas.ts';
import {
  REMOVED_SCHEMA,
  REQUEST_DETAIL_SCHEMA,
  REQUEST_LIST_SCHEMA,
  type ReplayVerdict,
  type RequestDetailJson,
} from './schemas.ts';

const STARS = 'With `*` for any run of characters, in any case: `*part*`.';

export const FILTER_QUERY = {
  from: { ...QUERY_TIME, description: 'Milliseconds since the epoch, inclusive.' },
  to: { ...QUERY_TIME, description: 'Milliseconds since the epoch, exclusive.' },
  status: {
    type: 'string',
    pattern: REQUEST_STATUS,
    description: '`ok`, `error`, `cancelled`, `4xx`, `5xx` or a status code.',
  },
  protocol: QUERY_NAME,
  surface: QUERY_NAME,
  model: {
    ...QUERY_NAME,
    description: `As the client wrote it or as the upstream calls it; several with commas between them. ${STARS}`,
  },
  account: { ...QUERY_NAME, description: `E-mail or label. ${STARS}` },
  key: { ...QUERY_NAME, description: `Id or name of the client key. ${STARS}` },
  replica: { ...QUERY_NAME, description: `Name of the gateway or worker that served it. ${STARS}` },
  session: { ...QUERY_NAME, description: `As the records have it. ${STARS}` },
  client: { ...QUERY_NAME, description: `Address of the client. ${STARS}` },
  error: { ...QUERY_NAME, description: 'An `errorGroup` of the records, whole.' },
  owner: { ...QUERY_NAME, description: `Whose key it was then. ${STARS}` },
  team: { ...QUERY_NAME, description: `The team of the key then. ${STARS}` },
  tag: { ...QUERY_NAME, description: 'A tag that the key had then.' },
  without: {
    enum: NAMED_GROUPS,
    description: 'Only requests that have none: usage sums them in the group without a name.',
  },
  search: {
    ...QUERY_NAME,
    description:
      'The beginning of an id, or part of a model, account, path, error or kept body in any case.',
  },
} as const;

const LIST_QUERY = partial({
  cursor: QUERY_CURSOR,
  limit: { type: 'string', pattern: UP_TO_200, description: '1 to 200; 50.' },
  ...FILTER_QUERY,
});

const REMOVE_QUERY = partial({
  before: { ...QUERY_TIME, description: 'Only those that began earlier; all when absent.' },
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

export type GenerateRoute = Extract<ProtocolRoute, { operation: 'generate' }>;

interface JudgedReplay {
  readonly replay: ReplayVerdict;
  /** Where it goes, when it can be sent again. */
  readonly found?: { readonly route: GenerateRoute; readonly protocol: ClientProtocol };
}

export function judgeReplay(
  { details, bodies }: RequestRecord,
  protocols: MonitorRouteOptions['protocols'],
): JudgedReplay {
  const found = findRoute(protocols, details.route);
  if (found === undefined) return { replay: 'other-operation' };
  if (bodies === undefined) return { replay: 'not-kept' };
  if (bodies.clientRequest === undefined) return { replay: 'unread' };
  return bodies.clientRequest.isWhole ? { replay: 'possible', found } : { replay: 'in-part' };
}

const REASONS: Readonly<Record<ReplayVerdict, string | Sentence>> = {
  possible: '',
  'other-operation': told`Only requests for answers can be sent again; this one asked for something else.`,
  'not-kept': told`The body of this request was not kept. Turn on proxy.monitor.bodies, then let the client send it again.`,
  unread: told`The body of this request could not be read, so that there is nothing to send again.`,
  'in-part': told`The body of this request is kept in part only, because it is long, holds media or held a credential.`,
};

export function cannotReplay(verdict: ReplayVerdict): GatewayError {
  return clientError('invalid-request', REASONS[verdict], { field: 'id' });
}

export function findRoute(
  protocols: MonitorRouteOptions['protocols'],
  path: string,
): JudgedReplay['found'] {
  for (const protocol of Object.values(protocols.byName)) {
    for (const route of protocol.routes) {
      if (route.path === path && route.operation === 'generate') return { route, protocol };
    }
  }
  return undefined;
}

/** Absent fields of records are undefined, and lists read-only; both are the same in JSON. */
type Loose<Shape> = { readonly [Key in keyof Shape]?: unknown };

type FilterQuery = Readonly<Partial<Record<keyof typeof FILTER_QUERY, string>>> &
  Pick<RequestFilter, 'without'>;

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
