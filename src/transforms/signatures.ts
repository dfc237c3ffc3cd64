// Gives calls, thoughts, texts and media back the signatures their clients could not carry, and what those vouch for.

import type { Part, ServerToolHistory, Signature, ToolCallPart } from '../canonical/request.ts';
import {
  type ArgumentSchema,
  type ArgumentSchemas,
  declaredArguments,
  historyKey,
  inputAsIssued,
  inputBehindShown,
  meansTheSame,
  type PlacedSignature,
  precedingUserContent,
  type SignatureEntry,
  type SignatureKey,
  type SignatureTrust,
  tellReissued,
  trustOf,
  wrapCarrier,
} from '../canonical/signatures.ts';
import type { JsonObject } from '../lib/json.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import { once } from '../lib/once.ts';
import {
  type Conversation,
  mapTurns,
  type TransformContext,
  type TurnRule,
  withParts,
} from './transform.ts';

/**
 * What the client returned wins; then what was remembered for its key; thoughts left unsigned go.
 * After a refusal what the client returned damaged does not come back.
 */
export const restoreSignatures: TurnRule = (request, context) => {
  const { signatures, recall } = context;
  const restoring: Restoring = {
    context,
    trust: trustOf(signatures, { carried: () => carriedIn(request), recall }),
    schemas: once(() => declaredArguments(request.tools)),
  };
  let asked = () => '';
  /** Whether a call stands in this answer already: some protocols bring each as a turn of its own. */
  let hasCalled = false;
  return mapTurns(request, (turn, place) => {
    if (turn.role === 'user') asked = once(() => precedingUserContent(request.turns, place + 1));
    if (turn.role !== 'assistant') {
      hasCalled = false;
      if (turn.role === 'system' || turn.native === undefined) return turn;
    }
    const { trust } = restoring;
    const trusted: readonly Part[] =
      trust === undefined
        ? turn.parts
        : turn.parts.map((part) => withoutRefused(part, trust, context));
    const firstCall = hasCalled ? undefined : trusted.find(isCall);
    hasCalled ||= firstCall !== undefined;
    const parts = trusted
      .map((part, index) => {
        if (isRelayed(part) && (part !== firstCall || firstCall.id === '')) return part;
        const nextCall = () => trusted.slice(index + 1).find(isCall);
        const around = { nextCall, isFirstCall: part === firstCall, asked };
        return restore(part, around, restoring);
      })
      .filter((part) => isSendable(part, context));
    return withParts(turn, parts);
  });
};

function isCall(part: Part): part is ToolCallPart {
  return part.kind === 'tool-call';
}

/** Its client carries what it was sent; all it is given back is what upstreams ask for: the signature of a first call. */
function isRelayed(part: Part): boolean {
  return 'native' in part && part.native !== undefined;
}

function carriedIn({ turns }: Conversation): readonly PlacedSignature[] {
  return turns.flatMap(({ parts }) => parts.flatMap((part: Part) => placedSignature(part) ?? []));
}

function placedSignature(part: Part): PlacedSignature | undefined {
  if (!('signature' in part) || part.signature === undefined) return undefined;
  const { value } = part.signature;
  return isCall(part) && part.id !== '' ? { value, call: part } : { value };
}

interface Restoring {
  readonly context: TransformContext;
  /** Undefined while the upstream refused nothing: all signatures are trusted then. */
  readonly trust: SignatureTrust | undefined;
  /** Of the functions as the client declared them. */
  readonly schemas: () => ArgumentSchemas;
}

function withoutRefused(part: Part, trust: SignatureTrust, { receipt }: TransformContext): Part {
  const placed = placedSignature(part);
  if (placed === undefined || trust.keeps(placed)) return part;
  const reason = told`The upstream refused the thought signatures of this conversation.`;
  receipt.add('dropped', 'messages', reason);
  return 'signature' in part ? { ...part, signature: undefined } : part;
}

interface Surroundings {
  /** The call behind the part. */
  readonly nextCall: () => ToolCallPart | undefined;
  /** Of calls side by side upstreams sign the first. */
  readonly isFirstCall: boolean;
  /** What the turn answers. */
  readonly asked: () => string;
}

function restore(part: Part, around: Surroundings, restoring: Restoring): Part {
  if (isCall(part)) return restoreCall(part, around, restoring);
  const { context, trust } = restoring;
  const isSigned = 'signature' in part && part.signature !== undefined;
  const key = isSigned || trust?.recalls === false ? undefined : keyOf(part, around.asked, context);
  if (key === undefined) return part;
  const found = context.recall.lookup(key)?.signature;
  if (found?.family !== context.capabilities.signatureFamily) return part;
  if (part.kind === 'thinking' && found.on === 'tool-call') {
    // The same words may have been thought before another call.
    const call = around.nextCall();
    const own = call && (call.signature ?? lookUpCall(call, context)?.signature);
    if (own !== undefined && own.value !== found.value) return part;
  }
  return { ...part, signature: found } as Part;
}

/** Undefined for parts that are never signed, or that nothing is remembered of. */
function keyOf(
  part: Part,
  asked: () => string,
  { capabilities: { signatureFamily: family } }: TransformContext,
): SignatureKey | undefined {
  switch (part.kind) {
    case 'thinking':
      return { kind: 'thought', text: part.text, family };
    case 'text':
      return part.text === '' ? undefined : { kind: 'content', content: part.text, asked };
    case 'media':
      return part.source.kind === 'base64'
        ? { kind: 'content', content: part.source.base64, asked }
        : undefined;
    default:
      return undefined;
  }
}

