// Ten thousand requests of the fixture server, made when they are asked for.

import type {
  Replay,
  RequestErrors,
  RequestHistogram,
  RequestList,
  RequestRow,
  RequestSession,
  RunningRequest,
} from '../../src/admin/contract.ts';
import { asSentence } from '../../src/lib/localized-message.ts';
import { createWildcard, foldCase } from '../../src/lib/names.ts';
import { createRandom } from '../fuzz/random.ts';
import { type FakeRoute, HOSTILE, json, refuse, type Scene } from './fake-route.ts';

const COUNT = 10_000;
const PAGE = 100;
const SPACING_MS = 7000;

const SURFACES = [
  { protocol: 'chat', surface: 'chat/completions', path: '/v1/chat/completions' },
  { protocol: 'messages', surface: 'messages', path: '/v1/messages' },
  { protocol: 'generate', surface: 'generateContent', path: '/v1beta/models/x:generateContent' },
] as const;

const MODELS = ['gpt-4o', 'claude-sonnet-4-5', 'gemini-3-pro', 'gpt-5-mini', 'claude-opus-4-6'];
const ACCOUNTS = ['maria.lindqvist@example.org', 'jun.watanabe@example.org', 'key-1'];

const FAULTS = [
  [
    429,
    'All accounts that offer gemini-3-flash are out of quota. The first has room in 71 minutes.',
  ],
  [400, 'messages[2].content: must be a string or a list of parts.'],
  [502, 'The upstream closed the connection before the answer began.'],
  [404, `There is no model ${HOSTILE[1]}. Add a mapping or check the name.`],
] as const;

export function makeRow(index: number, now: number): RequestRow {
  const random = createRandom(index + 1).next;
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error('There is nothing to pick from.');
    return item;
  };
  const surface = pick(SURFACES);
  const fault = random() < 0.06 ? pick(FAULTS) : undefined;
  const model = index % 977 === 13 ? `${HOSTILE[0]}-${'long-name-'.repeat(9)}` : pick(MODELS);
  const attempts = fault === undefined ? 1 : 1 + Math.floor(random() * 3);
  const totalMs = Math.round(400 + random() ** 3 * 40_000);
  return {
    id: `r${String(COUNT - index).padStart(6, '0')}`,
    requestId: `req_${(index * 7919).toString(36)}`,
    at: now - index * SPACING_MS - Math.round(random() * 3000),
    ...surface,
    method: 'POST',
    stream: random() < 0.7,
    status: fault?.[0] ?? 200,
    outcome: fault === undefined ? 'ok' : 'error',
    // As clients and upstreams break off.
    ...(index % 31 === 4 ? { status: 499, outcome: 'cancelled' } : {}),
    ...(index % 31 === 6 ? { status: 200, outcome: 'error' } : {}),
    model,
    routedModel: 'alpha-3-pro-high',
    upstreamModel: 'gemini-3-pro',
    ...(fault?.[0] === 400 ? {} : { account: pick(ACCOUNTS) }),
    keyId: 'k1',
    keyName: 'Laptop',
    clientAddress: '127.0.0.1',
    session: `run-${index % 40}`,
    attempts,
    retries: attempts - 1,
    firstEventMs: Math.round(totalMs * 0.2),
    totalMs,
    inputTokens: Math.round(200 + random() * 60_000),
    outputTokens: fault === undefined ? Math.round(random() * 3000) : 0,
    cachedTokens: Math.round(random() * 20_000),
    cacheWriteTokens: 1200,
    ...(fault === undefined ? { costNanos: Math.round(random() * 9e7), costBasis: 'listed' } : {}),
    receipt: {
      dropped: Number(random() < 0.1),
      approximated: 0,
      repaired: Number(random() < 0.05),
    },
    ...(fault === undefined ? {} : { error: asSentence(fault[1]) }),
  };
}

