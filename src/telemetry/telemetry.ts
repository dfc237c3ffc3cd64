// Sends traces and metrics of model requests to an OpenTelemetry collector, over HTTP as JSON.

import {
  type Attributes,
  type Meter,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
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
import type { AttemptRecord } from '../canonical/call-record.ts';
import { GatewayError } from '../canonical/error.ts';
import type { FinishReason } from '../canonical/event.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { type Clock, waitAtMost } from '../lib/clock.ts';
import { createPseudonyms } from '../lib/ids.ts';
import { codeOf } from '../lib/localized-message.ts';
import type { WarnLog } from '../lib/log.ts';
import { withoutSlashes } from '../lib/net.ts';
import { WriteBehind } from '../lib/write-behind.ts';
import {
  type AskedFor,
  type EndedRequest,
  type RequestRecord,
  wantedAnswers,
} from '../monitor/record.ts';

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
      const isDone = await waitAtMost(clock, CLOSE_MS, work);
      if (!isDone) delivery.dropped(queue.waiting, 'The gateway ended before.');
    },
  };
}

function exporterOptions(
  { endpoint, headers, proxyUrl }: TelemetryOptions,
  signal: 'traces' | 'metrics',
) {
  const url = new URL(endpoint);
  url.pathname = `${withoutSlashes(url.pathname)}/v1/${signal}`;
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

type Signal = 'traces' | 'metrics';

const MAX_REASON = 200;

type Delivery = ReturnType<typeof createDelivery>;

/** Counts dropped spans and logs each outage of the collector once. @param collector without secrets */
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
  return (error.message || (codeOf(error) ?? 'unknown')).slice(0, MAX_REASON);
}

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

// The spans of a model request: one at the edge, and one below it for each attempt upstream.

interface SpanContextOptions {
  readonly tracer: Tracer;
  readonly destinationOf: (accountId: string) => Destination | undefined;
  /** What stands for an account: the same each time, and nobody can tell whose it is. */
  readonly hashAccount: (accountId: string) => string;
}

interface RequestSpanInput {
  readonly record: RequestRecord;
  readonly ended: EndedRequest;
  readonly operation: ModelOperation;
}

const MAX_ATTEMPTS = 100;

/** All times are counted back from the end. */
function writeSpans(input: RequestSpanInput, options: SpanContextOptions): void {
  const { record, ended, operation } = input;
  const { tracer } = options;
  const parent = readTraceparent(ended.traceparent);
  const { endedAt } = ended;
  const startAt = endedAt - ended.totalMs;
  const span = tracer.startSpan(
    // A name that led nowhere may be anything; span names are few.
    spanName(operation.name, operation.routedModel && operation.requestModel),
    { kind: SpanKind.SERVER, startTime: startAt, attributes: present(edgeAttributes(input)) },
    parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
  );
  setOutcome(span, operation.errorType, operation.isFault);
  const { attempts } = ended.facts;
  for (const [index, attempt] of attempts.slice(0, MAX_ATTEMPTS).entries()) {
    // As the record has it: a name that the client wrote may hold a credential.
    const { model = '' } = record.details.attemptsList[index] ?? {};
    writeAttempt(attempt, { ...input, options, span, startAt, model });
  }
  if (attempts.length > MAX_ATTEMPTS) span.setAttribute('isthmus.attempts', record.row.attempts);
  span.end(endedAt);
}

function edgeAttributes({ record, ended, operation }: RequestSpanInput): MaybeAttributes {
  const { row, details } = record;
  const { finishReasons } = operation;
  return {
    'gen_ai.operation.name': operation.name,
    'gen_ai.provider.name': operation.destination.provider,
    'gen_ai.request.model': operation.requestModel,
    'gen_ai.request.stream': ended.call?.stream,
    ...requestParameters(ended.asked),
    'gen_ai.response.model': operation.responseModel,
    'gen_ai.response.finish_reasons': finishReasons.length === 0 ? undefined : [...finishReasons],
    'gen_ai.response.time_to_first_chunk': operation.firstChunkSeconds,
    'gen_ai.usage.input_tokens': row.inputTokens,
    'gen_ai.usage.output_tokens': row.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': row.cachedTokens,
    'gen_ai.usage.cache_creation.input_tokens': row.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': row.thoughtTokens,
    'http.request.method': row.method,
    'http.route': details.route,
    'http.response.status_code': row.status,
    'isthmus.protocol': row.protocol,
    'isthmus.request.id': row.id,
    'isthmus.usage.is_estimate': details.isEstimate,
  };
}

