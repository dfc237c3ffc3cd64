// A native request body in the API's official spelling, validated: what the relay lane sends on.

import { invalidRequest } from '../../canonical/error.ts';
import { plainModelName } from '../../canonical/model.ts';
import { memberPath, NotedMemo, type Receipt } from '../../canonical/receipt.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { shareAs } from '../../lib/shared-json.ts';
import {
  type PART,
  PART_DATA_FIELDS,
  type PartDatum,
  REQUEST,
  type ValueOf,
} from '../../wire/generate.ts';
import { fieldError, normalizeMessage, type Place } from './schema.ts';

type Request = ValueOf<typeof REQUEST>;
/** A request in the API's own spelling, without what names model, project and cache. */
export type GenerateBody = Omit<Request, 'model' | 'project' | 'cachedContent'>;
export type Config = NonNullable<Request['generationConfig']>;
type Content = NonNullable<Request['systemInstruction']>;
export type Part = ValueOf<typeof PART>;
export type Tool = NonNullable<Request['tools']>[number];
type Declaration = NonNullable<Tool['functionDeclarations']>[number];
type Format = NonNullable<Config['responseFormat']>[number];

const WRAPPER_KEYS = ['generateContentRequest', 'generate_content_request'];

/**
 * Accepts camelCase, snake_case and the neutral words at every level; gives official camelCase.
 * Free-form JSON (arguments, results, JSON schemas, labels) is the client's own object, not a copy.
 * Normalising twice gives the same body.
 * @throws GatewayError (invalid-request) naming the field.
 */
export function normalizeBody(body: JsonObject, model: string, receipt: Receipt): GenerateBody {
  return normalizeRequest(body, model, { path: '', receipt });
}

/**
 * As normalizeBody, for a countTokens body: the request itself, or `{generateContentRequest}`; and the field it stands
 * in, '' for the body itself.
 * @throws GatewayError (invalid-request) naming the field.
 */
export function normalizeCountBody(
  body: JsonObject,
  model: string,
  receipt: Receipt,
): { readonly body: GenerateBody; readonly wrapperKey: string } {
  const wrapperKey = WRAPPER_KEYS.find((key) => (body[key] ?? null) !== null);
  if (wrapperKey === undefined) {
    return { body: normalizeRequest(body, model, { path: '', receipt }), wrapperKey: '' };
  }
  if ((body.contents ?? null) !== null) {
    throw invalidRequest(wrapperKey, `Send either contents or ${wrapperKey}, not both.`);
  }
  for (const [key, value] of Object.entries(body)) {
    if (key === wrapperKey || value === null || (key === 'model' && isSameModel(value, model)))
      continue;
    receipt.add('dropped', key, told`Only ${wrapperKey} is counted.`);
  }
  const request = body[wrapperKey] ?? null;
  return { body: normalizeRequest(request, model, { path: wrapperKey, receipt }), wrapperKey };
}

function normalizeRequest(value: JsonValue, model: string, place: Place): GenerateBody {
  const { model: named, project, cachedContent, ...body } = normalizeMessage(value, REQUEST, place);
  // An empty name names no cache: what proto JSON writes for a field that was never set.
  if (cachedContent) {
    const message =
      'cachedContent is not supported: a cache belongs to one upstream account. Send the content itself; requests of one session stay on one account and are cached implicitly.';
    throw invalidRequest(memberPath(place.path, 'cachedContent'), message, 'unsupported');
  }
  // The path names the model and the pool names the project; a body saying otherwise is overruled.
  if (named !== undefined && !isSameModel(named, model)) {
    const path = memberPath(place.path, 'model');
    place.receipt.add('dropped', path, told`The model is the one in the path.`);
  }
  if (project !== undefined) {
    const path = memberPath(place.path, 'project');
    place.receipt.add('dropped', path, told`The project is the one of the account that is used.`);
  }
  body.contents = normalizeContents(body.contents ?? [], place);
  const { generationConfig: config, systemInstruction, tools } = body;
  if (config !== undefined) body.generationConfig = normalizeGenerationConfig(config, place);
  if (systemInstruction !== undefined) normalizeInstruction(systemInstruction, body, place);
  if (tools !== undefined) {
    body.tools = normalizeTools(tools, place);
    if (body.tools.length === 0) delete body.tools;
  }
  return body;
}

