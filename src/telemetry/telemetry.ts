// Sends traces and metrics of model requests to an OpenTelemetry collector, over HTTP as JSON.

import type { Attributes, Meter } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Clock } from '../lib/clock.ts';
import { createPseudonyms } from '../lib/ids.ts';
import type { WarnLog } from '../lib/log.ts';
import { WriteBehind } from '../lib/write-behind.ts';
import type { EndedRequest, RequestRecord } from '../monitor/record.ts';
import {
  type Destination,
  describeOperation,
  type ModelOperation,
  present,
  writeSpans,
} from './request-spans.ts';

export interface TelemetryOptions {
  /** The address below which `/v1/traces` and `/v1/metrics` are. */
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** `http://` or `https://`, perhaps with user and password; undefined goes direct. */
  readonly proxyUrl?: string | undefined;
  readonly serviceName: string;
  readonly resourceAttributes?: Readonly<Record<string, string>> | undefined;
  readonly sampler: SamplerName;
  readonly samplerRatio: number;
  /** Ours. */
  readonly version: string;
  /** Tells this process from other replicas. */
  readonly instanceId: string;
  /** With which account ids are hashed, so that they cannot be guessed. */
  readonly accountKey: string | Uint8Array;
  /** Undefined for an account that is gone. */
  readonly destinationOf: (accountId: string) => Destination | undefined;
  readonly clock: Clock;
  readonly log: WarnLog;
}

export type Telemetry = ReturnType<typeof createTelemetry>;

const EXPORT_TIMEOUT_MS = 10_000;
const METRIC_INTERVAL_MS = 60_000;
const CLOSE_MS = 2000;
/** `ExportResultCode.SUCCESS` of the library. */
const SUCCESS = 0;

