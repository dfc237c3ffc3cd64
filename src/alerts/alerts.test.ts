import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createAlerts } from './alerts.ts';

type AlertsOptions = Parameters<typeof createAlerts>[0];
type HeldCondition = ReturnType<AlertsOptions['conditions']>[number];

const MINUTE = 60_000;
const OUT: HeldCondition = {
  kind: 'account-out',
  about: 'ann',
  severity: 'warning',
  message: 'The account ann is unavailable <!here> with canary-secret.',
  wayOut: 'Sign in again.',
  link: '/accounts/ann',
};
const NONE: HeldCondition = { ...OUT, kind: 'no-accounts', about: '', severity: 'error' };

function open(change: Partial<AlertsOptions> = {}) {
  const clock = createFakeClock();
  const bench = {
    clock,
    held: [] as readonly HeldCondition[],
    statuses: [] as (number | Error)[],
    sent: [] as { readonly url: string; readonly body: unknown; readonly at: number }[],
    warnings: [] as string[],
  };
  const alerts = createAlerts({
    clock,
    settings: () => ({
      channels: {
        ops: { webhook: 'https://ops.example/hook', format: 'json', severity: 'warning' },
        night: { webhook: 'https://night.example/hook', format: 'slack', severity: 'error' },
      },
      holdMs: MINUTE,
      repeatMs: 60 * MINUTE,
    }),
    conditions: () => bench.held,
    async post(url, body) {
      bench.sent.push({ url, body, at: clock.now() });
      const status = bench.statuses.shift() ?? 200;
      if (status instanceof Error) throw status;
      return { status };
    },
    gateway: () => 'http://127.0.0.1:8045',
    hide: (text) => text.replaceAll('canary-secret', '[hidden]'),
    log: { warn: (_fields, message) => void bench.warnings.push(message) },
    ...change,
  });
  return { ...bench, bench, alerts };
}

test('what holds for a minute is told once, again after the interval, and when it is over', async () => {
  const { bench, clock, sent, alerts } = open();
  bench.held = [OUT];
  await clock.advance(MINUTE);
  expect(sent).toEqual([]);
  await clock.advance(MINUTE);
  expect(sent).toMatchObject([{ body: { alerts: [{ status: 'firing', kind: 'account-out' }] } }]);
  expect(alerts.firing()).toMatchObject([{ kind: 'account-out' }]);
  await clock.advance(59 * MINUTE);
  expect(sent).toHaveLength(1);
  await clock.advance(2 * MINUTE);
  expect(sent).toHaveLength(2);
  bench.held = [];
  await clock.advance(2 * MINUTE);
  expect(sent.at(-1)).toMatchObject({ body: { alerts: [{ status: 'resolved' }] } });
  expect(alerts.firing()).toEqual([]);
  await clock.advance(120 * MINUTE);
  expect(sent).toHaveLength(3);
  alerts.close();
});

test('a webhook that is added while something lasts is told it, and the others not again', async () => {
  const ops = { webhook: 'https://ops.example/hook', format: 'json', severity: 'warning' } as const;
  const added = { ...ops, webhook: 'https://added.example/hook' };
  let channels: Record<string, typeof added | typeof ops> = { ops };
  const settings = () => ({ channels, holdMs: MINUTE, repeatMs: 60 * MINUTE });
  const { bench, clock, sent, alerts } = open({ settings });
  bench.held = [OUT];
  await clock.advance(5 * MINUTE);
  channels = { ops, added };
  await clock.advance(5 * MINUTE);
  expect(sent.map(({ url }) => url)).toEqual([ops.webhook, added.webhook]);
  expect(sent[1]).toMatchObject({ body: { alerts: [{ status: 'firing', kind: 'account-out' }] } });
  alerts.close();
});

test('what comes and goes within the minute is not told, and a short absence is no end', async () => {
  const { bench, clock, sent, alerts } = open();
  bench.held = [OUT];
  await clock.advance(45_000);
  bench.held = [];
  await clock.advance(5 * MINUTE);
  expect(sent).toEqual([]);
  bench.held = [OUT];
  await clock.advance(2 * MINUTE);
  bench.held = [];
  await clock.advance(30_000);
  bench.held = [OUT];
  await clock.advance(10 * MINUTE);
  expect(sent).toHaveLength(1);
  alerts.close();
});

