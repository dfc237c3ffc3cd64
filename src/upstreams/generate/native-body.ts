// Edits a native body for one upstream model: only what that model needs different is touched.

import type { ReasoningAmount } from '../../canonical/effort.ts';
import { amountOfBudget, amountOfWord, applyThinkingMode } from '../../canonical/effort.ts';
import { invalidRequest } from '../../canonical/error.ts';
import {
  type ClientNames,
  clientField,
  memberPath,
  NotedMemo,
  type Receipt,
  receiptInClientNames,
  renameField,
} from '../../canonical/receipt.ts';
import type {
  FunctionTool,
  OutputFormat,
  Part,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../canonical/request.ts';
import { readCarrier, SIGNATURE_SENTINEL } from '../../canonical/signatures.ts';
import { formatInWords, refusedFormat } from '../../canonical/text-forms.ts';
import { mapItems, unlessSame } from '../../lib/collections.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
  writtenValue,
} from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { objectOf, objectsOf } from '../../lib/read-values.ts';
import { shareAs } from '../../lib/shared-json.ts';
import { isTooDeep } from '../../schema/document.ts';
import {
  createUnfolding,
  toResponseSchema,
  toToolInput,
  type Unfolding,
} from '../../schema/tool-schema.ts';
import { applyTurnRules } from '../../transforms/index.ts';
import { isFreeForm } from '../../transforms/instructions.ts';
import { fitOutputLimit } from '../../transforms/limit-output.ts';
import { imageInName } from '../../transforms/media.ts';
import { refusedTools } from '../../transforms/tools.ts';
import type { Conversation } from '../../transforms/transform.ts';
import { lastPrompt } from '../../transforms/turns.ts';
import { PART_DATA_FIELDS } from '../../wire/generate.ts';
import { keyIn } from '../../wire/vocabulary.ts';
import type { PatchTarget } from '../upstream.ts';
import {
  type BudgetThinking,
  drawnSize,
  type LevelThinking,
  levelReason,
  sentBudget,
  sentLevel,
  tokensOfLevel,
} from './encode-config.ts';
import { checkFunctionCount, checkUnfolding, describeFunction } from './encode-tools.ts';
import { traitsOf } from './models.ts';
import { EXTRA_FIELDS, type ExtraField, type GenerateProfile } from './profiles.ts';

/** What the rules of all lanes call the fields of such a body. */
const FIELDS: ClientNames = {
  messages: 'contents',
  max_tokens: 'generationConfig.maxOutputTokens',
};

/**
 * The body to send: everything that stays as it was is shared, and it is the same object when nothing
 * changes. Expects camelCase keys in their official words. Patching a patched body changes nothing.
 */
export function patch(
  body: JsonObject,
  given: PatchTarget,
  profile: PatchContext['profile'],
): JsonObject {
  const target = { ...given, receipt: receiptInClientNames(FIELDS, given.receipt) };
  const context = { target, profile };
  const { effort, thinking, image, webSearch } = target.variant;
  const asked = patchExtraFields(webSearch ? withSearch(body, target) : body, context);
  const tools = Array.isArray(asked.tools) ? patchTools(asked.tools, context) : undefined;
  const told = patchOutputFormat(asked, tools ?? [], target);
  const { contents, toolConfig, generationConfig: config = EMPTY } = told;
  const isSilent = config === EMPTY && (effort ?? thinking ?? image) === undefined;
  return editFields(told, {
    // The path names the model, the account the project.
    model: undefined,
    project: undefined,
    contents: Array.isArray(contents) ? patchContents(contents, asked.tools, target) : contents,
    tools,
    toolConfig:
      (toolConfig ?? tools) && patchToolConfig(objectOf(toolConfig) ?? EMPTY, tools ?? [], context),
    generationConfig: isSilent
      ? undefined
      : patchGenerationConfig(objectOf(config) ?? EMPTY, target),
  });
}

interface PatchContext {
  readonly target: PatchTarget;
  readonly profile: Pick<GenerateProfile, 'vocabulary' | 'extraFields'>;
}

