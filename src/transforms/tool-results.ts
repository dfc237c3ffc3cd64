// Puts every tool result directly behind its call: named, none missing, none twice.

import { invalidRequest } from '../canonical/error.ts';
import type { Part, ToolCallPart, ToolResultPart, Turn } from '../canonical/request.ts';
import { createIds } from '../canonical/tool-names.ts';
import { unlessSame } from '../lib/collections.ts';
import { told } from '../lib/localized-message.ts';
import {
  type Conversation,
  mapTurns,
  type TransformContext,
  type TurnRule,
  withParts,
} from './transform.ts';
import { mergeTurns } from './turns.ts';

/**
 * Upstream rule (ai.google.dev, "Function calling"): as many responses as calls, in the next turn and, on newer
 * models, with the ids of the calls. Expects merged turns; a relayed piece of a conversation stays as it is, for
 * order does not matter to a count.
 * @throws GatewayError (invalid-request) for a result without any call, where it is not only counted
 */
export const pairToolResults: TurnRule = (request, context) => {
  const { turns } = request;
  if (!turns.some((turn) => turn.parts.some(isToolPart))) return request;
  const matches = new Matches(turns);
  const { orphans } = matches;
  const [orphan] = orphans;
  if (orphan !== undefined) {
    if (context.mayBePiece !== true) throw orphanError(orphan);
    return orphan.native === undefined
      ? pairToolResults(freeOf(orphans, request, context), context)
      : request;
  }
  for (const result of matches.repeated) noteSecond(result, context);
  const paired: Turn[] = [];
  let step: readonly Call[] = [];
  for (const [index, turn] of turns.entries()) {
    const calls = matches.calls.get(index) ?? [];
    const kept =
      turn.role === 'user' ? answerStep(turn, index, step, context) : withCallIds(turn, calls);
    if (kept !== undefined) paired.push(kept);
    step = turns[index + 1]?.role === 'user' ? calls : [];
    if (calls.length === 0 || step === calls) continue;
    paired.push({ role: 'user', parts: calls.map((call) => resultOf(call, undefined, context)) });
  }
  const done = unlessSame(paired, turns);
  return done === turns ? request : mergeTurns({ ...request, turns: done }, context);
};

/** Upstreams of other wires refuse a result without its call to count as well; its content takes as many tokens. */
function freeOf<Request extends Conversation>(
  orphans: readonly Part[],
  request: Request,
  { receipt }: TransformContext,
): Request {
  receipt.add('approximated', 'messages', told`A result without its call was counted as text.`);
  const alone = new Set(orphans);
  return mapTurns(request, (turn) =>
    withParts(
      turn,
      turn.parts.flatMap((part) =>
        part.kind === 'tool-result' && alone.has(part) ? contentOf(part) : part,
      ),
    ),
  );
}

function contentOf({ content }: ToolResultPart): readonly Part[] {
  if (content.length === 0) return [NO_RESULT];
  return content.map((part) =>
    part.kind === 'json' ? { kind: 'text', text: JSON.stringify(part.value) } : part,
  );
}

const NO_RESULT = { kind: 'text', text: 'no result' } as const;

/** The turn behind the calls of `step`; undefined when all it held stands elsewhere now. */
function answerStep(
  turn: Turn,
  index: number,
  step: readonly Call[],
  context: TransformContext,
): Turn | undefined {
  const given = turn.parts.filter((part: Part) => part.kind === 'tool-result');
  if (given.length === 0 && step.length === 0) return turn;
  const answers = step.map((call) => resultOf(call, index, context));
  const hasAll =
    given.length === step.length && step.every(({ found }) => found?.turnIndex === index);
  // Without ids the upstream pairs by position.
  const isFree =
    step.every(({ sent }) => hasId(sent, sent.id)) ||
    step.every(({ found }, at) => found?.part === given[at]);
  if (!('native' in turn && hasAll && isFree)) {
    const others = turn.parts.filter(({ kind }) => kind !== 'tool-result');
    return withParts(turn, [...answers, ...others]);
  }
  const written = new Map<Part | undefined, Part | undefined>(
    step.map(({ found }, at) => [found?.part, answers[at]]),
  );
  return withParts(
    turn,
    turn.parts.map((part) => written.get(part) ?? part),
  );
}

function withCallIds(turn: Turn, calls: readonly Call[]): Turn | undefined {
  if (calls.length === 0) return turn;
  const left = calls.values();
  const sent = (part: Part) => (part.kind === 'tool-call' ? left.next().value?.sent : part);
  return withParts(
    turn,
    turn.parts.map((part) => sent(part) ?? part),
  );
}

/** `index` is where a result needs no move; undefined when no turn follows the step. */
function resultOf(
  { sent, found }: Call,
  index: number | undefined,
  { receipt }: TransformContext,
): ToolResultPart {
  const { id, name, native } = sent;
  const word = hasId(sent, id) ? id : name;
  if (found === undefined) {
    const reason =
      native === undefined
        ? told`Tool call ${word} has no result; "no result" was sent.`
        : told`Function call ${word} has no response; "no result" was sent.`;
    receipt.add('repaired', 'messages', reason);
    return { kind: 'tool-result', callId: id, name, content: [NO_RESULT], isError: true };
  }
  const { part } = found;
  if (found.turnIndex !== index) {
    const reason =
      native === undefined
        ? told`The result of ${word} was moved behind its call.`
        : told`The response to ${word} was moved behind its call.`;
    receipt.add('repaired', 'messages', reason);
  }
  if (part.callId === id && part.name === name) return part;
  if (native !== undefined && (part.name !== name || part.callId !== '')) {
    const reason = told`A response to the function ${name} was given the id and name of its call.`;
    receipt.add('repaired', 'messages', reason);
  }
  return { ...part, callId: id, name };
}