interface AttemptInput extends RequestSpanInput {
  readonly options: SpanContextOptions;
  readonly span: Span;
  readonly startAt: number;
  readonly model: string;
}

function writeAttempt(attempt: AttemptRecord, input: AttemptInput): void {
  const { operation, ended, options, span: parent, model } = input;
  const { tracer, destinationOf, hashAccount } = options;
  const { accountId, status } = attempt;
  const destination = destinationOf(accountId);
  const { from, to } = attemptTimes(attempt, input);
  const errorType = attemptErrorType(attempt, ended);
  const span = tracer.startSpan(
    spanName(operation.name, model),
    {
      kind: SpanKind.CLIENT,
      startTime: from,
      attributes: present({
        'gen_ai.operation.name': operation.name,
        'gen_ai.provider.name': destination?.provider ?? operation.destination.provider,
        'gen_ai.request.model': model,
        'server.address': destination?.address,
        'server.port': destination?.port,
        'http.response.status_code': status,
        'isthmus.account.hash': hashAccount(accountId),
      }),
    },
    trace.setSpan(ROOT_CONTEXT, parent),
  );
  setOutcome(span, errorType, errorType !== 'client-gone');
  span.end(to);
}

/** An attempt is over with its failure or its whole answer; one that streams lasts as long as the request. */
function attemptTimes(
  { startedAt, durationMs = 0, outcome }: AttemptRecord,
  { ended, startAt }: AttemptInput,
): { readonly from: number; readonly to: number } {
  const age = startedAt === undefined ? ended.totalMs : ended.endedAtMonotonic - startedAt;
  const from = Math.max(startAt, ended.endedAt - age);
  const isStreaming = outcome === 'ok' && ended.call?.stream === true;
  return { from, to: isStreaming ? ended.endedAt : Math.min(ended.endedAt, from + durationMs) };
}

function setOutcome(span: Span, errorType: string | undefined, isFault: boolean): void {
  if (errorType === undefined) return;
  span.setAttribute('error.type', errorType);
  if (isFault) span.setStatus({ code: SpanStatusCode.ERROR });
}

function spanName(operation: string, model: string | undefined): string {
  return model === undefined ? operation : `${operation} ${model}`;
}

/** Attributes of which some may not be known. */
type MaybeAttributes = Readonly<Record<string, Attributes[string] | undefined>>;

