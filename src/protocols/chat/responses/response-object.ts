// The response object: what every life-cycle event and the unary answer hold.

import type { GatewayError } from '../../../canonical/error.ts';
import type { ChoiceEnd } from '../../../canonical/event.ts';
import { inputTokens, outputTokens, totalTokens, type Usage } from '../../../canonical/usage.ts';
import { withheldBecause } from '../../../canonical/withheld.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ChatErrorType } from '../../../wire/chat.ts';
import { writeErrorBody } from '../errors.ts';

/** How a response ended; `in_progress` while it has not. */
export type Ending =
  | { readonly status: 'in_progress' | 'queued' | 'cancelled' }
  | { readonly status: 'completed'; readonly completedAt: number }
  | { readonly status: 'incomplete'; readonly reason: 'max_output_tokens' | 'content_filter' }
  | { readonly status: 'failed'; readonly code: string; readonly message: string };

export interface ResponseHead {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  readonly model: string;
  readonly echo: JsonObject;
}

export interface ResponseContent {
  readonly output: readonly JsonObject[];
  readonly usage: Usage | undefined;
  /** Searches of the web that stand behind the output. */
  readonly searches: number;
}

export function responseObject(
  { id, createdAt, model, echo }: ResponseHead,
  ending: Ending,
  { output, usage, searches }: ResponseContent,
): JsonObject {
  return {
    id,
    object: 'response',
    created_at: createdAt,
    completed_at: ending.status === 'completed' ? ending.completedAt : null,
    status: ending.status,
    error: ending.status === 'failed' ? failedError(ending) : null,
    incomplete_details: ending.status === 'incomplete' ? { reason: ending.reason } : null,
    model,
    output: [...output],
    ...echo,
    usage: usage === undefined ? null : writeUsage(usage),
    ...(searches === 0 ? {} : { tool_usage: writeToolUsage(searches) }),
  };
}

const FAILURE_TYPES: ReadonlyMap<string, ChatErrorType> = new Map([
  ['insufficient_quota', 'insufficient_quota'],
  ['rate_limit_exceeded', 'rate_limit_error'],
  ['server_is_overloaded', 'service_unavailable_error'],
  ['context_length_exceeded', 'invalid_request_error'],
  ['invalid_prompt', 'invalid_request_error'],
]);

/** Without `type` the AI SDK takes the whole response for no JSON (`openaiResponsesResponseSchema`). */
export function failedError(failure: {
  readonly code: string;
  readonly message: string;
}): JsonObject {
  const { code, message } = failure;
  return { code, message, type: FAILURE_TYPES.get(code) ?? 'server_error' };
}

function writeUsage(usage: Usage): JsonObject {
  return {
    input_tokens: inputTokens(usage),
    input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: 0 },
    output_tokens: outputTokens(usage),
    output_tokens_details: { reasoning_tokens: usage.thoughtTokens },
    total_tokens: totalTokens(usage),
  };
}

/** Pictures are no work of a tool here: their tokens are in the usage (`openai` responses, `ToolUsage`). */
function writeToolUsage(searches: number): JsonObject {
  const images = {
    input_tokens: 0,
    input_tokens_details: { image_tokens: 0, text_tokens: 0 },
    output_tokens: 0,
    total_tokens: 0,
  };
  return { image_gen: images, web_search: { num_requests: searches } };
}

/**
 * An answer without anything to show or call is no success: it ran out of room for one, as models do
 * whose thoughts use up the limit.
 */
export function endingOf(
  end: ChoiceEnd | undefined,
  { hasContent, at }: { readonly hasContent: boolean; readonly at: number },
): Ending {
  switch (end?.reason) {
    case 'max-tokens':
      return { status: 'incomplete', reason: 'max_output_tokens' };
    case 'safety':
      return { status: 'incomplete', reason: 'content_filter' };
    case 'prompt-blocked':
      return {
        status: 'failed',
        code: 'invalid_prompt',
        message: withheldBecause(end) ?? 'The prompt was refused by a safety rule.',
      };
    default:
      return hasContent
        ? { status: 'completed', completedAt: at }
        : { status: 'incomplete', reason: 'max_output_tokens' };
  }
}

/** Words of their own for coding CLIs (wire protocols, Codex: each is acted on differently). */
const FAILURE_CODES: ReadonlyMap<string, string> = new Map([
  ['insufficient_quota', 'insufficient_quota'],
  ['rate_limit_exceeded', 'rate_limit_exceeded'],
  ['server_is_overloaded', 'server_is_overloaded'],
  ['context_length_exceeded', 'context_length_exceeded'],
  ['content_policy_violation', 'invalid_prompt'],
]);

export function failureOf(error: GatewayError): Extract<Ending, { status: 'failed' }> {
  const { code: cause, message } = writeErrorBody(error).error;
  const code = FAILURE_CODES.get(cause ?? '') ?? 'server_error';
  return {
    status: 'failed',
    code,
    message: code === 'rate_limit_exceeded' ? withWait(error) : message,
  };
}

/** Codex waits as long as the message itself says: "try again in 12s" (codex-rs, `try_parse_retry_after`). */
function withWait({ message, retryAfterMs }: GatewayError): string {
  if (retryAfterMs === undefined || /try again in \d/i.test(message)) return message;
  return `${message} Please try again in ${Math.max(1, Math.ceil(retryAfterMs / 1000))}s.`;
}
