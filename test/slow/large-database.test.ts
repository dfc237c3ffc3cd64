// A database with a million records, ten thousand accounts and a thousand keys: what lists cost, in processor time of
// this process and of the database's server.

import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringifyInSteps } from '../../src/lib/chunked-json.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import type {
  RequestFilter,
  TimeSpan,
  UsageFilter,
  UsageGroup,
} from '../../src/monitor/request-store.ts';
import { runScript } from '../../src/stores/database.ts';
import type { openStores } from '../../src/stores/stores.ts';
import { readCpuMs } from '../bench/kernel.ts';
import { createTestDatabase } from '../support/database.ts';
import { newAccount } from '../support/new-account.ts';
import { createTestPostgres, POSTGRES_BIN, startPostgres } from '../support/postgres.ts';
import { recordOf } from '../support/request-records.ts';

const RECORDS = 1_000_000;
const ACCOUNTS = 10_000;
/** Of these. */
const ACCOUNTS_AT_WORK = 500;
const KEYS = 1_000;
const TEAMS = 10;
/** Of errors, which are a hundredth of all. */
const GROUPS = 1_400;
const AT = 1_700_000_000_000;
/** Milliseconds between two records: a month of them. */
const STEP = 2_592;
/** Of one turn of the event loop: model streams wait so long. */
const MAX_TURN_MS = 50;
const HOUR_MS = 3_600_000;
const ACCOUNT = 'account-77@example.org';
const CHAT = { protocol: 'chat' };
const MODEL_IN_CHAT = { ...CHAT, model: 'upstream-7' };

/** What is summed up by hours and days once they are over. */
const ROLLED = [
  ...(['requests', 'errors', 'input_tokens', 'output_tokens', 'cached_tokens'] as const),
  ...(['cache_write_tokens', 'thought_tokens', 'images', 'priced_requests', 'cost_nanos'] as const),
  ...(['flat_rate_nanos', 'cache_savings_nanos', 'duration5', 'first3'] as const),
  ...(['timed_tokens', 'timed_ms'] as const),
];

/** Many copies of one record, told apart by what people filter by; one in a hundred failed. */
const FILL = `
with recursive numbers(n) as (select 2 union all select n + 1 from numbers where n < ${RECORDS})
insert into requests (sequence, id, request_id, at, model, upstream_model, account, key_id, key_name, protocol, outcome, status, error, surface, method, path, stream, client_address, attempts, retries, total_ms, dropped, approximated, repaired, bytes, details, input_tokens, output_tokens, session, team, error_group)
select n,
  'req_' || n,
  'req_' || n,
  ${AT} + n * cast(${STEP} as bigint),
  'model-' || (n % 40),
  'upstream-' || (n % 40),
  'account-' || (n % ${ACCOUNTS_AT_WORK}) || '@example.org',
  'key_' || (n % ${KEYS}),
  'Person ' || (n % ${KEYS}),
  case n % 3 when 0 then 'chat' when 1 then 'messages' else 'responses' end,
  case when n % 100 = 0 then 'error' else 'ok' end,
  case when n % 100 = 0 then 500 else 200 end,
  case when n % 100 = 0 then 'The upstream refused the request ' || n end,
  r.surface,
  r.method,
  r.path,
  r.stream,
  r.client_address,
  r.attempts,
  r.retries,
  r.total_ms,
  r.dropped,
  r.approximated,
  r.repaired,
  r.bytes,
  r.details,
  r.input_tokens,
  r.output_tokens,
  'session-' || (n % 20000),
  'team-' || (n % ${TEAMS}),
  case when n % 100 = 0 then 'path: The upstream refused … ' || (n / 100 % ${GROUPS}) end
from requests as r, numbers where r.sequence = 1;
insert into usage_sums (at, model, account, key_id, key_name, protocol, requests, errors, input_tokens, output_tokens, cached_tokens, cache_write_tokens, thought_tokens, images, priced_requests, cost_nanos, flat_rate_nanos, cache_savings_nanos, duration5, first3, timed_tokens, timed_ms)
select at - at % 900000, upstream_model, account, key_id, max(key_name), protocol, count(*), sum(case when outcome = 'error' then 1 else 0 end),
  sum(input_tokens), sum(output_tokens), 0, 0, 0, 0, count(*), sum(sequence), 0, 0, count(*), count(*), sum(output_tokens), sum(total_ms)
from requests where sequence % 7 = 0 group by 1, 2, 3, 4, 6
on conflict do nothing;
insert into attempt_sums (at, account, good, failed)
select at - at % 1800000, account, count(*), 0 from requests where account is not null group by 1, 2;
with kinds(kind) as (values ('none'), ('model'), ('account'), ('key'), ('protocol'), ('owner'), ('team'), ('tag')),
  steps(step, length) as (values ('hour', 3600000), ('six-hours', 21600000), ('day', 86400000), ('week', 604800000))
insert into usage_rollups (step, kind, at, name, key_name, ${ROLLED.join(', ')})
select step, kind, at - at % length, case kind when 'none' then '' when 'model' then model when 'account' then account when 'key' then key_id when 'protocol' then protocol when 'owner' then owner when 'team' then team else tags end,
  case kind when 'key' then max(key_name) end, ${ROLLED.map((name) => `sum(${name})`).join(', ')}
from usage_sums, kinds, steps group by 1, 2, 3, 4;
insert into usage_rolled (step, kind, at) select distinct step, kind, at from usage_rollups;
with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${ACCOUNTS - 1})
insert into accounts (id, upstream_id, kind, label, label_key, priority, created_at, revision)
select 'a' || n, upstream_id, kind, 'account-' || n || '@example.org', 'account-' || n, 0, n, 1
from accounts, numbers where id = 'first';
with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${KEYS - 1})
insert into client_keys (id, name, prefix, digest, enabled, created_at, limits, revision)
select 'key_' || n, 'Person ' || n, 'sk-', 'digest ' || n, 1, n, limits, 1 from client_keys, numbers where id = 'key_0';
`;

