// Rules of a conversation: roles, parts that hold exactly one thing, and what each kind must have.

import { invalidRequest } from '../../canonical/error.ts';
import { memberPath } from '../../canonical/field-reader.ts';
import { told } from '../../canonical/receipt.ts';
import type { JsonObject } from '../../lib/json.ts';
import { PART_DATA_FIELDS } from '../../wire/generate-fields.ts';
import { objectAt, objectsAt, textAt } from './native-fields.ts';
import type { Place } from './place.ts';

/** Accepted roles; `function` is the first API's role for results, `tool` that of the Python SDK's examples. */
const ROLES = new Map([
  ['', 'user'],
  ['user', 'user'],
  ['model', 'model'],
  ['function', 'user'],
  ['tool', 'user'],
]);

/** What each kind of datum cannot do without. */
const REQUIRED_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  inlineData: ['mimeType', 'data'],
  fileData: ['fileUri'],
  functionCall: ['name'],
  functionResponse: ['name', 'response'],
  executableCode: ['code'],
  codeExecutionResult: ['outcome'],
};

/** What only one of the two can have said. */
const OWNERS: ReadonlyMap<string, string> = new Map([
  ['functionCall', 'model'],
  ['executableCode', 'model'],
  ['codeExecutionResult', 'model'],
  ['toolCall', 'model'],
  ['functionResponse', 'user'],
]);

/**
 * Contents with an official role and valid parts. Empty text is left out, and so is a content of
 * nothing else: streams end with such a chunk, and SDK chats send it back as history.
 */
export function normalizeContents(contents: readonly JsonObject[], place: Place): JsonObject[] {
  const path = memberPath(place.path, 'contents');
  const result: JsonObject[] = [];
  contents.forEach((content, index) => {
    const inner = { path: `${path}[${index}]`, receipt: place.receipt };
    const given = readRole(content, inner);
    const parts = normalizeParts(content, inner);
    const role = ownerOfAll(parts) ?? given;
    if (role === given) checkOwners(parts, role, inner);
    else {
      const reason = told`Only the role ${role} can have said this.`;
      place.receipt.add('repaired', `${inner.path}.role`, reason);
    }
    if (parts.length > 0) result.push({ role, parts });
    else if (role === 'user' && index === contents.length - 1) {
      result.push(...standIn(result.at(-1), inner));
    }
  });
  if (result.length > 0) return result;
  throw invalidRequest(path, `${path} must hold at least one content.`, 'missing-field');
}

/** What stands for a last user content of nothing but empty text: without it the model would be last. */
function standIn(before: JsonObject | undefined, place: Place): JsonObject[] {
  if (before === undefined) {
    const field = `${place.path}.parts[0].text`;
    throw invalidRequest(field, `${place.path} holds nothing but empty text.`);
  }
  if (before.role === 'user') return [];
  place.receipt.add(
    'approximated',
    place.path,
    told`A user turn "…" stands for the empty last one.`,
  );
  return [{ role: 'user', parts: [{ text: '…' }] }];
}

/** System text has no role; an instruction without any text is none. */
export function normalizeSystemInstruction(
  content: JsonObject | undefined,
  place: Place,
): JsonObject | undefined {
  if (content === undefined || objectsAt(content, 'parts').length === 0) return undefined;
  const path = memberPath(place.path, 'systemInstruction');
  const parts = normalizeParts(content, { path, receipt: place.receipt })
    // Instructions are nobody's thoughts: a signature on them means nothing upstream.
    .map(({ thoughtSignature: _signature, ...part }) => part)
    .filter((part) => part.text !== '');
  return parts.length === 0 ? undefined : { parts };
}

function readRole(content: JsonObject, place: Place): string {
  const role = ROLES.get(textAt(content, 'role') ?? '');
  if (role !== undefined) return role;
  const path = `${place.path}.role`;
  const message = `${path} must be user or model; instructions go into systemInstruction.`;
  throw invalidRequest(path, message);
}

/** The role that alone can have said all of these parts; undefined when any could be of both. */
function ownerOfAll(parts: readonly JsonObject[]): string | undefined {
  const [first, ...others] = parts.map(ownerOf);
  return others.every((owner) => owner === first) ? first : undefined;
}

function ownerOf(part: JsonObject): string | undefined {
  if (part.thought === true) return 'model';
  return OWNERS.get(datumOf(part));
}

function datumOf(part: JsonObject): string {
  return PART_DATA_FIELDS.find((name) => part[name] !== undefined) ?? '';
}

function checkOwners(parts: readonly JsonObject[], role: string, place: Place): void {
  for (const [index, part] of parts.entries()) {
    const owner = ownerOf(part) ?? role;
    if (owner === role) continue;
    const what = part.thought === true ? 'thought' : datumOf(part);
    const path = `${place.path}.parts[${index}]`;
    throw invalidRequest(path, `${path}: a ${what} belongs into a content of the role ${owner}.`);
  }
}

/** The parts of one content, without empty text. @throws GatewayError (invalid-request) */
export function normalizeParts(content: JsonObject, place: Place): JsonObject[] {
  const parts = objectsAt(content, 'parts');
  if (parts.length === 0) {
    const path = `${place.path}.parts`;
    throw invalidRequest(path, `${path} must hold at least one part.`, 'missing-field');
  }
  const result: JsonObject[] = [];
  parts.forEach((part, index) => {
    const checked = normalizePart(part, {
      path: `${place.path}.parts[${index}]`,
      receipt: place.receipt,
    });
    if (checked !== undefined) result.push(checked);
  });
  return result;
}

function normalizePart(part: JsonObject, place: Place): JsonObject | undefined {
  const fields = PART_DATA_FIELDS.filter((field) => part[field] !== undefined);
  const [field, second] = fields;
  if (field !== undefined && second !== undefined) {
    const message = `${place.path} holds both ${field} and ${second}; a part holds one.`;
    throw invalidRequest(place.path, message);
  }
  const isSigned = part.thoughtSignature !== undefined;
  if (field === undefined) {
    if (isSigned) return { text: '', ...part };
    const message = `${place.path} must hold one of ${PART_DATA_FIELDS.join(', ')}.`;
    throw invalidRequest(place.path, message, 'missing-field');
  }
  if (part.text === '' && !isSigned) return undefined;
  checkDatum(part, field, place);
  return part;
}

function checkDatum(part: JsonObject, field: string, place: Place): void {
  const datum = objectAt(part, field);
  if (datum === undefined) return;
  const path = `${place.path}.${field}`;
  for (const member of REQUIRED_MEMBERS[field] ?? []) requireMember(datum, member, path);
  objectsAt(datum, 'parts').forEach((media, index) => {
    checkMedia(media, `${path}.parts[${index}]`);
  });
}

function checkMedia(media: JsonObject, path: string): void {
  const inline = objectAt(media, 'inlineData');
  const file = objectAt(media, 'fileData');
  if ((inline === undefined) === (file === undefined)) {
    throw invalidRequest(path, `${path} must hold either inlineData or fileData.`);
  }
  if (inline !== undefined) {
    for (const member of ['mimeType', 'data']) requireMember(inline, member, `${path}.inlineData`);
  }
  if (file !== undefined) requireMember(file, 'fileUri', `${path}.fileData`);
}

function requireMember(datum: JsonObject, member: string, path: string): void {
  const value = datum[member];
  if (value !== undefined && value !== '') return;
  const field = `${path}.${member}`;
  throw invalidRequest(field, `${field} is required.`, 'missing-field');
}
