import { expect, test } from 'vitest';
import { recordOf } from '../../test/support/request-records.ts';
import { createMetrics } from './metrics.ts';
import { createMetricsText } from './metrics-text.ts';

function openMetrics() {
  return createMetrics({
    inFlight: () => 2,
    dropped: () => ({ 'request-records': 3, 'log-lines': 0 }),
    feedReaders: () => 4,
    accounts: () => ({ active: 5, disabled: 1 }),
    startedAt: 6_000,
  });
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
  const times = text.histogram('times', 'Of all.', [0.1, 1])({});
  for (const value of [0.1, 0.5, 0.7, 9]) times.observe(value);
  expect(text.write().split('\n').slice(2)).toEqual([
    'times_bucket{le="0.1"} 1',
    'times_bucket{le="1"} 3',
    'times_bucket{le="+Inf"} 4',
    `times_sum ${0.1 + 0.5 + 0.7 + 9}`,
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