function isToolPart(part: Part): boolean {
  return part.kind === 'tool-call' || part.kind === 'tool-result';
}

/** Relayed calls and results may have none. */
function hasId({ native }: ToolCallPart | ToolResultPart, id: string): boolean {
  return native === undefined || id !== '';
}

interface FoundResult {
  readonly part: ToolResultPart;
  readonly turnIndex: number;
}

interface Call {
  readonly turnIndex: number;
  /** The call, with an id of its own where it shared one. */
  readonly sent: ToolCallPart;
  found: FoundResult | undefined;
}

/** Calls of one step that share an id or a name; those before `next` have their results. */
interface CallQueue {
  readonly calls: Call[];
  next: number;
}

type CallIndex = Map<string, CallQueue>;

/**
 * By id; a relayed result without an id, or with one that no call has, belongs to the first open call of its
 * name, and with a name that no call has either to the first that its step leaves open. A later step that uses
 * an id or a name again closes the earlier calls to it.
 */
class Matches {
  /** The calls of each turn, in order. */
  readonly calls = new Map<number, Call[]>();
  /** Results to calls that have theirs already. */
  readonly repeated: ToolResultPart[] = [];
  readonly #orphans: ToolResultPart[] = [];
  /** Ids of results that belong to a call. */
  readonly #answered = new Set<string>();
  readonly #byId: CallIndex = new Map();
  /** Of relayed calls. */
  readonly #byName: CallIndex = new Map();
  /** The calls of the last step. */
  #step: CallQueue = { calls: [], next: 0 };

  constructor(turns: readonly Turn[]) {
    for (const [index, turn] of turns.entries()) {
      if (turn.role === 'assistant') this.#addCalls(turn.parts, index);
      else this.#addResults(turn.parts, index);
    }
    for (const part of this.#orphans) if (this.#isRepeated(part)) this.repeated.push(part);
  }

  /** Results to no call at all. */
  get orphans(): readonly ToolResultPart[] {
    return this.#orphans.filter((part) => !this.#isRepeated(part));
  }

  #addCalls(parts: readonly Part[], turnIndex: number): void {
    const calls: Call[] = [];
    // Some clients number calls anew or give all of them one id; upstreams want each its own.
    const freeId = createIds();
    for (const part of parts) {
      if (part.kind !== 'tool-call') continue;
      const id = hasId(part, part.id) ? freeId(part.id) : part.id;
      const sent = id === part.id ? part : { ...part, id };
      const call = { turnIndex, sent, found: undefined };
      calls.push(call);
      if (hasId(part, part.id)) addOpen(this.#byId, part.id, call);
      if (part.native !== undefined) addOpen(this.#byName, part.name, call);
    }
    this.#step = { calls, next: 0 };
    if (calls.length > 0) this.calls.set(turnIndex, calls);
  }

  #addResults(parts: readonly Part[], turnIndex: number): void {
    const unnamed: ToolResultPart[] = [];
    for (const part of parts) {
      if (part.kind !== 'tool-result') continue;
      const queue = this.#byId.get(part.callId);
      // Those with ids first: one without must not take the call of another.
      if (queue === undefined && part.native !== undefined) unnamed.push(part);
      else this.#answer(queue, { part, turnIndex });
    }
    const others = unnamed.filter((part) => {
      const queue = this.#byName.get(part.name ?? '');
      if (queue !== undefined) this.#answer(queue, { part, turnIndex });
      return queue === undefined;
    });
    for (const part of others) {
      const isOpen = firstOpen(this.#step) !== undefined;
      this.#answer(isOpen ? this.#step : undefined, { part, turnIndex });
    }
  }

  #answer(queue: CallQueue | undefined, found: FoundResult): void {
    const call = queue && firstOpen(queue);
    if (queue !== undefined) this.#answered.add(found.part.callId);
    if (call !== undefined) call.found = found;
    else (queue === undefined ? this.#orphans : this.repeated).push(found.part);
  }

  /** One that stood before its call as well. */
  #isRepeated({ callId, native }: ToolResultPart): boolean {
    return native === undefined && this.#answered.has(callId);
  }
}

function addOpen(index: CallIndex, key: string, call: Call): void {
  const queue = index.get(key);
  if (queue?.calls[0]?.turnIndex === call.turnIndex) queue.calls.push(call);
  else index.set(key, { calls: [call], next: 0 });
}

function firstOpen(queue: CallQueue): Call | undefined {
  while (queue.calls[queue.next]?.found !== undefined) queue.next += 1;
  return queue.calls[queue.next];
}

function noteSecond({ callId, name, native }: ToolResultPart, { receipt }: TransformContext): void {
  const reason =
    native === undefined
      ? told`A second result of tool call ${callId} was dropped.`
      : told`A second response to the function ${name ?? ''} was dropped.`;
  receipt.add('dropped', 'messages', reason);
}

function orphanError({ callId, name, native, path = 'messages' }: ToolResultPart): Error {
  const words =
    native === undefined
      ? `a tool result names the call "${callId}", but no earlier assistant message holds ` +
        'a tool call with that id. Send the assistant message with the call before its result.'
      : `the response ${callId === '' ? '' : `"${callId}" `}of the function "${name}" answers ` +
        'no call before it. Send the content with the function call before its response.';
  return invalidRequest(path, `${path}: ${words}`);
}
