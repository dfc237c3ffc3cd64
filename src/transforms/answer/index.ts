// The ordered list of rules every translated answer goes through before it is written.

import type { CanonicalEvent } from '../../canonical/event.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest, Tool } from '../../canonical/request.ts';
import { declaredArguments, mayComeBackChanged } from '../../canonical/returned-arguments.ts';
import { acceptedToolNames } from '../../canonical/tool-names.ts';
import { NOTHING_TYPED, type TypedValues } from '../../canonical/typed-values.ts';
import { once } from '../../lib/once.ts';
import type { CallableTool, CallRule } from './call-rule.ts';
import { createSourceFilter } from './filter-sources.ts';
import { leaveOutCode } from './leave-out-code.ts';
import { limitCalls } from './limit-calls.ts';
import { matchToolNames } from './match-tool-names.ts';
import { answerRule } from './repair-answer.ts';
import { createArgumentRepair } from './repair-arguments.ts';
import { restoreToolNames } from './restore-tool-names.ts';
import { createCallRewriter } from './rewrite-calls.ts';
import { createTextRewriter } from './rewrite-text.ts';
import { uniqueCallIds } from './unique-call-ids.ts';

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