const EMPTY: JsonObject = {};

/** New values by key; undefined removes the key. */
type FieldEdits = Record<string, JsonValue | undefined>;

/** The object with some fields replaced or removed, in its old order; the same object when none differs. */
function editFields(object: JsonObject, edits: FieldEdits): JsonObject {
  if (Object.keys(edits).every((key) => object[key] === edits[key])) return object;
  return Object.fromEntries(
    Object.entries({ ...object, ...edits }).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value]],
    ),
  );
}

/** What is to be removed, by key: the field itself (undefined), or fields within it. */
type FieldTree = Map<string, FieldTree | undefined>;

/**
 * Objects left empty stay, lists keep their length: the same object when nothing is removed. Only a
 * part left without its data goes, and a turn left without its parts: neither can be sent.
 */
function patchExtraFields(body: JsonObject, { target, profile }: PatchContext): JsonObject {
  const tree = refused.get(profile.extraFields) ?? treeWithout(profile.extraFields);
  refused.set(profile.extraFields, tree);
  const patched = withoutFields(body, tree, { path: '', receipt: target.receipt });
  const { contents } = patched;
  if (contents === body.contents || !Array.isArray(contents)) return patched;
  return editFields(patched, { contents: mapItems(contents, withoutHollowParts) });
}

/** One for each list of a profile, of which there are as few as profiles. */
const refused = new WeakMap<readonly ExtraField[], FieldTree>();

function treeWithout(taken: readonly ExtraField[]): FieldTree {
  const tree: FieldTree = new Map();
  for (const field of EXTRA_FIELDS) {
    if (taken.includes(field)) continue;
    const keys = field.split('.');
    const last = keys.pop() ?? '';
    let node = tree;
    for (const key of keys) {
      const within: FieldTree = node.get(key) ?? new Map();
      node.set(key, within);
      node = within;
    }
    node.set(last, undefined);
  }
  return tree;
}

interface Place {
  readonly path: string;
  readonly receipt: Receipt;
}

function withoutFields(object: JsonObject, tree: FieldTree, { path, receipt }: Place): JsonObject {
  let edits: FieldEdits | undefined;
  for (const [key, within] of tree) {
    const value = object[key];
    if (value === undefined) continue;
    const place = { path: memberPath(path, key), receipt };
    if (within === undefined) {
      receipt.add('dropped', place.path, told`The upstream does not take this field.`);
    }
    const edited = within && withoutFieldsOf(value, within, place);
    if (edited === value) continue;
    edits ??= {};
    edits[key] = edited;
  }
  return edits === undefined ? object : editFields(object, edits);
}

/** A list on the way stands for each of its items. */
function withoutFieldsOf(value: JsonValue, tree: FieldTree, place: Place): JsonValue {
  if (isJsonObject(value)) return withoutFields(value, tree, place);
  if (!Array.isArray(value)) return value;
  return mapItems(value, (item, index) =>
    withoutFieldsOf(item, tree, { ...place, path: `${place.path}[${index}]` }),
  );
}

function withoutHollowParts(content: JsonValue): JsonValue | undefined {
  if (!isJsonObject(content) || !Array.isArray(content.parts)) return content;
  const parts = mapItems(content.parts, (part) => (isHollow(part) ? undefined : part));
  return parts.length === 0 ? undefined : editFields(content, { parts });
}

function isHollow(part: JsonValue): boolean {
  return isJsonObject(part) && PART_DATA_FIELDS.every((key) => part[key] === undefined);
}

/** The body's conversation under the rules of all lanes; what none of them changes stays as it came. */
function patchContents(
  contents: JsonValue[],
  tools: JsonValue | undefined,
  target: PatchTarget,
): JsonValue[] {
  if (contents.length === 1 && isPlainQuestion(contents[0])) return contents;
  const conversation = {
    system: [],
    turns: contents.map((content, at) => readTurn(content, `contents[${at}]`, target)),
    tools: readFunctions(tools),
  };
  const { turns } = underRules(conversation, target);
  const isOpenFrom = firstOpen(turns, target);
  const written = turns.map((turn, index) => writeTurn(turn, index >= isOpenFrom, target));
  return unlessSame(written, contents);
}

