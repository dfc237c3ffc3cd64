// Gives calls, thoughts, texts and media back the signatures their clients could not carry, and what those vouch for.

import type {
  CanonicalRequest,
  MediaPart,
  Part,
  Signature,
  TextPart,
  ThinkingPart,
  ToolCallPart,
} from '../canonical/request.ts';
import {
  type ArgumentSchemas,
  declaredArguments,
  inputAsIssued,
  inputBehindShown,
  type PlacedSignature,
  precedingUserContent,
  type SignatureEntry,
  type SignatureTrust,
  tellReissued,
  trustOf,
} from '../canonical/signatures.ts';
import type { JsonObject } from '../lib/json.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import { once } from '../lib/once.ts';
import { mapTurns, type Transform, type TransformContext } from './transform.ts';

/**
 * What the client returned wins; then what was remembered for its key; thoughts left unsigned go.
 * After a refusal what the client returned damaged does not come back.
 */
export const restoreSignatures: Transform = (request, context) => {
  const { signatures, recall } = context;
  const schemas = declaredArguments(request.tools);
  const trust = trustOf(signatures, { carried: () => carriedIn(request), recall });
  let asked = () => '';
  /** Whether a call stands in this answer already: some protocols bring each as a turn of its own. */
  let hasCalled = false;
  return mapTurns(request, (turn, place) => {
    if (turn.role === 'user') asked = once(() => precedingUserContent(request.turns, place + 1));
    if (turn.role !== 'assistant') {
      hasCalled = false;
      return turn;
    }
    const trusted = turn.parts.map((part) => withoutRefused(part, { trust, context }));
    const firstCall = hasCalled ? undefined : trusted.find(isCall);
    hasCalled ||= firstCall !== undefined;
    const nextCalls = callsBehind(trusted);
    const parts = trusted
      .map((part, index) => {
        const surroundings = { nextCall: nextCalls[index], isFirstCall: part === firstCall };
        return restore(part, { ...surroundings, asked, trust, schemas }, context);
      })
      .filter((part) => isSendable(part, context));
    if (parts.length === 0) return undefined;
    return parts.length === turn.parts.length && parts.every((part, i) => part === turn.parts[i])
      ? turn
      : { ...turn, parts };
  });
};

/** Of each part the next call behind it. */
function callsBehind(parts: readonly Part[]): readonly (ToolCallPart | undefined)[] {
  const found: (ToolCallPart | undefined)[] = [];
  let next: ToolCallPart | undefined;
  for (const part of parts.toReversed()) {
    found.push(next);
    if (part.kind === 'tool-call') next = part;
  }
  return found.reverse();
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
  readonly nextCall: ToolCallPart | undefined;
  /** Of calls side by side upstreams sign the first. */
  readonly isFirstCall: boolean;
  /** What the turn answers. */
  readonly asked: () => string;
  readonly trust: SignatureTrust | undefined;
  readonly schemas: ArgumentSchemas;
}

function restore(part: Part, surroundings: Surroundings, context: TransformContext): Part {
  if (part.kind !== 'tool-call') return restoreSignature(part, surroundings, context);
  const entry = lookUpCall(part, context);
  const input = issuedInput(part, entry, { schemas: surroundings.schemas, context });
  const issued = input === undefined ? part : { ...part, input };
  return restoreSignature(
    withServerToolHistory(issued, entry, { surroundings, context }),
    surroundings,
    context,
  );
}

function lookUpCall(
  { id, name }: ToolCallPart,
  { recall }: TransformContext,
): SignatureEntry | undefined {
  return recall.lookup({ kind: 'call', id, name });
}

/** In place of the arguments the client returned; undefined where those go up. */
function issuedInput(
  { name, input }: ToolCallPart,
  entry: SignatureEntry | undefined,
  { schemas, context }: { readonly schemas: ArgumentSchemas; readonly context: TransformContext },
): JsonObject | undefined {
  if (context.signatures !== 'reissued') {
    return inputBehindShown(entry?.input, input, schemas.get(name)?.schema);
  }
  const issued = inputAsIssued(entry?.input, input);
  if (issued !== undefined) context.receipt.add('approximated', 'messages', tellReissued(name));
  return issued;
}