export function createTelemetry(options: TelemetryOptions) {
  const { clock, version, log, destinationOf, accountKey } = options;
  const delivery = createDelivery({ collector: new URL(options.endpoint).origin, log });
  const own = resourceFromAttributes({
    'service.version': version,
    'service.instance.id': options.instanceId,
    ...options.resourceAttributes,
    'service.name': options.serviceName,
  });
  const resource = defaultResource().merge(own);
  const queue = createSpanQueue({
    exporter: new OTLPTraceExporter(exporterOptions(options, 'traces')),
    delivery,
    clock,
  });
  const tracing = new TracerProvider({
    resource,
    sampler: createSampler(options.sampler, options.samplerRatio),
    spanProcessors: [queue],
  });
  const reader = new PeriodicExportingMetricReader({
    exporter: watchExporter(new OTLPMetricExporter(exporterOptions(options, 'metrics')), delivery),
    exportIntervalMillis: METRIC_INTERVAL_MS,
    exportTimeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const metering = new MeterProvider({ resource, readers: [reader] });
  const metrics = createRequestMetrics(metering.getMeter('isthmus', version));
  const spanOptions = {
    tracer: tracing.getTracer('isthmus', version),
    destinationOf,
    hashAccount: createPseudonyms(accountKey),
  };
  return {
    /** Call once for each request. Never throws; what cannot be exported is dropped and counted. */
    observe(record: RequestRecord, ended: EndedRequest): void {
      try {
        const operation = describeOperation(record, ended, destinationOf);
        metrics.add(record, operation, ended.totalMs);
        writeSpans({ record, ended, operation }, spanOptions);
      } catch (error) {
        delivery.dropped(1, `A request could not be described: ${String(error)}`);
      }
    },
    get droppedSpans() {
      return delivery.droppedSpans;
    },
    /** Sends what waits, for two seconds at most. */
    async close() {
      const work = Promise.allSettled([tracing.shutdown(), metering.shutdown()]);
      if (await isLate(work, clock)) delivery.dropped(queue.waiting, 'The gateway ended before.');
    },
  };
}

function exporterOptions(
  { endpoint, headers, proxyUrl }: TelemetryOptions,
  signal: 'traces' | 'metrics',
) {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/${signal}`;
  const proxyEnv = { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl };
  return {
    url: url.href,
    headers: { ...headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
    ...(proxyUrl === undefined ? {} : { httpAgentOptions: { keepAlive: true, proxyEnv } }),
  };
}

/** Metrics are cumulative by default, so that a failed export loses none. */
function watchExporter(exporter: OTLPMetricExporter, delivery: Delivery): PushMetricExporter {
  return {
    export(metrics, done) {
      exporter.export(metrics, (result) => {
        if (result.code === SUCCESS) delivery.delivered('metrics');
        else delivery.failed('metrics', 0, result.error);
        done(result);
      });
    },
    selectAggregation: (kind) => exporter.selectAggregation(kind),
    selectAggregationTemporality: (kind) => exporter.selectAggregationTemporality(kind),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

/** True when the work is not done after the longest time the close may take. */
function isLate(work: Promise<unknown>, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.startTimer(CLOSE_MS, () => resolve(true));
    void work.then(() => {
      timer.cancel();
      resolve(false);
    });
  });
}

type Signal = 'traces' | 'metrics';

const MAX_REASON = 200;

type Delivery = ReturnType<typeof createDelivery>;

/**
 * Counts the spans that were dropped, and logs each outage of the collector once.
 * @param collector without what may be a secret in it
 */
export function createDelivery({
  collector,
  log,
}: Pick<TelemetryOptions, 'log'> & { readonly collector: string }) {
  let droppedSpans = 0;
  /** What is wrong at present, and why. */
  const troubles = new Map<Signal | 'queue', string>();
  const warn = (reason: string): void =>
    log.warn(
      { collector, reason },
      'Traces or metrics cannot be delivered; traces are dropped until the collector takes them.',
    );
  return {
    /** Spans that never reached the collector. */
    get droppedSpans() {
      return droppedSpans;
    },
    delivered: (signal: Signal): void => void troubles.delete(signal),
    /** An export failed, and these spans are lost with it. */
    failed(signal: Signal, spans: number, error: unknown): void {
      droppedSpans += spans;
      if (troubles.has(signal)) return;
      const reason = reasonOf(error);
      // A collector that is gone takes neither, and is told of once.
      const isKnown = [...troubles.values()].includes(reason);
      troubles.set(signal, reason);
      if (!isKnown) warn(reason);
    },
    /** These spans were never given to an export. */
    dropped(spans: number, reason: string): void {
      droppedSpans += spans;
      if (troubles.size > 0) return;
      troubles.set('queue', reason);
      warn(reason);
    },
  };
}

/** Addresses that are tried together fail with one error that has a code and no message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = 'code' in error ? String(error.code) : 'unknown';
  return (error.message || code).slice(0, MAX_REASON);
}

/** The names that `OTEL_TRACES_SAMPLER` knows for them. */
type SamplerName = `${'' | 'parentbased_'}${'always_on' | 'always_off' | 'traceidratio'}`;

/** @param ratio the part of all traces that a sampler by ratio keeps, 0 to 1 */
function createSampler(name: SamplerName, ratio: number): Sampler {
  const roots = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  };
  const root = roots[name.replace('parentbased_', '') as keyof typeof roots]();
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

export interface SpanQueueOptions {
  readonly exporter: SpanExporter;
  readonly delivery: Delivery;
  readonly clock: Pick<Clock, 'startTimer'>;
}

const MAX_WAITING = 2048;
const BATCH_SIZE = 256;
const DELAY_MS = 5000;
const SAMPLED = 1;

/** Unlike the library's own batch processor it counts what it drops and takes its time from the clock. */
export function createSpanQueue({ exporter, delivery, clock }: SpanQueueOptions) {
  const queue = new WriteBehind<ReadableSpan>({
    clock,
    save: (spans) => exportSpans(spans, { exporter, delivery }),
    delayMs: DELAY_MS,
    // An export is never part of the request that ended the span.
    fullDelayMs: 0,
    batch: { count: BATCH_SIZE, size: Infinity },
    limit: { count: MAX_WAITING, size: Infinity },
    drops: 'newest',
  });
  return {
    /** Spans that are not delivered yet. */
    get waiting() {
      return queue.size;
    },
    onStart() {
      // Spans are complete only at their end.
    },
    onEnd(span: ReadableSpan) {
      if ((span.spanContext().traceFlags & SAMPLED) === 0) return;
      if (!queue.add(span)) delivery.dropped(1, 'Too many spans wait.');
    },
    forceFlush: () => queue.flush(),
    async shutdown() {
      await queue.close();
      await exporter.shutdown();
    },
  } satisfies SpanProcessor & { waiting: number };
}

/** Never rejects: spans of a failed export are lost. */
function exportSpans(
  spans: readonly ReadableSpan[],
  { exporter, delivery }: Pick<SpanQueueOptions, 'exporter' | 'delivery'>,
): Promise<void> {
  return new Promise((resolve) => {
    const fail = (error: unknown): void => {
      delivery.failed('traces', spans.length, error);
      resolve();
    };
    try {
      exporter.export([...spans], ({ code, error }) => {
        if (code !== SUCCESS) return fail(error);
        delivery.delivered('traces');
        resolve();
      });
    } catch (error) {
      fail(error);
    }
  });
}

/** The boundaries the conventions ask for. */
const SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const TOKENS = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
  67_108_864,
];

function createRequestMetrics(meter: Meter) {
  const duration = meter.createHistogram('gen_ai.client.operation.duration', {
    description: 'GenAI operation duration.',
    unit: 's',
    advice: { explicitBucketBoundaries: SECONDS },
  });
  const firstChunk = meter.createHistogram('gen_ai.client.operation.time_to_first_chunk', {
    description: 'Time to receive the first chunk of a streamed answer.',
    unit: 's',
    advice: { explicitBucketBoundaries: SECONDS },
  });
  const tokens = meter.createHistogram('gen_ai.client.token.usage', {
    description: 'Number of input and output tokens used.',
    unit: '{token}',
    advice: { explicitBucketBoundaries: TOKENS },
  });
  return {
    add({ row, details }: RequestRecord, operation: ModelOperation, totalMs: number): void {
      const attributes = metricAttributes(operation);
      const { errorType, firstChunkSeconds } = operation;
      duration.record(totalMs / 1000, present({ ...attributes, 'error.type': errorType }));
      if (firstChunkSeconds !== undefined) firstChunk.record(firstChunkSeconds, attributes);
      // Only what the upstream itself counted.
      if (details.isEstimate) return;
      const usage = { input: row.inputTokens, output: row.outputTokens };
      for (const [type, count = 0] of Object.entries(usage)) {
        if (count > 0) tokens.record(count, { ...attributes, 'gen_ai.token.type': type });
      }
    },
  };
}

/** Of few values each: the model is the one a request led to, as clients may name any. */
function metricAttributes(operation: ModelOperation): Attributes {
  const { destination, routedModel, responseModel } = operation;
  return present({
    'gen_ai.operation.name': operation.name,
    'gen_ai.provider.name': destination.provider,
    'gen_ai.request.model': routedModel,
    'gen_ai.response.model': responseModel,
    'server.address': destination.address,
    'server.port': destination.port,
  });
}