function underRules(conversation: Conversation, target: PatchTarget): Conversation {
  try {
    return applyTurnRules(conversation, target);
  } catch (error) {
    throw renameField(error, (field) => clientField(field, FIELDS));
  }
}

/** No rule is about it. */
function isPlainQuestion(content: JsonValue | undefined): boolean {
  const { role, parts } = objectOf(content) ?? EMPTY;
  if (role === 'model' || !Array.isArray(parts)) return false;
  for (const part of parts) {
    const { functionCall, functionResponse, thoughtSignature } = objectOf(part) ?? EMPTY;
    if ((functionCall ?? functionResponse ?? thoughtSignature) !== undefined) return false;
  }
  return true;
}

function readFunctions(tools: JsonValue | undefined): readonly FunctionTool[] {
  const declarations = objectsOf(tools).flatMap((tool) => objectsOf(tool.functionDeclarations));
  return declarations.map(({ name, parametersJsonSchema, parameters }) => ({
    kind: 'function',
    name: writtenValue(name),
    parameters: objectOf(parametersJsonSchema ?? parameters) ?? EMPTY,
  }));
}

function readTurn(content: JsonValue, path: string, target: PatchTarget): Turn {
  const native = objectOf(content) ?? EMPTY;
  const parts = objectsOf(native.parts).map((part, at) =>
    readPart(part, `${path}.parts[${at}]`, target),
  );
  return { role: native.role === 'model' ? 'assistant' : 'user', parts, native };
}

/** As much of a part as rules look at: of what is neither call nor response, whether it says anything. */
function readPart(native: JsonObject, place: string, target: PatchTarget): Part {
  const { functionCall: call, functionResponse: response, thoughtSignature } = native;
  const signature =
    typeof thoughtSignature === 'string' ? readCarrier(thoughtSignature) : undefined;
  if (isJsonObject(call)) {
    const { id, name } = namesOf(call);
    return { kind: 'tool-call', id, name, input: objectOf(call.args) ?? EMPTY, signature, native };
  }
  if (isJsonObject(response)) {
    const { id: callId, name } = namesOf(response);
    const path = `${place}.functionResponse`;
    return { kind: 'tool-result', callId, name, content: [], isError: false, native, path };
  }
  const isSilent = native.text === '' && !isPlaceholder(thoughtSignature, target);
  return { kind: 'text', text: isSilent ? '' : '…', signature, native };
}

/** '' for an id it does not have. */
function namesOf({ id, name }: JsonObject): { readonly id: string; readonly name: string } {
  return { id: typeof id === 'string' ? id : '', name: typeof name === 'string' ? name : '' };
}

/** True for what its client put there in place of a signature, and the upstream takes for one. */
function isPlaceholder(carried: JsonValue | undefined, { capabilities }: PatchTarget): boolean {
  if (typeof carried !== 'string' || carried === '') return false;
  return capabilities.unsignedCalls === 'sentinel' && readCarrier(carried) === undefined;
}

/** Index of the first turn whose calls the upstream wants signed. */
function firstOpen(turns: readonly Turn[], { capabilities, usesPlaceholders }: PatchTarget) {
  if (usesPlaceholders) return 0;
  return capabilities.unsignedCalls === 'sentinel' ? lastPrompt(turns) + 1 : turns.length;
}

function writeTurn(turn: Turn, isOpen: boolean, target: PatchTarget): JsonObject {
  const native = turn.role === 'system' ? undefined : turn.native;
  const parts =
    turn.role === 'assistant'
      ? writeStep(turn.parts, isOpen, target)
      : writeQuestion(turn.parts, target);
  const given = Array.isArray(native?.parts) ? native.parts : [];
  if (native !== undefined && unlessSame(parts, given) === given) return native;
  return { ...(native ?? { role: turn.role === 'assistant' ? 'model' : 'user' }), parts };
}

