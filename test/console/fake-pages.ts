// Keys, address rules, the access log, usage and the log of the fixture server.

import { sumAll } from '../../console/src/pages/usage/sum-usage.ts';
import type {
  AccessLog,
  AddressRule,
  AlertList,
  Budget,
  Key,
  Latency,
  LeadingUsage,
  LogLine,
  LogPage,
  Outcomes,
  Prices,
  Usage,
  UsageBucket,
} from '../../src/admin/contract.ts';
import { asSentence } from '../../src/lib/localized-message.ts';
import { createRandom } from '../fuzz/random.ts';
import { type FakeRoute, HOSTILE, json, refuse, type Scene } from './fake-route.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function createPageRoutes(scene: Scene, now: number): readonly FakeRoute[] {
  return [
    ...createKeyRoutes(scene, now),
    ...createRuleRoutes(scene, now),
    ...createUsageRoutes(scene, now),
    ...createLatencyRoutes(scene, now),
    PRICES,
    ...createAlertRoutes(scene, now),
    createLogsRoute(scene, now),
  ];
}

function createKeyRoutes(scene: Scene, now: number): readonly FakeRoute[] {
  let keys: Key[] = scene === 'empty' ? [] : seedKeys(now);
  const budgets = scene === 'empty' ? [] : seedBudgets(now);
  return [
    { method: 'GET', path: '/api/budgets', run: () => json({ budgets }) },
    { method: 'GET', path: '/api/keys', run: () => json({ keys }) },
    {
      method: 'POST',
      path: '/api/keys',
      run({ body }) {
        const key = makeKey(now, { ...body, id: `k${keys.length + 1}`, prefix: 'sk-new1' });
        keys = [...keys, key];
        return json({ key, secret: 'sk-new1fixturefixturefixturefixturefixture00' }, 201);
      },
    },
    {
      method: 'PATCH',
      path: '/api/keys/{id}',
      run({ parameter, body, ifMatch }) {
        const known = keys.find(({ id }) => id === parameter);
        if (known === undefined) return refuse(404, 'There is no key of this id.');
        if (ifMatch !== `"${known.revision}"`) return refuse(412, 'Stale.');
        const given = Object.entries({ ...known, ...body }).filter(([, value]) => value !== null);
        const changed = makeKey(now, Object.fromEntries(given));
        const next = { ...changed, revision: known.revision + 1 };
        keys = keys.map((one) => (one.id === parameter ? next : one));
        return json(next);
      },
    },
    {
      method: 'DELETE',
      path: '/api/keys/{id}',
      run({ parameter }) {
        keys = keys.filter(({ id }) => id !== parameter);
        return { status: 204 };
      },
    },
  ];
}

function seedBudgets(now: number): Budget[] {
  const common = { timeZone: 'Europe/Zurich', createdAt: now - 30 * DAY, revision: 1, reserved: 0 };
  const spans = { from: now - 10 * DAY, until: now + 20 * DAY, warnPercent: 80, isHard: true };
  return [
    {
      ...{ ...common, ...spans, id: 'b1', scope: 'gateway', unit: 'money', period: 'month' },
      ...{ amount: 200_000_000_000, used: 91_500_000_000, level: 'ok' },
    },
    {
      ...{ ...common, ...spans, id: 'b2', scope: 'team', subject: 'Research', unit: 'tokens' },
      ...{ period: 'week', amount: 2_000_000, used: 1_700_000, level: 'warning', isHard: false },
    },
    {
      ...{ ...common, ...spans, id: 'b3', scope: 'key', subject: 'k1', unit: 'requests' },
      ...{ subjectName: 'Ada’s laptop', period: 'day', amount: 400, used: 400, level: 'spent' },
    },
  ];
}

function makeKey(now: number, change: Partial<Key>): Key {
  return {
    id: 'k0',
    name: 'Key',
    prefix: 'sk-abcd',
    enabled: true,
    createdAt: now - 30 * DAY,
    owner: 'ada@example.org',
    team: 'Research',
    tags: ['batch', 'ci'],
    allowedModels: [],
    usedToday: { requests: 0, tokens: 0, images: 0 },
    revision: 1,
    ...change,
  };
}