function isSameModel(value: JsonValue, model: string): boolean {
  return typeof value === 'string' && plainModelName(value) === model;
}

/**
 * The config with at most one thinking control and one schema form, and `responseFormat` folded
 * into the older fields.
 */
function normalizeGenerationConfig(config: Config, { path: parent, receipt }: Place): Config {
  const path = memberPath(parent, 'generationConfig');
  const empty = config.stopSequences?.indexOf('') ?? -1;
  if (empty >= 0) throw fieldError(`${path}.stopSequences[${empty}]`, 'must not be empty.');
  const { responseFormat = [], ...rest } = config;
  const result = { ...rest };
  for (const [index, format] of responseFormat.entries()) {
    const place = { path: `${path}.responseFormat[${index}]`, receipt };
    foldFormat(format, { config: rest, result }, place);
  }
  if (result.responseSchema !== undefined && result.responseJsonSchema !== undefined) {
    delete result.responseSchema;
    const reason = told`responseJsonSchema is given too and takes precedence.`;
    receipt.add('dropped', `${path}.responseSchema`, reason);
  }
  const { thinkingConfig: thinking } = result;
  if (thinking?.thinkingLevel === undefined) return result;
  const { thinkingLevel, ...budget } = thinking;
  if (thinkingLevel === 'THINKING_LEVEL_UNSPECIFIED') result.thinkingConfig = budget;
  else if (budget.thinkingBudget !== undefined) {
    // The service refuses a budget and a level together; here the exact figure wins.
    result.thinkingConfig = budget;
    const reason = told`thinkingBudget is given too and takes precedence.`;
    receipt.add('dropped', `${path}.thinkingConfig.thinkingLevel`, reason);
  }
  return result;
}

/** Accepted roles; `function` is the first API's role for results, `tool` that of the Python SDK's examples. */
const ROLES = new Map(
  Object.entries({
    ...{ '': 'user', user: 'user', function: 'user', tool: 'user' },
    ...{ model: 'model', assistant: 'model' },
  }),
);

/** What only one of the two can have said. */
const OWNERS: Readonly<Partial<Record<PartDatum, 'user' | 'model'>>> = {
  functionCall: 'model',
  executableCode: 'model',
  codeExecutionResult: 'model',
  toolCall: 'model',
  functionResponse: 'user',
};

/**
 * Contents with an official role and valid parts. Empty text is left out, and so is a content of
 * nothing else: streams end with such a chunk, and SDK chats send it back as history.
 */
function normalizeContents(
  contents: readonly Content[],
  { path: parent, receipt }: Place,
): Content[] {
  const path = memberPath(parent, 'contents');
  const result: Content[] = [];
  for (const [index, content] of contents.entries()) {
    const inner = { path: `${path}[${index}]`, receipt };
    const given = readRole(content, inner);
    const parts = normalizeParts(content, inner, given);
    const role = checkRole(parts, given, inner);
    if (parts.length > 0) result.push({ role, parts });
    else if (role === 'user' && index === contents.length - 1) {
      result.push(...standIn(result.at(-1), inner));
    }
  }
  if (result.length > 0) return result;
  throw fieldError(path, 'must hold at least one content.', 'missing-field');
}

/**
 * What stands for a last user content of nothing but empty text: without it the model would be last, or nobody. The
 * real service takes one that is alone (recorded by pydantic-ai: instructions and tools without a prompt).
 */
function standIn(before: Content | undefined, place: Place): Content[] {
  if (before?.role === 'user') return [];
  const reason = told`A user turn "\u2026" stands for the empty last one.`;
  place.receipt.add('approximated', place.path, reason);
  return [{ role: 'user', parts: [{ text: '…' }] }];
}

