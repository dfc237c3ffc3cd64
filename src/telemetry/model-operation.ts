// What an ended model request is in the words of the GenAI semantic conventions.

import type { FinishReason } from '../canonical/event.ts';
import type { AttemptFacts, EndedRequest } from '../monitor/observer.ts';
import type { RequestRecord } from '../monitor/request-record.ts';

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

const MOST_NAME = 256;
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
        : (details.modelVersion ?? row.upstreamModel)?.slice(0, MOST_NAME),
    finishReasons: answers.flatMap(({ finishReasons = [] }) => finishReasons.map(finishWord)),
    errorType: isError ? errorType(ended) : undefined,
    isFault: isError && (facts.error?.source ?? faultSource(row.status)) !== 'client',
    destination: (lastAttempt && destinationOf(lastAttempt.accountId)) ?? OURSELVES,
    firstChunkSeconds:
      row.stream && ended.firstEventMs !== undefined ? ended.firstEventMs / 1000 : undefined,
  };
}

/** What one attempt failed with; a stream may also break off after it began well. */
export function attemptErrorType(
  { outcome }: AttemptFacts,
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

function faultSource(status: number): 'client' | 'gateway' {
  return status < 500 ? 'client' : 'gateway';
}

/** The words of the conventions' output messages. */
function finishWord(reason: FinishReason): string {
  switch (reason) {
    case 'stop':
    case 'stop-sequence':
      return 'stop';
    case 'tool-calls':
      return 'tool_call';
    case 'max-tokens':
      return 'length';
    case 'safety':
    case 'prompt-blocked':
      return 'content_filter';
    default:
      return reason satisfies never;
  }
}
