import { type ReadableSpan, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';

import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createDelivery, createSpanQueue } from './telemetry.ts';

type Finish = Parameters<SpanExporter['export']>[1];

/** A queue over an exporter that answers only when the test says so. */
function startQueue() {
  const clock = createFakeClock();
  const warnings: object[] = [];
  const exports: { readonly spans: readonly ReadableSpan[]; readonly finish: Finish }[] = [];
  const delivery = createDelivery({
    collector: 'http://collector',
    log: { warn: (fields) => void warnings.push(fields) },
  });
  const exporter: SpanExporter = {
    export: (spans, finish) => void exports.push({ spans, finish }),
    shutdown: async () => {},
  };
  const queue = createSpanQueue({ exporter, delivery, clock });
  const tracer = new TracerProvider({ spanProcessors: [queue] }).getTracer('test');
  return {
    clock,
    warnings,
    exports,
    delivery,
    queue,
    add(count: number) {
      for (let index = 0; index < count; index += 1) tracer.startSpan('one').end();
    },
  };
}

const GOOD = { code: 0 } as const;
const refused = () => ({ code: 1, error: new Error('connect ECONNREFUSED') }) as const;

test('spans wait for a few seconds and go together', async () => {
  const { clock, exports, queue, add } = startQueue();
  add(3);
  await clock.advance(4999);
  expect(exports).toHaveLength(0);
  await clock.advance(1);
  expect(exports.map(({ spans }) => spans.length)).toEqual([3]);
  expect(queue.waiting).toBe(3);
  exports[0]?.finish(GOOD);
  await clock.advance(0);
  expect(queue.waiting).toBe(0);
  expect(clock.pendingTimers).toBe(0);
});

test('a full batch goes with the next turn, and one export at a time', async () => {
  const { clock, exports, add } = startQueue();
  add(600);
  expect(exports).toHaveLength(0);
  await clock.advance(0);
  expect(exports.map(({ spans }) => spans.length)).toEqual([256]);
  await clock.advance(60_000);
  expect(exports).toHaveLength(1);
  exports[0]?.finish(GOOD);
  await clock.advance(0);
  expect(exports.map(({ spans }) => spans.length)).toEqual([256, 256]);
});

test('what a dead collector cannot take is bounded, counted and told of once', async () => {
  const { clock, exports, queue, delivery, warnings, add } = startQueue();
  add(5000);
  await clock.advance(0);
  expect(queue.waiting).toBe(2048);
  expect(delivery.droppedSpans).toBe(5000 - 2048);
  exports[0]?.finish(refused());
  await clock.advance(0);
  exports[1]?.finish(refused());
  await clock.advance(0);
  expect(delivery.droppedSpans).toBe(5000 - 2048 + 512);
  // One line for the spans that found no room, one for the collector.
  expect(warnings).toEqual([
    { collector: 'http://collector', reason: 'Too many spans wait.' },
    { collector: 'http://collector', reason: 'connect ECONNREFUSED' },
  ]);
});

test('each outage is told of once, whichever signal it hits', () => {
  const { delivery, warnings } = startQueue();
  delivery.failed('traces', 2, new Error('connect ECONNREFUSED'));
  delivery.failed('metrics', 0, new Error('connect ECONNREFUSED'));
  delivery.failed('traces', 2, new Error('read ECONNRESET'));
  delivery.dropped(1, 'Too many spans wait.');
  expect(warnings).toHaveLength(1);
  expect(delivery.droppedSpans).toBe(5);
  delivery.delivered('traces');
  delivery.delivered('metrics');
  delivery.failed('metrics', 0, Object.assign(new Error(''), { code: 'ECONNREFUSED' }));
  expect(warnings[1]).toEqual({ collector: 'http://collector', reason: 'ECONNREFUSED' });
});

test('an exporter that throws loses its batch and nothing else', async () => {
  const clock = createFakeClock();
  const delivery = createDelivery({ collector: 'c', log: { warn: () => {} } });
  const exporter: SpanExporter = {
    export: () => {
      throw new Error('no');
    },
    shutdown: async () => {},
  };
  const queue = createSpanQueue({ exporter, delivery, clock });
  new TracerProvider({ spanProcessors: [queue] }).getTracer('test').startSpan('one').end();
  await queue.shutdown();
  expect([queue.waiting, delivery.droppedSpans]).toEqual([0, 1]);
});