/** With placeholders where the upstream wants a signature that nobody has: on the first call of a step alone. */
function writeStep(parts: readonly Part[], isOpen: boolean, target: PatchTarget): JsonObject[] {
  let hasCalled = false;
  let hasSaid = false;
  return parts.map((part) => {
    const isCall = part.kind === 'tool-call';
    const isIdle = isCall && hasCalled;
    const written = writePart(part, target, isIdle);
    const isFirstText = !hasSaid && target.capabilities.drawsImages && written.text !== undefined;
    hasCalled ||= isCall;
    hasSaid ||= written.thought !== true;
    if (!isOpen || isIdle || written.thoughtSignature !== undefined) return written;
    if (isCall) {
      const reason = told`A function call without a signature was sent with the documented placeholder.`;
      return withPlaceholder(written, reason, target);
    }
    // ai.google.dev, "Image generation", thought signatures; vercel/ai#10441.
    const isDrawn = target.usesPlaceholders && (written.inlineData !== undefined || isFirstText);
    if (!isDrawn || written.thought === true) return written;
    const reason = told`A picture or a text without a signature was sent with the documented placeholder.`;
    return withPlaceholder(written, reason, target);
  });
}

function withPlaceholder(part: JsonObject, reason: Sentence, { receipt }: PatchTarget): JsonObject {
  receipt.add('repaired', 'contents', reason);
  return { ...part, thoughtSignature: SIGNATURE_SENTINEL };
}

/**
 * A history may have been written for a newer model than the one asked now. Media stand behind the
 * last response of their content then, as those of every other client.
 */
function writeQuestion(parts: readonly Part[], target: PatchTarget): JsonObject[] {
  const written = parts.map((part) => writePart(part, target, false));
  if (target.capabilities.mediaInFunctionResponse) return written;
  const media: JsonObject[] = [];
  const bare = written.map((part) => {
    const response = part.functionResponse;
    if (!isJsonObject(response) || response.parts === undefined) return part;
    media.push(...objectsOf(response.parts).map(withoutName));
    return editFields(part, { functionResponse: editFields(response, { parts: undefined }) });
  });
  const last = bare.findLastIndex(({ functionResponse }) => functionResponse !== undefined);
  return media.length === 0 ? bare : bare.toSpliced(last + 1, 0, ...media);
}

/** What the result calls its media is known within it alone: parts of a content have no names. */
function withoutName(medium: JsonObject): JsonObject {
  const unnamed = Object.entries(medium).map(([key, value]) => [
    key,
    isJsonObject(value) ? editFields(value, { displayName: undefined }) : value,
  ]);
  return Object.fromEntries(unnamed);
}

/** The native part, with what a rule changed. An idle placeholder is on a call that nobody asks for a signature of. */
function writePart(part: Part, target: PatchTarget, isIdle: boolean): JsonObject {
  if (part.kind === 'tool-result') return writeResponse(part);
  if (part.kind !== 'tool-call' && part.kind !== 'text') return {};
  const written = part.kind === 'text' ? (part.native ?? { text: part.text }) : writeCall(part);
  const carried = written.thoughtSignature;
  const placeholder = !isIdle && isPlaceholder(carried, target) ? carried : undefined;
  return editFields(written, { thoughtSignature: part.signature?.value ?? placeholder });
}

function writeCall({ native = {}, id, input }: ToolCallPart): JsonObject {
  const call = objectOf(native.functionCall) ?? EMPTY;
  const edits: FieldEdits = {};
  if (id !== namesOf(call).id) edits.id = id;
  if (input !== (objectOf(call.args) ?? EMPTY)) edits.args = input;
  return editFields(native, { functionCall: editFields(call, edits) });
}

function writeResponse({ native, callId, name = '' }: ToolResultPart): JsonObject {
  const response = native?.functionResponse;
  if (native === undefined || !isJsonObject(response)) {
    const made = { name, response: { error: 'no result' } };
    return { functionResponse: callId === '' ? made : { id: callId, ...made } };
  }
  const given = namesOf(response);
  if (given.id === callId && given.name === name) return native;
  const { id: _id, ...rest } = response;
  const named = callId === '' ? { ...rest, name } : { id: callId, ...rest, name };
  return editFields(native, { functionResponse: named });
}

