// The spans of a model request: one at the edge, and one below it for each attempt upstream.

import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { AttemptRecord } from '../canonical/call-record.ts';
import { GatewayError } from '../canonical/error.ts';
import type { FinishReason } from '../canonical/event.ts';
import { type CanonicalRequest, wantedAnswers } from '../canonical/request.ts';
import type { AskedFor, EndedRequest, RequestRecord } from '../monitor/record.ts';

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
export function writeSpans(input: RequestSpanInput, options: SpanContextOptions): void {
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

export function present(attributes: MaybeAttributes): Attributes {
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
  const choices = wantedAnswers(asked);
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

/** Only where the request says one. */
function outputType(request: CanonicalRequest): string | undefined {
  const { outputFormat, outputModalities = [], image } = request;
  if (outputFormat.kind !== 'text') return 'json';
  if (outputModalities.includes('audio')) return 'speech';
  if (outputModalities.includes('image') || image !== undefined) return 'image';
  return outputModalities.includes('text') ? 'text' : undefined;
}

/** Where an account's requests go. */
export interface Destination {
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

export function describeOperation(
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
const SAMPLED = 1;

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
