// Fits the thought signatures of native contents to the upstream: its own, none, or the stand-in.

import { readCarrier, SIGNATURE_SENTINEL } from '../../canonical/signature-carrier.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import type { EncodeTarget, PatchTarget } from '../upstream.ts';
import { editFields, editItems } from './edits.ts';
import { mergeContents } from './merge-contents.ts';
import { patchResponses } from './patch-responses.ts';

/**
 * What the client returned wins, then what was remembered for its key, then the stand-in. Contents
 * that are one step are put together, also those between which only a lost signature stood, and
 * paired with their responses: these tell which calls belong to the turn in progress.
 */
export function patchSignatures(contents: JsonValue[], target: PatchTarget): JsonValue[] {
  const carried = editItems(contents, (content) =>
    editParts(content, (parts) => editItems(parts, (part) => fitSignature(part, target))),
  );
  const paired = patchResponses(mergeContents(carried), target);
  const fitted = editItems(paired, (content) =>
    editParts(content, (parts) => editFirstCall(parts, (call) => recalled(call, target))),
  );
  if (target.capabilities.unsignedCalls !== 'sentinel' && !target.standsIn) return fitted;
  const prompt = target.standsIn ? -1 : fitted.findLastIndex(isPrompt);
  return editItems(fitted, (content, index) => {
    const isOpenStep = index > prompt && isJsonObject(content) && content.role === 'model';
    return isOpenStep
      ? editParts(content, (parts) =>
          editFirstCall(parts, (call) =>
            call.thoughtSignature === undefined ? standIn(call, target) : call,
          ),
        )
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

/** Undefined when a part said nothing beside a signature that cannot be sent. */
function fitSignature(part: JsonValue, target: PatchTarget): JsonValue | undefined {
  if (!isJsonObject(part) || typeof part.thoughtSignature !== 'string') return part;
  const thoughtSignature = acceptedSignature(part.thoughtSignature, target);
  if (thoughtSignature === undefined && part.text === '') return undefined;
  return editFields(part, { thoughtSignature });
}

/** Native answers carry bare values: whose they are is known only from when they were issued. */
function acceptedSignature(value: string, target: PatchTarget): string | undefined {
  const { capabilities, receipt, recall, signatures } = target;
  const path = 'contents';
  const signature = readCarrier(value);
  if (signature === undefined) {
    return value !== '' && capabilities.unsignedCalls === 'sentinel' ? value : undefined;
  }
  if (signatures === 'stripped') {
    receipt.add(
      'dropped',
      path,
      'The upstream refused the thought signatures of this conversation.',
    );
    return undefined;
  }
  const issued = signature.family === undefined ? recall.issued(value) : undefined;
  const family = signature.family ?? issued?.family ?? capabilities.signatureFamily;
  if (family === capabilities.signatureFamily) return issued?.value ?? signature.value;
  receipt.add('dropped', path, `A thought signature of the ${family} family means nothing here.`);
  return undefined;
}

/** Only the first call of a step is checked, so only it is given what it lacks. */
function editFirstCall(parts: JsonValue[], edit: (call: JsonObject) => JsonObject): JsonValue[] {
  const first = parts.findIndex(isCall);
  if (first < 0) return parts;
  return editItems(parts, (part, index) => (index === first && isCall(part) ? edit(part) : part));
}

/** A stand-in is no signature: what was remembered is better. */
function hasOwnSignature({ thoughtSignature }: JsonObject): boolean {
  return typeof thoughtSignature === 'string' && readCarrier(thoughtSignature) !== undefined;
}

/**
 * The call with the signature its client did not carry (some drop it, none drops the id), and with
 * the arguments that vouches for, where another protocol showed them repaired.
 */
function recalled(part: JsonObject, target: PatchTarget): JsonObject {
  const call = isJsonObject(part.functionCall) ? part.functionCall : {};
  const { id, name, args } = call;
  if (typeof id !== 'string' || typeof name !== 'string') return part;
  const input = target.recall.input({ id, name }, isJsonObject(args) ? args : {});
  const issued = input === undefined ? part : { ...part, functionCall: { ...call, args: input } };
  if (target.signatures === 'stripped' || hasOwnSignature(part)) return issued;
  const found = target.recall.call(id, name);
  if (found === undefined || found.family !== target.capabilities.signatureFamily) return issued;
  return { ...issued, thoughtSignature: found.value };
}

function standIn(part: JsonObject, { receipt }: EncodeTarget): JsonObject {
  const reason = 'A function call without a signature was sent with the documented stand-in.';
  receipt.add('repaired', 'contents', reason);
  return { ...part, thoughtSignature: SIGNATURE_SENTINEL };
}

function isCall(part: JsonValue): part is JsonObject {
  return isJsonObject(part) && part.functionCall !== undefined;
}