/** System text has no role; an instruction without any text is none. */
function normalizeInstruction(
  content: Content,
  body: GenerateBody,
  { path, receipt }: Place,
): void {
  const place = { path: memberPath(path, 'systemInstruction'), receipt };
  const given = content.parts?.length ? normalizeParts(content, place) : [];
  const parts = given
    // Instructions are nobody's thoughts: a signature on them means nothing upstream.
    .map(({ thoughtSignature: _signature, ...part }) => part)
    .filter((part) => part.text !== '');
  if (parts.length === 0) delete body.systemInstruction;
  else body.systemInstruction = { parts };
}

function readRole(content: Content, place: Place): string {
  const role = ROLES.get(content.role ?? '');
  if (role !== undefined) return role;
  const text = 'must be user or model; instructions go into systemInstruction.';
  throw fieldError(`${place.path}.role`, text);
}

/** The role that alone can have said all of these parts, else the given one. @throws GatewayError for parts of the other */
function checkRole(
  parts: readonly Part[],
  given: string,
  { path: parent, receipt }: Place,
): string {
  const owners = parts.map(ownerOf);
  const [first = given] = owners;
  if (first !== given && owners.every((owner) => owner === first)) {
    const reason = told`Only the role ${first} can have said this.`;
    receipt.add('repaired', `${parent}.role`, reason);
    return first;
  }
  for (const [index, owner = given] of owners.entries()) {
    if (owner === given) continue;
    const part = parts[index] ?? {};
    const what = part.thought === true ? 'thought' : dataOf(part)[0];
    const path = `${parent}.parts[${index}]`;
    throw invalidRequest(path, `${path}: a ${what} belongs into a content of the role ${owner}.`);
  }
  return given;
}

function ownerOf(part: Part): string | undefined {
  if (part.thought === true) return 'model';
  const [datum] = dataOf(part);
  return datum && OWNERS[datum];
}

function dataOf(part: Part): readonly PartDatum[] {
  return PART_DATA_FIELDS.filter((name) => part[name] !== undefined);
}

/** The parts of one content, without empty text. @throws GatewayError (invalid-request) */
export function normalizeParts({ parts = [] }: Content, { path }: Place, role?: string): Part[] {
  if (parts.length === 0) {
    throw fieldError(`${path}.parts`, 'must hold at least one part.', 'missing-field');
  }
  const result: Part[] = [];
  for (const [index, part] of parts.entries()) {
    const checked = normalizePart(part, `${path}.parts[${index}]`, role);
    if (checked !== undefined) result.push(checked);
  }
  return result;
}

function normalizePart(part: Part, path: string, role: string | undefined): Part | undefined {
  const [field, second] = dataOf(part);
  if (field !== undefined && second !== undefined) {
    throw fieldError(path, `holds both ${field} and ${second}; a part holds one.`);
  }
  const isSigned = part.thoughtSignature !== undefined;
  if (field === undefined) {
    if (isSigned) return { text: '', ...part };
    // Programs in Go write the empty text of a stream's last chunk back as no field at all (`genai`, `omitempty`).
    if (role === 'model') return undefined;
    throw fieldError(path, `must hold one of ${PART_DATA_FIELDS.join(', ')}.`, 'missing-field');
  }
  if (part.text === '' && !isSigned) return undefined;
  for (const [index, media] of (part.functionResponse?.parts ?? []).entries()) {
    if ((media.inlineData === undefined) !== (media.fileData === undefined)) continue;
    const text = 'must hold either inlineData or fileData.';
    throw fieldError(`${path}.functionResponse.parts[${index}]`, text);
  }
  return part;
}

/** The two forms of one schema: the JSON Schema form says more and wins. */
const SCHEMA_FORMS = [
  ['parameters', 'parametersJsonSchema'],
  ['response', 'responseJsonSchema'],
] as const;

const toolLists = new NotedMemo<Tool[]>();