function seedKeys(now: number): Key[] {
  const used = (requests: number, tokens: number, images = 0) => ({ requests, tokens, images });
  const rows: Partial<Key>[] = [
    {
      name: 'Ada’s laptop',
      requestsPerMinute: 60,
      lastUsedAt: now - 2 * MINUTE,
      usedToday: used(412, 1_240_000),
    },
    {
      name: 'Nightly build',
      prefix: 'sk-9f3k',
      allowedModels: ['gemini-3-flash', 'gemini-3-pro'],
      curfew: { from: '08:00', to: '20:00', timeZone: 'Europe/Zurich' },
      maxAddresses: 2,
      lastUsedAt: now - 9 * HOUR,
      usedToday: used(88, 310_000),
    },
    {
      name: 'Design team',
      prefix: 'sk-77aa',
      tokensPerMinute: 100_000,
      maxConcurrency: 4,
      expiresAt: now + 12 * DAY,
      lastUsedAt: now - 40 * MINUTE,
      usedToday: used(61, 500_000, 37),
    },
    { name: 'Old phone', prefix: 'sk-0old', enabled: false, lastUsedAt: now - 20 * DAY },
    { name: 'Guest', prefix: 'sk-gst1', expiresAt: now - DAY },
    { name: `${HOSTILE[0]} ${'a-long-name '.repeat(5)}`, prefix: 'sk-evil' },
    ...['Workshop A', 'Workshop B', 'Workshop C'].map((name) => ({ name, prefix: 'sk-wshp' })),
  ];
  return rows.map((row, index) => makeKey(now, { id: `k${index + 1}`, ...row }));
}

function createRuleRoutes(scene: Scene, now: number): readonly FakeRoute[] {
  let rules: AddressRule[] = scene === 'empty' ? [] : seedRules(now);
  return [
    { method: 'GET', path: '/api/address-rules', run: () => json({ rules }) },
    {
      method: 'POST',
      path: '/api/address-rules/check',
      run: ({ body }) =>
        String(body.address).startsWith('203.')
          ? json({ verdict: 'denied', rule: rules[1] })
          : json({ verdict: 'allowed' }),
    },
    {
      method: 'POST',
      path: '/api/address-rules',
      run({ body }) {
        if (body.range === 'bad') return refuse(400, 'range: must be an address.', 'range');
        const rule = makeRule(now, { ...body, id: `a${rules.length + 1}` });
        rules = [...rules, rule];
        return json(rule, 201);
      },
    },
    {
      method: 'DELETE',
      path: '/api/address-rules/{id}',
      run({ parameter }) {
        rules = rules.filter(({ id }) => id !== parameter);
        return { status: 204 };
      },
    },
    {
      method: 'GET',
      path: '/api/access-log',
      run: ({ query }) => json(readAccessLog(scene, now, query.get('verdict'))),
    },
  ];
}

function makeRule(now: number, change: Partial<AddressRule>): AddressRule {
  const given = { id: 'a0', list: 'deny', range: '', note: '', createdAt: now } as const;
  return { ...given, hits: 0, revision: 1, ...change };
}

function seedRules(now: number): AddressRule[] {
  const rows: Partial<AddressRule>[] = [
    {
      list: 'allow',
      range: '192.168.1.0/24',
      note: 'The house',
      hits: 18_204,
      lastHitAt: now - 20_000,
    },
    {
      range: '203.0.113.0/24',
      note: 'Tried passwords all night',
      hits: 311,
      lastHitAt: now - 3 * HOUR,
      expiresAt: now + 6 * DAY,
    },
    { range: '2001:db8:bad::/48', note: HOSTILE[1], expiresAt: now - HOUR },
  ];
  return rows.map((row, index) => makeRule(now, { id: `a${index + 1}`, ...row }));
}

function readAccessLog(scene: Scene, now: number, verdict: string | null): AccessLog {
  if (scene === 'empty') return { entries: [] };
  const kinds = [
    ['blocked', '203.0.113.9', 'This address is not let in.'],
    ['unauthenticated', '192.168.1.77', 'This request needs an API key.'],
    ['throttled', '198.51.100.4', 'Too many tries. Wait 40 seconds.'],
    ['rejected', '192.168.1.20', 'The key "Design team" has used its tokens of today.'],
    ['signed-in', '127.0.0.1', HOSTILE[0]],
  ] as const;
  const entries = Array.from({ length: 24 }, (_, index) => {
    const [kind, address, text] = kinds[(index * 3) % kinds.length] ?? kinds[0];
    const id = 1000 - index;
    const at = now - index * 17 * MINUTE;
    const reason = asSentence(text);
    return { id, at, verdict: kind, address, method: 'POST', path: '/v1/messages', reason };
  });
  return { entries: entries.filter((entry) => verdict === null || entry.verdict === verdict) };
}

