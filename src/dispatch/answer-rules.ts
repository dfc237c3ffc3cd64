// What is done to the events of one translated answer between the decoder and the client's writer.

import { receiptInClientNames } from '../canonical/client-names.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import {
  type AnswerTransform,
  type AnswerTransformOptions,
  createAnswerTransform,
} from '../transforms/answer/index.ts';
import { noteMissingChoices } from '../transforms/missing-choices.ts';
import { noteMissingLogprobs } from '../transforms/missing-logprobs.ts';
import { createStopCutter, enforcedStops } from '../transforms/stop-sequences.ts';

export interface AnswerRules {
  readonly transform: AnswerTransform;
  /** True when the client needs nothing more of the upstream's answer. */
  isComplete(): boolean;
}

/** One for each answer, as the rules keep state. Never throws. */
export function createAnswerRules(options: AnswerTransformOptions): AnswerRules {
  const { request } = options;
  const receipt = receiptInClientNames(request.clientNames, options.receipt);
  const transform = createAnswerTransform({ ...options, receipt });
  const stops = enforcedStops(request);
  const isPlain = request.choices === 1 && request.sampling.logprobs === undefined;
  if (stops.length === 0 && isPlain) {
    return { transform, isComplete: () => false };
  }
  // The cut comes first: a call behind it was never made.
  const cutter = createStopCutter(stops, request.choices);
  return {
    transform: (events) => {
      const kept: readonly CanonicalEvent[] = stops.length === 0 ? events : cutter.cut(events);
      noteMissingLogprobs(kept, request, receipt);
      noteMissingChoices(kept, request, receipt);
      return transform(kept);
    },
    isComplete: () => cutter.isDone,
  };
}
