// The spans of a model request: one at the edge, and one below it for each attempt upstream.

import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { AttemptFacts, EndedRequest } from '../monitor/observer.ts';
import type { RequestRecord } from '../monitor/request-record.ts';
import { attemptErrorType, type Destination, type ModelOperation } from './model-operation.ts';
import { requestParameters } from './request-parameters.ts';
import { readTraceparent } from './traceparent.ts';

export interface SpanContextOptions {
  readonly tracer: Tracer;
  readonly destinationOf: (accountId: string) => Destination | undefined;
  /** What stands for an account: the same each time, and nobody can tell whose it is. */
  readonly hashAccount: (accountId: string) => string;
}

export interface RequestSpanInput {
  readonly record: RequestRecord;
  readonly ended: EndedRequest;
  readonly operation: ModelOperation;
  readonly end: Moment;
}

/** One moment on both clocks, in milliseconds. */
interface Moment {
  /** Since the epoch. */
  readonly at: number;
  readonly monotonic: number;
}

const MOST_ATTEMPTS = 100;

/** All times are counted back from the end. */
export function writeSpans(input: RequestSpanInput, options: SpanContextOptions): void {
  const { record, ended, operation } = input;
  const { tracer } = options;
  const parent = readTraceparent(ended.traceparent);
  const { at: endAt } = input.end;
  const startAt = endAt - ended.totalMs;
  const span = tracer.startSpan(
    // A name that led nowhere may be anything; span names are few.
    spanName(operation.name, operation.routedModel && operation.requestModel),
    { kind: SpanKind.SERVER, startTime: startAt, attributes: present(edgeAttributes(input)) },
    parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
  );
  setOutcome(span, operation.errorType, operation.isFault);
  const { attempts } = ended.facts;
  for (const [index, attempt] of attempts.slice(0, MOST_ATTEMPTS).entries()) {
    // As the record has it: a name that the client wrote may hold a credential.
    const { model = '' } = record.details.attemptsList[index] ?? {};
    writeAttempt(attempt, { ...input, options, span, startAt, model });
  }
  if (attempts.length > MOST_ATTEMPTS) span.setAttribute('isthmus.attempts', record.row.attempts);
  span.end(endAt);
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

function writeAttempt(attempt: AttemptFacts, input: AttemptInput): void {
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
  { startedAt, durationMs = 0, outcome }: AttemptFacts,
  { end, ended, startAt }: AttemptInput,
): { readonly from: number; readonly to: number } {
  const age = startedAt === undefined ? ended.totalMs : end.monotonic - startedAt;
  const from = Math.max(startAt, end.at - age);
  const isStreaming = outcome === 'ok' && ended.call?.stream === true;
  return { from, to: isStreaming ? end.at : Math.min(end.at, from + durationMs) };
}

function setOutcome(span: Span, errorType: string | undefined, isFault: boolean): void {
  if (errorType === undefined) return;
  span.setAttribute('error.type', errorType);
  if (isFault) span.setStatus({ code: SpanStatusCode.ERROR });
}

function spanName(operation: string, model: string | undefined): string {
  return model === undefined ? operation : `${operation} ${model}`;
}

type MaybeAttributes = Readonly<Record<string, Attributes[string] | undefined>>;

function present(attributes: MaybeAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
