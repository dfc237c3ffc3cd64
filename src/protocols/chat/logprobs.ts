// Writes log-probabilities in the shape of chat completions.

import type { ChoiceEnd, RatedToken } from '../../canonical/event.ts';
import type { ChatLogprobs, ChatTopLogprob } from '../../wire/chat.ts';

/** What stands for bytes that are no text: such a token is part of a character. */
const REPLACEMENT = '\uFFFD';

/**
 * Null when the upstream gave none. Streams carry it in the chunk that ends the choice, where the
 * official accumulator still takes it (`openai` lib/ChatCompletionStream).
 */
export function writeLogprobs({ logprobs }: ChoiceEnd): ChatLogprobs | null {
  if (logprobs === undefined || logprobs.tokens.length === 0) return null;
  const content = logprobs.tokens.map((token) => ({
    ...writeToken(token),
    top_logprobs: token.alternatives.map(writeToken),
  }));
  return { content, refusal: null };
}

function writeToken({ token, logprob }: RatedToken): ChatTopLogprob {
  const bytes = token.includes(REPLACEMENT) ? null : [...new TextEncoder().encode(token)];
  return { token, bytes, logprob };
}
