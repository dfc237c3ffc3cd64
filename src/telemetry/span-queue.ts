// The spans that wait for their export: a bounded queue, emptied in batches, one export at a time.

import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Clock, Timer } from '../lib/clock.ts';
import type { Delivery } from './delivery.ts';

export interface SpanQueue extends SpanProcessor {
  /** Spans that are not delivered yet. */
  readonly waiting: number;
}

export interface SpanQueueOptions {
  readonly exporter: SpanExporter;
  readonly delivery: Delivery;
  readonly clock: Pick<Clock, 'startTimer'>;
}

const MOST_WAITING = 2048;
const BATCH_SIZE = 256;
const DELAY_MS = 5000;
const SAMPLED = 1;
/** `ExportResultCode.SUCCESS` of the library. */
const SUCCESS = 0;

/** Unlike the library's own batch processor it counts what it drops and takes its time from the clock. */
export function createSpanQueue(options: SpanQueueOptions): SpanQueue {
  return new Queue(options);
}

class Queue implements SpanQueue {
  readonly #options: SpanQueueOptions;
  #spans: ReadableSpan[] = [];
  #timer: Timer | undefined;
  #delayMs = DELAY_MS;
  #export: Promise<void> | undefined;
  #exporting = 0;
  #isClosed = false;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#spans.length + this.#exporting;
  }

  onStart(): void {
    // Spans are complete only at their end.
  }

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & SAMPLED) === 0) return;
    if (this.#isClosed || this.#spans.length >= MOST_WAITING) {
      this.#options.delivery.dropped(1, 'Too many spans wait.');
      return;
    }
    this.#spans.push(span);
    this.#plan();
  }

  async forceFlush(): Promise<void> {
    this.#cancelTimer();
    await this.#export;
    while (this.#spans.length > 0) await this.#exportBatch();
  }

  async shutdown(): Promise<void> {
    this.#isClosed = true;
    await this.forceFlush();
    await this.#options.exporter.shutdown();
  }

  /** An export is never part of what brought the span: also a full batch goes with a later turn. */
  #plan(): void {
    if (this.#export !== undefined) return;
    const delayMs = this.#spans.length >= BATCH_SIZE ? 0 : DELAY_MS;
    if (this.#timer !== undefined && this.#delayMs <= delayMs) return;
    this.#cancelTimer();
    this.#delayMs = delayMs;
    this.#timer = this.#options.clock.startTimer(delayMs, () => {
      this.#timer = undefined;
      void this.#exportBatch();
    });
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** One at a time: while one runs, it is waited for instead. */
  #exportBatch(): Promise<void> {
    this.#export ??= this.#send(this.#spans.splice(0, BATCH_SIZE)).then(() => {
      this.#export = undefined;
      this.#exporting = 0;
      if (this.#spans.length > 0 && !this.#isClosed) this.#plan();
    });
    return this.#export;
  }

  /** Never rejects. */
  #send(batch: ReadableSpan[]): Promise<void> {
    const { exporter, delivery } = this.#options;
    this.#exporting = batch.length;
    return new Promise((resolve) => {
      const fail = (error: unknown): void => {
        delivery.failed('traces', batch.length, error);
        resolve();
      };
      try {
        exporter.export(batch, ({ code, error }) => {
          if (code !== SUCCESS) return fail(error);
          delivery.delivered('traces');
          resolve();
        });
      } catch (error) {
        fail(error);
      }
    });
  }
}