function patchGenerationConfig(config: JsonObject, target: PatchTarget): JsonObject | undefined {
  const thinkingConfig = patchThinking(config.thinkingConfig, target);
  const limit = readNumber(config.maxOutputTokens);
  const budget = readNumber(objectOf(thinkingConfig)?.thinkingBudget) ?? 0;
  const patched = editFields(config, {
    thinkingConfig,
    imageConfig: patchImage(config.imageConfig, target),
    maxOutputTokens: limit && fitOutputLimit(limit, Math.max(budget, 0), target),
    ...responseSchema(config, target),
  });
  return patched === EMPTY ? undefined : patched;
}

/** What the body says comes before what the name of the model says. */
function patchImage(given: JsonValue | undefined, target: PatchTarget): JsonValue | undefined {
  const said = objectOf(given) ?? EMPTY;
  const named = imageInName(said.aspectRatio, said.imageSize, target);
  if (named === undefined) return given;
  const edited = editFields(said, {
    aspectRatio: said.aspectRatio ?? named.aspectRatio,
    imageSize: said.imageSize ?? drawnSize(named.size, target, 'model'),
  });
  return edited === said ? given : edited;
}

const PATH = 'generationConfig.thinkingConfig';
const AUTOMATIC = -1;
const UNSET: ReasoningAmount = { kind: 'unset' };

/** In the field this kind of model is steered by. Undefined when the model does not think or nothing is left to say. */
function patchThinking(given: JsonValue | undefined, target: PatchTarget): JsonValue | undefined {
  const { capabilities, thinkingMode: mode, receipt } = target;
  const { thinking } = capabilities;
  const config = withThinking(objectOf(given) ?? EMPTY, target);
  if (config === EMPTY) return given;
  if (thinking.kind === 'none') return ofDrawing(config, target);
  const word = levelWord(config);
  const tokens = readNumber(config.thinkingBudget);
  const isLevel = word !== undefined && (thinking.kind === 'level' || tokens === undefined);
  const said = isLevel ? amountOfWord(word.toLowerCase()) : undefined;
  const amount = said ?? (tokens === undefined ? UNSET : amountOfBudget(tokens));
  const path = `${PATH}.${isLevel ? 'thinkingLevel' : 'thinkingBudget'}`;
  const note = (reason: Sentence) => receipt.add('approximated', path, reason);
  const decided = applyThinkingMode(amount, { mode, thinking, note });
  const asked = { amount: decided, isLevel: isLevel && decided === amount, note };
  // What the operator put there is no news twice.
  const isTold = mode.kind === 'custom' && decided !== amount;
  const fitted =
    thinking.kind === 'budget'
      ? budgetFields(asked, thinking, target)
      : levelFields(isTold ? { ...asked, note: () => undefined } : asked, thinking);
  const { includeThoughts } = config;
  const none = { thinkingBudget: undefined, includeThoughts, thinkingLevel: undefined };
  const patched = editFields(config, { ...none, ...fitted });
  return Object.keys(patched).length === 0 ? undefined : patched;
}

/** What the name of the model asks for, where the body says nothing. */
function withThinking(
  config: JsonObject,
  { variant: { effort, thinking } }: PatchTarget,
): JsonObject {
  if ((effort ?? thinking) === undefined) return config;
  if ((config.thinkingBudget ?? config.thinkingLevel) !== undefined) return config;
  if (effort === undefined) return { ...config, thinkingBudget: AUTOMATIC };
  const isHighest = effort === 'xhigh' || effort === 'max';
  return { ...config, thinkingLevel: isHighest ? 'HIGH' : effort.toUpperCase() };
}

interface AskedThinking {
  readonly amount: ReasoningAmount;
  /** True where a level says it, in the client's own words. */
  readonly isLevel: boolean;
  readonly note: (reason: Sentence) => void;
}