export function createRequestRoutes(scene: Scene, now: number): readonly FakeRoute[] {
  const rows =
    scene === 'empty' ? [] : Array.from({ length: COUNT }, (_, index) => makeRow(index, now));
  return [
    {
      method: 'GET',
      path: '/api/requests',
      run({ query }) {
        const search = query.get('search')?.toLowerCase() ?? '';
        const status = query.get('status');
        const model = createWildcard(query.get('model') ?? '*');
        const found = rows.filter(
          (row) =>
            model.matches(foldCase(row.model)) &&
            (status === null || matchesStatus(row, status)) &&
            `${row.model} ${row.error?.text ?? ''} ${row.account ?? ''}`
              .toLowerCase()
              .includes(search),
        );
        const from = Number(query.get('cursor') ?? 0);
        const end = from + Number(query.get('limit') ?? PAGE);
        return json({
          requests: found.slice(from, end),
          total: found.length,
          ...(end < found.length ? { nextCursor: String(end) } : {}),
        } satisfies RequestList);
      },
    },
    {
      method: 'GET',
      path: '/api/running-requests',
      run: () => json({ requests: scene === 'rich' ? RUNNING : [], total: RUNNING.length }),
    },
    {
      method: 'GET',
      path: '/api/request-session',
      run: () => (rows.length === 0 ? refuse(404, 'There is none.') : json(makeSession(rows))),
    },
    { method: 'DELETE', path: '/api/sessions/{id}', run: () => ({ status: 204 }) },
    { method: 'GET', path: '/api/body-recording', run: () => json({ until: null }) },
    { method: 'PUT', path: '/api/body-recording', run: () => json({ until: now + 900_000 }) },
    { method: 'POST', path: '/api/running-requests/{id}/stop', run: () => ({ status: 204 }) },
    {
      method: 'GET',
      path: '/api/request-histogram',
      run: () => json(makeHistogram(rows, now)),
    },
    {
      method: 'GET',
      path: '/api/request-errors',
      run: () => json(groupErrors(rows)),
    },
    {
      method: 'GET',
      path: '/api/requests/{id}',
      run({ parameter }) {
        const row = rows.find(({ id }) => id === parameter);
        if (row === undefined) return refuse(404, 'There is no request of this id.');
        return json({ ...row, ...DETAIL });
      },
    },
    {
      method: 'POST',
      path: '/api/requests/{id}/replay',
      run: () => json(REPLAY),
    },
    { method: 'DELETE', path: '/api/requests', run: () => json({ removed: rows.length }) },
  ];
}

function makeSession(rows: readonly RequestRow[]): RequestSession {
  const calls = rows
    .filter(({ session }) => session === 'run-7')
    .slice(0, 30)
    .reverse();
  const sum = (pick: (row: RequestRow) => number | undefined) =>
    calls.reduce((total, row) => total + (pick(row) ?? 0), 0);
  return {
    ...{ session: 'run-7', requests: calls.length, errors: 2, images: 0, pricedRequests: 20 },
    ...{ firstAt: calls[0]?.at ?? 0, lastAt: calls.at(-1)?.at ?? 0 },
    inputTokens: sum((row) => row.inputTokens),
    outputTokens: sum((row) => row.outputTokens),
    cachedTokens: sum((row) => row.cachedTokens),
    ...{ cacheWriteTokens: 0, thoughtTokens: 0, flatRateNanos: 0, cacheSavingsNanos: 41_000_000 },
    costNanos: sum((row) => row.costNanos),
    models: [],
    accounts: [],
    binding: {
      ...{ id: 's1', label: 'run-7', clientKeyHash: 'h', accountId: 'maria' },
      ...{ account: 'maria.lindqvist@example.org', expiresAt: '2026-11-21T15:10:00Z' },
      detours: [{ model: 'gemini-3-flash', accountId: 'jun', returns: true }],
    },
    calls,
    tools: [
      { id: 'c1', name: 'read_file', arguments: '{"path":"src/main.ts"}', result: HOSTILE[0] },
      { id: 'c2', name: 'run', arguments: '{"command":"npm test"}', result: 'no', isError: true },
      { id: 'c3', name: 'write_file', arguments: '{"path":"a.ts"}' },
    ],
  };
}

const RUNNING: readonly RunningRequest[] = [
  {
    ...{ id: 'a-1', requestId: 'req_a', protocol: 'messages', surface: 'messages', stream: true },
    ...{ model: 'claude-opus-4-6', upstreamModel: 'gemini-3-pro', keyId: 'k1', keyName: 'Laptop' },
    ...{ account: 'maria.lindqvist@example.org', attempt: 2, clientAddress: '127.0.0.1' },
    ...{ elapsedMs: 41_000, firstEventMs: 900, outputTokens: 1834 },
  },
  {
    ...{ id: 'a-2', requestId: 'req_b', protocol: 'chat', surface: 'chat/completions' },
    ...{ model: 'gpt-5-mini', keyId: 'k1', attempt: 0, clientAddress: '127.0.0.1', elapsedMs: 300 },
  },
];