function normalizeTools(tools: Tool[], { path: parent, receipt: given }: Place): Tool[] {
  const path = memberPath(parent, 'tools');
  return toolLists.get(tools, { variant: path, receipt: given }, (receipt) => {
    const normalized = tools.map((tool, index) =>
      normalizeTool(tool, { path: `${path}[${index}]`, receipt }),
    );
    // Elements left empty stay, so that the others keep the client's indices; they are not sent on.
    const isEmpty = normalized.every((tool) => Object.keys(tool).length === 0);
    if (isEmpty) refuseNameless(tools, path);
    return shareAs(tools, isEmpty ? [] : mergeSearches(normalized, { path, receipt }));
  });
}

/** Functions without a name are left out where others are left; alone they are the client's mistake. */
function refuseNameless(tools: readonly Tool[], path: string): void {
  const index = tools.findIndex(({ functionDeclarations = [] }) => functionDeclarations.length > 0);
  if (index === -1) return;
  const name = `${path}[${index}].functionDeclarations[0].name`;
  throw fieldError(name, 'is required: every function has a name.', 'missing-field');
}

/** Clients unsure of the right word send several: one search is left, the first one's options win. */
function mergeSearches(tools: readonly Tool[], { path, receipt }: Place): Tool[] {
  let merged: NonNullable<Tool['googleSearch']> | undefined;
  return tools.map((tool, index) => {
    const { googleSearch, ...others } = tool;
    if (googleSearch === undefined) return tool;
    if (merged === undefined) {
      merged = { ...googleSearch };
      return { ...tool, googleSearch: merged };
    }
    for (const option of Object.keys(googleSearch)) {
      if (!Object.hasOwn(merged, option)) continue;
      const reason = told`An earlier search tool sets this option.`;
      receipt.add('dropped', `${path}[${index}].googleSearch.${option}`, reason);
    }
    Object.assign(merged, { ...googleSearch, ...merged });
    return others;
  });
}

function normalizeTool(tool: Tool, { path, receipt }: Place): Tool {
  const { functionDeclarations = [], ...others } = renewSearch(tool, { path, receipt });
  const checked = functionDeclarations.flatMap((declaration, index) => {
    const place = { path: `${path}.functionDeclarations[${index}]`, receipt };
    if (declaration.name) return normalizeDeclaration(declaration, place);
    receipt.add('dropped', place.path, told`A tool without a name cannot be called.`);
    return [];
  });
  return checked.length === 0 ? others : { functionDeclarations: checked, ...others };
}

/** Source: Gemini API, "Grounding with Google Search": current models take `googleSearch` alone. */
function renewSearch(tool: Tool, place: Place): Tool {
  const { googleSearchRetrieval, ...others } = tool;
  if (googleSearchRetrieval === undefined) return tool;
  const path = `${place.path}.googleSearchRetrieval`;
  place.receipt.add('approximated', path, told`Models now search when they see fit: googleSearch.`);
  return { googleSearch: {}, ...others };
}

function normalizeDeclaration(declaration: Declaration, place: Place): Declaration {
  const result = { ...declaration };
  for (const [form, jsonForm] of SCHEMA_FORMS) {
    if (result[form] === undefined || result[jsonForm] === undefined) continue;
    delete result[form];
    place.receipt.add(
      'dropped',
      `${place.path}.${form}`,
      told`${jsonForm} is given too and takes precedence.`,
    );
  }
  return result;
}

/** Number words of the enum values (`@google/genai` AspectRatio, ImageSize). */
const NUMBER_WORDS = new Map(
  Object.entries({
    ...{ ONE: '1', TWO: '2', THREE: '3', FOUR: '4', FIVE: '5', EIGHT: '8', NINE: '9' },
    ...{ SIXTEEN: '16', TWENTY_ONE: '21', FIVE_TWELVE: '512' },
  }),
);

/**
 * Adds what a format amounts to in the older members. A member the config has already wins. What has no older
 * field (audio formats, delivery, media types of images) goes to the receipt.
 */