function budgetFields(
  { amount, isLevel, note }: AskedThinking,
  thinking: BudgetThinking,
  { modelId, capabilities, receipt }: PatchTarget,
): FieldEdits {
  const isLeft = amount.kind === 'adaptive';
  if (isLeft && traitsOf(modelId).takesAutomaticBudget) return { thinkingBudget: AUTOMATIC };
  const sent = sentBudget(amount, thinking, capabilities);
  if (sent === undefined) return {};
  const { asked, thinkingBudget } = sent;
  if (thinkingBudget === asked || isLeft) return { thinkingBudget };
  if (!isLevel) {
    const reason = told`The thinking budget is ${thinkingBudget} tokens on this model.`;
    receipt.add('capped', `${PATH}.thinkingBudget`, reason);
  } else if (asked === 0) note(told`This model thinks ${thinkingBudget} tokens or more.`);
  return { thinkingBudget };
}

function levelFields(
  { amount, isLevel, note }: AskedThinking,
  thinking: LevelThinking,
): FieldEdits {
  const sent = sentLevel(amount, thinking);
  if (sent === undefined) return {};
  const { asked, thinkingLevel } = sent;
  const isExact = isLevel && tokensOfLevel(thinkingLevel) === asked;
  if (!isExact) note(levelReason(asked, thinkingLevel));
  return asked === 0 ? { includeThoughts: false, thinkingLevel } : { thinkingLevel };
}

/** A model that draws as it thinks can show that, and takes no other word about thinking. */
function ofDrawing(config: JsonObject, { modelId, receipt }: PatchTarget): JsonObject | undefined {
  const { includeThoughts, ...rest } = config;
  const isShown = includeThoughts === true && traitsOf(modelId).showsDrafts;
  if (!isShown || Object.keys(rest).length > 0) {
    receipt.add('dropped', PATH, told`This model does not think.`);
  }
  return isShown ? { includeThoughts } : undefined;
}

/** The level the client names; `THINKING_LEVEL_UNSPECIFIED` names none. */
function levelWord({ thinkingLevel }: JsonObject): string | undefined {
  if (typeof thinkingLevel !== 'string') return undefined;
  const word = thinkingLevel.toUpperCase();
  return tokensOfLevel(word) === undefined ? undefined : word;
}

/** Its values are texts whatever the schema. */
const ENUM_TYPE = 'text/x.enum';

/**
 * A JSON Schema goes as it came, unless it is too deep: the other form says what is left out. What that
 * form has only texts for goes as JSON Schema where the upstream takes it.
 */
function responseSchema(config: JsonObject, { receipt, capabilities }: PatchTarget): FieldEdits {
  const key = isTooDeep(config.responseJsonSchema) ? 'responseJsonSchema' : 'responseSchema';
  const schema = config[key];
  if (!isJsonObject(schema)) return {};
  const options = { receipt, path: `generationConfig.${key}` };
  const takesJsonSchema = capabilities.takesJsonSchema && config.responseMimeType !== ENUM_TYPE;
  const converted = toResponseSchema(schema, { ...options, takesJsonSchema, isRelayed: true });
  return { [key]: undefined, ...converted };
}

