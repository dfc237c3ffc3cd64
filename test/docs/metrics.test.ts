// docs/metrics.md names all metrics and nothing else.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMetrics } from '../../src/monitor/metrics.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');

test('docs/metrics.md names every metric', () => {
  const metrics = createMetrics({
    ...{ inFlight: () => 0, feedReaders: () => 0, dropped: () => ({}), accounts: () => ({}) },
    ...{ quota: () => [], attention: () => [], hasDatabase: () => true, hasValkey: () => true },
    startedAt: 0,
  });
  const names = [...metrics.write().matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  const table = PAGE.slice(PAGE.indexOf('| Metric |'), PAGE.indexOf('`family` is'));
  const named = [...table.matchAll(/`((?:isthmus|process)_\w+)`/g)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(names.toSorted());
});