interface Opened {
  readonly stores: Pick<
    Awaited<ReturnType<typeof openStores>>,
    'accounts' | 'access' | 'requests' | 'requestFigures'
  >;
  /** Runs statements, however long they take. */
  run(script: string): Promise<void>;
  /** Milliseconds of processor time so far, of its server. */
  serverMs(): number;
  close(): Promise<void>;
}

async function openSqlite(): Promise<Opened> {
  const opened = await createTestDatabase({ clock: createSystemClock() });
  const { database } = opened.stores;
  return {
    stores: opened.stores,
    run: (script) => database.write('crash', () => runScript(script)),
    serverMs: () => 0,
    close: () => opened.close(),
  };
}

async function openPostgres(): Promise<Opened> {
  const server = await startPostgres(['fsync=off', 'shared_buffers=256MB']);
  const opened = await createTestPostgres(server, { statementTimeoutMs: 600_000 });
  return {
    stores: opened.stores,
    async run(script) {
      await opened.database.alone(() => runScript(script));
      const sequence = `select setval(pg_get_serial_sequence('requests', 'sequence'), ${RECORDS})`;
      await opened.database.alone(() => runScript(sequence));
    },
    serverMs: () => familyMs(server.pid),
    async close() {
      await opened.close();
      await server.close();
    },
  };
}

const isWithoutPostgres = POSTGRES_BIN === undefined || process.platform !== 'linux';