function createUsageRoutes(scene: Scene, now: number): readonly FakeRoute[] {
  const readUsage = (query: URLSearchParams): Usage => {
    const stepMs = { hour: HOUR, day: DAY, week: 7 * DAY }[query.get('step') ?? 'hour'] ?? HOUR;
    const from = Math.floor(Number(query.get('from')) / stepMs) * stepMs;
    const count = Math.ceil((now - from) / stepMs);
    const spans = Array.from({ length: count }, (_, index) => from + index * stepMs);
    const groups = query.get('by') === 'none' ? [''] : USAGE_GROUPS;
    const buckets =
      scene === 'empty'
        ? []
        : spans.flatMap((at, index) =>
            groups.map((group, place) => makeBucket({ at, group, stepMs }, index * 31 + place)),
          );
    return { spans, buckets };
  };
  return [
    { method: 'GET', path: '/api/usage', run: ({ query }) => json(readUsage(query)) },
    {
      method: 'GET',
      path: '/api/usage/leading',
      run({ query }) {
        const { spans, buckets } = readUsage(query);
        const groups = Array.from(
          Map.groupBy(buckets, ({ group }) => group),
          ([group, rows]) => ({ group, ...sumAll(rows) }),
        ).toSorted((left, right) => right.inputTokens - left.inputTokens);
        const names = groups.slice(0, Number(query.get('leading'))).map(({ group }) => group);
        const leads = ({ group }: UsageBucket): boolean => names.includes(group);
        const sumSteps = (rows: readonly UsageBucket[]) =>
          Array.from(
            Map.groupBy(rows, ({ at }) => at),
            ([at, found]) => ({ at, ...sumAll(found) }),
          );
        return json({
          spans,
          totals: sumSteps(buckets),
          buckets: buckets.filter(leads),
          others: sumSteps(buckets.filter((row) => !leads(row))),
          groups,
          groupCount: scene === 'empty' ? 0 : 500,
        } satisfies LeadingUsage);
      },
    },
  ];
}

function createLatencyRoutes(scene: Scene, now: number): readonly FakeRoute[] {
  const figures = (seed: number) => {
    const p50 = Math.round(800 + createRandom(seed).next() * 1500);
    return {
      duration: { count: 60, p50, p95: p50 * 4, p99: p50 * 7 },
      firstToken: { count: 60, p50: p50 / 4, p95: p50 / 2, p99: p50 },
      tokensPerSecond: 61.4,
    };
  };
  const halfHour = HOUR / 2;
  const from = Math.floor(now / halfHour) * halfHour - 47 * halfHour;
  const counts = (seed: number, most: number) => {
    const random = createRandom(seed).next;
    return Array.from({ length: 48 }, () => Math.round(random() * most));
  };
  return [
    {
      method: 'GET',
      path: '/api/latency',
      run({ query }) {
        if (scene === 'empty') return json({ spans: [], groups: [], all: {} } satisfies Latency);
        const stepMs = { hour: HOUR, day: DAY, week: 7 * DAY }[query.get('step') ?? 'hour'] ?? HOUR;
        const first = Math.floor(Number(query.get('from')) / stepMs) * stepMs;
        const count = Math.ceil((now - first) / stepMs);
        const spans = Array.from({ length: count }, (_, nth) => ({
          at: first + nth * stepMs,
          ...(nth % 9 === 4 ? {} : figures(nth)),
        }));
        const groups = query.get('by') === 'none' ? [] : USAGE_GROUPS;
        return json({
          spans,
          groups: groups.map((group, nth) => ({ group, ...figures(nth) })),
          all: figures(3),
        } satisfies Latency);
      },
    },
    {
      method: 'GET',
      path: '/api/outcomes',
      run: () =>
        json({
          from,
          stepMs: halfHour,
          accounts:
            scene === 'empty'
              ? []
              : OUTCOMES_OF.map((account, nth) => ({
                  account,
                  good: counts(nth, 40),
                  failed: counts(nth + 9, nth % 3 === 0 ? 12 : 1),
                })),
        } satisfies Outcomes),
    },
  ];
}

const PRICES: FakeRoute = {
  method: 'GET',
  path: '/api/prices',
  run: ({ query }) =>
    json({
      currency: 'USD',
      tableSource: 'https://prices.example',
      prices: [],
      found: {
        basis: 'listed',
        models: [query.get('model') ?? ''],
        rates: { input: 1.25, cachedInput: 0.125, output: 10 },
        ...{ provider: 'google', source: 'https://prices.example/google', date: '2026-11-01' },
      },
    } satisfies Prices),
};