test('each channel hears what it asked for, in its own shape, without secrets', async () => {
  const { bench, clock, sent, alerts } = open();
  bench.held = [OUT, NONE, { ...OUT, kind: 'sandbox', severity: 'info' }];
  await clock.advance(2 * MINUTE);
  const bodyOf = (host: string) => sent.find(({ url }) => url.includes(host))?.body;
  expect(bodyOf('ops')).toMatchObject({
    version: 1,
    gateway: 'http://127.0.0.1:8045',
    alerts: [{ kind: 'account-out' }, { kind: 'no-accounts', wayOut: 'Sign in again.' }],
  });
  expect(bodyOf('night')).toEqual({
    text: 'isthmus (http://127.0.0.1:8045)\n🔴 The account ann is unavailable &lt;!here&gt; with [hidden]. Sign in again.',
  });
  expect(JSON.stringify(sent)).not.toContain('canary-secret');
  alerts.close();
});

test('a webhook that fails is tried again at longer intervals, and given up with a warning', async () => {
  const { bench, clock, sent, alerts } = open();
  bench.held = [OUT];
  bench.statuses.push(503, new Error('connection refused'), 429, 500, 500);
  await clock.advance(75_000);
  const [first] = sent;
  await clock.advance(20 * MINUTE);
  expect(sent.map(({ at }) => (at - (first?.at ?? 0)) / 1000)).toEqual([0, 5, 35, 155, 755]);
  expect(alerts.deliveries().map(({ outcome, tries }) => `${outcome} ${tries}`)).toEqual([
    ...['failed 5', 'retried 4', 'retried 3', 'retried 2', 'retried 1'],
  ]);
  expect(alerts.deliveries()[3]).toMatchObject({ fault: 'connection refused', channel: 'ops' });
  expect(bench.warnings).toEqual(['An alert could not be delivered.']);
  alerts.close();
});

test('what was tried in vain goes along with what comes next, and is not told behind its end', async () => {
  const { bench, clock, sent, alerts } = open();
  bench.held = [OUT];
  bench.statuses.push(503, 503, 503);
  await clock.advance(2 * MINUTE);
  expect(sent).toHaveLength(3);
  bench.held = [{ ...OUT, about: 'bob' }];
  await clock.advance(20 * MINUTE);
  expect(sent).toHaveLength(4);
  expect(sent[3]).toMatchObject({
    body: {
      alerts: [
        { status: 'firing', kind: 'account-out' },
        { status: 'resolved', kind: 'account-out' },
      ],
    },
  });
  alerts.close();
});

test('what grows worse is told anew, and whoever was told of the worst hears of the end', async () => {
  const { bench, clock, sent, alerts } = open();
  const told = () => sent.splice(0).map(({ url }) => new URL(url).hostname);
  bench.held = [OUT];
  await clock.advance(2 * MINUTE);
  expect(told()).toEqual(['ops.example']);
  bench.held = [{ ...OUT, severity: 'error' }];
  await clock.advance(45_000);
  expect(told()).toEqual([]);
  await clock.advance(30_000);
  expect(told()).toEqual(['ops.example', 'night.example']);
  bench.held = [OUT];
  await clock.advance(10 * MINUTE);
  expect(told()).toEqual([]);
  bench.held = [];
  await clock.advance(2 * MINUTE);
  expect(told()).toEqual(['ops.example', 'night.example']);
  alerts.close();
});

test('one more that a condition names is told, and the same ones are not', async () => {
  const { bench, clock, sent, alerts } = open();
  const naming = (...names: string[]): HeldCondition => ({ ...OUT, about: '', names });
  for (const held of [naming('a'), naming('a', 'b'), naming('b'), naming('a'), naming('b', 'c')]) {
    bench.held = [held];
    await clock.advance(5 * MINUTE);
  }
  expect(sent).toHaveLength(3);
  await clock.advance(60 * MINUTE);
  expect(sent).toHaveLength(4);
  bench.held = [naming('a', 'c')];
  await clock.advance(2 * MINUTE);
  expect(sent).toHaveLength(5);
  expect(JSON.stringify(sent)).not.toContain('names');
  alerts.close();
});

