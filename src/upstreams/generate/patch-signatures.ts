// Fits the thought signatures of native contents to the upstream: its own, none, or the stand-in.

import { told } from '../../canonical/receipt.ts';
import {
  type PlacedSignature,
  type SignatureTrust,
  trustOf,
} from '../../canonical/refused-signatures.ts';
import type { Signature } from '../../canonical/request.ts';
import type { ArgumentSchemas } from '../../canonical/returned-arguments.ts';
import { readCarrier, SIGNATURE_SENTINEL } from '../../canonical/signature-carrier.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { once } from '../../lib/once.ts';
import type { EncodeTarget, PatchTarget } from '../upstream.ts';
import { editFields, editItems } from './edits.ts';
import { mergeContents } from './merge-contents.ts';
import { type CallName, issuedInput, nativeArguments } from './native-arguments.ts';
import { patchResponses } from './patch-responses.ts';

/** What each part is fitted by. */
interface Fitting {
  readonly target: PatchTarget;
  /** Of the functions as the client declared them. */
  readonly schemas: () => ArgumentSchemas;
  /** Undefined while the upstream refused nothing: all signatures are trusted then. */
  readonly trust: SignatureTrust | undefined;
}

/**
 * What the client returned wins, then what was remembered for its key, then the stand-in; after a
 * refusal what the client returned damaged does not come back. Contents that are one step are put
 * together, also those between which only a lost signature stood, and paired with their responses:
 * these tell which calls belong to the turn in progress.
 */
export function patchSignatures(
  contents: JsonValue[],
  tools: JsonValue | undefined,
  target: PatchTarget,
): JsonValue[] {
  const { signatures, recall } = target;
  const trust = trustOf(signatures, { carried: () => carriedIn(contents, target), recall });
  const schemas = once(() => nativeArguments(tools));
  const fitting = { target, schemas, trust };
  const carried = editItems(contents, (content) =>
    editParts(content, (parts) => editItems(parts, (part) => fitSignature(part, fitting))),
  );
  const paired = patchResponses(mergeContents(carried), target);
  const fitted = editItems(paired, (content) =>
    editParts(content, (parts) =>
      editFirstCall(withoutIdleStandIns(parts), (call) => recalled(call, fitting)),
    ),
  );
  if (target.capabilities.unsignedCalls !== 'sentinel' && !target.standsIn) return fitted;
  const prompt = target.standsIn ? -1 : fitted.findLastIndex(isPrompt);
  return editItems(fitted, (content, index) => {
    const isOpenStep = index > prompt && isJsonObject(content) && content.role === 'model';
    return isOpenStep
      ? editParts(content, (parts) => {
          const called = editFirstCall(parts, (call) =>
            call.thoughtSignature === undefined ? standIn(call, target) : call,
          );
          return target.standsIn ? editDrawn(called, target) : called;
        })
      : content;
  });
}

/** The content with its parts edited; undefined when an edit left none. */
function editParts(
  content: JsonValue,
  edit: (parts: JsonValue[]) => JsonValue[],
): JsonValue | undefined {
  if (!isJsonObject(content) || !Array.isArray(content.parts)) return content;
  const parts = edit(content.parts);
  if (parts.length === 0 && content.parts.length > 0) return undefined;
  return editFields(content, { parts });
}

/** User content that is no answer to a call: the turn in progress begins behind the last one. */
function isPrompt(content: JsonValue): boolean {
  if (!isJsonObject(content) || content.role === 'model') return false;
  const parts = Array.isArray(content.parts) ? content.parts : [];
  return !parts.some((part) => isJsonObject(part) && part.functionResponse !== undefined);
}

function carriedIn(contents: JsonValue[], target: PatchTarget): readonly PlacedSignature[] {
  const parts = contents.flatMap((content) =>
    isJsonObject(content) && Array.isArray(content.parts) ? content.parts : [],
  );
  return parts.flatMap((part) => placedSignature(part, target) ?? []);
}

/** What the part carries of the upstream's own family. */
function placedSignature(part: JsonValue, target: PatchTarget): PlacedSignature | undefined {
  if (!isJsonObject(part) || typeof part.thoughtSignature !== 'string') return undefined;
  const signature = readSignature(part.thoughtSignature, target);
  if (signature?.family !== target.capabilities.signatureFamily) return undefined;
  return { value: signature.value, call: callName(part) };
}

/** Undefined when a part said nothing beside a signature that cannot be sent. */
function fitSignature(part: JsonValue, fitting: Fitting): JsonValue | undefined {
  if (!isJsonObject(part) || typeof part.thoughtSignature !== 'string') return part;
  const thoughtSignature = acceptedSignature(part, part.thoughtSignature, fitting);
  if (thoughtSignature === undefined && part.text === '') return undefined;
  return editFields(part, { thoughtSignature });
}

