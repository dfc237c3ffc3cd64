// Puts every tool result directly behind its call: in call order, named, none missing, none twice.

import { invalidRequest } from '../canonical/error.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { Part, ToolCallPart, ToolResultPart, Turn } from '../canonical/request.ts';
import { createIds } from '../canonical/tool-names.ts';
import { told } from '../lib/localized-message.ts';
import type { Transform } from './transform.ts';
import { mergeTurns } from './turns.ts';

/** Upstream rule (ai.google.dev, "Function calling"): as many responses as calls, in the next turn. */
export const pairToolResults: Transform = (request, context) => {
  if (!request.turns.some((turn) => turn.parts.some(isToolPart))) return request;
  const results = collectResults(request.turns, context.receipt);
  const turns: Turn[] = [];
  let pending: readonly PendingCall[] = [];
  for (const [index, turn] of request.turns.entries()) {
    const answers = pending.map((call) => results.take(call, index));
    if (turn.role === 'user') {
      const others = turn.parts.filter((part) => part.kind !== 'tool-result');
      if (answers.length + others.length > 0) {
        turns.push({ role: 'user', parts: [...answers, ...others] });
      }
      pending = [];
    } else {
      if (answers.length > 0) turns.push({ role: 'user', parts: answers });
      const step = turn.role === 'assistant' ? distinguishCalls(turn) : { turn, calls: [] };
      turns.push(step.turn);
      pending = step.calls;
    }
  }
  if (pending.length > 0) {
    const index = request.turns.length;
    turns.push({ role: 'user', parts: pending.map((call) => results.take(call, index)) });
  }
  results.refuseOrphans();
  return mergeTurns({ ...request, turns }, context);
};

interface PendingCall {
  readonly call: ToolCallPart;
  /** The id its result names; another one than the call's own when several calls shared it. */
  readonly askedId: string;
}

/** Some clients number calls anew or give all of them one id; upstreams want each its own. */
function distinguishCalls(turn: Extract<Turn, { role: 'assistant' }>): {
  readonly turn: Turn;
  readonly calls: readonly PendingCall[];
} {
  const calls: PendingCall[] = [];
  const freeId = createIds();
  const parts = turn.parts.map((part) => {
    if (part.kind !== 'tool-call') return part;
    const id = freeId(part.id);
    const call = id === part.id ? part : { ...part, id };
    calls.push({ call, askedId: part.id });
    return call;
  });
  return {
    turn: parts.some((part, i) => part !== turn.parts[i]) ? { ...turn, parts } : turn,
    calls,
  };
}

function isToolPart(part: Part): boolean {
  return part.kind === 'tool-call' || part.kind === 'tool-result';
}

interface Results {
  /** The result of a call: from turn `index` when it stands there, else from later, else made up. */
  take(pending: PendingCall, index: number): ToolResultPart;
  /** @throws GatewayError (invalid-request) for a result whose id no earlier call has. */
  refuseOrphans(): void;
}

interface FoundResult {
  readonly part: ToolResultPart;
  readonly turnIndex: number;
}

/** The results of one id, of which those before `next` are dealt with. */
interface ResultQueue {
  readonly found: FoundResult[];
  next: number;
  isAnswered: boolean;
  /** Results that no call took: those that stood before the calls left, and those behind all calls. */
  hasLeft: boolean;
}

/** Calls take their results in the order of the conversation. */
function collectResults(turns: readonly Turn[], receipt: Receipt): Results {
  const queues = new Map<string, ResultQueue>();
  for (const [turnIndex, turn] of turns.entries()) {
    for (const part of turn.parts) {
      if (part.kind !== 'tool-result') continue;
      const queue = queues.get(part.callId);
      const result = { part, turnIndex };
      if (queue !== undefined) queue.found.push(result);
      else {
        const first = { found: [result], next: 0, isAnswered: false, hasLeft: false };
        queues.set(part.callId, first);
      }
    }
  }
  return {
    take({ call, askedId }, index) {
      const queue = queues.get(askedId);
      const result = queue && takeFrom(queue, index);
      if (result === undefined) return madeUpResult(call, receipt);
      if (result.turnIndex !== index) {
        receipt.add(
          'repaired',
          'messages',
          told`The result of ${call.id} was moved behind its call.`,
        );
      }
      return { ...result.part, callId: call.id, name: call.name };
    },
    refuseOrphans() {
      for (const [callId, { found, next, isAnswered, hasLeft }] of queues) {
        if (!hasLeft && next === found.length) continue;
        if (!isAnswered) throw orphanError(callId);
        receipt.add(
          'dropped',
          'messages',
          told`A second result of tool call ${callId} was dropped.`,
        );
      }
    },
  };
}

/** The first that stands at `index` or behind it. */
function takeFrom(queue: ResultQueue, index: number): FoundResult | undefined {
  const { found } = queue;
  for (let result = found[queue.next]; result !== undefined; result = found[queue.next]) {
    queue.next += 1;
    if (result.turnIndex >= index) {
      queue.isAnswered = true;
      return result;
    }
    queue.hasLeft = true;
  }
  return undefined;
}

function madeUpResult(call: ToolCallPart, receipt: Receipt): ToolResultPart {
  receipt.add(
    'repaired',
    'messages',
    told`Tool call ${call.id} has no result; "no result" was sent.`,
  );
  return {
    kind: 'tool-result',
    callId: call.id,
    name: call.name,
    content: [{ kind: 'text', text: 'no result' }],
    isError: true,
  };
}

function orphanError(callId: string): Error {
  return invalidRequest(
    'messages',
    `messages: a tool result names the call "${callId}", but no earlier assistant message holds ` +
      'a tool call with that id. Send the assistant message with the call before its result.',
  );
}