const PARTS = 60;

function makeHistogram(rows: readonly RequestRow[], now: number): RequestHistogram {
  const stepMs = 1_200_000;
  const to = now - (now % stepMs) + stepMs;
  const from = to - PARTS * stepMs;
  const parts = Array.from({ length: rows.length === 0 ? 0 : PARTS }, (_, index) => ({
    ...{ at: from + index * stepMs, ok: 0, error: 0, cancelled: 0 },
  }));
  for (const { at, outcome } of rows) {
    const part = parts[Math.floor((at - from) / stepMs)];
    if (part !== undefined) part[outcome] += 1;
  }
  return { from, to, stepMs, parts, isWhole: true };
}

function groupErrors(rows: readonly RequestRow[]): RequestErrors {
  const failed = rows.filter(({ outcome }) => outcome === 'error');
  const groups = Map.groupBy(failed, ({ error }) => error?.text ?? 'The stream broke off.');
  return {
    groups: [...groups].flatMap(([text, [latest, ...others]]) => {
      if (latest === undefined) return [];
      const models = [{ name: latest.model, count: others.length + 1 }];
      return {
        group: `upstream-unavailable: ${text}`,
        count: others.length + 1,
        firstAt: others.at(-1)?.at ?? latest.at,
        lastAt: latest.at,
        models,
        accounts: latest.account === undefined ? [] : [{ name: latest.account, count: 7 }],
        latest,
      };
    }),
  };
}

function matchesStatus({ status, outcome }: RequestRow, wanted: string): boolean {
  if (wanted === 'ok' || wanted === 'error') return outcome === wanted;
  if (/^\dxx$/.test(wanted)) return String(status).startsWith(wanted.slice(0, 1));
  return String(status) === wanted;
}

const DETAIL = {
  route: 'mapping "gpt-4*" → alpha-3-pro-high',
  fallbacks: [
    {
      from: 'anthropic/claude-sonnet-5',
      to: 'gemini-3-pro',
      reason: 'limited',
      afterAttempts: 0,
    },
  ],
  attemptsList: [
    {
      account: 'jun.watanabe@example.org',
      model: 'gemini-3-pro',
      outcome: 'rate-limited',
      status: 429,
      detail: asSentence(`Quota exceeded for requests per minute. Try again in 12s. ${HOSTILE[0]}`),
      ms: 214,
      considered: [
        { accountId: 'jun', verdict: 'chosen' },
        { verdict: 'cooling', count: 2, accountIds: ['robot', 'blocked'] },
      ],
    },
    {
      account: 'maria.lindqvist@example.org',
      model: 'gemini-3-pro',
      outcome: 'ok',
      status: 200,
      ms: 2320,
      considered: [{ accountId: 'maria', verdict: 'chosen' }],
    },
  ],
  receiptEntries: [
    { path: 'logit_bias', action: 'dropped', reason: asSentence('This field has no effect here.') },
    {
      path: 'max_tokens',
      action: 'capped',
      reason: asSentence('This model writes at most 65536 tokens.'),
    },
    {
      path: 'tools[0].parameters',
      action: 'approximated',
      reason: asSentence('said in the description'),
    },
  ],
  userAgent: `client/1.0 ${HOSTILE[3]}`,
  timings: { upstreamMs: 2320 },
  keepsBodies: true,
  replay: 'possible',
  clientRequest: {
    text: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: HOSTILE[0] }] }),
    isWhole: true,
  },
  upstreamRequest: { text: JSON.stringify({ contents: [] }), isWhole: true },
  response: { blocks: [{ kind: 'text', text: HOSTILE[4] }], isWhole: true },
};

const REPLAY: Replay = {
  status: 200,
  headers: { 'x-request-id': 'r009991' },
  body: '{}',
  text: 'The same beginning.\nAnother end.',
  requestId: 'r009991',
  protocol: 'chat',
  account: 'maria.lindqvist@example.org',
  upstreamModel: 'gemini-3-pro',
  differences: [
    { kind: 'same', text: 'The same beginning.' },
    { kind: 'removed', text: HOSTILE[0] },
    { kind: 'added', text: 'Another end.' },
  ],
};
