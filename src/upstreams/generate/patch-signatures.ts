// Fits the thought signatures of native contents to the upstream: its own, none, or the stand-in.

import { readCarrier, SIGNATURE_SENTINEL } from '../../canonical/signature-carrier.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import type { EncodeTarget, PatchTarget } from '../upstream.ts';
import { editFields, editItems } from './edits.ts';

/** What the client returned wins, then what was remembered for its key, then the stand-in. */
export function patchSignatures(contents: JsonValue[], target: PatchTarget): JsonValue[] {
  const fitted = editItems(contents, (content) =>
    editParts(content, (parts) =>
      editFirstCall(
        editItems(parts, (part) => fitSignature(part, target)),
        (call) => recalled(call, target),
      ),
    ),
  );
  if (target.capabilities.unsignedCalls !== 'sentinel') return fitted;
  const prompt = fitted.findLastIndex(isPrompt);
  return editItems(fitted, (content, index) => {
    const isOpenStep = index > prompt && isJsonObject(content) && content.role === 'model';
    return isOpenStep
      ? editParts(content, (parts) => editFirstCall(parts, (call) => standIn(call, target)))
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
function fitSignature(part: JsonValue, target: EncodeTarget): JsonValue | undefined {
  if (!isJsonObject(part) || typeof part.thoughtSignature !== 'string') return part;
  const thoughtSignature = acceptedSignature(part.thoughtSignature, target);
  if (thoughtSignature === undefined && part.text === '') return undefined;
  return editFields(part, { thoughtSignature });
}

function acceptedSignature(value: string, target: EncodeTarget): string | undefined {
  const { capabilities, receipt, signatures } = target;
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
  const { family = capabilities.signatureFamily } = signature;
  if (family === capabilities.signatureFamily) return signature.value;
  receipt.add('dropped', path, `A thought signature of the ${family} family means nothing here.`);
  return undefined;
}

/** Only the first call of a step is checked, so only it is given what it lacks. */
function editFirstCall(parts: JsonValue[], edit: (call: JsonObject) => JsonObject): JsonValue[] {
  const first = parts.findIndex(isCall);
  if (first < 0) return parts;
  return editItems(parts, (part, index) =>
    index === first && isCall(part) && part.thoughtSignature === undefined ? edit(part) : part,
  );
}

/** The call with the signature its client did not carry (some drop it, none drops the id). */
function recalled(part: JsonObject, target: PatchTarget): JsonObject {
  const call = isJsonObject(part.functionCall) ? part.functionCall : {};
  if (target.signatures === 'stripped') return part;
  if (typeof call.id !== 'string' || typeof call.name !== 'string') return part;
  const found = target.recall.call(call.id, call.name);
  if (found === undefined || found.family !== target.capabilities.signatureFamily) return part;
  return { ...part, thoughtSignature: found.value };
}

function standIn(part: JsonObject, { receipt }: EncodeTarget): JsonObject {
  const reason = 'A function call without a signature was sent with the documented stand-in.';
  receipt.add('repaired', 'contents', reason);
  return { ...part, thoughtSignature: SIGNATURE_SENTINEL };
}

function isCall(part: JsonValue): part is JsonObject {
  return isJsonObject(part) && part.functionCall !== undefined;
}