function acceptedSignature(
  part: JsonObject,
  carried: string,
  { target, trust }: Fitting,
): string | undefined {
  const { capabilities, receipt } = target;
  const signature = readSignature(carried, target);
  if (signature === undefined) {
    return carried !== '' && capabilities.unsignedCalls === 'sentinel' ? carried : undefined;
  }
  const { value, family } = signature;
  if (family !== undefined && family !== capabilities.signatureFamily) {
    const reason = told`A thought signature of the ${family} family means nothing here.`;
    receipt.add('dropped', 'contents', reason);
    return undefined;
  }
  if (trust === undefined || trust.keeps({ value, call: callName(part) })) return value;
  const reason = told`The upstream refused the thought signatures of this conversation.`;
  receipt.add('dropped', 'contents', reason);
  return undefined;
}

/**
 * Native answers carry bare values: whose they are is known only from when they were issued, and so
 * is how they were spelt.
 */
function readSignature(
  carried: string,
  { capabilities, recall }: PatchTarget,
): Signature | undefined {
  const signature = readCarrier(carried);
  if (signature === undefined || signature.family !== undefined) return signature;
  const { value, family = capabilities.signatureFamily } =
    recall.issued(signature.value) ?? signature;
  return { ...signature, value, family };
}

/** Only the first call of a step is checked, so only it is given what it lacks. */
function editFirstCall(parts: JsonValue[], edit: (call: JsonObject) => JsonObject): JsonValue[] {
  const first = parts.findIndex(isCall);
  if (first < 0) return parts;
  return editItems(parts, (part, index) => (index === first && isCall(part) ? edit(part) : part));
}

/**
 * Of the calls of a step only the first is asked for a signature. A client that puts a stand-in on
 * the others too says nothing with it, and what knows no stand-ins would refuse them.
 */
function withoutIdleStandIns(parts: JsonValue[]): JsonValue[] {
  const first = parts.findIndex(isCall);
  return editItems(parts, (part, index) =>
    index > first && isCall(part) && !hasOwnSignature(part)
      ? editFields(part, { thoughtSignature: undefined })
      : part,
  );
}

/** A stand-in is no signature: what was remembered is better. */
function hasOwnSignature({ thoughtSignature }: JsonObject): boolean {
  return typeof thoughtSignature === 'string' && readCarrier(thoughtSignature) !== undefined;
}

/**
 * The call with the signature its client did not carry (some drop it, none drops the id), and with
 * the arguments that vouches for.
 */
function recalled(part: JsonObject, { target, schemas, trust }: Fitting): JsonObject {
  const named = callName(part);
  if (named === undefined || !isJsonObject(part.functionCall)) return part;
  const input = issuedInput(named, part.functionCall, { schemas, target });
  const issued =
    input === undefined ? part : { ...part, functionCall: { ...part.functionCall, args: input } };
  if (trust?.recalls === false || hasOwnSignature(part)) return issued;
  const found = target.recall.call(named.id, named.name);
  if (found === undefined || found.family !== target.capabilities.signatureFamily) return issued;
  return { ...issued, thoughtSignature: found.value };
}

/** Undefined for what is no call, and for a call nothing can be remembered of. */
function callName({ functionCall }: JsonObject): CallName | undefined {
  if (!isJsonObject(functionCall)) return undefined;
  const { id, name } = functionCall;
  return typeof id === 'string' && typeof name === 'string' ? { id, name } : undefined;
}

function standIn(part: JsonObject, { receipt }: EncodeTarget): JsonObject {
  const reason = told`A function call without a signature was sent with the documented stand-in.`;
  receipt.add('repaired', 'contents', reason);
  return { ...part, thoughtSignature: SIGNATURE_SENTINEL };
}

/**
 * Stand-ins for what models that draw want signed: each picture, and the text before the first
 * (ai.google.dev, "Image generation", thought signatures; vercel/ai#10441).
 */
function editDrawn(parts: JsonValue[], target: EncodeTarget): JsonValue[] {
  const first = parts.findIndex((part) => isJsonObject(part) && part.thought !== true);
  return editItems(parts, (part, index) => {
    if (!isJsonObject(part) || part.thoughtSignature !== undefined || part.thought === true)
      return part;
    const isFirstText =
      index === first && target.capabilities.drawsImages && part.text !== undefined;
    if (part.inlineData === undefined && !isFirstText) return part;
    const reason = told`What was drawn or said without a signature was sent with the documented stand-in.`;
    target.receipt.add('repaired', 'contents', reason);
    return { ...part, thoughtSignature: SIGNATURE_SENTINEL };
  });
}

function isCall(part: JsonValue): part is JsonObject {
  return isJsonObject(part) && part.functionCall !== undefined;
}
