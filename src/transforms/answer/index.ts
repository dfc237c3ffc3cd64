// The ordered list of rules every translated answer goes through before it is written.

import type { CanonicalEvent } from '../../canonical/event.ts';
import { type Receipt, receiptInClientNames } from '../../canonical/receipt.ts';
import {
  type CanonicalRequest,
  NOTHING_TYPED,
  type Tool,
  type TypedValues,
} from '../../canonical/request.ts';
import { declaredArguments, mayComeBackChanged } from '../../canonical/signatures.ts';
import { acceptedToolNames } from '../../canonical/tool-names.ts';
import { told } from '../../lib/localized-message.ts';
import { once } from '../../lib/once.ts';
import { TextLimit, type TextLimitOptions } from '../limit-text.ts';
import { enforcedStops, StopCutter } from '../stop-sequences.ts';
import {
  type CallableTool,
  type CallRule,
  createArgumentRepair,
  createCallRewriter,
  limitCalls,
  matchToolNames,
  restoreToolNames,
  uniqueCallIds,
} from './calls.ts';
import { createSourceFilter, leaveOutCode } from './sources.ts';
import { answerRule, createTextRewriter } from './structured-text.ts';

/** Takes the decoder's events batch by batch, in order; an untouched batch comes back as it is. */
export type AnswerTransform = (events: readonly CanonicalEvent[]) => readonly CanonicalEvent[];

export interface AnswerTransformOptions {
  /** As the client asked: tools with the schemas it declared. */
  readonly request: CanonicalRequest;
  /** What the upstream was asked for in its own types; the rest may come as texts. */
  readonly typed?: TypedValues | undefined;
  /** Paths of its entries begin with `tool_calls.<name>` or `answer`. */
  readonly receipt: Receipt;
  /** Of the ids that calls get in place of ones the client cannot use; `call_` where it is not said. */
  readonly callIdPrefix?: string | undefined;
  readonly createId: (prefix: string) => string;
}

/** One for each answer, as the rules keep state. Never throws. */
export function createAnswerTransform(options: AnswerTransformOptions): AnswerTransform {
  const { request, receipt, typed = NOTHING_TYPED } = options;
  const tools = request.tools.filter(isCallable);
  const rewrite = tools.length === 0 ? passAll : createRewriter(tools, options);
  const filter = createSourceFilter(request.tools);
  const rule = answerRule(request.outputFormat, { receipt, isTyped: typed.answer });
  const rewriteText = rule === undefined ? passAll : createTextRewriter(rule);
  const leaveOut = runsCodeInForm(request) ? leaveOutCode(receipt) : undefined;
  if (filter === undefined && rule === undefined && leaveOut === undefined) return rewrite;
  return (events) => {
    const shown = leaveOut === undefined ? events : leaveOut(events);
    const rewritten = rewrite(rewriteText(shown));
    if (filter === undefined) return rewritten;
    return rewritten.map((event) => (event.kind === 'grounding' ? filter(event) : event));
  };
}

function createRewriter(
  tools: readonly CallableTool[],
  options: AnswerTransformOptions,
): AnswerTransform {
  const { request, receipt, typed = NOTHING_TYPED, callIdPrefix, createId } = options;
  const rules: readonly CallRule[] = [
    ...(request.parallelToolCalls === false ? [limitCalls()] : []),
    // Before any rule that knows tools by the client's names.
    restoreToolNames(request),
    matchToolNames({ tools, receipt }),
    uniqueCallIds({ turns: request.turns, callIdPrefix, createId }),
  ];
  // Last: arguments are repaired by the schema of the tool that was really meant.
  const sentNames = once(() => acceptedToolNames(request));
  const isTyped = (name: string): boolean =>
    typed.functions.size > 0 && typed.functions.has(sentNames().get(name) ?? name);
  const repairArguments = createArgumentRepair({ tools, receipt, isTyped });
  const schemas = once(() => declaredArguments(tools));
  const mayChange = (name: string, json: string): boolean =>
    mayComeBackChanged(json, schemas().get(name));
  return createCallRewriter({ rules, repairArguments, mayChange });
}

function runsCodeInForm({ tools, outputFormat }: CanonicalRequest): boolean {
  return outputFormat.kind !== 'text' && tools.some(({ kind }) => kind === 'code-execution');
}

function passAll(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
  return events;
}

export function isCallable(tool: Tool): tool is CallableTool {
  return tool.kind === 'function' || tool.kind === 'freeform';
}

/**
 * Tells a client that asked for several answers when it gets fewer. Call with every batch of events; a finish is
 * the last event of its batch.
 */
