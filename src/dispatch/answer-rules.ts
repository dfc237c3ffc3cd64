// What is done to the events of one translated answer between the decoder and the client's writer.

import { receiptInClientNames } from '../canonical/client-names.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import type { Tool } from '../canonical/request.ts';
import {
  type AnswerTransform,
  type AnswerTransformOptions,
  createAnswerTransform,
} from '../transforms/answer/index.ts';
import { noteMissingChoices } from '../transforms/missing-choices.ts';
import { noteMissingLogprobs } from '../transforms/missing-logprobs.ts';
import { noteUntold } from '../transforms/note-untold.ts';
import { createStopCutter, enforcedStops } from '../transforms/stop-sequences.ts';

export interface AnswerRules {
  readonly transform: AnswerTransform;
  /** True when the client needs nothing more of the upstream's answer. */
  isComplete(): boolean;
}

/** The tools whose answers name sources (ai.google.dev, "Grounding with Google Search", "URL context"). */
const CITING: ReadonlySet<Tool['kind']> = new Set(['web-search', 'url-context']);

export interface AnswerRulesOptions extends AnswerTransformOptions {
  /** True when the model's name asks for a web search. */
  readonly isSearchNamed?: boolean | undefined;
}

/** One for each answer, as the rules keep state. Never throws. */
export function createAnswerRules(options: AnswerRulesOptions): AnswerRules {
  const { request, isSearchNamed = false } = options;
  const receipt = receiptInClientNames(request.clientNames, options.receipt);
  const transform = createAnswerTransform({ ...options, receipt });
  const stops = enforcedStops(request);
  const isPlain = request.choices === 1 && request.sampling.logprobs === undefined;
  if (stops.length === 0 && isPlain) {
    return {
      transform: (events) => {
        noteUntold(events, receipt);
        return transform(events);
      },
      isComplete: () => false,
    };
  }
  // The cut comes first: a call behind it was never made.
  const cutter = createStopCutter(stops, request.choices);
  // What a text cites is told at the end of the answer, behind any cut.
  const citesLate = isSearchNamed || request.tools.some(({ kind }) => CITING.has(kind));
  return {
    transform: (events) => {
      const kept: readonly CanonicalEvent[] = stops.length === 0 ? events : cutter.cut(events);
      noteMissingLogprobs(kept, request, receipt);
      noteMissingChoices(kept, request, receipt);
      noteUntold(kept, receipt);
      return transform(kept);
    },
    isComplete: () => cutter.isDone && !citesLate,
  };
}