function createAlertRoutes(scene: Scene, now: number): readonly FakeRoute[] {
  const at = (minutes: number) => now - minutes * MINUTE;
  const delivery = { channel: 'ops', kinds: ['account-out'], tries: 1 };
  const filled = {
    channels: [
      { name: 'ops', host: 'hooks.slack.example', format: 'slack', severity: 'warning' },
      { name: HOSTILE[0], host: '10.0.0.9:9000', format: 'json', severity: 'error' },
    ],
    firing: [
      {
        kind: 'account-out',
        severity: 'warning',
        message: 'The account old.laptop@example.org is unavailable: invalid-grant.',
        since: at(90),
      },
    ],
    deliveries: [
      { ...delivery, at: at(2), outcome: 'failed', tries: 5, fault: 'ECONNREFUSED' },
      { ...delivery, at: at(12), outcome: 'retried', status: 503 },
      { ...delivery, at: at(90), outcome: 'delivered', status: 200 },
    ],
  } satisfies AlertList;
  return [
    {
      method: 'GET',
      path: '/api/alerts',
      run: () => json(scene === 'empty' ? { channels: [], firing: [], deliveries: [] } : filled),
    },
    {
      method: 'POST',
      path: '/api/alerts/test',
      run: () => json({ ...delivery, at: now, kinds: ['test'], outcome: 'delivered', status: 200 }),
    },
  ];
}

const OUTCOMES_OF = [
  ...['maria.lindqvist@example.org', 'jun.watanabe@example.org', 'old.laptop@example.org'],
];

const USAGE_GROUPS = [
  ...['gemini-3-pro', 'gemini-3-flash', 'claude-sonnet-4-6', 'claude-opus-4-6-thinking'],
  ...['gemini-3-pro-image', 'gpt-oss-120b', 'text-embedding-4', HOSTILE[0], ''],
];

interface BucketPlace {
  readonly at: number;
  readonly group: string;
  readonly stepMs: number;
}

function makeBucket({ at, group, stepMs }: BucketPlace, seed: number): UsageBucket {
  const random = createRandom(seed + 7).next;
  const weight = 1 / (1 + USAGE_GROUPS.indexOf(group));
  const requests = Math.round(random() * 60 * weight * (stepMs / HOUR));
  const inputTokens = requests * Math.round(2000 + random() * 9000);
  const outputTokens = requests * Math.round(200 + random() * 900);
  return {
    at,
    group,
    requests,
    errors: Math.round(requests * random() * 0.06),
    inputTokens,
    outputTokens,
    cachedTokens: Math.round(inputTokens * random() * 0.6),
    cacheWriteTokens: Math.round(inputTokens * 0.1),
    pricedRequests: requests,
    costNanos: inputTokens * 3000,
    flatRateNanos: inputTokens * 500,
    cacheSavingsNanos: inputTokens * 900,
    thoughtTokens: Math.round(outputTokens * random() * 0.5),
    images: group.includes('image') ? requests : 0,
  };
}

const LOG_COUNT = 2000;
const LOG_PAGE = 200;

function createLogsRoute(scene: Scene, now: number): FakeRoute {
  const lines =
    scene === 'empty' ? [] : Array.from({ length: LOG_COUNT }, (_, at) => makeLine(at, now));
  const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];
  return {
    method: 'GET',
    path: '/api/logs',
    run({ query }) {
      const least = levels.indexOf(query.get('level') ?? 'trace');
      const search = query.get('search') ?? '';
      const found = lines.filter(
        (line) => levels.indexOf(line.level) >= least && line.message.includes(search),
      );
      const from = Number(query.get('cursor') ?? 0);
      const end = from + Number(query.get('limit') ?? LOG_PAGE);
      return json({
        lines: found.slice(from, end),
        ...(end < found.length ? { nextCursor: String(end) } : {}),
      } satisfies LogPage);
    },
  };
}

function makeLine(index: number, now: number): LogLine {
  const kinds = [
    ['info', 'request', { requestId: `req_${index}`, status: 200, model: 'gpt-4o', ms: 1830 }],
    ['debug', 'lease', { account: 'maria.lindqvist@example.org', model: 'gemini-3-pro' }],
    [
      'warn',
      'An account is cooling down while others serve.',
      { account: 'jun.watanabe@example.org', cause: 'quota' },
    ],
    ['error', 'upstream closed the connection', { upstream: 'code-assist', attempt: 2 }],
    ['info', `config changed ${HOSTILE[0]}`, { section: 'pool' }],
  ] as const;
  const [level, message, fields] = kinds[(index * 3) % kinds.length] ?? kinds[0];
  return { at: now - index * 1370, level, message, fields };
}