/** The same body where the format can be sent. `tools` are those that are sent. */
function patchOutputFormat(
  body: JsonObject,
  tools: readonly JsonValue[],
  { capabilities, receipt }: PatchTarget,
): JsonObject {
  const config = objectOf(body.generationConfig) ?? EMPTY;
  const format = config === EMPTY ? undefined : formatOf(config);
  if (format === undefined) return body;
  const refusal = refusedFormat(capabilities, tools.length > 0);
  const isFree = !capabilities.takesJsonSchema && isFreeForm(config.responseSchema, true);
  if (refusal === undefined && !isFree) return body;
  const reason = told`The upstream takes no objects of free member names: the schema is told in words.`;
  const field = refusal === undefined ? 'responseSchema' : 'responseMimeType';
  receipt.add('approximated', `generationConfig.${field}`, refusal ?? reason);
  const { responseSchema: _schema, ...typed } = config;
  const { responseMimeType: _type, responseJsonSchema: _json, ...plain } = typed;
  const left = refusal === undefined ? typed : plain;
  const generationConfig = Object.keys(left).length === 0 ? undefined : left;
  const wish = { text: formatInWords(format) };
  if (capabilities.takesInstructions) {
    const system = objectOf(body.systemInstruction) ?? EMPTY;
    const systemInstruction = { ...system, parts: [...objectsOf(system.parts), wish] };
    return editFields(body, { generationConfig, systemInstruction });
  }
  // Models that refuse instructions are told before the first question.
  const [first = EMPTY, ...rest] = objectsOf(body.contents);
  const contents =
    first.role === 'model'
      ? [{ role: 'user', parts: [wish] }, first, ...rest]
      : [{ ...first, parts: [wish, ...objectsOf(first.parts)] }, ...rest];
  return editFields(body, { generationConfig, contents });
}

/** Undefined for plain text. */
function formatOf(config: JsonObject): OutputFormat | undefined {
  const { responseMimeType: mimeType } = config;
  const schema = config.responseJsonSchema ?? config.responseSchema;
  if (isJsonObject(schema))
    return { kind: mimeType === ENUM_TYPE ? 'enum' : 'json-schema', schema };
  return mimeType === 'application/json' ? { kind: 'json' } : undefined;
}

/** The search that the name of the model asks for, where nothing stands against it. */
function withSearch(body: JsonObject, { capabilities, receipt }: PatchTarget): JsonObject {
  const tools = objectsOf(body.tools);
  if (tools.some(({ googleSearch }) => googleSearch !== undefined)) return body;
  const { responseMimeType = 'text/plain' } = objectOf(body.generationConfig) ?? EMPTY;
  const isAlone = capabilities.outputFormats === 'without-tools';
  if (refusedTools(capabilities, tools.some(hasFunctions)) === 'server-tools') {
    receipt.add('dropped', 'model', told`This model takes no web-search beside function tools.`);
  } else if (isAlone && responseMimeType !== 'text/plain') {
    receipt.add('dropped', 'model', told`This model takes no web-search beside an output format.`);
  } else return { ...body, tools: [...tools, { googleSearch: {} }] };
  return body;
}

const toolLists = new NotedMemo<JsonValue[] | undefined>();

/** @throws GatewayError (invalid-request) for too many functions. */
function patchTools(tools: JsonValue[], context: PatchContext): JsonValue[] | undefined {
  const { target, profile } = context;
  const { callsFunctions, searchWithFunctions, takesJsonSchema } = target.capabilities;
  const variant = `${profile.vocabulary} ${callsFunctions} ${searchWithFunctions} ${takesJsonSchema}`;
  return toolLists.get(tools, { variant, receipt: target.receipt }, (receipt) => {
    const patched = patchToolList(tools, { ...context, target: { ...target, receipt } });
    return patched && shareAs(tools, patched);
  });
}

function patchToolList(tools: JsonValue[], context: PatchContext): JsonValue[] | undefined {
  const refused = refusedTools(context.target.capabilities, tools.some(hasFunctions));
  const functions = objectsOf(tools).flatMap((tool) => objectsOf(tool.functionDeclarations));
  if (refused !== 'functions') checkFunctionCount(functions.length);
  const toolContext = { ...context, refused, unfolding: createUnfolding() };
  const patched = mapItems(tools, (tool, index) =>
    isJsonObject(tool) ? patchTool(tool, `tools[${index}]`, toolContext) : tool,
  );
  return patched.length === 0 ? undefined : patched;
}

interface ToolContext extends PatchContext {
  readonly refused: ReturnType<typeof refusedTools>;
  readonly unfolding: Unfolding;
}