function foldFormat(
  { text, image, audio }: Format,
  { config, result }: { readonly config: Config; readonly result: Config },
  { path, receipt }: Place,
): void {
  if (text !== undefined) {
    const { schema } = text;
    const hasSchema =
      config.responseSchema !== undefined || config.responseJsonSchema !== undefined;
    if (schema !== undefined && !hasSchema) result.responseJsonSchema = schema;
    const implied = schema === undefined ? undefined : 'application/json';
    const mimeType = config.responseMimeType ?? text.mimeType ?? implied;
    if (mimeType !== undefined) result.responseMimeType = spellMimeType(mimeType);
  }
  if (image !== undefined) {
    result.imageConfig = { ...foldImage(image, { path, receipt }), ...config.imageConfig };
  }
  if (audio !== undefined) {
    receipt.add('dropped', `${path}.audio`, told`No model takes an audio format here.`);
  }
}

function foldImage(
  image: NonNullable<Format['image']>,
  { path, receipt }: Place,
): NonNullable<Config['imageConfig']> {
  for (const member of ['mimeType', 'delivery'] as const) {
    if (image[member] === undefined) continue;
    const reason = told`Images come inline, in the format the model draws.`;
    receipt.add('dropped', `${path}.image.${member}`, reason);
  }
  const aspectRatio = spellAspectRatio(image.aspectRatio);
  const imageSize = spellImageSize(image.imageSize);
  return {
    ...(aspectRatio === undefined ? {} : { aspectRatio }),
    ...(imageSize === undefined ? {} : { imageSize }),
  };
}

/** `APPLICATION_JSON` and the like are accepted for `application/json`. */
function spellMimeType(value: string): string {
  return /^[A-Z]+_[A-Z]+$/.test(value) ? value.toLowerCase().replace('_', '/') : value;
}

/** `ASPECT_RATIO_SIXTEEN_BY_NINE` → `16:9`; plain ratios stay. */
function spellAspectRatio(value: string | undefined): string | undefined {
  const words = /^ASPECT_RATIO_(\w{1,20})_BY_(\w{1,20})$/.exec(value ?? '');
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

interface Result {
  readonly id: string | undefined;
  readonly name: string;
  /** Unique within the conversation. */
  readonly position: string;
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
export class CallIds {
  #byId = new Map<string, CallQueue>();
  #byName = new Map<string, CallQueue>();
  #step: CallQueue = { calls: [], next: 0 };
  #results: readonly string[] = [];
  #nextResult = 0;

  /** A new model step begins: what is still unanswered is no longer paired by name. */
  startStep(): void {
    this.#byId = new Map();
    this.#byName = new Map();
    this.#step = { calls: [], next: 0 };
  }

  /** The id of a call; a new one when `id` is absent. */
  call(id: string | undefined, name: string, position: string): string {
    const call = { id: id ?? `unnamed_${position}`, isOpen: true };
    add(this.#byId, call.id, call);
    add(this.#byName, name, call);
    this.#step.calls.push(call);
    return call.id;
  }

  /**
   * Pairs all results of the step: by their ids, else with the earliest unanswered call of their name. Some clients write
   * the names of calls and of results differently (Semantic Kernel): those with the name of no call answer, in order, the
   * calls that are left.
   */
  pairResults(results: readonly Result[]): void {
    const queues = results.map(({ id, name }) =>
      id === undefined ? this.#byName.get(name) : this.#byId.get(id),
    );
    const matched = queues.map(takeOpen);
    this.#results = results.map(({ id, position }, at) => {
      const call =
        queues[at] === undefined && id === undefined ? takeOpen(this.#step) : matched[at];
      return id ?? call?.id ?? `unnamed_${position}`;
    });
    this.#nextResult = 0;
  }

  /** The id of the next result. */
  result(): string {
    return this.#results[this.#nextResult++] ?? '';
  }
}

function takeOpen(queue: CallQueue | undefined): Call | undefined {
  while (queue?.calls[queue.next]?.isOpen === false) queue.next += 1;
  const call = queue?.calls[queue.next];
  if (call !== undefined) call.isOpen = false;
  return call;
}

function add(queues: Map<string, CallQueue>, key: string, call: Call): void {
  const queue = queues.get(key);
  if (queue === undefined) queues.set(key, { calls: [call], next: 0 });
  else queue.calls.push(call);
}
