// `/api/requests` and its neighbours: logs, figures, running requests, sessions, recording of payloads.

import { maySeeBodies } from '../../access/people.ts';
import { namesOfRecorded } from '../../canonical/call-record.ts';
import { clientError, type GatewayError } from '../../canonical/error.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest, ToolResultPart } from '../../canonical/request.ts';
import { isJsonObject, parseJson } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { COUNT, list, named, object, optional, partial, TEXT } from '../../lib/object-schema.ts';
import { REQUEST_ROW_SCHEMA, type RequestRecord } from '../../monitor/record.ts';
import {
  NAMED_GROUPS,
  type RequestFilter,
  type StatusFilter,
} from '../../monitor/request-store.ts';
import { RUNNING_SCHEMA } from '../../monitor/running.ts';
import type { ClientProtocol, GenerateRoute } from '../../protocols/protocol.ts';
import type { AdminCaller } from '../../server/admin-route.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute, queryNumber, refuseUnknown } from '../route.ts';
import {
  orNull,
  QUERY_CURSOR,
  QUERY_NAME,
  QUERY_TIME,
  REQUEST_STATUS,
  TIME,
  UP_TO_200,
} from '../schemas.ts';
import { BOUND_SESSION_SCHEMA, writeBoundSession } from '../sessions.ts';
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
      title: 'lists model requests, newest first',
      query: LIST_QUERY,
      answers: { 200: { description: 'One page of them.', schema: REQUEST_LIST_SCHEMA } },
      async run({ query, caller }) {
        const { cursor, limit, ...filter } = query;
        const page = await monitor.store.list(readFilter(filter, caller), {
          cursor,
          limit: Number(limit ?? DEFAULT_LIMIT),
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
      title: 'deletes request logs; usage totals stay',
      query: REMOVE_QUERY,
      answers: { 200: { description: 'How many were removed.', schema: REMOVED_SCHEMA } },
      async run({ query: { before } }) {
        const at = Number(before ?? clock.now() + 1);
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
    refuseUnknown(told`There is no request of this id. It may be older than the retention period.`)
  );
}

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

export function readFilter(query: FilterQuery, caller: Pick<AdminCaller, 'role'>): RequestFilter {
  const { from, to, status, ...names } = query;
  return {
    ...names,
    ...(!maySeeBodies(caller) && { searchesBodies: false }),
    from: queryNumber(from),
    to: queryNumber(to),
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
  return { kind: 'range', least: code, most: code };
}

// `/api/request-histogram`, `/api/request-errors`: what the records of a filter add up to.

export const HISTOGRAM_SCHEMA = named('RequestHistogram', {
  from: { ...TIME, description: 'What was asked for, else where the records begin.' },
  to: TIME,
  stepMs: { ...COUNT, description: 'The length of each part.' },
  parts: list(
    object({ at: TIME, ok: COUNT, error: COUNT, cancelled: COUNT }),
    'All parts, oldest first; none where there are no records.',
  ),
  isWhole: {
    type: 'boolean',
    description: 'False when counting all would have taken too long; the oldest are left out then.',
  },
});

const NAMED_COUNTS = list(object({ name: TEXT, count: COUNT }));
const FREQUENT = {
  ...NAMED_COUNTS,
  description: 'The most frequent ones, among the latest thousand.',
} as const;

export const ERROR_GROUPS_SCHEMA = named('RequestErrors', {
  groups: list(
    object({
      group: { ...TEXT, description: 'What they have in common; the filter `error` takes it.' },
      count: COUNT,
      firstAt: TIME,
      lastAt: TIME,
      models: FREQUENT,
      accounts: FREQUENT,
      latest: REQUEST_ROW_SCHEMA,
    }),
    'The most frequent first, up to 100.',
  ),
});

const USUAL_PARTS = 60;
const MAX_GROUPS = 100;

export function createRequestFigureRoutes({
  requestFigures,
  clock,
}: Pick<MonitorRouteOptions, 'requestFigures' | 'clock'>): readonly ApiRoute[] {
  return [
    defineRoute({
      at: 'GET /api/request-histogram',
      access: 'viewer',
      title: 'counts model requests over time by how they ended',
      query: partial({
        parts: {
          type: 'string',
          pattern: UP_TO_200,
          description: 'At most so many; 60. They begin at round times.',
        },
        ...FILTER_QUERY,
      }),
      answers: { 200: { description: 'The counts.', schema: HISTOGRAM_SCHEMA } },
      async run({ query: { parts = USUAL_PARTS, ...filter }, caller }) {
        const wanted = readFilter(filter, caller);
        const found = await requestFigures.histogram(wanted, Number(parts));
        const { from = clock.now(), to = clock.now() } = found?.span ?? wanted;
        return answerJson({
          ...{ from, to, stepMs: found?.stepMs ?? 0 },
          ...{ parts: found?.parts ?? [], isWhole: found?.isWhole ?? true },
        });
      },
    }),
    defineRoute({
      at: 'GET /api/request-errors',
      access: 'viewer',
      title: 'lists the errors of model requests, grouped',
      query: partial(FILTER_QUERY),
      answers: { 200: { description: 'The groups.', schema: ERROR_GROUPS_SCHEMA } },
      async run({ query, caller }) {
        const groups = await requestFigures.errorGroups(readFilter(query, caller), MAX_GROUPS);
        return answerJson({ groups });
      },
    }),
  ];
}

// `/api/running-requests`: what is under way at all gateways and workers, and the end of one of them.

export const RUNNING_LIST_SCHEMA = named('RunningRequests', {
  requests: list(RUNNING_SCHEMA, 'Up to 100, the longest under way first.'),
  total: { ...COUNT, description: 'Also those that are not listed.' },
});

export function createRunningRoutes({
  monitor,
}: Pick<MonitorRouteOptions, 'monitor'>): readonly ApiRoute[] {
  return [
    defineRoute({
      at: 'GET /api/running-requests',
      access: 'viewer',
      title: 'lists the model requests that are running',
      answers: { 200: { description: 'Of all processes.', schema: RUNNING_LIST_SCHEMA } },
      async run() {
        const { rows, total } = await monitor.running.list();
        return answerJson({ requests: rows, total });
      },
    }),
    defineRoute({
      at: 'POST /api/running-requests/{id}/stop',
      access: 'operator',
      shows: 'nothing',
      title: 'stops a running model request',
      parameter: 'Id of the request, as the list gives it.',
      answers: { 204: { description: 'It is stopped, and its record says by whom.' } },
      async run({ parameter, author }) {
        if (await monitor.running.stop(parameter, author)) return { kind: 'empty' };
        return refuseUnknown(told`This request is not under way any more.`);
      },
    }),
  ];
}

// `GET /api/request-session`: one run of an agent: its calls, what they come to, its account, its tools in order.

export const REQUEST_SESSION_SCHEMA = named('RequestSession', {
  session: TEXT,
  ...{ requests: COUNT, errors: COUNT, firstAt: TIME, lastAt: TIME },
  ...{ inputTokens: COUNT, outputTokens: COUNT, cachedTokens: COUNT, cacheWriteTokens: COUNT },
  ...{ thoughtTokens: COUNT, images: COUNT, pricedRequests: COUNT },
  ...{ costNanos: COUNT, flatRateNanos: COUNT, cacheSavingsNanos: { type: 'integer' } },
  ...{ models: NAMED_COUNTS, accounts: NAMED_COUNTS },
  binding: {
    ...orNull(BOUND_SESSION_SCHEMA),
    description: 'The account its next call goes to; null where none is kept for it.',
  },
  calls: list(REQUEST_ROW_SCHEMA, 'The latest 200, the oldest of them first.'),
  tools: list(
    object({
      id: TEXT,
      name: TEXT,
      arguments: { ...TEXT, description: 'JSON.' },
      result: optional({ ...TEXT, description: 'Absent while there is none.' }),
      isError: optional({ type: 'boolean' }),
    }),
    'The calls of tools in order, as far as the latest request that was kept whole tells of them; up to 200. None for who may see no bodies.',
  ),
});

const MAX_CALLS = 200;
const MAX_TOOLS = 200;
const MAX_CHARACTERS = 2000;
/** The latest calls of which one may be kept whole. */
const MAX_LOOKED_AT = 10;

type Options = Pick<
  MonitorRouteOptions,
  'monitor' | 'requestFigures' | 'pool' | 'book' | 'protocols'
>;

export function createRequestSessionRoute(options: Options): ApiRoute {
  const { monitor, requestFigures, pool, book } = options;
  return defineRoute({
    at: 'GET /api/request-session',
    access: 'viewer',
    title: 'shows one session: its calls, its account and its tools',
    query: object({ session: QUERY_NAME }),
    answers: { 200: { description: 'The session.', schema: REQUEST_SESSION_SCHEMA } },
    async run({ query: { session }, caller }) {
      const sum = await requestFigures.session(session);
      if (sum === undefined) {
        return refuseUnknown(
          told`There is no request of this session. They may be older than the retention period.`,
        );
      }
      const { keyIds, ...shown } = sum;
      const filter = { session };
      const page = { limit: MAX_CALLS, isCounted: false };
      const { rows } = await monitor.store.list(filter, page);
      const bound = keyIds
        .flatMap((clientKeyId) =>
          namesOfRecorded(session).map((name) =>
            pool.sessions.bound({ clientKeyId, session: name }),
          ),
        )
        .find((one) => one !== undefined);
      return answerJson({
        session,
        ...shown,
        binding: bound === undefined ? null : writeBoundSession(bound, book),
        calls: rows.toReversed(),
        tools: maySeeBodies(caller)
          ? await findTools(
              rows.slice(0, MAX_LOOKED_AT).map(({ id }) => id),
              options,
            )
          : [],
      });
    },
  });
}

interface ToolStep {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  result?: string;
  isError?: boolean;
}

/** An agent sends its conversation with each call: the latest one tells of all tools before. */
async function findTools(
  ids: readonly string[],
  { monitor, protocols }: Options,
): Promise<readonly ToolStep[]> {
  for (const id of ids) {
    const record = await monitor.find(id);
    if (record === undefined) continue;
    const asked = readAgain(record, protocols);
    if (asked !== undefined) return toolsOf(asked, record).slice(-MAX_TOOLS);
  }
  return [];
}

/** Undefined of what was not kept whole, or asked for no answer. */
function readAgain(
  record: RequestRecord,
  protocols: Options['protocols'],
): CanonicalRequest | undefined {
  const { found } = judgeReplay(record, protocols);
  if (found === undefined) return undefined;
  const body = parseJson(record.bodies?.clientRequest?.text ?? '');
  if (!isJsonObject(body)) return undefined;
  const { pathModel } = record.details;
  const receipt = createReceipt();
  const query = new URLSearchParams();
  try {
    return found.route.readCall({ pathModel, query, headers: {}, body, receipt }).request;
  } catch {
    // It was refused when it came, too: its record says why.
    return undefined;
  }
}

function toolsOf(asked: CanonicalRequest, { bodies }: RequestRecord): readonly ToolStep[] {
  const steps = new Map<string, ToolStep>();
  for (const part of asked.turns.flatMap((turn) => turn.parts)) {
    if (part.kind === 'tool-call') {
      const { id, name, input } = part;
      steps.set(id, { id, name, arguments: cut(JSON.stringify(input)) });
    } else if (part.kind === 'tool-result') {
      const step = steps.get(part.callId);
      if (step === undefined) continue;
      step.result = cut(wordsOf(part));
      if (part.isError) step.isError = true;
    }
  }
  for (const block of bodies?.response?.blocks ?? []) {
    if (block.kind !== 'tool-call') continue;
    const { id, name } = block;
    steps.set(id, { id, name, arguments: cut(block.arguments) });
  }
  return [...steps.values()];
}

function wordsOf({ content }: ToolResultPart): string {
  return content
    .map((one) => {
      if (one.kind === 'text') return one.text;
      return one.kind === 'json' ? JSON.stringify(one.value) : `[${one.mediaType ?? one.modality}]`;
    })
    .join('\n');
}

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}

// `/api/body-recording`: keeps the bodies of requests for some minutes, at all replicas; it ends by itself.

export const BODY_RECORDING_SCHEMA = named('BodyRecording', {
  until: { ...orNull(TIME), description: 'Null while no such time is set, or it is over.' },
});

const ASKED_SCHEMA = object({
  minutes: {
    type: 'integer',
    minimum: 0,
    maximum: 60,
    description: 'From now on; 0 ends it.',
  },
});

const MINUTE_MS = 60_000;

export function createBodyRecordingRoutes({
  bodyRecording,
  clock,
}: Pick<MonitorRouteOptions, 'bodyRecording' | 'clock'>): readonly ApiRoute[] {
  const answer = () => {
    const until = bodyRecording.until();
    return answerJson({ until: until > clock.now() ? until : null });
  };
  const answers = { 200: { description: 'Until when.', schema: BODY_RECORDING_SCHEMA } };
  return [
    defineRoute({
      at: 'GET /api/body-recording',
      access: 'viewer',
      title: 'shows until when payloads are recorded',
      answers,
      run: async () => answer(),
    }),
    defineRoute({
      at: 'PUT /api/body-recording',
      access: 'operator',
      title: 'records the payloads of requests for some minutes',
      body: ASKED_SCHEMA,
      answers,
      async run({ body: { minutes } }) {
        await bodyRecording.setUntil(minutes === 0 ? 0 : clock.now() + minutes * MINUTE_MS);
        return answer();
      },
    }),
  ];
}