function patchTool(tool: JsonObject, path: string, context: ToolContext): JsonObject | undefined {
  const { target, profile, refused } = context;
  const edits: FieldEdits = {};
  for (const [key, value] of Object.entries(tool)) {
    const isFunctions = key === 'functionDeclarations';
    if (refused === (isFunctions ? 'functions' : 'server-tools')) {
      const reason = isFunctions
        ? told`This model calls no functions.`
        : told`This model takes it only without functions.`;
      target.receipt.add('dropped', `${path}.${key}`, reason);
      edits[key] = undefined;
    } else if (Array.isArray(value) && isFunctions) {
      edits[key] = mapItems(value, (declaration, index) =>
        patchDeclaration(declaration, `${path}.${key}[${index}]`, context),
      );
    } else if (keyIn(profile.vocabulary, key) !== key) {
      edits[key] = undefined;
      edits[keyIn(profile.vocabulary, key)] = value;
    }
  }
  const edited = editFields(tool, edits);
  return Object.keys(edited).length === 0 ? undefined : edited;
}

function patchDeclaration(
  declaration: JsonValue,
  path: string,
  { target, unfolding }: ToolContext,
): JsonValue {
  if (!isJsonObject(declaration)) return declaration;
  const { description, parametersJsonSchema } = declaration;
  const key = isTooDeep(parametersJsonSchema) ? 'parametersJsonSchema' : 'parameters';
  const schema = declaration[key];
  if (!isJsonObject(schema)) return declaration;
  const { receipt, capabilities } = target;
  const { takesJsonSchema } = capabilities;
  const options = { receipt, path: `${path}.${key}`, takesJsonSchema, isRelayed: true, unfolding };
  const { form, parameters, said } = toToolInput(schema, options);
  checkUnfolding(unfolding);
  const written = form === 'schema' ? 'parameters' : 'parametersJsonSchema';
  const edits: FieldEdits = { [key]: undefined, [written]: parameters };
  if (said === undefined) return editFields(declaration, edits);
  const given = typeof description === 'string' ? description : undefined;
  return editFields(declaration, { ...edits, description: describeFunction(given, said) });
}

/**
 * The tool configuration beside these tools; only the flag for mixed tools is ever edited, and what is said of
 * calls to models that make none, or where there is nothing to call.
 * @throws GatewayError (invalid-request) for a call demanded of such a model.
 */
function patchToolConfig(
  config: JsonObject,
  tools: readonly JsonValue[],
  { target: { capabilities }, profile }: PatchContext,
): JsonObject | undefined {
  const edits: FieldEdits = {};
  const isDemanded = objectOf(config.functionCallingConfig)?.mode === 'ANY';
  // "Function calling config is set without function_declarations.": some clients always write it.
  if (!isDemanded && !tools.some(mayHoldFunctions)) edits.functionCallingConfig = undefined;
  if (!capabilities.callsFunctions && config.functionCallingConfig !== undefined) {
    const field = 'toolConfig.functionCallingConfig.mode';
    if (isDemanded) {
      const message = `${field} demands a call, and this model calls no functions.`;
      throw invalidRequest(field, message, 'unsupported');
    }
    edits.functionCallingConfig = undefined;
  }
  const flag = 'includeServerSideToolInvocations';
  const isTaken =
    capabilities.searchWithFunctions && profile.extraFields.includes(`toolConfig.${flag}`);
  const isMixed = tools.some(hasFunctions) && tools.some(hasServerTools);
  if (!isTaken) edits[flag] = undefined;
  // ai.google.dev, "Function calling": wanted for built-in tools beside functions.
  else if (isMixed && config[flag] === undefined) edits[flag] = true;
  const edited = editFields(config, edits);
  const isEmpty = Object.keys(edited).length === 0;
  const isOurs = config === EMPTY || edited !== config || !isTaken;
  return isEmpty && isOurs ? undefined : edited;
}

function hasFunctions(tool: JsonValue): boolean {
  return isJsonObject(tool) && Array.isArray(tool.functionDeclarations);
}

function mayHoldFunctions(tool: JsonValue): boolean {
  return hasFunctions(tool) || objectOf(tool)?.mcpServers !== undefined;
}

function hasServerTools(tool: JsonValue): boolean {
  return isJsonObject(tool) && Object.keys(tool).some((key) => key !== 'functionDeclarations');
}
