import { readFileSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { recordOf } from '../../../test/support/request-records.ts';
import { countTurns } from '../../../test/support/turns.ts';
import type { RequestStore } from '../../monitor/request-store.ts';
import { insert, toStored } from '../database.ts';
import { MIGRATIONS } from '../migrations.ts';
import { builder } from '../schema.ts';
import { rollUp, sumSpans } from '../usage-sums.ts';

const LIMITS = { oldest: 0, oldestUsage: 0, closedBefore: 0, maxBytes: 1e12, reducedBytes: 1e12 };

test('when there is too much, the oldest leave in small steps until half is left', async () => {
  const database = await createTestDatabase();
  const { requests } = database.stores;
  const body = { clientRequest: { text: 'x'.repeat(1000), isWhole: true } };
  const records = Array.from({ length: 1200 }, (_, index) =>
    recordOf({ id: `r${index}`, at: 1000 + index, bodies: body }),
  );
  await requests.save(records);
  const limits = { ...LIMITS, maxBytes: 1_200_000, reducedBytes: 600_000 };
  let steps = 0;
  while (!(await requests.sweep(limits))) steps += 1;
  const { total, rows } = await requests.list({}, { limit: 1 });
  expect(steps).toBeGreaterThan(1);
  expect(total).toBeGreaterThan(0);
  expect(total).toBeLessThan(600);
  expect(rows[0]?.id).toBe('r1199');
  await database.closeStores();
  const file = new DatabaseSync(database.path);
  for (const table of ['requests', 'request_bodies']) {
    expect(file.prepare(`select count(*) as count from ${table}`).get()).toEqual({ count: total });
  }
  file.close();
  await database.close();
});

test('what people filter by is found in the index alone, without reading the records passed over', async () => {
  const database = await createTestDatabase();
  await database.closeStores();
  const file = new DatabaseSync(database.path);
  const conditions = [
    "outcome = 'error'",
    'status between 500 and 599',
    "protocol = 'chat'",
    "(model = 'm' or upstream_model = 'm')",
    "account = 'a'",
    "(key_id = 'k' or key_name = 'k')",
    "replica = 'gateway-1'",
    ...['model', 'upstream_model', 'account', 'key_name', 'path', 'error'].map(
      (column) => `like('%x%', ${column}, '\\')`,
    ),
  ];
  for (const condition of conditions) {
    const plan = file
      .prepare(`explain query plan select count(*) from requests where at >= 1 and ${condition}`)
      .all();
    expect(String(plan[0]?.detail)).toMatch(/USING COVERING INDEX requests_by_(?:time|outcome)/);
  }
  const sizes = file.prepare('explain query plan select sum(bytes) from requests').all();
  expect(String(sizes[0]?.detail)).toContain('USING COVERING INDEX requests_by_time');
  file.close();
  await database.close();
});

/** The sums of usage as they were before they told whose they are. */
const UNHOLD_USAGE = `
  create table plain_usage_sums (
    at integer not null, model text not null, account text not null, key_id text not null, protocol text not null,
    requests integer not null, errors integer not null, input_tokens integer not null,
    output_tokens integer not null, cached_tokens integer not null, cache_write_tokens integer not null,
    thought_tokens integer not null, images integer not null, priced_requests integer not null,
    cost_nanos integer not null, flat_rate_nanos integer not null, cache_savings_nanos integer not null,
    key_name text,
    primary key (at, model, account, key_id, protocol)
  ) strict, without rowid;
  insert into plain_usage_sums select at, model, account, key_id, protocol, requests, errors, input_tokens,
    output_tokens, cached_tokens, cache_write_tokens, thought_tokens, images, priced_requests, cost_nanos,
    flat_rate_nanos, cache_savings_nanos, key_name from usage_sums;
  drop table usage_sums;
  alter table plain_usage_sums rename to usage_sums;
`;

/** Takes out what the migrations behind the eighth put in. */
const UNDO_LATER = `
  drop table kept_pieces;
  drop index kept_answers_by_writing;
  alter table kept_answers drop column writing;
  drop table removed_requests;
  drop index usage_sums_by_model;
  drop index usage_sums_by_account;
  drop index usage_sums_by_key;
  drop index usage_sums_by_owner;
  drop index usage_sums_by_team;
  alter table request_bodies drop column upstream_response;
  alter table request_bodies drop column client_response;
  drop index requests_by_session;
  drop index requests_by_error;
  drop index requests_by_outcome;
  alter table requests drop column session;
  alter table requests drop column error_group;
  drop index requests_by_time;
  alter table requests drop column owner;
  alter table requests drop column team;
  alter table requests drop column tags;
  alter table client_keys drop column owner;
  alter table client_keys drop column team;
  alter table client_keys drop column tags;
  drop table budget_uses;
  drop table budgets;
  ${UNHOLD_USAGE}
  alter table requests drop column replica;
  create index requests_by_time on requests (at, sequence);
  alter table requests drop column retries;
  alter table address_rules drop column revision;
  drop table call_traces;
  drop table session_bindings;
  alter table requests drop column error_parts;
  alter table access_log drop column reason_parts;
  drop table leases;
  alter table requests drop column cache_write_tokens;
  alter table usage_sums drop column cache_write_tokens;
  alter table requests drop column cost_nanos;
  alter table requests drop column flat_rate_nanos;
  alter table requests drop column cache_savings_nanos;
  alter table requests drop column cost_basis;
  alter table usage_sums drop column priced_requests;
  alter table usage_sums drop column cost_nanos;
  alter table usage_sums drop column flat_rate_nanos;
  alter table usage_sums drop column cache_savings_nanos;
  alter table accounts drop column billing;
  drop table audit_log;
  drop table client_key_secrets;
  drop table people;
  drop table invitations;
  alter table console_sessions drop column person_id;
  drop table usage_rollups;
  drop table usage_rolled;
  drop table attempt_sums;
`;

test('records saved while their details had a table of their own are found as they were', async () => {
  const database = await createTestDatabase();
  const records = ['a', 'b'].map((id) =>
    recordOf({ id, path: `/v1/${id}`, cacheWriteTokens: undefined }),
  );
  await database.stores.requests.save(records);
  await database.closeStores();
  const file = new DatabaseSync(database.path);
  file.exec(`
    create table request_details (
      sequence integer primary key references requests (sequence) on delete cascade,
      details text not null
    ) strict;
    insert into request_details select sequence, details from requests;
    alter table requests drop column details;
    ${UNDO_LATER}
    ${MIGRATIONS.find(({ name }) => name === 'request-filters')?.sqlite}
    alter table usage_sums drop column key_name;
    delete from migrations where version > 6;
  `);
  file.close();
  const { requests } = await database.open();
  for (const record of records) expect(await requests.find(record.row.id)).toEqual(record);
  expect((await requests.list({}, { limit: 5 })).rows.map(({ id }) => id)).toEqual(['b', 'a']);
  await database.close();
});

test('the size of records is that of their texts on the disk, in whatever script', async () => {
  const database = await createTestDatabase();
  const { requests } = database.stores;
  const text = '記'.repeat(1_000);
  await requests.save([recordOf({ bodies: { clientRequest: { text, isWhole: true } } })]);
  const limits = { oldest: 0, oldestUsage: 0, closedBefore: 0 };
  await requests.sweep({ ...limits, maxBytes: 4_000, reducedBytes: 4_000 });
  expect((await requests.list({}, { limit: 1 })).total).toBe(1);
  await requests.sweep({ ...limits, maxBytes: 3_000, reducedBytes: 1_500 });
  expect((await requests.list({}, { limit: 1 })).total).toBe(0);
  await database.close();
});

test('records with long bodies leave a few megabytes at a time', async () => {
  const database = await createTestDatabase();
  const { requests } = database.stores;
  const text = 'x'.repeat(1_000_000);
  const records = Array.from({ length: 10 }, (_, index) =>
    recordOf({ id: `r${index}`, bodies: { clientRequest: { text, isWhole: true } } }),
  );
  await requests.save(records);
  const limits = { oldest: 0, oldestUsage: 0, closedBefore: 0, maxBytes: 1, reducedBytes: 1 };
  const left: unknown[] = [];
  while (!(await requests.sweep(limits))) left.push((await requests.list({}, { limit: 1 })).total);
  expect(left.slice(0, 2)).toEqual([5, 0]);
  await database.close();
});

test('the file becomes smaller when much was removed, in small steps, and keeps room for what comes', async () => {
  const database = await createTestDatabase();
  const { requests } = database.stores;
  await fill(requests, 30);
  await requests.removeBefore(Number.MAX_SAFE_INTEGER);
  const sizes = [statSync(database.path).size];
  while (!(await requests.sweep(LIMITS))) sizes.push(statSync(database.path).size);
  expect(sizes[0]).toBeGreaterThan(30_000_000);
  expect(sizes.length).toBeGreaterThan(20);
  const small = statSync(database.path).size;
  expect(small).toBeGreaterThan(4_000_000);
  expect(small).toBeLessThan(6_000_000);
  await fill(requests, 3);
  await requests.sweep(LIMITS);
  expect(statSync(database.path).size).toBe(small);
  await database.close();
});

/** Megabytes of records from before anything else. */
async function fill(requests: RequestStore, megabytes: number): Promise<void> {
  const bodies = { clientRequest: { text: 'x'.repeat(1_000_000), isWhole: true } };
  const records = Array.from({ length: megabytes }, (_, index) =>
    recordOf({ id: `filled${index}`, at: 0, bodies }),
  );
  await requests.save(records);
}

test('what is removed by hand cannot be read in the files of the database any more', async () => {
  const database = await createTestDatabase();
  const { requests } = database.stores;
  const text = 'a prompt that was a mistake '.repeat(2_000);
  const bodies = { clientRequest: { text, isWhole: true } };
  await requests.save([recordOf({ model: 'the-mistaken-model', bodies })]);
  await requests.save([recordOf({ id: 'later', at: 1_800_000_000_000 })]);
  const onDisk = () =>
    [database.path, `${database.path}-wal`]
      .map((path) => readFileSync(path, 'latin1'))
      .filter((content) => /a prompt that was|the-mistaken-model/.test(content)).length;
  expect(onDisk()).toBeGreaterThan(0);
  expect(await requests.removeBefore(1_750_000_000_000)).toBe(1);
  expect(onDisk()).toBe(0);
  expect((await requests.list({}, { limit: 5 })).rows.map(({ id }) => id)).toEqual(['later']);
  await database.close();
});

test('usage saved without the names of keys gets those that its records know', async () => {
  const database = await createTestDatabase();
  const ofKeys = { a: ['k1', 'Ann'], b: ['k1', 'Anna'], c: ['k2', undefined] } as const;
  await database.stores.requests.save(
    Object.entries(ofKeys).map(([id, [keyId, keyName]]) => recordOf({ id, keyId, keyName })),
  );
  await database.closeStores();
  const file = new DatabaseSync(database.path);
  file.exec(`
    ${UNDO_LATER}
    alter table usage_sums drop column key_name;
    delete from migrations where version > 7;
  `);
  file.close();
  const { requests } = await database.open();
  const rows = await requests.usage([{ from: 0, to: Number.MAX_SAFE_INTEGER }], 'key');
  expect(rows.map(({ groupName }) => groupName)).toEqual(['Anna', undefined]);
  await database.close();
});

test('records saved before retries were counted tell them by the attempts that succeeded', async () => {
  const database = await createTestDatabase();
  const record = (id: string, ...outcomes: readonly string[]) => {
    const { row, details } = recordOf({ id, attempts: outcomes.length });
    const attempt = { account: 'ann', model: 'm', considered: [] };
    const attemptsList = outcomes.map((outcome) => ({ ...attempt, outcome }));
    return { row, details: { ...details, attemptsList } };
  };
  await database.stores.requests.save([
    record('none'),
    record('once', 'ok'),
    record('again', 'path', 'ok'),
    record('failed', 'path', 'rate-limited', 'path'),
    record('three-calls', 'ok', 'ok', 'ok'),
    record('three-calls-and-one-again', 'ok', 'path', 'ok', 'ok'),
    record('damaged', 'ok', 'ok'),
  ]);
  await database.closeStores();
  const file = new DatabaseSync(database.path);
  file.exec(`
    ${UNDO_LATER}
    delete from migrations where version > 8;
    update requests set details = '{' where id = 'damaged';
  `);
  file.close();
  const { requests } = await database.open();
  const { rows } = await requests.list({}, { limit: 10 });
  expect(Object.fromEntries(rows.map(({ id, retries }) => [id, retries]))).toEqual({
    ...{ none: 0, once: 0, again: 1, failed: 2 },
    ...{ 'three-calls': 0, 'three-calls-and-one-again': 1, damaged: 0 },
  });
  await database.close();
});

test('a search finds ids by their beginning, those a client gave as well as our own, and counts each once', async () => {
  const database = await createTestDatabase();
  const { requests } = database.stores;
  await requests.save([
    recordOf({ id: 'needle', at: 1 }),
    recordOf({ id: 'req_own', requestId: 'needle-of-a-client', at: 2 }),
    recordOf({ id: 'needle-of-ours', requestId: 'plain', at: 3 }),
    recordOf({ id: 'needle-both', requestId: 'needle-both-too', model: 'a-needle-model', at: 4 }),
    recordOf({ id: 'a-needle', at: 5 }),
  ]);
  const { rows, total } = await requests.list({ search: 'needle' }, { limit: 10 });
  expect(rows.map(({ at }) => at)).toEqual([4, 3, 2, 1]);
  expect(total).toBe(4);
  const first = await requests.list({ search: 'needle' }, { limit: 3 });
  expect(first).toMatchObject({ total: 4, rows: [{ at: 4 }, { at: 3 }, { at: 2 }] });
  const second = await requests.list({ search: 'needle' }, { limit: 3, cursor: first.nextCursor });
  expect(second).toMatchObject({ total: 4, rows: [{ at: 1 }] });
  await database.close();
});

test('a search whose text stands in most ids still counts all of them', async () => {
  const database = await createTestDatabase();
  const { requests } = database.stores;
  const records = Array.from({ length: 1100 }, (_, index) =>
    recordOf({ id: `req_${index}`, at: 1000 + index }),
  );
  await requests.save(records);
  const { rows, total } = await requests.list({ search: 'req_' }, { limit: 2 });
  expect(rows.map(({ id }) => id)).toEqual(['req_1099', 'req_1098']);
  expect(total).toBe(1100);
  await database.close();
});

test('lists, counts and removals go along the index of times and sort nothing', async () => {
  const database = await createTestDatabase();
  await database.closeStores();
  const file = new DatabaseSync(database.path);
  const plan = (sql: string): string =>
    file
      .prepare(`explain query plan ${sql}`)
      .all()
      .map((row) => String(row.detail))
      .join('; ');
  const page =
    'select * from requests where at >= 1 and at < 9 and (at, sequence) < (5, 5) and (at, sequence) >= (2, 2) ' +
    "and account = 'x' order by at desc, sequence desc limit 10";
  const oldest =
    'select sequence, bytes from requests where at < 5 order by at, sequence limit 500';
  const count = 'select count(*) from requests where at >= 5';
  const usage =
    'select model, sum(requests) from usage_sums where at >= 1 and at < 5 group by model';
  for (const sql of [page, oldest, count]) {
    expect(plan(sql)).toMatch(/USING (COVERING )?INDEX requests_by_time/);
    expect(plan(sql)).not.toContain('TEMP B-TREE');
  }
  expect(plan(usage)).toContain('SEARCH usage_sums USING PRIMARY KEY (at>? AND at<?)');
  expect(
    plan("select * from requests where request_id = 'a' or (id = 'a' and id <> request_id)"),
  ).toContain('MULTI-INDEX OR');
  file.close();
  await database.close();
});

test('a search goes on over many steps and says where', async () => {
  const database = await createTestDatabase();
  const { requests } = database.stores;
  const needle = recordOf({ id: 'needle', at: 1 });
  const hay = Array.from({ length: 9000 }, (_, index) =>
    recordOf({ id: `r${index}`, at: 10 + index }),
  );
  await requests.save([needle, ...hay]);
  const found = await requests.list({ search: 'needle' }, { limit: 10 });
  expect(found).toMatchObject({ rows: [{ id: 'needle' }], total: 1 });
  expect(found.nextCursor).toBeUndefined();
  await database.close();
});

test('errors of any number of groups are counted in few steps, the latest thousand of each looked at', async () => {
  const database = await createTestDatabase();
  const { requests, requestFigures } = database.stores;
  const failed = (nth: number, errorGroup: string, account: string) =>
    recordOf({ ...{ id: `r${nth}`, at: 1000 + nth, errorGroup, account }, outcome: 'error' });
  await requests.save([
    ...Array.from({ length: 3000 }, (_, nth) => failed(nth, `odd ${nth % 1500}`, 'ann')),
    ...Array.from({ length: 1100 }, (_, nth) =>
      failed(4000 + nth, 'cut', nth < 100 ? 'ann' : 'bob'),
    ),
    ...Array.from({ length: 11_000 }, (_, nth) => failed(9000 + nth, 'late', 'eve')),
  ]);
  const { result, turns } = await countTurns(() => requestFigures.errorGroups({}, 1000));
  expect(result.length).toBe(1000);
  const shown = result.map(({ group, count, accounts }) => ({ group, count, accounts }));
  expect(shown.slice(0, 3)).toEqual([
    { group: 'late', count: 11_000, accounts: [{ name: 'eve', count: 1000 }] },
    { group: 'cut', count: 1100, accounts: [{ name: 'bob', count: 1000 }] },
    { group: 'odd 0', count: 2, accounts: [{ name: 'ann', count: 2 }] },
  ]);
  expect(turns).toBeLessThan(20);
  await database.close();
});

test('all groups of many days are read day by day, with a turn for others between them', async () => {
  const database = await createTestDatabase();
  const { requests } = database.stores;
  const day = 86_400_000;
  const spans = Array.from({ length: 20 }, (_, nth) => ({ from: nth * day, to: (nth + 1) * day }));
  await requests.save(spans.map(({ from }, nth) => recordOf({ id: `r${nth}`, at: from })));
  const { result, turns } = await countTurns(() => requests.usage(spans, 'model'));
  expect(result.map(({ at }) => at)).toEqual(spans.map(({ from }) => from));
  expect(turns).toBeGreaterThanOrEqual(spans.length);
  await database.close();
});

test('usage that takes long to read is read a day at a time, narrowed or not, with turns for others', async () => {
  let ms = 0;
  const clock = { ...createFakeClock(), monotonic: () => (ms += 20) };
  const database = await createTestDatabase({ clock });
  const { requests } = database.stores;
  const day = 86_400_000;
  const spans = Array.from({ length: 20 }, (_, nth) => ({ from: nth * day, to: (nth + 1) * day }));
  const account = (nth: number) => `account-${nth % 3}`;
  await requests.save(
    spans.map(({ from }, nth) => recordOf({ id: `r${nth}`, at: from, account: account(nth) })),
  );
  for (const filter of [{}, { protocol: 'chat' }]) {
    const request = { spans, by: 'account', filter } as const;
    const used = await countTurns(() => requests.leadingUsage(request, 1, 2));
    expect(used.result.groups.map((row) => [row.group, row.requests])).toEqual([
      ['account-0', 7],
      ['account-1', 7],
    ]);
    expect(used.result.groupCount).toBe(3);
    // For who leads and by time.
    expect(used.turns).toBeGreaterThanOrEqual(2 * spans.length);
    const timed = await countTurns(() => requests.latency(request));
    expect(timed.result.groups.length).toBe(3);
    expect(timed.turns).toBeGreaterThanOrEqual(2 * spans.length);
  }
  await database.close();
});

test.each([
  ['model', { model: 'm' }],
  ['account', { account: 'ann' }],
  ['key', { key: 'main' }],
  ['owner', { owner: 'ann' }],
  ['team', { team: 'ops' }],
])('usage of one %s is found along its index, whatever it is grouped by', async (kind, filter) => {
  const database = await createTestDatabase();
  const work = sumSpans(database.stores.database.dialect, {
    ...{ spans: [{ from: 0, to: 1 }], by: 'protocol', filter },
  });
  let step = work.next();
  let plan: readonly string[] = [];
  const file = new DatabaseSync(database.path);
  while (!step.done) {
    if (step.value.kind !== 'rows') throw new Error('It only reads.');
    const { sql, parameters } = step.value.query.compile(builder);
    const rows = file.prepare(`explain query plan ${sql}`).all(...parameters.map(toStored));
    plan = rows.map(({ detail }) => String(detail));
    step = work.next({ rows: [], changes: 0 });
  }
  expect(plan).toContainEqual(expect.stringContaining(`usage_sums_by_${kind}`));
  file.close();
  await database.close();
});

test('usage of weeks is the same once they are summed up, also of what is saved later', async () => {
  const database = await createTestDatabase();
  const { requests, database: connection } = database.stores;
  const week = 7 * 86_400_000;
  const begin = 2_700 * week;
  const record = (nth: number) =>
    recordOf({ id: `r${nth}`, at: begin + nth * 43_000_000, upstreamModel: `m${nth % 3}` });
  const read = async () => {
    const span = { from: begin - 3_600_000, to: begin + week + 3_600_000 };
    const rows = await requests.usage([span], 'model');
    return rows.map((row) => [row.group, row.requests, row.inputTokens]);
  };
  // One kind of group is enough: the others count as summed up.
  const others = ['none', 'account', 'key', 'protocol', 'owner', 'team', 'tag'];
  const hours = Array.from({ length: 7 * 24 }, (_, nth) => begin + nth * 3_600_000);
  const steps = { hour: 1, 'six-hours': 6, day: 24, week: 168 };
  const marks = Object.entries(steps).flatMap(([step, length]) => {
    const starts = hours.filter((_, nth) => nth % length === 0);
    return others.flatMap((kind) => starts.map((at) => ({ step, kind, at })));
  });
  await connection.write('crash', () => insert('usage_rolled', marks));
  // As sweeps do, all at once.
  const sumUp = () =>
    connection.write('crash', function* () {
      let isLeft = true;
      while (isLeft) isLeft = yield* rollUp(connection.dialect, begin + week);
    });
  await requests.save([0, 1, 2, 4, 5, 7, 8, 10, 14].map(record));
  const before = [
    ['m0', 1, 3],
    ['m1', 4, 12],
    ['m2', 4, 12],
  ];
  expect(await read()).toEqual(before);
  await sumUp();
  expect(await read()).toEqual(before);
  await requests.save([record(9)]);
  const after = [['m0', 2, 6], ...before.slice(1)];
  expect(await read()).toEqual(after);
  await sumUp();
  expect(await read()).toEqual(after);
  await database.close();
});