test('an address that is refused for good is not asked again', async () => {
  const { bench, clock, sent, alerts } = open();
  bench.held = [OUT];
  bench.statuses.push(404);
  await clock.advance(30 * MINUTE);
  expect(sent).toHaveLength(1);
  expect(alerts.deliveries()).toMatchObject([{ outcome: 'failed', status: 404, tries: 1 }]);
  alerts.close();
});

/** Several processes, each with its own time, that tell each other at once. */
function openGroup() {
  const listeners: { replica: string; take(told: never): void }[] = [];
  const group = { leader: 'a' };
  const join = (replica: string) => {
    const notices = {
      tell(_topic: unknown, told: unknown) {
        for (const other of listeners)
          if (other.replica !== replica) other.take(structuredClone(told) as never);
      },
      listen(_topic: unknown, { take, catchUp }: { take(told: never): void; catchUp(): void }) {
        listeners.push({ replica, take });
        catchUp();
        return () => undefined;
      },
    } as unknown as NonNullable<AlertsOptions['notices']>;
    return open({ notices, isLeading: () => ['all', replica].includes(group.leader) });
  };
  return { group, join };
}

test('only the one that leads tells, and whoever follows it knows what was told', async () => {
  const { group, join } = openGroup();
  const [a, b] = [join('a'), join('b')];
  a.bench.held = [OUT];
  b.bench.held = [OUT];
  for (let nth = 0; nth < 8; nth += 1) {
    await a.clock.advance(15_000);
    await b.clock.advance(15_000);
  }
  expect([a.sent.length, b.sent.length]).toEqual([1, 0]);
  expect(b.alerts.deliveries()).toHaveLength(1);
  group.leader = 'c';
  const c = join('c');
  for (const late of [c, b, c]) {
    group.leader = late === b ? 'b' : 'c';
    late.bench.held = [OUT];
    await late.clock.advance(5 * MINUTE);
    expect(late.sent).toEqual([]);
  }
  c.bench.held = [];
  await c.clock.advance(2 * MINUTE);
  expect(c.sent).toMatchObject([{ body: { alerts: [{ status: 'resolved' }] } }]);
  for (const { alerts } of [a, b, c]) alerts.close();
});

test('where all lead, as nobody can say who does, what one told the others do not', async () => {
  const { group, join } = openGroup();
  const [a, b] = [join('a'), join('b')];
  group.leader = 'all';
  for (const held of [[OUT], []]) {
    for (const { bench } of [a, b]) bench.held = held;
    for (let nth = 0; nth < 8; nth += 1) {
      await a.clock.advance(15_000);
      await b.clock.advance(15_000);
    }
    group.leader = 'b';
  }
  expect([a.sent.length, b.sent]).toMatchObject([
    1,
    [{ body: { alerts: [{ status: 'resolved' }] } }],
  ]);
  for (const { alerts } of [a, b]) alerts.close();
});

test('what the one that leads could not deliver is told by the next, and not twice', async () => {
  const { group, join } = openGroup();
  const [a, b] = [join('a'), join('b')];
  for (const { bench } of [a, b]) bench.held = [OUT];
  a.statuses.push(503, 503, 503, 503);
  for (const { clock } of [b, a]) await clock.advance(2 * MINUTE);
  expect(a.sent.length).toBeGreaterThan(1);
  const tries = a.sent.length;
  group.leader = 'b';
  await b.clock.advance(15_000);
  expect(b.sent).toMatchObject([{ body: { alerts: [{ status: 'firing', kind: 'account-out' }] } }]);
  await a.clock.advance(20 * MINUTE);
  await b.clock.advance(20 * MINUTE);
  expect([a.sent.length, b.sent.length]).toEqual([tries, 1]);
  for (const { alerts } of [a, b]) alerts.close();
});

test('a test is sent at once and says how it went', async () => {
  const { alerts, sent, bench } = open();
  const channel = { webhook: 'https://x.example/', format: 'discord', severity: 'error' } as const;
  expect(await alerts.test('x', channel)).toMatchObject({ outcome: 'delivered', status: 200 });
  expect(sent).toMatchObject([{ body: { allowed_mentions: { parse: [] } } }]);
  bench.statuses.push(new Error('no such host'));
  const failed = await alerts.test('x', channel);
  expect(failed).toMatchObject({ outcome: 'failed', fault: 'no such host' });
  alerts.close();
});
