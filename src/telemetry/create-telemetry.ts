// Sends traces and metrics of model requests to an OpenTelemetry collector, over HTTP as JSON.

import { createHmac } from 'node:crypto';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import type { Clock } from '../lib/clock.ts';
import type { EndedRequest } from '../monitor/observer.ts';
import type { RequestRecord } from '../monitor/request-record.ts';
import { createDelivery, type Delivery } from './delivery.ts';
import { type Destination, describeOperation } from './model-operation.ts';
import { createRequestMetrics } from './request-metrics.ts';
import { writeSpans } from './request-spans.ts';
import { createSampler, type SamplerName } from './sampler.ts';
import { createSpanQueue } from './span-queue.ts';

export interface TelemetryOptions {
  /** The address below which `/v1/traces` and `/v1/metrics` are. */
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
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
  readonly log: { warn(fields: object, message: string): void };
}

export interface Telemetry {
  /** Call as soon as the request ended. Never throws; what cannot be exported is dropped and counted. */
  observe(record: RequestRecord, ended: EndedRequest): void;
  readonly droppedSpans: number;
  /** Sends what waits, for two seconds at most. */
  close(): Promise<void>;
}

const EXPORT_TIMEOUT_MS = 10_000;
const METRIC_INTERVAL_MS = 60_000;
const CLOSE_MS = 2000;
const HASH_CHARACTERS = 16;
/** `ExportResultCode.SUCCESS` of the library. */
const SUCCESS = 0;

export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { clock, version, log, destinationOf, accountKey } = options;
  const delivery = createDelivery({ collector: new URL(options.endpoint).origin, log });
  const resource = describeService(options);
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
    hashAccount: (accountId: string) =>
      createHmac('sha256', accountKey).update(accountId).digest('hex').slice(0, HASH_CHARACTERS),
  };
  return {
    observe(record, ended) {
      try {
        const end = { at: clock.now(), monotonic: clock.monotonic() };
        const operation = describeOperation(record, ended, destinationOf);
        metrics.add(record, operation, ended.totalMs);
        writeSpans({ record, ended, operation, end }, spanOptions);
      } catch (error) {
        delivery.dropped(1, `A request could not be described: ${String(error)}`);
      }
    },
    get droppedSpans() {
      return delivery.droppedSpans;
    },
    async close() {
      const work = Promise.allSettled([tracing.shutdown(), metering.shutdown()]);
      if (await isLate(work, clock)) delivery.dropped(queue.waiting, 'The gateway ended before.');
    },
  };
}

function describeService(options: TelemetryOptions) {
  const own = resourceFromAttributes({
    'service.version': options.version,
    'service.instance.id': options.instanceId,
    ...options.resourceAttributes,
    'service.name': options.serviceName,
  });
  return defaultResource().merge(own);
}

function exporterOptions({ endpoint, headers }: TelemetryOptions, signal: 'traces' | 'metrics') {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/${signal}`;
  return { url: url.href, headers: { ...headers }, timeoutMillis: EXPORT_TIMEOUT_MS };
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