describe.each([
  { name: 'SQLite', open: openSqlite, isAbsent: false, limitMs: 100 },
  // With what its server takes.
  { name: 'PostgreSQL', open: openPostgres, isAbsent: isWithoutPostgres, limitMs: 200 },
])('a large database in $name', ({ name: database, open, isAbsent, limitMs }) => {
  describe.skipIf(isAbsent)('with a million records', () => {
    let opened: Opened;
    beforeAll(async () => {
      opened = await open();
      const { accounts, access, requests } = opened.stores;
      await accounts.insert(newAccount('first'));
      const key = { id: 'key_0', name: 'Person 0', prefix: 'sk-', enabled: true, createdAt: 0 };
      await access.clientKeys.insert(
        { ...key, tags: [], allowedModels: [], revision: 1 },
        'digest 0',
      );
      await requests.save([recordOf({ id: 'req_1', at: AT })]);
      await opened.run(FILL);
      await opened.run('analyze');
    }, 900_000);
    afterAll(() => opened.close());

    const LATE = AT + (RECORDS - 1000) * STEP;
    const filters: readonly (readonly [string, RequestFilter])[] = [
      ['all', {}],
      ['of the last hour', { from: AT + RECORDS * STEP - 3_600_000 }],
      ['of a month ago', { to: AT + 86_400_000 }],
      ['that failed', { status: { kind: 'outcome', outcome: 'error' } }],
      ['that failed with 5xx', { status: { kind: 'range', least: 500, most: 599 } }],
      ['of a protocol', { protocol: 'messages' }],
      ['of a model', { model: 'model-7' }],
      ['of a model of no record', { model: 'none' }],
      ['of an account', { account: ACCOUNT }],
      ['of a key', { key: 'key_77' }],
      ['of a key by its name', { key: 'Person 77' }],
      ['without an account', { without: 'account' }],
      ['without an owner', { without: 'owner' }],
      ['with an id', { search: 'req_777777' }],
      ['with a word in the last thousand', { search: 'refused', from: LATE }],
    ];

    test.each(filters)('a page of the records %s comes in time', async (name, filter) => {
      const { requests } = opened.stores;
      let total: number | undefined;
      const times = await costsOf(5, async () => {
        ({ total } = await requests.list(filter, { limit: 50 }));
      });
      report(name, times, `total ${total}`);
      expect(Math.min(...times)).toBeLessThan(limitMs);
    });

    test.each([
      ['all', {}],
      ['of a day', { from: AT + 86_400_000, to: AT + 2 * 86_400_000 }],
      ['of a protocol', { protocol: 'messages' }],
      ['of a session', { session: 'session-77' }],
      ['of an error', { error: 'path: The upstream refused … 300' }],
      ['of a key', { key: 'key_77' }, 'SQLite'],
    ] as const)(
      'how the records %s ended over time is counted',
      async (name, filter, inPart: string | undefined = undefined) => {
        const { requestFigures } = opened.stores;
        let found: Awaited<ReturnType<typeof requestFigures.histogram>>;
        const times = await costsOf(5, async () => {
          found = await requestFigures.histogram(filter, 60);
        });
        report(`histogram ${name}`, times, `whole ${found?.isWhole}`);
        // Without an index of it, what is not counted in time is left out.
        expect(found?.isWhole).toBe(database !== inPart);
        expect(Math.min(...times)).toBeLessThan(limitMs);
      },
    );

    test('errors are grouped and the calls of a session summed up', async () => {
      const { requestFigures } = opened.stores;
      const works: readonly (readonly [string, () => Promise<unknown>])[] = [
        ['error groups', () => requestFigures.errorGroups({}, 100)],
        ['error groups of a team', () => requestFigures.errorGroups({ team: 'team-0' }, 100)],
        ['a session', () => requestFigures.session('session-77')],
      ];
      for (const [name, work] of works) {
        const times = await costsOf(3, work);
        report(name, times, '');
        expect(Math.min(...times)).toBeLessThan(limitMs);
      }
    });

    test('usage and latency of a month by day and the keys are read', async () => {
      const { requests, access } = opened.stores;
      const day = 86_400_000;
      const spans = Array.from({ length: 30 }, (_, index) => ({
        from: AT - (AT % day) + index * day,
        to: AT - (AT % day) + (index + 1) * day,
      }));
      // Days that do not begin with one of UTC are summed up of hours.
      const abroad = spans.map(({ from, to }) => ({ from: from - HOUR_MS, to: to - HOUR_MS }));
      const leading = (by: UsageGroup, filter: UsageFilter = {}, of = abroad) =>
        requests.leadingUsage({ spans: of, by, filter }, 7, 100);
      const latency = (by: UsageGroup, filter: UsageFilter = {}) =>
        requests.latency({ spans: abroad, by, filter }, 100);
      const works: readonly (readonly [string, () => Promise<unknown>])[] = [
        ['usage', () => leading('none')],
        ['usage by model', () => leading('model')],
        ['usage by account', () => leading('account')],
        ['usage by account, by days of UTC', () => leading('account', {}, spans)],
        ['usage by key', () => leading('key')],
        ['usage by key, by days of UTC', () => leading('key', {}, spans)],
        ['usage of one account by model', () => leading('model', { account: ACCOUNT })],
        ['usage of one model by account', () => leading('account', { model: 'upstream-7' })],
        ['usage of one model and protocol', () => leading('none', MODEL_IN_CHAT)],
        ['usage of one key and protocol', () => leading('model', { ...CHAT, key: 'key_77' })],
        ['latency', () => latency('none')],
        ['latency by model', () => latency('model')],
        ['latency by account', () => latency('account')],
        ['latency by key', () => latency('key')],
        ['latency of one model by account', () => latency('account', { model: 'upstream-7' })],
        ['latency of one account', () => latency('none', { account: ACCOUNT })],
        [
          'outcomes of accounts',
          () => requests.attempts({ from: AT + RECORDS * STEP - day, to: AT * 2 }),
        ],
        ['the last hour by minutes', () => requests.minutes({ from: LATE, to: AT * 2 })],
        ['keys', () => access.clientKeys.list()],
      ];
      for (const [name, work] of works) {
        const times = await costsOf(3, work);
        report(name, times, '');
        expect(Math.min(...times)).toBeLessThan(limitMs);
      }
    });

    test('long times of many groups are read without holding others up for long', async () => {
      const { requests } = opened.stores;
      const day = 86_400_000;
      const spans = Array.from({ length: 30 }, (_, index) => ({
        from: AT - (AT % day) + index * day,
        to: AT - (AT % day) + (index + 1) * day,
      }));
      const leading = (by: UsageGroup, filter: UsageFilter = {}) =>
        requests.leadingUsage({ spans, by, filter }, 7, 100);
      const works: readonly (readonly [string, () => Promise<unknown>])[] = [
        ['all groups of all days', () => writeAll(spans)],
        ['usage by account', () => leading('account')],
        ['usage of a protocol by account', () => leading('account', CHAT)],
        [
          'latency of a protocol',
          () => requests.latency({ spans, by: 'model', filter: CHAT }, 100),
        ],
      ];
      for (const [name, work] of works) {
        const blocks: number[] = [];
        const costs = await costsOf(3, async () => void blocks.push(await longestTurn(work)));
        report(name, costs, '');
        report('longest turn meanwhile', blocks, '');
        expect(Math.min(...blocks)).toBeLessThan(MAX_TURN_MS);
      }
    });

    async function writeAll(spans: readonly TimeSpan[]): Promise<void> {
      const buckets = await opened.stores.requests.usage(spans, 'key', {});
      expect(buckets.length).toBeGreaterThan(20_000);
      await stringifyInSteps({ buckets: buckets.map((row) => ({ ...row, groupName: '' })) });
    }

    async function longestTurn(work: () => Promise<unknown>): Promise<number> {
      let longest = 0;
      let last = performance.now();
      let isDone = false;
      const look = (): void => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
        if (!isDone) setImmediate(look);
      };
      setImmediate(look);
      await work();
      isDone = true;
      return longest;
    }

    async function costsOf(
      turns: number,
      work: () => Promise<unknown>,
    ): Promise<readonly number[]> {
      const costs: number[] = [];
      for (let turn = 0; turn < turns; turn += 1) {
        const before = usedMs();
        await work();
        costs.push(usedMs() - before);
      }
      return costs;
    }

    function usedMs(): number {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000 + opened.serverMs();
    }
  });
});

const TICK_MS = 10;

/** Processor time of a process, of its children, and of those it had. */
function familyMs(pid: number): number {
  const children = readdirSync('/proc').filter((one) => fieldOf(one, PARENT) === pid);
  const gone = [CHILDREN_USER, CHILDREN_SYSTEM].map((field) => fieldOf(String(pid), field) ?? 0);
  const alive = [pid, ...children.map(Number)].map((one) => {
    try {
      return readCpuMs(one);
    } catch {
      // It ended this moment.
      return 0;
    }
  });
  return [...alive, ...gone.map((ticks) => ticks * TICK_MS)].reduce((sum, ms) => sum + ms, 0);
}

// Behind the name: proc(5).
const PARENT = 1;
const CHILDREN_USER = 13;
const CHILDREN_SYSTEM = 14;

function fieldOf(pid: string, field: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[field]);
  } catch {
    // No process, or one that ended meanwhile.
    return undefined;
  }
}

function report(name: string, times: readonly number[], rest: string): void {
  const [least, most] = [Math.min(...times), Math.max(...times)].map((ms) => ms.toFixed(0));
  console.log(`${name}: ${least} to ${most} ms ${rest}`);
}
