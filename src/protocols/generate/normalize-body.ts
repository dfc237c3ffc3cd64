// A native request body in the API's official spelling, validated: what the relay lane sends on.

import { invalidRequest } from '../../canonical/error.ts';
import { plainModelName } from '../../canonical/model.ts';
import { memberPath, NotedMemo, type Receipt } from '../../canonical/receipt.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { shareAs } from '../../lib/shared-json.ts';
import { PART_DATA_FIELDS } from '../../wire/generate-request.ts';
import { normalizeMessage, objectAt, objectsAt, type Place, textAt, textsAt } from './schema.ts';

const WRAPPER_KEYS = ['generateContentRequest', 'generate_content_request'];

/**
 * Accepts camelCase, snake_case and the neutral words at every level; gives official camelCase.
 * Free-form JSON (arguments, results, JSON schemas, labels) is the client's own object, not a copy.
 * Normalising twice gives the same body.
 * @throws GatewayError (invalid-request) naming the field.
 */
export function normalizeBody(body: JsonObject, model: string, receipt: Receipt): JsonObject {
  return normalizeRequest(body, model, { path: '', receipt });
}

/** A countTokens body: the request it counts, and the field it stands in ('' for the body itself). */
interface CountBody {
  readonly body: JsonObject;
  readonly wrapperKey: string;
}

/**
 * As normalizeBody, for a countTokens body: the request itself, or `{generateContentRequest}`.
 * @throws GatewayError (invalid-request) naming the field.
 */
export function normalizeCountBody(body: JsonObject, model: string, receipt: Receipt): CountBody {
  const wrapperKey = WRAPPER_KEYS.find((key) => (body[key] ?? null) !== null);
  if (wrapperKey === undefined) {
    return { body: normalizeRequest(body, model, { path: '', receipt }), wrapperKey: '' };
  }
  if ((body.contents ?? null) !== null) {
    const message = `Send either contents or ${wrapperKey}, not both.`;
    throw invalidRequest(wrapperKey, message);
  }
  for (const [key, value] of Object.entries(body)) {
    if (key === wrapperKey || value === null || (key === 'model' && isSameModel(value, model)))
      continue;
    receipt.add('dropped', key, told`Only what stands in ${wrapperKey} is counted.`);
  }
  const request = body[wrapperKey] ?? null;
  return { body: normalizeRequest(request, model, { path: wrapperKey, receipt }), wrapperKey };
}

function normalizeRequest(value: JsonValue, model: string, place: Place): JsonObject {
  const request = normalizeMessage(value, 'Request', place);
  rejectCachedContent(request, place);
  noteRoutingFields(request, model, place);
  const { model: _model, project: _project, cachedContent: _none, ...body } = request;
  body.contents = normalizeContents(objectsAt(request, 'contents'), place);
  normalizeSections(body, place);
  return body;
}

function normalizeSections(body: JsonObject, place: Place): void {
  const config = objectAt(body, 'generationConfig');
  if (config !== undefined) body.generationConfig = normalizeGenerationConfig(config, place);
  const system = normalizeSystemInstruction(objectAt(body, 'systemInstruction'), place);
  if (system === undefined) delete body.systemInstruction;
  else body.systemInstruction = system;
  const tools = normalizeTools(body, place);
  if (tools.length === 0) delete body.tools;
  else body.tools = tools;
}

/** An empty name names no cache: what proto JSON writes for a field that was never set. */
function rejectCachedContent(request: JsonObject, place: Place): void {
  if (!textAt(request, 'cachedContent')) return;
  const message =
    'cachedContent is not supported: a cache belongs to one upstream account. Send the content itself; requests of one session stay on one account and are cached implicitly.';
  throw invalidRequest(memberPath(place.path, 'cachedContent'), message, 'unsupported');
}

/** The path names the model and the pool names the project; a body saying otherwise is overruled. */
function noteRoutingFields(request: JsonObject, model: string, place: Place): void {
  if (request.model !== undefined && !isSameModel(request.model, model)) {
    const path = memberPath(place.path, 'model');
    place.receipt.add('dropped', path, told`The model is the one in the path.`);
  }
  if (request.project !== undefined) {
    const path = memberPath(place.path, 'project');
    place.receipt.add('dropped', path, told`The project is the one of the account that is used.`);
  }
}

