import { expect, test } from 'vitest';
import { recordOf } from '../../test/support/request-records.ts';
import { createMetrics } from './metrics.ts';
import { createMetricsText } from './metrics-text.ts';
import type { RequestRecord } from './record.ts';

const NOT_SENT = { attempts: [], firstEventMs: undefined };

function openMetrics() {
  const metrics = createMetrics({
    inFlight: () => 2,
    dropped: () => ({ 'request-records': 3, 'log-lines': 0 }),
    feedReaders: () => 4,
    accounts: () => ({ active: 5, disabled: 1 }),
    quota: () => [{ family: 'gemini', kind: 'text', percent: 40 }],
    attention: () => [
      { kind: 'account-out', severity: 'warning' },
      { kind: 'account-out', severity: 'warning' },
    ],
    nameOf: (id) => `name of ${id}`,
    startedAt: 6_000,
  });
  return {
    write: () => metrics.write(),
    add: (record: RequestRecord, ended: Parameters<typeof metrics.add>[1] = NOT_SENT) =>
      metrics.add(record, ended),
  };
}

test('labels say what they say, whatever signs are in it', () => {
  const text = createMetricsText();
  text.counter('requests', 'All.')({ model: 'a"b\\c\nd', kind: 'x' }).value = 2;
  expect(text.write()).toBe(
    '# HELP requests All.\n# TYPE requests counter\nrequests{model="a\\"b\\\\c\\nd",kind="x"} 2\n',
  );
});

test('each bucket of a histogram holds those below it', () => {
  const text = createMetricsText();
  const times = text.histogram('times', 'Of all.', { least: 256, most: 1024 })({});
  for (const ms of [100, 300, 700, 9000]) times.observe(ms);
  expect(text.write().split('\n').slice(2)).toEqual([
    'times_bucket{le="0.256"} 1',
    'times_bucket{le="0.512"} 2',
    'times_bucket{le="1.024"} 3',
    'times_bucket{le="+Inf"} 4',
    'times_sum 10.1',
    'times_count 4',
    '',
  ]);
});

test('targets that were left are counted by the reason', () => {
  const metrics = openMetrics();
  const left = { from: 'a', to: 'b', afterAttempts: 1 };
  const { row, details } = recordOf();
  const fallbacks = [
    { ...left, reason: 'limited' as const },
    { ...left, reason: 'no-answer' as const },
  ];
  metrics.add({ row, details: { ...details, fallbacks } });
  metrics.add({ row, details: { ...details, fallbacks: fallbacks.slice(0, 1) } });
  expect(metrics.write().split('\n')).toEqual(
    expect.arrayContaining([
      'isthmus_fallbacks_total{reason="limited"} 2',
      'isthmus_fallbacks_total{reason="no-answer"} 1',
    ]),
  );
});

test('models beyond two hundred are counted together', () => {
  const metrics = openMetrics();
  for (let model = 0; model < 250; model += 1) {
    metrics.add(recordOf({ upstreamModel: `model-${model}` }));
  }
  metrics.add(recordOf({ upstreamModel: 'model-7' }));
  const lines = metrics.write().split('\n');
  const requests = lines.filter((line) => line.startsWith('isthmus_requests_total{'));
  expect(requests).toHaveLength(201);
  expect(requests.find((line) => line.includes('"model-7"'))).toMatch(/ 2$/);
  expect(requests.find((line) => line.includes('"other"'))).toMatch(/ 50$/);
  expect(lines).toContain('isthmus_accounts{state="disabled"} 1');
  expect(lines).toContain('# TYPE isthmus_dropped_total counter');
  expect(lines).toContain('isthmus_dropped_total{what="request-records"} 3');
  expect(lines).toContain('process_start_time_seconds 6');
});

test('requests have upstream, family and reason, attempts their account, and added time is that of the gateway', () => {
  const metrics = openMetrics();
  const { row, details } = recordOf({
    upstreamModel: 'gemini-3-pro',
    stream: true,
    firstEventMs: 50,
  });
  const attempts = [
    { accountId: 'a1', upstreamId: 'first', outcome: 'path', durationMs: 20 },
    { accountId: 'b1', upstreamId: 'second', outcome: 'ok', durationMs: 27 },
  ];
  metrics.add({ row, details }, { attempts, firstEventMs: 50 });
  const failed = {
    row: { ...row, outcome: 'error' as const },
    details: { ...details, errorKind: 'overloaded' },
  };
  metrics.add(failed, NOT_SENT);
  const at = 'protocol="chat",upstream="second",family="gemini"';
  expect(metrics.write().split('\n')).toEqual(
    expect.arrayContaining([
      `isthmus_requests_total{${at},model="gemini-3-pro",outcome="ok",reason=""} 1`,
      'isthmus_requests_total{protocol="chat",upstream="",family="gemini",model="gemini-3-pro",outcome="error",reason="overloaded"} 1',
      'isthmus_attempts_total{upstream="first",account="name of a1",reason="path"} 1',
      'isthmus_attempts_total{upstream="second",account="name of b1",reason="ok"} 1',
      `isthmus_first_token_seconds_bucket{${at},le="0.064"} 1`,
      `isthmus_first_token_seconds_bucket{${at},le="0.032"} 0`,
      'isthmus_added_seconds_bucket{protocol="chat",le="0.002"} 0',
      'isthmus_added_seconds_bucket{protocol="chat",le="0.004"} 1',
      'isthmus_quota_left_ratio{family="gemini",kind="text"} 0.4',
      'isthmus_attention{kind="account-out",severity="warning"} 2',
    ]),
  );
});

test('accounts beyond a thousand are counted together', () => {
  const metrics = openMetrics();
  for (let nth = 0; nth < 1200; nth += 1) {
    const attempts = [{ accountId: `a${nth}`, outcome: 'ok' }];
    metrics.add(recordOf(), { attempts, firstEventMs: 1 });
  }
  const lines = metrics.write().split('\n');
  const found = lines.filter((line) => line.startsWith('isthmus_attempts_total{'));
  expect(found).toHaveLength(1001);
  expect(found.at(-1)).toMatch(/account="other",reason="ok"} 200$/);
});

test('the lag of the event loop is measured from the first time it is asked for', () => {
  const metrics = openMetrics();
  expect(metrics.write()).not.toContain('isthmus_event_loop_lag_seconds{');
  expect(metrics.write()).toMatch(/isthmus_event_loop_lag_seconds\{quantile="0.99"} [0-9.e-]+\n/);
});
