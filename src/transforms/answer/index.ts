// The ordered list of rules every translated answer goes through before it is written.

import type { CanonicalEvent } from '../../canonical/event.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest, Tool } from '../../canonical/request.ts';
import type { CallableTool, CallRule } from './call-rule.ts';
import { createSourceFilter } from './filter-sources.ts';
import { limitCalls } from './limit-calls.ts';
import { matchToolNames } from './match-tool-names.ts';
import { createArgumentRepair } from './repair-arguments.ts';
import { restoreToolNames } from './restore-tool-names.ts';
import { createCallRewriter } from './rewrite-calls.ts';
import { createFenceStripper } from './strip-fences.ts';
import { uniqueCallIds } from './unique-call-ids.ts';

/** Takes the decoder's events batch by batch, in order; an untouched batch comes back as it is. */
export type AnswerTransform = (events: readonly CanonicalEvent[]) => readonly CanonicalEvent[];

export interface AnswerTransformOptions {
  /** As the client asked: tools with the schemas it declared. */
  readonly request: CanonicalRequest;
  /** Paths of its entries begin with `tool_calls.<name>`. */
  readonly receipt: Receipt;
  readonly createId: (prefix: string) => string;
}

/** One for each answer, as the rules keep state. Never throws. */
export function createAnswerTransform(options: AnswerTransformOptions): AnswerTransform {
  const { request } = options;
  const tools = request.tools.filter(isCallable);
  const rewrite = tools.length === 0 ? passAll : createRewriter(tools, options);
  const filter = createSourceFilter(request.tools);
  const strip = wantsJson(request) ? createFenceStripper() : undefined;
  if (filter === undefined && strip === undefined) return rewrite;
  return (events) => {
    const stripped = strip === undefined ? events : strip(events);
    const rewritten = rewrite(stripped);
    if (filter === undefined) return rewritten;
    return rewritten.map((event) => (event.kind === 'grounding' ? filter(event) : event));
  };
}

/** Models without a mode for JSON, and some with one, put it into a code fence. */
function wantsJson({ outputFormat: { kind } }: CanonicalRequest): boolean {
  return kind === 'json' || kind === 'json-schema';
}

function createRewriter(
  tools: readonly CallableTool[],
  { request, receipt, createId }: AnswerTransformOptions,
): AnswerTransform {
  const rules: readonly CallRule[] = [
    ...(request.parallelToolCalls === false ? [limitCalls()] : []),
    // Before any rule that knows tools by the client's names.
    restoreToolNames(request),
    matchToolNames({ tools, receipt }),
    uniqueCallIds({ turns: request.turns, createId }),
  ];
  // Last: arguments are repaired by the schema of the tool that was really meant.
  const repairArguments = createArgumentRepair({ tools, receipt });
  return createCallRewriter({ rules, repairArguments });
}

function passAll(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
  return events;
}

function isCallable(tool: Tool): tool is CallableTool {
  return tool.kind === 'function' || tool.kind === 'freeform';
}