function isSameModel(value: JsonValue, model: string): boolean {
  return typeof value === 'string' && plainModelName(value) === model;
}

/**
 * The config with at most one thinking control and one schema form, and `responseFormat` folded
 * into the older fields.
 */
function normalizeGenerationConfig(config: JsonObject, place: Place): JsonObject {
  const inner = { path: memberPath(place.path, 'generationConfig'), receipt: place.receipt };
  checkStopSequences(config, inner);
  const { responseFormat: _responseFormat, ...rest } = config;
  const formats = objectsAt(config, 'responseFormat');
  const result = { ...rest, ...foldResponseFormats(formats, rest, inner) };
  keepOneSchema(result, inner);
  const thinking = objectAt(result, 'thinkingConfig');
  if (thinking !== undefined) result.thinkingConfig = normalizeThinking(thinking, inner);
  return result;
}

function checkStopSequences(config: JsonObject, place: Place): void {
  const index = textsAt(config, 'stopSequences').indexOf('');
  if (index === -1) return;
  const path = `${place.path}.stopSequences[${index}]`;
  throw invalidRequest(path, `${path} must not be empty.`);
}

function keepOneSchema(config: JsonObject, place: Place): void {
  if (config.responseSchema === undefined || config.responseJsonSchema === undefined) return;
  delete config.responseSchema;
  const path = `${place.path}.responseSchema`;
  place.receipt.add('dropped', path, told`responseJsonSchema is given too and wins.`);
}

/** The service refuses a budget and a level together; here the exact figure wins. */
function normalizeThinking(thinking: JsonObject, place: Place): JsonObject {
  const { thinkingLevel: _level, ...rest } = thinking;
  const level = textAt(thinking, 'thinkingLevel');
  if (level === undefined || level === 'THINKING_LEVEL_UNSPECIFIED') return rest;
  if (thinking.thinkingBudget === undefined) return thinking;
  const path = `${place.path}.thinkingConfig.thinkingLevel`;
  place.receipt.add('dropped', path, told`thinkingBudget is given too and wins.`);
  return rest;
}

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
function normalizeContents(contents: readonly JsonObject[], place: Place): JsonObject[] {
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
    told`A user turn "\u2026" stands for the empty last one.`,
  );
  return [{ role: 'user', parts: [{ text: '…' }] }];
}

