import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMemoryRequestStore } from '../../test/support/memory-request-store.ts';
import { recordOf } from '../../test/support/request-records.ts';
import { observe } from '../../test/support/running-request.ts';
import { GatewayError } from '../canonical/error.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import type { Clock } from '../lib/clock.ts';
import { createRedactors } from '../lib/redact.ts';
import { createMonitor } from './monitor.ts';
import type { EndedRequest } from './record.ts';

type MonitorOptions = Parameters<typeof createMonitor>[0];

const MINUTE_MS = 60_000;

function openMonitor(change: Partial<MonitorOptions> = {}) {
  const clock = createFakeClock();
  const store = change.store ?? createMemoryRequestStore();
  const settings = { enabled: true, keepsBodies: true, retentionMs: 1e12, maxBytes: 1e12 };
  const warnings: string[] = [];
  let count = 0;
  const open = () =>
    createMonitor({
      store,
      clock,
      settings: () => settings,
      redactorFor: createRedactors(() => []),
      targetOf: () => undefined,
      priceOf: () => undefined,
      figures: { accounts: () => ({}) },
      createId: (prefix) => `${prefix}${++count}`,
      log: { warn: (_fields, message) => void warnings.push(message) },
      ...change,
    });
  return { clock, store, settings, warnings, open };
}

function failed(requestId: string, clock: Clock): EndedRequest {
  const message = 'It failed.';
  return {
    requestId,
    isIdGiven: true,
    protocol: 'chat',
    route: '/v1/chat/completions',
    pathModel: '',
    method: 'POST',
    path: '/v1/chat/completions',
    call: { model: 'm', stream: false },
    body: undefined,
    status: 500,
    clientKeyId: 'main',
    clientAddress: '127.0.0.1',
    userAgent: undefined,
    session: undefined,
    credentials: [],
    receipt: [],
    facts: {
      attempts: [],
      timings: {},
      error: new GatewayError({ kind: 'internal', source: 'gateway', message }),
    },
    endedAt: clock.now(),
    endedAtMonotonic: clock.monotonic(),
    totalMs: 0,
    firstEventMs: undefined,
  };
}

test('records that are removed are no recent errors either, of this process or the one before', async () => {
  const store = createMemoryRequestStore();
  const { clock, open } = openMonitor({ store });
  const at = clock.now() - MINUTE_MS;
  await store.save([recordOf({ id: 'before', requestId: 'before', at, outcome: 'error' })]);
  const monitor = open();
  observe(monitor, failed('early', clock));
  const shown = () => monitor.recentErrors(10).map(({ requestId }) => requestId);
  await expect.poll(shown).toEqual(['early', 'before']);
  await clock.advance(MINUTE_MS);
  const between = clock.now();
  observe(monitor, failed('late', clock));
  expect(shown()).toEqual(['late', 'early', 'before']);
  expect(await monitor.store.removeBefore(between)).toBe(2);
  expect(shown()).toEqual(['late']);
  await monitor.close();
});

test('nothing of the request itself outlives it, whoever still has its record', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const saving = Promise.withResolvers<void>();
  const given: unknown[] = [];
  const save = (records: readonly unknown[]): Promise<void> => {
    given.push(...records);
    return saving.promise;
  };
  const { clock, open } = openMonitor({ store: { ...createMemoryRequestStore(), save } });
  const monitor = open();
  const end = (requestId: string): readonly WeakRef<object>[] => {
    const prepared = { body: 'what the attempt holds' };
    const usage = NO_USAGE;
    const answer = { imageCount: 0, asked: () => prepared, usage };
    const ended = failed(requestId, clock);
    const body = { messages: [] };
    observe(monitor, { ...ended, body, facts: { ...ended.facts, answers: [answer] } });
    return [prepared, answer, body].map((one) => new WeakRef(one));
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const first = end('first');
  await turn();
  await clock.advance(1000);
  const second = end('second');
  await turn();
  collect();
  expect(given).toHaveLength(1);
  expect(monitor.recentErrors(10)).toHaveLength(2);
  expect([...first, ...second].map((one) => one.deref())).toEqual(Array(6).fill(undefined));
  saving.resolve();
  await monitor.close();
});

test('a fault of the monitor is counted and told once, and is none of the request', async () => {
  const { clock, warnings, open } = openMonitor({
    onRecord() {
      throw new Error('no room');
    },
  });
  const monitor = open();
  for (let turn = 0; turn < 3; turn += 1) {
    observe(monitor, failed(`req_${turn}`, clock));
  }
  await monitor.flush();
  expect([monitor.dropped, monitor.figures.inFlight, warnings]).toEqual([
    3,
    0,
    ['A request could not be recorded.'],
  ]);
  await monitor.close();
});

test('who hears of a request that ended finds it in the lists at once', async () => {
  const { clock, open } = openMonitor();
  const monitor = open();
  observe(monitor, failed('heard', clock));
  const { rows } = await monitor.store.list({}, { limit: 10 });
  expect(rows.map(({ requestId }) => requestId)).toEqual(['heard']);
  observe(monitor, failed('summed', clock));
  const spans = [{ from: 0, to: clock.now() + MINUTE_MS }];
  expect(await monitor.store.usage(spans, 'none')).toMatchObject([{ requests: 2 }]);
  await monitor.close();
});

test('bodies are wanted only while records are kept', async () => {
  const { settings, open } = openMonitor();
  const monitor = open();
  expect(monitor.observer.keepsBodies).toBe(true);
  settings.enabled = false;
  expect(monitor.observer.keepsBodies).toBe(false);
  await monitor.close();
});
