// The ordered list of rules every translated answer goes through before it is written.

import type {
  CanonicalEvent,
  ChoiceEnd,
  FinishEvent,
  FinishReason,
} from '../../canonical/event.ts';
import { type Receipt, receiptInClientNames } from '../../canonical/receipt.ts';
import type { CanonicalRequest, Tool } from '../../canonical/request.ts';
import { isCallable } from '../../canonical/tool-names.ts';
import { NOTHING_TYPED, type TypedValues } from '../../canonical/typed-values.ts';
import { told } from '../../lib/localized-message.ts';
import { TextLimit, type TextLimitOptions } from '../limit-text.ts';
import { enforcedStops, StopCutter } from '../stop-sequences.ts';
import { CallRewriter } from './calls.ts';
import { createSourceFilter, leaveOutCode } from './sources.ts';
import { answerRule, TextRewriter } from './structured-text.ts';

/** Takes the decoder's events batch by batch, in order; an untouched batch comes back as it is. */
export type AnswerTransform = (events: readonly CanonicalEvent[]) => readonly CanonicalEvent[];

interface AnswerRulesOptions {
  /** As the client asked: tools with the schemas it declared. */
  readonly request: CanonicalRequest;
  /** What the upstream was asked for in its own types; the rest may come as texts. */
  readonly typed?: (() => TypedValues) | undefined;
  /** Paths of its entries begin with `tool_calls.<name>` or `answer`. */
  readonly receipt: Receipt;
  /** Of the ids that calls get in place of ones the client cannot use; `call_` where it is not said. */
  readonly callIdPrefix?: string | undefined;
  readonly createId: (prefix: string) => string;
  /** True when the model's name asks for a web search. */
  readonly isSearchNamed?: boolean | undefined;
  /** Where the upstream was allowed more than the client asked for. */
  readonly textLimit?: Pick<TextLimitOptions, 'limit' | 'counted'> | undefined;
}

/** The tools whose answers name sources (ai.google.dev, "Grounding with Google Search", "URL context"). */
const CITING: ReadonlySet<Tool['kind']> = new Set(['web-search', 'url-context']);

export type AnswerRules = ReturnType<typeof createAnswerRules>;

/** More are counted: an answer may recite many pages, and a receipt stays readable. */
const MAX_NAMED = 5;

/**
 * What is done to the events of one translated answer between the decoder and the client's writer. One for each
 * answer, as the rules keep state. Never throws.
 */
export function createAnswerRules(options: AnswerRulesOptions) {
  const { request, isSearchNamed = false, textLimit } = options;
  const { choices, tools, stopSequences, outputFormat } = request;
  const receipt = receiptInClientNames(request.clientNames, options.receipt);
  const limit = textLimit && new TextLimit({ ...textLimit, choices, receipt });
  const stops =
    stopSequences.length === 0 ? undefined : new StopCutter(enforcedStops(request), choices);
  const isPlain = tools.length === 0 && outputFormat.kind === 'text';
  const { steps, text } = isPlain ? NO_STEPS : stepsOf({ ...options, receipt });
  // What a text cites is told at the end of the answer, behind any cut.
  const citesLate = isSearchNamed || tools.some(({ kind }) => CITING.has(kind));
  return {
    transform(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
      // The cuts come first: a call behind one was never made. What is counted is the upstream's own text.
      let shown = limit?.cut(events) ?? events;
      shown = stops?.cut(shown) ?? shown;
      // A finish is the last event of its batch.
      const last = shown.at(-1);
      if (last?.kind === 'finish') noteEnd(last, request, receipt);
      for (const step of steps) shown = step(shown);
      return shown;
    },
    /** Bytes of the text that wait for its end; absent where none do. */
    heldBytes: text && (() => text.heldBytes),
    /** True when the client needs nothing more of the upstream's answer; absent where that is never before its end. */
    isComplete:
      citesLate || (stops === undefined && limit === undefined)
        ? undefined
        : (): boolean => stops?.isDone === true || limit?.isDone === true,
  };
}

interface Steps {
  /** In order; those alone that the request can need. */
  readonly steps: readonly AnswerTransform[];
  readonly text?: TextRewriter | undefined;
}

const NO_STEPS: Steps = { steps: [] };

function stepsOf(options: AnswerRulesOptions): Steps {
  const { request, receipt } = options;
  const typed = options.typed?.() ?? NOTHING_TYPED;
  const { tools, outputFormat } = request;
  const steps: AnswerTransform[] = [];
  if (outputFormat.kind !== 'text' && tools.some(({ kind }) => kind === 'code-execution')) {
    steps.push(leaveOutCode(receipt));
  }
  const rule = answerRule(outputFormat, { receipt, isTyped: typed.answer });
  const text = rule && new TextRewriter(rule);
  if (text !== undefined) steps.push((events) => text.rewrite(events));
  if (tools.some(isCallable)) {
    const calls = new CallRewriter({ ...options, typed });
    steps.push((events) => calls.rewrite(events));
  }
  const filter = createSourceFilter(tools);
  if (filter !== undefined) steps.push(filter);
  return { steps, text };
}

/** Tells a client what it asked for and does not get, and what only the upstream's own protocol has a place for. */
function noteEnd(
  { choices }: FinishEvent,
  { choices: asked, sampling }: CanonicalRequest,
  receipt: Receipt,
): void {
  if (sampling.logprobs !== undefined && choices.some(isWithoutLogprobs)) {
    receipt.add('dropped', 'logprobs', told`The answer came without log-probabilities.`);
  }
  if (asked > choices.length) {
    noteFewer(
      choices.map(({ reason }) => reason),
      asked,
      receipt,
    );
  }
  const pages = new Set<string>();
  for (const { recited = [] } of choices) for (const page of recited) pages.add(page);
  if (pages.size > 0) noteRecited(pages, receipt);
  for (const { rawReason = '', isOdd, message } of choices) {
    if (isOdd === undefined) continue;
    const said = message === undefined ? rawReason : `${rawReason} (${message})`;
    const reason = told`The upstream did not end the answer as finished, but for this reason: ${said}.`;
    receipt.add('approximated', 'answer', reason);
  }
  for (const { unsupportedKinds = [] } of choices) {
    for (const kind of unsupportedKinds) {
      const reason = told`The answer has a part of a kind unknown here: ${kind}.`;
      receipt.add('dropped', 'answer', reason);
    }
  }
}

/** Tells of answers that an upstream asked for several did not give; of a prompt that was blocked there is one. */
export function noteFewer(
  ends: readonly FinishReason[],
  asked: number | undefined,
  receipt: Receipt,
): void {
  if (asked === undefined || ends.length >= asked || ends.includes('prompt-blocked')) return;
  receipt.add('dropped', 'n', told`The upstream gave ${ends.length} of ${asked} answers.`);
}

function isWithoutLogprobs({ logprobs }: ChoiceEnd): boolean {
  return logprobs === undefined || logprobs.tokens.length === 0;
}

function noteRecited(pages: ReadonlySet<string>, receipt: Receipt): void {
  const names = [...pages].slice(0, MAX_NAMED).join(', ');
  const left = pages.size - MAX_NAMED;
  const reason =
    left > 0
      ? told`Words of the answer are recited from ${names} and ${left} more pages.`
      : told`Words of the answer are recited from ${names}.`;
  receipt.add('dropped', 'answer', reason);
}
