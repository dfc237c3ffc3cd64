// Gives calls, thoughts, texts and media back the signatures their clients could not carry, and what those vouch for.

import { askedBefore } from '../canonical/asked-before.ts';
import { told } from '../canonical/receipt.ts';
import {
  type PlacedSignature,
  type SignatureTrust,
  tellReissued,
  trustOf,
} from '../canonical/refused-signatures.ts';
import type {
  CanonicalRequest,
  MediaPart,
  Part,
  Signature,
  TextPart,
  ThinkingPart,
  Tool,
  ToolCallPart,
  Turn,
} from '../canonical/request.ts';
import { argumentSchema } from '../canonical/returned-arguments.ts';
import type { JsonObject } from '../lib/json.ts';
import { once } from '../lib/once.ts';
import { mapTurns, type Transform, type TransformContext } from './transform.ts';

/**
 * What the client returned wins; then what was remembered for its key; thoughts left unsigned go.
 * After a refusal what the client returned damaged does not come back.
 */
export const restoreSignatures: Transform = (request, context) => {
  const { signatures, recall } = context;
  const { tools } = request;
  const trust = trustOf(signatures, { carried: () => carriedIn(request), recall });
  return mapTurns(request, (turn, place) => {
    if (turn.role !== 'assistant') return turn;
    const asked = once(() => askedBefore(request.turns, place));
    const trusted = turn.parts.map((part) => withoutRefused(part, { trust, context }));
    const firstCall = hasCalled(request.turns, place) ? undefined : trusted.find(isCall);
    const parts = trusted
      .map((part, index) => {
        const behind = trusted.slice(index + 1);
        const isFirstCall = part === firstCall;
        return restore(part, { behind, isFirstCall, asked, trust, tools }, context);
      })
      .filter((part) => isSendable(part, context));
    if (parts.length === 0) return undefined;
    return parts.length === turn.parts.length && parts.every((part, i) => part === turn.parts[i])
      ? turn
      : { ...turn, parts };
  });
};

/** Whether a call stands in the same answer before `place`: some protocols bring each as a turn of its own. */
function hasCalled(turns: readonly Turn[], place: number): boolean {
  for (let before = place - 1; turns[before]?.role === 'assistant'; before -= 1) {
    if (turns[before]?.parts.some(isCall) === true) return true;
  }
  return false;
}

function isCall({ kind }: Part): boolean {
  return kind === 'tool-call';
}

function carriedIn({ turns }: CanonicalRequest): readonly PlacedSignature[] {
  const parts = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []));
  return parts.flatMap((part) => placedSignature(part) ?? []);
}

function placedSignature(part: Part): PlacedSignature | undefined {
  if (!('signature' in part) || part.signature === undefined) return undefined;
  const { value } = part.signature;
  return part.kind === 'tool-call' ? { value, call: part } : { value };
}

function withoutRefused(
  part: Part,
  {
    trust,
    context,
  }: { readonly trust: SignatureTrust | undefined; readonly context: TransformContext },
): Part {
  if (trust === undefined || !('signature' in part)) return part;
  const placed = placedSignature(part);
  if (placed === undefined || trust.keeps(placed)) return part;
  const reason = told`The upstream refused the thought signatures of this conversation.`;
  context.receipt.add('dropped', 'messages', reason);
  return { ...part, signature: undefined };
}

interface Surroundings {
  readonly behind: readonly Part[];
  /** Of calls side by side upstreams sign the first. */
  readonly isFirstCall: boolean;
  /** What the turn answers. */
  readonly asked: () => string;
  readonly trust: SignatureTrust | undefined;
  readonly tools: readonly Tool[];
}

function restore(part: Part, surroundings: Surroundings, context: TransformContext): Part {
  if (part.kind !== 'tool-call') return restoreSignature(part, surroundings, context);
  const input =
    context.signatures === 'reissued'
      ? reissuedInput(part, context)
      : sameInput(part, surroundings.tools, context);
  const issued = input === undefined ? part : { ...part, input };
  return restoreSignature(traced(issued, surroundings, context), surroundings, context);
}

function sameInput(
  { id, name, input }: ToolCallPart,
  tools: readonly Tool[],
  { recall }: TransformContext,
): JsonObject | undefined {
  return recall.input({ id, name, schema: argumentSchema(tools, name) }, input);
}

function reissuedInput(
  { id, name, input }: ToolCallPart,
  { recall, receipt }: TransformContext,
): JsonObject | undefined {
  const issued = recall.issuedInput({ id, name }, input);
  if (issued !== undefined) receipt.add('approximated', 'messages', tellReissued(name));
  return issued;
}

/** The call with what the model did by itself before it, which no client carries; its parts are signed as well. */
function traced(
  part: ToolCallPart,
  { trust }: Surroundings,
  { recall, capabilities }: TransformContext,
): ToolCallPart {
  if (trust?.recalls === false) return part;
  const trace = recall.trace(part.id, part.name);
  return trace?.family === capabilities.signatureFamily ? { ...part, trace } : part;
}

function restoreSignature(
  part: Part,
  { behind, isFirstCall, asked, trust }: Surroundings,
  context: TransformContext,
): Part {
  if (trust?.recalls === false) return part;
  if (!isSignable(part) || part.signature !== undefined) return part;
  const found =
    recallOf(part, asked, context) ??
    // Frameworks may give calls ids of their own, in the fashion of the vendor they talk to.
    (isFirstCall && part.kind === 'tool-call'
      ? context.recall.answeredCall(part, asked)
      : undefined);
  if (found === undefined || found.family !== context.capabilities.signatureFamily) return part;
  if (part.kind === 'thinking' && !isOfNextCall(found, behind, context)) return part;
  return { ...part, signature: found };
}

type SignablePart = ToolCallPart | ThinkingPart | TextPart | MediaPart;

function isSignable(part: Part): part is SignablePart {
  const { kind } = part;
  return kind === 'tool-call' || kind === 'thinking' || kind === 'text' || kind === 'media';
}

function recallOf(
  part: SignablePart,
  asked: () => string,
  context: TransformContext,
): Signature | undefined {
  const { recall } = context;
  switch (part.kind) {
    case 'tool-call':
      return recallCall(part, context);
    case 'thinking':
      return recall.thought(part.text);
    case 'text':
      return part.text === '' ? undefined : recall.content(part.text, asked());
    case 'media':
      return part.source.kind === 'base64'
        ? recall.content(part.source.base64, asked())
        : undefined;
    default:
      return part satisfies never;
  }
}

function recallCall({ id, name }: ToolCallPart, { recall }: TransformContext) {
  return recall.call(id, name);
}

/**
 * False when the signature belongs to a call, but not to the one behind this thought: the same words
 * may have been thought before another call.
 */
function isOfNextCall(
  signature: Signature,
  behind: readonly Part[],
  context: TransformContext,
): boolean {
  if (signature.on !== 'tool-call') return true;
  const call = behind.find((part) => part.kind === 'tool-call');
  const own = call === undefined ? undefined : (call.signature ?? recallCall(call, context));
  return own === undefined || own.value === signature.value;
}

function isSendable(part: Part, { receipt }: TransformContext): boolean {
  if (part.kind !== 'thinking' || part.signature !== undefined) return true;
  receipt.add(
    'dropped',
    'messages',
    told`Thinking without a valid signature cannot be sent upstream.`,
  );
  return false;
}