/** The call with what the model did by itself before it, which no client carries; its parts are signed as well. */
function withServerToolHistory(
  part: ToolCallPart,
  entry: SignatureEntry | undefined,
  {
    surroundings: { trust },
    context,
  }: { readonly surroundings: Surroundings; readonly context: TransformContext },
): ToolCallPart {
  if (trust?.recalls === false) return part;
  const trace = entry?.history;
  return trace?.family === context.capabilities.signatureFamily ? { ...part, trace } : part;
}

function restoreSignature(
  part: Part,
  { nextCall, isFirstCall, asked, trust }: Surroundings,
  context: TransformContext,
): Part {
  if (trust?.recalls === false) return part;
  if (!isSignable(part) || part.signature !== undefined) return part;
  const found =
    recallOf(part, asked, context) ??
    // Frameworks may give calls ids of their own, in the fashion of the vendor they talk to.
    (isFirstCall && part.kind === 'tool-call'
      ? context.recall.lookup({
          kind: 'answered-call',
          name: part.name,
          json: () => JSON.stringify(part.input),
          asked,
        })?.signature
      : undefined);
  if (found === undefined || found.family !== context.capabilities.signatureFamily) return part;
  if (part.kind === 'thinking' && !isOfNextCall(found, nextCall, context)) return part;
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
  switch (part.kind) {
    case 'tool-call':
      return lookUpCall(part, context)?.signature;
    case 'thinking':
      return context.recall.lookup({ kind: 'thought', text: part.text })?.signature;
    case 'text':
      return part.text === '' ? undefined : contentSignature(part.text, asked, context);
    case 'media':
      return part.source.kind === 'base64'
        ? contentSignature(part.source.base64, asked, context)
        : undefined;
    default:
      return part satisfies never;
  }
}

function contentSignature(
  content: string,
  asked: () => string,
  { recall }: TransformContext,
): Signature | undefined {
  return recall.lookup({ kind: 'content', content, asked })?.signature;
}

/**
 * False when the signature belongs to a call, but not to the one behind this thought: the same words
 * may have been thought before another call.
 */
function isOfNextCall(
  signature: Signature,
  call: ToolCallPart | undefined,
  context: TransformContext,
): boolean {
  if (signature.on !== 'tool-call') return true;
  const own =
    call === undefined ? undefined : (call.signature ?? lookUpCall(call, context)?.signature);
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

/** Drops signatures another model family issued, and thoughts whose signature nobody here issued. */
export const dropForeignSignatures: Transform = (request, context) =>
  mapTurns(request, (turn) => {
    if (turn.role !== 'assistant') return turn;
    const parts = turn.parts.map((part) => withoutForeignSignature(part, context));
    return parts.every((part, i) => part === turn.parts[i]) ? turn : { ...turn, parts };
  });

function withoutForeignSignature(part: Part, context: TransformContext): Part {
  if (!('signature' in part) || part.signature === undefined) return part;
  const { signature } = part;
  const issued =
    signature.family === undefined
      ? context.recall.lookup({ kind: 'value', value: signature.value })?.signature
      : undefined;
  const verdict = judge(signature.family ?? issued?.family, { part, context });
  if (verdict !== undefined) {
    context.receipt.add('dropped', 'messages', verdict);
    return { ...part, signature: undefined };
  }
  if (issued === undefined || issued.value === signature.value) return part;
  return { ...part, signature: { ...signature, value: issued.value } };
}

/** Why the signature cannot go upstream; undefined when it can. */
function judge(
  family: string | undefined,
  { part, context }: { readonly part: Part; readonly context: TransformContext },
): Sentence | undefined {
  const { signatureFamily } = context.capabilities;
  if (family !== undefined && family !== signatureFamily) {
    return told`A thought signature of the ${family} family means nothing to this model.`;
  }
  const isForeignThought = part.kind === 'thinking' && family === undefined;
  return isForeignThought ? told`A thought signature was not issued by this gateway.` : undefined;
}