function noteMissingChoices(
  events: readonly CanonicalEvent[],
  { choices: asked }: Pick<CanonicalRequest, 'choices'>,
  receipt: Receipt,
): void {
  const last = events.at(-1);
  if (asked <= 1 || last?.kind !== 'finish' || last.choices.length >= asked) return;
  if (last.choices.some(({ reason }) => reason === 'prompt-blocked')) return;
  receipt.add('dropped', 'n', told`The upstream gave ${last.choices.length} of ${asked} answers.`);
}

/**
 * Tells a client that asked for log-probabilities when its answer comes without. Call with every batch of
 * events; a finish is the last event of its batch.
 */
function noteMissingLogprobs(
  events: readonly CanonicalEvent[],
  { sampling }: Pick<CanonicalRequest, 'sampling'>,
  receipt: Receipt,
): void {
  const last = events.at(-1);
  if (sampling.logprobs === undefined || last?.kind !== 'finish') return;
  if (last.choices.every(({ logprobs }) => (logprobs?.tokens.length ?? 0) > 0)) return;
  receipt.add('dropped', 'logprobs', told`The answer came without log-probabilities.`);
}

/** More are counted: an answer may recite many pages, and a receipt stays readable. */
const MAX_NAMED = 5;

/**
 * Tells what of an answer only the upstream's own protocol has a place for. Call with every batch of events; a
 * finish is the last event of its batch.
 */
function recordUnsupportedParts(events: readonly CanonicalEvent[], receipt: Receipt): void {
  const last = events.at(-1);
  if (last?.kind !== 'finish') return;
  noteRecited(new Set(last.choices.flatMap(({ recited = [] }) => recited)), receipt);
  for (const { rawReason = '', isOdd, message } of last.choices) {
    if (isOdd === undefined) continue;
    const reason = message === undefined ? rawReason : `${rawReason} (${message})`;
    receipt.add(
      'approximated',
      'answer',
      told`The upstream did not end the answer as finished, but for this reason: ${reason}.`,
    );
  }
  for (const kind of last.choices.flatMap(({ unsupportedKinds = [] }) => unsupportedKinds)) {
    receipt.add('dropped', 'answer', told`The answer has a part of a kind unknown here: ${kind}.`);
  }
}

function noteRecited(pages: ReadonlySet<string>, receipt: Receipt): void {
  if (pages.size === 0) return;
  const recited = [...pages];
  const names = recited.slice(0, MAX_NAMED).join(', ');
  const left = recited.length - MAX_NAMED;
  receipt.add(
    'dropped',
    'answer',
    left > 0
      ? told`Words of the answer are recited from ${names} and ${left} more pages.`
      : told`Words of the answer are recited from ${names}.`,
  );
}

export type AnswerRules = ReturnType<typeof createAnswerRules>;

/** The tools whose answers name sources (ai.google.dev, "Grounding with Google Search", "URL context"). */
const CITING: ReadonlySet<Tool['kind']> = new Set(['web-search', 'url-context']);

export interface AnswerRulesOptions extends AnswerTransformOptions {
  /** True when the model's name asks for a web search. */
  readonly isSearchNamed?: boolean | undefined;
  /** Where the upstream was allowed more than the client asked for. */
  readonly textLimit?: Pick<TextLimitOptions, 'limit' | 'counted'> | undefined;
}

/**
 * What is done to the events of one translated answer between the decoder and the client's writer. One for each
 * answer, as the rules keep state. Never throws.
 */
export function createAnswerRules(options: AnswerRulesOptions) {
  const { request, isSearchNamed = false, textLimit } = options;
  const { choices } = request;
  const receipt = receiptInClientNames(request.clientNames, options.receipt);
  const transform = createAnswerTransform({ ...options, receipt });
  const sequences = enforcedStops(request);
  // The cuts come first: a call behind one was never made. What is counted is the upstream's own text.
  const limit = textLimit && new TextLimit({ ...textLimit, choices, receipt });
  const stops = sequences.length === 0 ? undefined : new StopCutter(sequences, choices);
  const isPlain = choices === 1 && request.sampling.logprobs === undefined;
  // What a text cites is told at the end of the answer, behind any cut.
  const citesLate = isSearchNamed || request.tools.some(({ kind }) => CITING.has(kind));
  return {
    transform(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
      const within = limit?.cut(events) ?? events;
      const kept = stops?.cut(within) ?? within;
      if (!isPlain) {
        noteMissingLogprobs(kept, request, receipt);
        noteMissingChoices(kept, request, receipt);
      }
      recordUnsupportedParts(kept, receipt);
      return transform(kept);
    },
    /** True when the client needs nothing more of the upstream's answer. */
    isComplete: (): boolean => !citesLate && (stops?.isDone === true || limit?.isDone === true),
  };
}
