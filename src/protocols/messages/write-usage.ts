// Writes token counts and stop reasons in the Messages protocol's own terms.

import type { ChoiceEnd, GroundingEvent } from '../../canonical/event.ts';
import { searchCount } from '../../canonical/search-count.ts';
import { inputTokens, outputTokens, type Usage } from '../../canonical/usage.ts';
import { withheldBecause } from '../../canonical/withheld.ts';
import type {
  MessagesFinalUsage,
  MessagesStopDetails,
  MessagesStopReason,
  MessagesUsage,
} from '../../wire/messages.ts';

interface MessagesStop {
  readonly stop_reason: MessagesStopReason;
  readonly stop_sequence: string | null;
  readonly stop_details: MessagesStopDetails | null;
}

/**
 * The usage `message_start` carries: the prompt as far as it is known. Nothing is written yet, whatever
 * the upstream counted by then: `message_delta` counts it all, and some clients add the two.
 */
export function writeStartUsage(usage: Usage): MessagesUsage {
  return { ...writeCounts(usage), output_tokens: 0, service_tier: 'standard' };
}

/** The usage of `message_delta`. */
export function writeFinalUsage(
  usage: Usage,
  grounding: GroundingEvent | undefined,
): MessagesFinalUsage {
  const searches = searchCount(grounding);
  const fetches = grounding?.pages?.length ?? 0;
  return {
    ...writeCounts(usage),
    output_tokens_details: { thinking_tokens: usage.thoughtTokens },
    ...(searches + fetches === 0
      ? {}
      : { server_tool_use: { web_search_requests: searches, web_fetch_requests: fetches } }),
  };
}

/** The usage of a whole reply: what both of the above amount to. */
export function writeReplyUsage(
  usage: Usage,
  grounding: GroundingEvent | undefined,
): MessagesUsage {
  return { ...writeFinalUsage(usage, grounding), service_tier: 'standard' };
}

/** A call decides over every reason but safety: an agent must not stop with its call unanswered. */
export function writeStop(end: ChoiceEnd, hasToolCall: boolean): MessagesStop {
  const reason = stopReason(end, hasToolCall);
  return {
    stop_reason: reason,
    stop_sequence: reason === 'stop_sequence' ? (end.stopSequence ?? null) : null,
    stop_details:
      reason === 'refusal'
        ? { type: 'refusal', category: null, explanation: withheldBecause(end) ?? null }
        : null,
  };
}

function stopReason(end: ChoiceEnd, hasToolCall: boolean): MessagesStopReason {
  switch (end.reason) {
    case 'stop':
      return hasToolCall ? 'tool_use' : 'end_turn';
    case 'tool-calls':
      return 'tool_use';
    case 'max-tokens':
      return hasToolCall ? 'tool_use' : 'max_tokens';
    case 'stop-sequence':
      return hasToolCall ? 'tool_use' : 'stop_sequence';
    case 'safety':
    case 'prompt-blocked':
      return 'refusal';
    default:
      return end.reason satisfies never;
  }
}

function writeCounts(usage: Usage): MessagesFinalUsage {
  return {
    input_tokens: Math.max(0, inputTokens(usage) - usage.cachedTokens),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cachedTokens,
    output_tokens: outputTokens(usage),
  };
}