/** System text has no role; an instruction without any text is none. */
function normalizeSystemInstruction(
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

/** The two forms of one schema: the JSON Schema form says more and wins. */
const SCHEMA_FORMS = [
  ['parameters', 'parametersJsonSchema'],
  ['response', 'responseJsonSchema'],
] as const;

const toolLists = new NotedMemo<JsonObject[]>();

function normalizeTools(body: JsonObject, { path, receipt: given }: Place): JsonObject[] {
  const { tools } = body;
  if (!Array.isArray(tools)) return normalizeToolList([], { path, receipt: given });
  return toolLists.get(tools, { variant: path, receipt: given }, (receipt) =>
    shareAs(tools, normalizeToolList(objectsAt(body, 'tools'), { path, receipt })),
  );
}

/** Elements left empty stay, so that the others keep the client's indices; they are not sent on. */
function normalizeToolList(tools: readonly JsonObject[], place: Place): JsonObject[] {
  const path = memberPath(place.path, 'tools');
  const { receipt } = place;
  const normalized = tools.map((tool, index) =>
    normalizeTool(tool, { path: `${path}[${index}]`, receipt }),
  );
  const isEmpty = normalized.every((tool) => Object.keys(tool).length === 0);
  if (isEmpty) refuseNameless(tools, path);
  return isEmpty ? [] : mergeSearches(normalized, { path, receipt });
}

/** Functions without a name are left out where others are left; alone they are the client's mistake. */
function refuseNameless(tools: readonly JsonObject[], path: string): void {
  const index = tools.findIndex((tool) => objectsAt(tool, 'functionDeclarations').length > 0);
  if (index === -1) return;
  const name = `${path}[${index}].functionDeclarations[0].name`;
  throw invalidRequest(name, `${name} is required: every function has a name.`, 'missing-field');
}

/** Clients unsure of the right word send several: one search is left, the first one's options win. */
function mergeSearches(tools: readonly JsonObject[], { path, receipt }: Place): JsonObject[] {
  const searches = tools.map((tool) => objectAt(tool, 'googleSearch'));
  const first = searches.findIndex((search) => search !== undefined);
  const merged: JsonObject = {};
  for (const [index, search] of searches.entries()) {
    for (const [option, value] of Object.entries(search ?? {})) {
      if (!Object.hasOwn(merged, option)) merged[option] = value;
      else {
        const reason = told`An earlier search tool sets this option.`;
        receipt.add('dropped', `${path}[${index}].googleSearch.${option}`, reason);
      }
    }
  }
  return tools.map((tool, index) => {
    if (index < first || searches[index] === undefined) return tool;
    const { googleSearch: _search, ...others } = tool;
    return index === first ? { ...tool, googleSearch: merged } : others;
  });
}

function normalizeTool(tool: JsonObject, place: Place): JsonObject {
  const { functionDeclarations, ...others } = renewSearch(tool, place);
  const declarations = objectsAt(tool, 'functionDeclarations');
  if (functionDeclarations === undefined || declarations.length === 0) return others;
  const checked = declarations.flatMap((declaration, index) => {
    const path = `${place.path}.functionDeclarations[${index}]`;
    if (hasName(declaration)) return normalizeDeclaration(declaration, { ...place, path });
    place.receipt.add('dropped', path, told`A tool without a name cannot be called.`);
    return [];
  });
  return checked.length === 0 ? others : { functionDeclarations: checked, ...others };
}

/** Source: Gemini API, "Grounding with Google Search": current models take `googleSearch` alone. */
function renewSearch(tool: JsonObject, place: Place): JsonObject {
  const { googleSearchRetrieval, ...others } = tool;
  if (googleSearchRetrieval === undefined) return tool;
  const path = `${place.path}.googleSearchRetrieval`;
  place.receipt.add('approximated', path, told`Models now search when they see fit: googleSearch.`);
  return { googleSearch: {}, ...others };
}

function hasName(declaration: JsonObject): boolean {
  return (textAt(declaration, 'name') ?? '') !== '';
}

function normalizeDeclaration(declaration: JsonObject, place: Place): JsonObject {
  const result = { ...declaration };
  for (const [form, jsonForm] of SCHEMA_FORMS) {
    if (result[form] === undefined || result[jsonForm] === undefined) continue;
    delete result[form];
    place.receipt.add('dropped', `${place.path}.${form}`, told`${jsonForm} is given too and wins.`);
  }
  return result;
}

/** Number words of the enum values (`@google/genai` AspectRatio, ImageSize). */
const NUMBER_WORDS = new Map([
  ['ONE', '1'],
  ['TWO', '2'],
  ['THREE', '3'],
  ['FOUR', '4'],
  ['FIVE', '5'],
  ['EIGHT', '8'],
  ['NINE', '9'],
  ['SIXTEEN', '16'],
  ['TWENTY_ONE', '21'],
  ['FIVE_TWELVE', '512'],
]);

/**
 * The members of generationConfig that the formats amount to. A member the config has already wins.
 * What has no older field (audio formats, delivery, media types of images) goes to the receipt.
 */
function foldResponseFormats(
  formats: readonly JsonObject[],
  config: JsonObject,
  place: Place,
): JsonObject {
  const folded: JsonObject = {};
  formats.forEach((format, index) => {
    const inner = { path: `${place.path}.responseFormat[${index}]`, receipt: place.receipt };
    const text = objectAt(format, 'text');
    const image = objectAt(format, 'image');
    if (text !== undefined) foldText(text, config, folded);
    if (image !== undefined) folded.imageConfig = foldImage(image, config, inner);
    if (format.audio !== undefined) {
      place.receipt.add(
        'dropped',
        `${inner.path}.audio`,
        told`No model takes an audio format here.`,
      );
    }
  });
  return folded;
}

function foldText(text: JsonObject, config: JsonObject, folded: JsonObject): void {
  const hasSchema = config.responseSchema !== undefined || config.responseJsonSchema !== undefined;
  if (text.schema !== undefined && !hasSchema) folded.responseJsonSchema = text.schema;
  const implied = text.schema === undefined ? undefined : 'application/json';
  const mimeType = textAt(config, 'responseMimeType') ?? textAt(text, 'mimeType') ?? implied;
  if (mimeType !== undefined) folded.responseMimeType = spellMimeType(mimeType);
}

function foldImage(image: JsonObject, config: JsonObject, place: Place): JsonObject {
  for (const member of ['mimeType', 'delivery']) {
    if (image[member] === undefined) continue;
    const reason = told`Images come inline, in the format the model draws.`;
    place.receipt.add('dropped', `${place.path}.image.${member}`, reason);
  }
  const folded: JsonObject = {};
  const ratio = spellAspectRatio(textAt(image, 'aspectRatio'));
  const size = spellImageSize(textAt(image, 'imageSize'));
  if (ratio !== undefined) folded.aspectRatio = ratio;
  if (size !== undefined) folded.imageSize = size;
  return { ...folded, ...objectAt(config, 'imageConfig') };
}

/** `APPLICATION_JSON` and the like are accepted for `application/json`. */
function spellMimeType(value: string): string {
  return /^[A-Z]+_[A-Z]+$/.test(value) ? value.toLowerCase().replace('_', '/') : value;
}

/** `ASPECT_RATIO_SIXTEEN_BY_NINE` → `16:9`; plain ratios stay. */
function spellAspectRatio(value: string | undefined): string | undefined {
  const words = /^ASPECT_RATIO_(\w+)_BY_(\w+)$/.exec(value ?? '');
  if (words === null) return value?.endsWith('_UNSPECIFIED') ? undefined : value;
  const [width, height] = [words[1], words[2]].map((word) => NUMBER_WORDS.get(word ?? '') ?? word);
  return `${width}:${height}`;
}

/** `IMAGE_SIZE_TWO_K` → `2K`; plain sizes stay. */
function spellImageSize(value: string | undefined): string | undefined {
  const words = /^IMAGE_SIZE_(\w+?)(_K)?$/.exec(value ?? '');
  if (words === null) return value;
  const [, word = '', thousands] = words;
  if (word === 'UNSPECIFIED') return undefined;
  return `${NUMBER_WORDS.get(word) ?? word}${thousands === undefined ? '' : 'K'}`;
}

interface Call {
  readonly id: string;
  isOpen: boolean;
}

/** Calls of one id or one name; those before `next` have their results. */
interface CallQueue {
  readonly calls: Call[];
  next: number;
}

/**
 * Gives every call and result of a conversation an id, read front to back. Ids made here depend on
 * the position only, so the same history gives the same request, and they are never issued.
 */
export interface CallIds {
  /** A new model step begins: what is still unanswered is no longer paired by name. */
  startStep(): void;
  /** The id of a call; a new one when `id` is absent. */
  call(id: string | undefined, name: string, position: string): string;
  /** The id of a result: its own, else that of the earliest unanswered call of this name. */
  result(id: string | undefined, name: string, position: string): string;
}

export function createCallIds(): CallIds {
  let byId = new Map<string, CallQueue>();
  let byName = new Map<string, CallQueue>();
  return {
    startStep() {
      byId = new Map();
      byName = new Map();
    },
    call(id, name, position) {
      const call = { id: id ?? `unnamed_${position}`, isOpen: true };
      add(byId, call.id, call);
      add(byName, name, call);
      return call.id;
    },
    result(id, name, position) {
      const call = firstOpen(id === undefined ? byName.get(name) : byId.get(id));
      if (call !== undefined) call.isOpen = false;
      return id ?? call?.id ?? `unnamed_${position}`;
    },
  };
}

function add(queues: Map<string, CallQueue>, key: string, call: Call): void {
  const queue = queues.get(key);
  if (queue === undefined) queues.set(key, { calls: [call], next: 0 });
  else queue.calls.push(call);
}

function firstOpen(queue: CallQueue | undefined): Call | undefined {
  if (queue === undefined) return undefined;
  while (queue.calls[queue.next]?.isOpen === false) queue.next += 1;
  return queue.calls[queue.next];
}
