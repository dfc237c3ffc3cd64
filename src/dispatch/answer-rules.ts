// What is done to the events of one translated answer between the decoder and the client's writer.

import { receiptInClientNames } from '../canonical/client-names.ts';
import type { Tool } from '../canonical/request.ts';
import {
  type AnswerTransform,
  type AnswerTransformOptions,
  createAnswerTransform,
} from '../transforms/answer/index.ts';
import { createTextLimit, type TextLimitOptions } from '../transforms/limit-text.ts';
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
  /** Where the upstream was allowed more than the client asked for. */
  readonly textLimit?: Pick<TextLimitOptions, 'limit' | 'counted'> | undefined;
}

/** One for each answer, as the rules keep state. Never throws. */
export function createAnswerRules(options: AnswerRulesOptions): AnswerRules {
  const { request, isSearchNamed = false, textLimit } = options;
  const { choices } = request;
  const receipt = receiptInClientNames(request.clientNames, options.receipt);
  const transform = createAnswerTransform({ ...options, receipt });
  const sequences = enforcedStops(request);
  // The cuts come first: a call behind one was never made. What is counted is the upstream's own text.
  const limit = textLimit && createTextLimit({ ...textLimit, choices, receipt });
  const stops = sequences.length === 0 ? undefined : createStopCutter(sequences, choices);
  const isPlain = choices === 1 && request.sampling.logprobs === undefined;
  // What a text cites is told at the end of the answer, behind any cut.
  const citesLate = isSearchNamed || request.tools.some(({ kind }) => CITING.has(kind));
  return {
    transform: (events) => {
      const within = limit?.cut(events) ?? events;
      const kept = stops?.cut(within) ?? within;
      if (!isPlain) {
        noteMissingLogprobs(kept, request, receipt);
        noteMissingChoices(kept, request, receipt);
      }
      noteUntold(kept, receipt);
      return transform(kept);
    },
    isComplete: () => !citesLate && (stops?.isDone === true || limit?.isDone === true),
  };
}
