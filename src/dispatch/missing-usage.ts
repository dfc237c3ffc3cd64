// What an answer used, estimated where the upstream did not tell.

import type { BlockOpening, CanonicalEvent, UsageEvent } from '../canonical/event.ts';
import { textTokens } from '../canonical/prompt-size.ts';
import { inputTokens, NO_USAGE, outputTokens, type Usage } from '../canonical/usage.ts';
import type { Decoder } from '../upstreams/upstream.ts';
import type { TokenEstimator } from './token-estimate.ts';

export interface MissingUsage {
  /** Call with every event of the decoder in order: what is kept from the client was paid for too. */
  see(event: CanonicalEvent): void;
  /** What was told, with estimates for what was not; undefined when nothing is missing. */
  estimate(told: Usage | undefined): Usage | undefined;
}

export interface MissingUsageOptions {
  readonly estimator: Pick<TokenEstimator, 'estimateText'>;
  estimatePrompt(): number;
}

/** One for each answer. */
export function createMissingUsage(options: MissingUsageOptions): MissingUsage {
  const { estimator, estimatePrompt } = options;
  let answerSize = 0;
  let thoughtSize = 0;
  return {
    see(event) {
      if (event.kind === 'block-start') answerSize += openingSize(event.block);
      if (event.kind !== 'block-delta') return;
      const { delta } = event;
      if (delta.kind === 'thinking') thoughtSize += textTokens(delta.text);
      else answerSize += textTokens(delta.kind === 'text' ? delta.text : delta.json);
    },
    estimate(known) {
      const told = known ?? NO_USAGE;
      const lacksInput = inputTokens(told) === 0;
      const lacksOutput = outputTokens(told) === 0 && answerSize + thoughtSize > 0;
      if (!lacksInput && !lacksOutput) return undefined;
      const output = {
        answerTokens: estimator.estimateText(answerSize),
        thoughtTokens: estimator.estimateText(thoughtSize),
      };
      return {
        ...told,
        ...(lacksInput ? { promptTokens: estimatePrompt() } : {}),
        ...(lacksOutput ? output : {}),
        isEstimate: true,
      };
    },
  };
}

/** What has to be seen before `event`: the usage of an answer that ends without having told it. */
export function untoldUsage(
  event: CanonicalEvent,
  missing: MissingUsage,
  decoder: Pick<Decoder, 'usage'>,
): UsageEvent | undefined {
  if (event.kind !== 'finish') return undefined;
  const usage = missing.estimate(decoder.usage);
  return usage && { kind: 'usage', usage };
}

/** Of what a block says in its opening; the size of media tells nothing of their tokens. */
function openingSize(block: BlockOpening): number {
  switch (block.kind) {
    case 'tool-call':
      return textTokens(block.name);
    case 'code':
      return textTokens(block.code);
    case 'code-result':
      return textTokens(block.output);
    case 'text':
    case 'thinking':
    case 'media':
      return 0;
    default:
      return block satisfies never;
  }
}