/** With its arguments as issued and what the model did by itself before it, which no client carries. */
function restoreCall(
  part: ToolCallPart,
  { isFirstCall, asked }: Surroundings,
  { context, trust, schemas }: Restoring,
): ToolCallPart {
  const { signatureFamily } = context.capabilities;
  const { name } = part;
  const entry = lookUpCall(part, context);
  const input = issuedInput(part, entry, { schemas, context });
  const issued = input === undefined ? part : { ...part, input };
  if (trust?.recalls === false) return issued;
  const trace = isRelayed(part) ? undefined : lookUpHistory(part, entry, context);
  const traced = trace?.family === signatureFamily ? { ...issued, trace } : issued;
  if (part.signature !== undefined) return traced;
  // Frameworks may give calls ids of their own, in the fashion of the vendor they talk to.
  const isFound = entry?.signature !== undefined || isRelayed(part) || !isFirstCall;
  const json = () => JSON.stringify(traced.input);
  const signature = isFound
    ? entry?.signature
    : context.recall.lookup({ kind: 'answered-call', name, json, asked })?.signature;
  return signature?.family === signatureFamily ? { ...traced, signature } : traced;
}

function lookUpCall(
  { id, name }: ToolCallPart,
  { recall }: TransformContext,
): SignatureEntry | undefined {
  return recall.lookup({ kind: 'call', id, name });
}

function lookUpHistory(
  part: ToolCallPart,
  entry: SignatureEntry | undefined,
  { recall }: TransformContext,
): ServerToolHistory | undefined {
  const key = historyKey(part, () => JSON.stringify(part.input));
  return (key.kind === 'call' ? entry : recall.lookup(key))?.history;
}

/** In place of the arguments the client returned; undefined where those go up. */
function issuedInput(
  { name, input }: ToolCallPart,
  entry: SignatureEntry | undefined,
  { schemas, context }: Omit<Restoring, 'trust'>,
): JsonObject | undefined {
  if (entry?.input === undefined) return undefined;
  if (context.signatures === 'reissued') {
    const issued = inputAsIssued(entry.input, input);
    if (issued !== undefined) context.receipt.add('approximated', 'messages', tellReissued(name));
    return issued;
  }
  const declared = schemas().get(name);
  const shown = inputBehindShown(entry.input, input, declared?.schema);
  return shown ?? withoutDefaults(entry, input, declared);
}

/** What the model wrote, where the client filled in nothing but defaults: native answers go out as they come. */
function withoutDefaults(
  { input }: SignatureEntry,
  returned: JsonObject,
  declared: ArgumentSchema | undefined,
): JsonObject | undefined {
  if (declared?.hasDefaults() !== true) return undefined;
  const issued = inputAsIssued(input, returned);
  const isSame = issued !== undefined && meansTheSame(returned, issued, declared.schema);
  return isSame ? issued : undefined;
}

function isSendable(part: Part, { receipt }: TransformContext): boolean {
  if (part.kind === 'text') return part.text !== '' || part.signature !== undefined;
  if (part.kind !== 'thinking' || part.signature !== undefined) return true;
  const reason = told`Thinking without a valid signature cannot be sent upstream.`;
  receipt.add('dropped', 'messages', reason);
  return false;
}

/** Drops signatures another model family issued, and thoughts whose signature nobody here issued. */
export const dropForeignSignatures: TurnRule = (request, context) =>
  mapTurns(request, (turn) => {
    if (turn.role === 'system' || (turn.role === 'user' && turn.native === undefined)) return turn;
    const parts = turn.parts.map((part) => withoutForeignSignature(part, context));
    return withParts(turn, parts);
  });

function withoutForeignSignature(part: Part, context: TransformContext): Part {
  if (!('signature' in part) || part.signature === undefined) return part;
  const signature = asPassedOn(part.signature, part, context);
  if (signature !== part.signature) return { ...part, signature };
  const issued =
    signature.family === undefined
      ? context.recall.lookup({ kind: 'value', value: signature.value })?.signature
      : undefined;
  const verdict = judge(signature.family ?? issued?.family, part, context);
  if (verdict !== undefined) {
    context.receipt.add('dropped', 'messages', verdict);
    return { ...part, signature: undefined };
  }
  if (issued === undefined || issued.value === signature.value) return part;
  return { ...part, signature: { ...signature, value: issued.value } };
}

/** One that was relayed from a gateway behind this one, which names signatures as this one does: it is the upstream's own. */
function asPassedOn(signature: Signature, part: Part, context: TransformContext): Signature {
  const { signatureFamily } = context.capabilities;
  const { family, on } = signature;
  if (!isRelayed(part) || family === undefined || family === signatureFamily) return signature;
  const value = wrapCarrier(signature);
  const issuer = context.recall.lookup({ kind: 'value', value })?.signature?.family;
  return issuer === signatureFamily ? { value, family: issuer, on } : signature;
}

/** Why the signature cannot go upstream; undefined when it can. */
function judge(
  family: string | undefined,
  part: Part,
  context: TransformContext,
): Sentence | undefined {
  const { signatureFamily } = context.capabilities;
  if (family !== undefined && family !== signatureFamily) {
    return isRelayed(part)
      ? told`A thought signature of the ${family} family means nothing here.`
      : told`A thought signature of the ${family} family means nothing to this model.`;
  }
  const isForeignThought = part.kind === 'thinking' && family === undefined;
  return isForeignThought ? told`A thought signature was not issued by this gateway.` : undefined;
}