function present(attributes: MaybeAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** Undefined for a body that was refused, or relayed without being understood here. */
function readAsked(asked: AskedFor | undefined): CanonicalRequest | undefined {
  try {
    return asked?.request;
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** The parameters of a request as GenAI attributes; undefined where absent. Stop sequences hold client text: left out. */
function requestParameters(asked: AskedFor | undefined): MaybeAttributes {
  const request = readAsked(asked);
  if (asked === undefined || request === undefined) return {};
  const { sampling, maxOutputTokens } = request;
  const choices = wantedAnswers(request, asked.fanOut);
  return {
    'gen_ai.request.choice.count': choices === 1 ? undefined : choices,
    'gen_ai.request.max_tokens': maxOutputTokens,
    'gen_ai.request.temperature': sampling.temperature,
    'gen_ai.request.top_p': sampling.topP,
    'gen_ai.request.top_k': sampling.topK,
    'gen_ai.request.seed': sampling.seed,
    'gen_ai.request.frequency_penalty': sampling.frequencyPenalty,
    'gen_ai.request.presence_penalty': sampling.presencePenalty,
    'gen_ai.output.type': outputType(request),
  };
}

function outputType(request: CanonicalRequest): string | undefined {
  const { outputFormat, outputModalities = [], image } = request;
  if (outputFormat.kind !== 'text') return 'json';
  if (outputModalities.includes('audio')) return 'speech';
  if (outputModalities.includes('image') || image !== undefined) return 'image';
  return outputModalities.includes('text') ? 'text' : undefined;
}

/** Where an account's requests go. */
interface Destination {
  /** One of the well-known values of `gen_ai.provider.name`, or one of our own. */
  readonly provider: string;
  readonly address: string | undefined;
  readonly port: number | undefined;
}

/** Everything but words of clients and models; texts come from the record, which holds no credentials. */
export interface ModelOperation {
  /** `gen_ai.operation.name`. */
  readonly name: string;
  /** As the client named it. */
  readonly requestModel: string | undefined;
  /** What the request led to; undefined when it led nowhere. */
  readonly routedModel: string | undefined;
  /** What answered; undefined when nothing did. */
  readonly responseModel: string | undefined;
  readonly finishReasons: readonly string[];
  /** A class of error, such as `quota-exhausted`; undefined when it went well. */
  readonly errorType: string | undefined;
  /** True when the client did nothing wrong. */
  readonly isFault: boolean;
  /** Of the last attempt. */
  readonly destination: Destination;
  /** Seconds; streams only. */
  readonly firstChunkSeconds: number | undefined;
}

const MAX_NAME = 256;
/** The provider of what never reached one. */
const OURSELVES: Destination = { provider: 'isthmus', address: undefined, port: undefined };

/** By the endpoint; all the others take and give more than text. */
const CHAT_SURFACES = ['chat/completions', 'messages', 'responses'];
const TEXT_SURFACES = ['completions'];

function describeOperation(
  { row, details }: RequestRecord,
  ended: EndedRequest,
  destinationOf: (accountId: string) => Destination | undefined,
): ModelOperation {
  const { facts } = ended;
  const { answers = [] } = facts;
  const lastAttempt = facts.attempts.at(-1);
  const isError = row.outcome !== 'ok';
  return {
    name: operationName(row.surface, ended.operation),
    requestModel: row.model === '' ? undefined : row.model,
    routedModel: row.routedModel,
    responseModel:
      answers.length === 0
        ? undefined
        : (details.modelVersion ?? row.upstreamModel)?.slice(0, MAX_NAME),
    finishReasons: answers.flatMap(({ finishReasons = [] }) =>
      finishReasons.map((reason) => FINISH_WORDS[reason]),
    ),
    errorType: isError ? errorType(ended) : undefined,
    isFault: isError && (facts.error?.source ?? (row.status < 500 ? 'client' : '')) !== 'client',
    destination: (lastAttempt && destinationOf(lastAttempt.accountId)) ?? OURSELVES,
    firstChunkSeconds:
      row.stream && ended.firstEventMs !== undefined ? ended.firstEventMs / 1000 : undefined,
  };
}

/** What one attempt failed with; a stream may also break off after it began well. */
function attemptErrorType(
  { outcome }: AttemptRecord,
  { facts, call }: EndedRequest,
): string | undefined {
  if (outcome !== 'ok') return outcome;
  if (call?.stream !== true || facts.error === undefined) return undefined;
  return facts.error.failure?.kind ?? facts.error.kind;
}

function operationName(surface: string, operation: string | undefined): string {
  if (operation === 'embed') return 'embeddings';
  if (operation === 'count-tokens') return 'count_tokens';
  if (CHAT_SURFACES.includes(surface)) return 'chat';
  return TEXT_SURFACES.includes(surface) ? 'text_completion' : 'generate_content';
}

function errorType({ facts, status }: EndedRequest): string {
  return facts.error?.kind ?? (status === 499 ? 'client-gone' : String(status));
}

/** The words of the conventions' output messages. */
const FINISH_WORDS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  'tool-calls': 'tool_call',
  'max-tokens': 'length',
  safety: 'content_filter',
  'prompt-blocked': 'content_filter',
};

const HEADER = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** Reads the W3C `traceparent` header (w3.org/TR/trace-context); undefined when invalid. */
function readTraceparent(header: string | undefined): SpanContext | undefined {
  if (header === undefined || header.length > 512) return undefined;
  const [, version, traceId = NO_TRACE, spanId = NO_SPAN, flags = '00', rest] =
    HEADER.exec(header.trim()) ?? [];
  // Later versions may go on behind the flags, the first one may not, and `ff` is never a version.
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) {
    return undefined;
  }
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED, isRemote: true };
}
