// Edits a native body for one upstream model: only what that model needs different is touched.

import {
  ADAPTIVE_TOKENS,
  amountOfBudget,
  amountOfWord,
  applyThinkingMode,
} from '../../canonical/effort.ts';
import { invalidRequest } from '../../canonical/error.ts';
import type { ModelVariant, ThinkingLevel } from '../../canonical/model.ts';
import { createReceipt, NotedMemo, type Receipt } from '../../canonical/receipt.ts';
import type { Effort, OutputFormat, ReasoningAmount, Signature } from '../../canonical/request.ts';
import {
  type ArgumentSchema,
  type ArgumentSchemas,
  argumentSchemas,
  inputAsIssued,
  inputBehindShown,
  meansTheSame,
  type PlacedSignature,
  readCarrier,
  SIGNATURE_SENTINEL,
  type SignatureEntry,
  type SignatureTrust,
  tellReissued,
  trustOf,
} from '../../canonical/signatures.ts';
import { formatInWords, refusedFormat } from '../../canonical/text-forms.ts';
import { createIds } from '../../canonical/tool-names.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { once } from '../../lib/once.ts';
import { shareAs } from '../../lib/shared-json.ts';
import { isTooDeep } from '../../schema/document.ts';
import { toResponseSchema, toToolInput } from '../../schema/tool-schema.ts';
import { PART_DATA_FIELDS } from '../../wire/generate-request.ts';
import { keyIn } from '../../wire/vocabulary.ts';
import type { EncodeTarget, PatchTarget } from '../upstream.ts';
import {
  asLevel,
  type BudgetThinking,
  drawnSize,
  fitBudget,
  fitOutputLimit,
  type LevelThinking,
  levelOfTokens,
  levelReason,
  nearestLevel,
  tokensOfLevel,
} from './encode-config.ts';
import { checkFunctionCount, describeFunction } from './encode-tools.ts';
import { traitsOf } from './models.ts';
import { EXTRA_FIELDS, type ExtraField, type GenerateProfile } from './profiles/profile.ts';

/**
 * The body to send: everything that stays as it was is shared, and it is the same object when nothing
 * changes. Expects camelCase keys in their official words. Patching a patched body changes nothing.
 */
export function patch(
  body: JsonObject,
  target: PatchTarget,
  profile: PatchContext['profile'],
): JsonObject {
  const context: PatchContext = { target, profile };
  const asked = patchExtraFields(applyVariant(body, target), context);
  const tools = editedTools(asked, context);
  const told = patchOutputFormat(asked, tools.tools ?? [], target);
  const { contents, generationConfig } = told;
  return editFields(told, {
    // The path names the model, the account the project.
    model: undefined,
    project: undefined,
    contents: Array.isArray(contents)
      ? startContents(
          patchResponseMedia(patchSignatures(contents, asked.tools, target), target),
          target.receipt,
        )
      : contents,
    ...tools,
    generationConfig: isJsonObject(generationConfig)
      ? patchGenerationConfig(generationConfig, target)
      : generationConfig,
  });
}

function editedTools({ tools, toolConfig }: JsonObject, context: PatchContext) {
  const patched = Array.isArray(tools) ? patchTools(tools, context) : undefined;
  const config = isJsonObject(toolConfig) ? toolConfig : undefined;
  return {
    tools: patched,
    toolConfig: patchToolConfig(config, patched ?? [], context),
  };
}

/** Shared by all parts of the patcher. */
export interface PatchContext {
  readonly target: EncodeTarget;
  readonly profile: Pick<GenerateProfile, 'vocabulary' | 'extraFields'>;
}

/** New values by key; undefined removes the key. */
type FieldEdits = Readonly<Record<string, JsonValue | undefined>>;

/** The object with some fields replaced or removed, in its old order; the same object when none differs. */
function editFields(object: JsonObject, edits: FieldEdits): JsonObject {
  const changed = new Map(Object.entries(edits).filter(([key, value]) => object[key] !== value));
  if (changed.size === 0) return object;
  const entries: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(object)) {
    const edited = changed.has(key) ? changed.get(key) : value;
    if (edited !== undefined) entries.push([key, edited]);
    changed.delete(key);
  }
  for (const [key, value] of changed) {
    if (value !== undefined) entries.push([key, value]);
  }
  return Object.fromEntries(entries);
}

/** The list with every item edited, items that became undefined left out; the same list when none changed. */
function editItems(
  list: JsonValue[],
  edit: (item: JsonValue, index: number) => JsonValue | undefined,
): JsonValue[] {
  let isChanged = false;
  const items: JsonValue[] = [];
  for (const [index, item] of list.entries()) {
    const edited = edit(item, index);
    isChanged ||= edited !== item;
    if (edited !== undefined) items.push(edited);
  }
  return isChanged ? items : list;
}

/** What is to be removed, by key: the field itself (undefined), or fields within it. */
type FieldTree = Map<string, FieldTree | undefined>;

interface Place {
  readonly path: string;
  readonly drop: (path: string) => void;
}

/**
 * Objects left empty stay, lists keep their length: the same object when nothing is removed. Only a
 * part left without its data goes, and a turn left without its parts: neither can be sent.
 */
function patchExtraFields(body: JsonObject, { target, profile }: PatchContext): JsonObject {
  const drop = (path: string): void => {
    target.receipt.add('dropped', path, told`The upstream does not take this field.`);
  };
  const patched = withoutFields(body, refusedBy(profile.extraFields), { path: '', drop });
  const { contents } = patched;
  if (contents === body.contents || !Array.isArray(contents)) return patched;
  return editFields(patched, { contents: editItems(contents, withoutHollowParts) });
}

/** One for each list of a profile, of which there are as few as profiles. */
const refused = new WeakMap<readonly ExtraField[], FieldTree>();

function refusedBy(taken: readonly ExtraField[]): FieldTree {
  const known = refused.get(taken) ?? treeWithout(taken);
  refused.set(taken, known);
  return known;
}

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

/** A list on the way stands for each of its items. */
function withoutFields(object: JsonObject, tree: FieldTree, { path, drop }: Place): JsonObject {
  let edits: Record<string, JsonValue | undefined> | undefined;
  for (const [key, within] of tree) {
    const value = object[key];
    if (value === undefined) continue;
    const place = { path: path === '' ? key : `${path}.${key}`, drop };
    if (within === undefined) drop(place.path);
    const edited = within && withoutFieldsOf(value, within, place);
    if (edited !== value) edits = { ...edits, [key]: edited };
  }
  return edits === undefined ? object : editFields(object, edits satisfies FieldEdits);
}

function withoutFieldsOf(value: JsonValue, tree: FieldTree, { path, drop }: Place): JsonValue {
  const edit = (item: JsonValue, at: string): JsonValue =>
    isJsonObject(item) ? withoutFields(item, tree, { path: at, drop }) : item;
  if (!Array.isArray(value)) return edit(value, path);
  return editItems(value, (item, index) => edit(item, `${path}[${index}]`));
}

function withoutHollowParts(content: JsonValue): JsonValue | undefined {
  if (!isJsonObject(content) || !Array.isArray(content.parts)) return content;
  const parts = editItems(content.parts, (part) => (isHollow(part) ? undefined : part));
  return parts.length === 0 ? undefined : editFields(content, { parts });
}

function isHollow(part: JsonValue): boolean {
  return isJsonObject(part) && PART_DATA_FIELDS.every((key) => part[key] === undefined);
}

/** Its values are texts whatever the schema. */
const ENUM_TYPE = 'text/x.enum';

/** Fits the generation configuration to the model: output limit, thinking, schemas. */
function patchGenerationConfig(config: JsonObject, target: PatchTarget): JsonObject {
  const thinkingConfig = patchThinking(config.thinkingConfig, target);
  return editFields(config, {
    thinkingConfig,
    maxOutputTokens: outputLimit(config.maxOutputTokens, budgetIn(thinkingConfig), target),
    ...responseSchema(config, target),
  });
}

function outputLimit(
  value: JsonValue | undefined,
  budget: number,
  { capabilities, receipt }: EncodeTarget,
): JsonValue | undefined {
  const asked = readNumber(value);
  if (asked === undefined) return value;
  const path = 'generationConfig.maxOutputTokens';
  const fitted = fitOutputLimit(asked, budget, capabilities);
  if (asked > capabilities.outputTokenLimit) {
    receipt.add(
      'capped',
      path,
      told`This model writes at most ${capabilities.outputTokenLimit} tokens.`,
    );
  } else if (fitted !== asked) {
    receipt.add('approximated', path, told`The limit was raised to leave room beside thinking.`);
  }
  return fitted === asked ? value : fitted;
}

/**
 * A JSON Schema goes as it came, unless it is too deep: the other form says what is left out. What that
 * form has only texts for goes as JSON Schema where the upstream takes it.
 */
function responseSchema(config: JsonObject, { receipt, capabilities }: EncodeTarget): FieldEdits {
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
  { capabilities, receipt }: EncodeTarget,
): JsonObject {
  const { generationConfig: config } = body;
  const tell = capabilities.takesInstructions ? instruct : askFirst;
  const format = isJsonObject(config) ? formatOf(config) : undefined;
  if (format === undefined || !isJsonObject(config)) return body;
  const path = 'generationConfig';
  const refusal = refusedFormat(capabilities, tools.length > 0);
  if (refusal !== undefined) {
    receipt.add('approximated', `${path}.responseMimeType`, refusal);
    return tell(withConfig(body, editFields(config, NO_FORMAT)), format);
  }
  if (capabilities.takesJsonSchema || !isFree(config.responseSchema)) return body;
  const reason = told`The upstream takes no objects of free member names: the schema is told in words.`;
  receipt.add('approximated', `${path}.responseSchema`, reason);
  return tell(withConfig(body, editFields(config, { responseSchema: undefined })), format);
}

const NO_FORMAT: FieldEdits = {
  responseMimeType: undefined,
  responseSchema: undefined,
  responseJsonSchema: undefined,
};

/** Undefined for plain text. */
function formatOf(config: JsonObject): OutputFormat | undefined {
  const { responseMimeType: mimeType } = config;
  const schema = config.responseJsonSchema ?? config.responseSchema;
  if (isJsonObject(schema)) {
    return { kind: mimeType === 'text/x.enum' ? 'enum' : 'json-schema', schema };
  }
  return mimeType === 'application/json' ? { kind: 'json' } : undefined;
}

/** True for a schema of which nothing is left to send, though it says something. */
function isFree(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema) || Object.keys(schema).length === 0) return false;
  const path = 'responseSchema';
  return (
    toResponseSchema(schema, { receipt: createReceipt(), path, isRelayed: true }).responseSchema ===
    undefined
  );
}

function withConfig(body: JsonObject, config: JsonObject): JsonObject {
  const isEmpty = Object.keys(config).length === 0;
  return editFields(body, { generationConfig: isEmpty ? undefined : config });
}

function instruct(body: JsonObject, format: OutputFormat): JsonObject {
  const { systemInstruction } = body;
  const system = isJsonObject(systemInstruction) ? systemInstruction : {};
  const parts = [...formatPartsOf(system), wish(format)];
  return editFields(body, { systemInstruction: { ...system, parts } });
}

/** For models that refuse instructions: it stands before the first question. */
function askFirst(body: JsonObject, format: OutputFormat): JsonObject {
  const [first, ...rest] = Array.isArray(body.contents) ? body.contents : [];
  if (!isJsonObject(first)) return body;
  const question =
    first.role === 'model'
      ? [{ role: 'user', parts: [wish(format)] }, first]
      : [{ ...first, parts: [wish(format), ...formatPartsOf(first)] }];
  return editFields(body, { contents: [...question, ...rest] });
}

function formatPartsOf({ parts }: JsonObject): readonly JsonValue[] {
  return Array.isArray(parts) ? parts : [];
}

function wish(format: OutputFormat): JsonObject {
  return { text: formatInWords(format) };
}

/**
 * A history may have been written for a newer model than the one asked now. Media stand behind the
 * last response of their content then, as those of every other client; the same list when none moves.
 */
function patchResponseMedia(contents: JsonValue[], target: EncodeTarget): JsonValue[] {
  if (target.capabilities.mediaInFunctionResponse) return contents;
  return editItems(contents, (content) => {
    if (!isJsonObject(content) || !Array.isArray(content.parts)) return content;
    return editFields(content, { parts: withMediaBeside(content.parts) });
  });
}

function withMediaBeside(parts: JsonValue[]): JsonValue[] {
  const media: JsonValue[] = [];
  const bare = editItems(parts, (part) => {
    const response = isJsonObject(part) ? part.functionResponse : undefined;
    if (!isJsonObject(part) || !isJsonObject(response)) return part;
    if (!Array.isArray(response.parts)) return part;
    media.push(...response.parts);
    return editFields(part, { functionResponse: editFields(response, { parts: undefined }) });
  });
  if (media.length === 0) return bare;
  const last = bare.findLastIndex((part) => isJsonObject(part) && 'functionResponse' in part);
  return bare.toSpliced(last + 1, 0, ...media);
}

type ResponseTarget = Pick<PatchTarget, 'receipt' | 'mayBePiece'>;

/**
 * Upstreams want as many responses as calls, in the content right behind them and, on newer models,
 * with the ids of the calls (ai.google.dev, "Function calling"). Late responses are moved, repeated
 * ones dropped, missing ones made up, as for every other client. Expects merged contents; the same
 * list when nothing is amiss, and for a piece of a conversation: order does not matter to a count.
 * @throws GatewayError (invalid-request) for a response without any call.
 */
export function patchResponses(contents: JsonValue[], target: ResponseTarget): JsonValue[] {
  const { receipt, mayBePiece = false } = target;
  const { calls, repeated, orphans } = pairResponses(contents);
  const [orphan] = orphans;
  if (orphan !== undefined) {
    if (mayBePiece) return contents;
    throw orphanError(orphan);
  }
  for (const { name } of repeated) {
    receipt.add(
      'dropped',
      'contents',
      told`A second response to the function ${name} was dropped.`,
    );
  }
  const patched: JsonValue[] = [];
  let step: Step = { calls: [], receipt };
  for (const [index, content] of contents.entries()) {
    if (isModel(content)) {
      step = { calls: distinguish(calls.get(index) ?? []), receipt };
      patched.push(withCallIds(content, step.calls));
      if (step.calls.length === 0 || isUser(contents[index + 1])) continue;
      patched.push({ role: 'user', parts: step.calls.map((call) => answerOf(call, step)) });
    } else {
      const answered = answerStep(content, index, step);
      if (answered !== undefined) patched.push(answered);
    }
    step = { calls: [], receipt };
  }
  const isSame =
    patched.length === contents.length && patched.every((content, i) => content === contents[i]);
  return isSame ? contents : endWithUser(mergeContents(patched), contents, receipt);
}

interface SentCall {
  readonly call: NativeCall;
  /** Other than the call's own when several calls of the step share it. */
  readonly id: string | undefined;
}

interface Step {
  readonly calls: readonly SentCall[];
  readonly receipt: Receipt;
}

/** The user content behind a step; undefined when all it held stands elsewhere now. */
function answerStep(content: JsonValue, index: number, step: Step): JsonValue | undefined {
  if (!isJsonObject(content) || !Array.isArray(content.parts)) return content;
  const { parts } = content;
  const given = parts.filter(isResponse);
  if (given.length === 0 && step.calls.length === 0) return content;
  const answers = step.calls.map((sent) => answerOf(sent, step, index));
  const isComplete =
    given.length === answers.length && step.calls.every(({ call }) => call.answer?.place === index);
  const hasIds = step.calls.every(({ id }) => id !== undefined);
  if (isComplete && (hasIds || isInOrder(given, step.calls))) {
    const sent = new Map(step.calls.map(({ call }, i) => [call.answer?.part, answers[i]]));
    const kept = parts.map((part) => (isJsonObject(part) && sent.get(part)) || part);
    const isSame = kept.every((part, i) => part === parts[i]);
    return isSame ? content : { ...content, parts: kept };
  }
  const arranged = [...answers, ...parts.filter((part) => !isResponse(part))];
  return arranged.length === 0 ? undefined : { ...content, parts: arranged };
}

/** Without ids the upstream pairs by position. */
function isInOrder(given: readonly JsonValue[], calls: readonly SentCall[]): boolean {
  return given.every((part, index) => part === calls[index]?.call.answer?.part);
}

/** Clients may give all calls of a step one id; upstreams want each its own. */
function distinguish(calls: readonly NativeCall[]): SentCall[] {
  const freeId = createIds();
  return calls.map((call) => ({ call, id: call.id === undefined ? undefined : freeId(call.id) }));
}

function withCallIds(content: JsonObject, calls: readonly SentCall[]): JsonObject {
  if (calls.every(({ call, id }) => call.id === id)) return content;
  let position = 0;
  const parts = partsOf(content).map((part) => {
    const call = isJsonObject(part) ? part.functionCall : undefined;
    if (!isJsonObject(part) || !isJsonObject(call) || typeof call.name !== 'string') return part;
    const id = calls[position++]?.id;
    return editFields(part, { functionCall: editFields(call, { id }) });
  });
  return { ...content, parts };
}

/** `index` is where a response needs no move; absent when no content follows the step. */
function answerOf({ call, id }: SentCall, { receipt }: Step, index?: number): JsonObject {
  const { answer, name } = call;
  if (answer === undefined) {
    const reason = told`Function call ${id ?? name} has no response; "no result" was sent.`;
    receipt.add('repaired', 'contents', reason);
    const response = { name, response: { error: 'no result' } };
    return { functionResponse: id === undefined ? response : { id, ...response } };
  }
  if (answer.place !== index) {
    const reason = told`The response to ${id ?? name} was moved behind its call.`;
    receipt.add('repaired', 'contents', reason);
  }
  if (answer.name !== name || (answer.id !== undefined && answer.id !== id)) {
    const reason = told`A response to the function ${name} was given the id and name of its call.`;
    receipt.add('repaired', 'contents', reason);
  }
  const { id: _id, ...response } = answer.response;
  if (answer.id === id && answer.name === name) return answer.part;
  const named = id === undefined ? { ...response, name } : { id, ...response, name };
  return editFields(answer.part, { functionResponse: named });
}

/** A last content that held nothing but one response to an earlier call is gone now. */
function endWithUser(
  patched: JsonValue[],
  asked: readonly JsonValue[],
  receipt: Receipt,
): JsonValue[] {
  if (isModel(asked.at(-1)) || !isModel(patched.at(-1))) return patched;
  receipt.add(
    'approximated',
    'contents',
    told`A user turn "\u2026" stands for the empty last one.`,
  );
  return [...patched, { role: 'user', parts: [{ text: '…' }] }];
}

function isModel(content: JsonValue | undefined): content is JsonObject {
  return isJsonObject(content) && content.role === 'model';
}

function isUser(content: JsonValue | undefined): boolean {
  return isJsonObject(content) && content.role !== 'model' && Array.isArray(content.parts);
}

function isResponse(part: JsonValue): boolean {
  return isJsonObject(part) && part.functionResponse !== undefined;
}

function orphanError({ id, name }: NativeResponse): Error {
  return invalidRequest(
    'contents',
    `contents: the response ${id === undefined ? '' : `"${id}" `}of the function "${name}" answers ` +
      'no call before it. Send the content with the function call before its response.',
  );
}

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
function patchSignatures(
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
  if (target.capabilities.unsignedCalls !== 'sentinel' && !target.usesPlaceholders) return fitted;
  const prompt = target.usesPlaceholders ? -1 : fitted.findLastIndex(isPrompt);
  return editItems(fitted, (content, index) => {
    const isOpenStep = index > prompt && isJsonObject(content) && content.role === 'model';
    return isOpenStep
      ? editParts(content, (parts) => {
          const called = editFirstCall(parts, (call) =>
            call.thoughtSignature === undefined ? standIn(call, target) : call,
          );
          return target.usesPlaceholders ? editDrawn(called, target) : called;
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
    recall.lookup({ kind: 'value', value: signature.value })?.signature ?? signature;
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
  const entry = target.recall.lookup({ kind: 'call', ...named });
  const input = issuedInput({ ...named, entry }, part.functionCall, { schemas, target });
  const issued =
    input === undefined ? part : { ...part, functionCall: { ...part.functionCall, args: input } };
  if (trust?.recalls === false || hasOwnSignature(part)) return issued;
  const found = entry?.signature;
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

const PATH = 'generationConfig.thinkingConfig';
const AUTOMATIC = -1;

/** Undefined when the model does not think or nothing is left to say. */
function patchThinking(config: JsonValue | undefined, target: PatchTarget): JsonValue | undefined {
  if (!isJsonObject(config)) return config;
  const { thinking } = target.capabilities;
  switch (thinking.kind) {
    case 'none':
      return ofDrawing(config, target);
    case 'budget':
      return orNothing(toBudget(config, thinking, target));
    case 'level':
      return orNothing(toLevel(config, thinking, target));
    default:
      return thinking satisfies never;
  }
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

/** What the client asked for, in the field this kind of model is steered by. */
interface Asked {
  readonly field: 'thinkingBudget' | 'thinkingLevel';
  readonly amount: ReasoningAmount;
}

function askedIn(config: JsonObject, prefers: 'budget' | 'level'): Asked | undefined {
  const word = levelWord(config);
  const tokens = readNumber(config.thinkingBudget);
  const level = word === undefined ? undefined : amountOfWord(word.toLowerCase());
  const byLevel = level && ({ field: 'thinkingLevel', amount: level } as const);
  const byBudget =
    tokens === undefined
      ? undefined
      : ({ field: 'thinkingBudget', amount: amountOfBudget(tokens) } as const);
  return prefers === 'level' ? (byLevel ?? byBudget) : (byBudget ?? byLevel);
}

/** The amount the operator's mode puts in place of the client's; undefined where it leaves that alone. */
function decidedAmount(
  config: JsonObject,
  { capabilities: { thinking }, thinkingMode: mode, receipt }: PatchTarget,
): ReasoningAmount | undefined {
  const asked = askedIn(config, thinking.kind === 'level' ? 'level' : 'budget');
  if (asked === undefined) return undefined;
  const { field, amount } = asked;
  const note = (reason: Sentence) => receipt.add('approximated', `${PATH}.${field}`, reason);
  const decided = applyThinkingMode(amount, { mode, thinking, note });
  return decided === amount ? undefined : decided;
}

/** The tokens a patched configuration sets aside for thinking; 0 when that is unknown. */
function budgetIn(config: JsonValue | undefined): number {
  const budget = isJsonObject(config) ? readNumber(config.thinkingBudget) : undefined;
  return Math.max(budget ?? 0, 0);
}

function toBudget(client: JsonObject, thinking: BudgetThinking, target: PatchTarget): JsonObject {
  const decided = decidedAmount(client, target);
  if (decided?.kind === 'budget' && decided.isVerbatim) {
    return editFields(client, { thinkingLevel: undefined });
  }
  const config = decided === undefined ? client : withBudget(client, decided);
  const given = readNumber(config.thinkingBudget);
  const asked = given ?? tokensOfLevel(levelWord(config) ?? '');
  if (asked === undefined) return editFields(config, { thinkingLevel: undefined });
  const thinkingBudget = acceptedBudget(asked, thinking, target);
  if (given !== undefined && asked >= 0 && thinkingBudget !== asked) {
    const reason = told`The thinking budget is ${thinkingBudget} tokens on this model.`;
    target.receipt.add('capped', `${PATH}.thinkingBudget`, reason);
  } else if (asked === 0 && thinkingBudget !== 0) {
    const reason = told`This model thinks ${thinkingBudget} tokens or more.`;
    target.receipt.add('approximated', `${PATH}.thinkingLevel`, reason);
  }
  return editFields(config, { thinkingLevel: undefined, thinkingBudget });
}

function withBudget(config: JsonObject, amount: ReasoningAmount): JsonObject {
  const thinkingBudget = amount.kind === 'budget' ? amount.tokens : AUTOMATIC;
  return editFields(config, { thinkingLevel: undefined, thinkingBudget });
}

function acceptedBudget(
  asked: number,
  thinking: BudgetThinking,
  { modelId, capabilities }: EncodeTarget,
): number {
  if (asked >= 0) return fitBudget(asked, thinking, capabilities);
  if (traitsOf(modelId).takesAutomaticBudget) return AUTOMATIC;
  return fitBudget(ADAPTIVE_TOKENS, thinking, capabilities);
}

function toLevel(client: JsonObject, thinking: LevelThinking, target: PatchTarget): JsonObject {
  const decided = decidedAmount(client, target);
  const config = decided === undefined ? client : withLevel(client, decided, thinking);
  const word = levelWord(config);
  const budget = readNumber(config.thinkingBudget);
  const asked = tokensOfLevel(word ?? '') ?? budget;
  // Without an amount, or with -1, the model decides.
  if (asked === undefined || asked < 0) {
    return editFields(config, { thinkingBudget: undefined, thinkingLevel: undefined });
  }
  const thinkingLevel = acceptedLevel(word, asked, thinking);
  if (thinkingLevel !== word) {
    const path = `${PATH}.${word === undefined ? 'thinkingBudget' : 'thinkingLevel'}`;
    target.receipt.add('approximated', path, levelReason(asked, thinkingLevel));
  }
  const includeThoughts = asked === 0 ? false : config.includeThoughts;
  return editFields(config, { thinkingBudget: undefined, includeThoughts, thinkingLevel });
}

/** A verbatim budget cannot be sent to such a model; it becomes the nearest level like any other. */
function withLevel(
  config: JsonObject,
  amount: ReasoningAmount,
  thinking: LevelThinking,
): JsonObject {
  if (amount.kind === 'adaptive') return withBudget(config, amount);
  if (amount.kind !== 'budget' || amount.isVerbatim) return config;
  const thinkingLevel = levelOfTokens(amount.tokens, thinking);
  return editFields(config, { thinkingBudget: undefined, thinkingLevel });
}

function acceptedLevel(
  word: string | undefined,
  tokens: number,
  thinking: LevelThinking,
): ThinkingLevel {
  const level = asLevel(word ?? '');
  return level === undefined
    ? levelOfTokens(tokens, thinking)
    : nearestLevel(level, thinking.levels);
}

/** The level the client names; `THINKING_LEVEL_UNSPECIFIED` names none. */
function levelWord({ thinkingLevel }: JsonObject): string | undefined {
  if (typeof thinkingLevel !== 'string') return undefined;
  const word = thinkingLevel.toUpperCase();
  return tokensOfLevel(word) === undefined ? undefined : word;
}

function orNothing(config: JsonObject): JsonObject | undefined {
  return Object.keys(config).length === 0 ? undefined : config;
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
  const { callsFunctions, searchWithFunctions } = context.target.capabilities;
  const dropsServerTools = callsFunctions && !searchWithFunctions && tools.some(hasFunctions);
  const patched = editItems(tools, (tool, index) => {
    if (!isJsonObject(tool)) return tool;
    if (Object.keys(tool).length === 0) return undefined;
    const path = `tools[${index}]`;
    const keep = dropsServerTools ? withoutServerTools : callsFunctions ? asIs : withoutFunctions;
    const kept = keep(tool, path, context);
    if (kept === undefined) return undefined;
    return inVocabulary(patchDeclarations(kept, path, context), context);
  });
  checkFunctionCount(patched.reduce<number>((count, tool) => count + functionsOf(tool), 0));
  return patched.length === 0 ? undefined : patched;
}

/**
 * The tool configuration beside these tools; only the flag for mixed tools is ever edited, and what is said of
 * calls to models that make none.
 * @throws GatewayError (invalid-request) for a call demanded of such a model.
 */
function patchToolConfig(
  given: JsonObject | undefined,
  tools: readonly JsonValue[],
  { target, profile }: PatchContext,
): JsonObject | undefined {
  const config = target.capabilities.callsFunctions ? given : withoutCalls(given);
  const flag = 'includeServerSideToolInvocations';
  const isMixed = tools.some(hasFunctions) && tools.some(hasServerTools);
  const isTaken =
    target.capabilities.searchWithFunctions && profile.extraFields.includes(`toolConfig.${flag}`);
  if (isTaken) {
    // ai.google.dev, "Function calling": wanted for built-in tools beside functions.
    return isMixed && config?.[flag] === undefined ? { ...config, [flag]: true } : config;
  }
  const edited = config && editFields(config, { [flag]: undefined });
  return edited === undefined || Object.keys(edited).length === 0 ? undefined : edited;
}

function withoutCalls(config: JsonObject | undefined): JsonObject | undefined {
  const calling = config?.functionCallingConfig;
  if (config === undefined || !isJsonObject(calling)) return config;
  if (calling.mode === 'ANY') {
    const field = 'toolConfig.functionCallingConfig.mode';
    const message = `${field} demands a call, and this model calls no functions.`;
    throw invalidRequest(field, message, 'unsupported');
  }
  return editFields(config, { functionCallingConfig: undefined });
}

function functionsOf(tool: JsonValue): number {
  return isJsonObject(tool) && Array.isArray(tool.functionDeclarations)
    ? tool.functionDeclarations.length
    : 0;
}

function hasFunctions(tool: JsonValue): boolean {
  return isJsonObject(tool) && Array.isArray(tool.functionDeclarations);
}

function hasServerTools(tool: JsonValue): boolean {
  return isJsonObject(tool) && Object.keys(tool).some((key) => key !== 'functionDeclarations');
}

function asIs(tool: JsonObject): JsonObject {
  return tool;
}

function withoutFunctions(
  tool: JsonObject,
  path: string,
  { target }: PatchContext,
): JsonObject | undefined {
  if (!hasFunctions(tool)) return tool;
  const reason = told`This model calls no functions.`;
  target.receipt.add('dropped', `${path}.functionDeclarations`, reason);
  const { functionDeclarations: _functions, ...others } = tool;
  return Object.keys(others).length === 0 ? undefined : others;
}

function withoutServerTools(
  tool: JsonObject,
  path: string,
  { target }: PatchContext,
): JsonObject | undefined {
  for (const key of Object.keys(tool)) {
    if (key === 'functionDeclarations') continue;
    target.receipt.add(
      'dropped',
      `${path}.${key}`,
      told`This model takes it only without functions.`,
    );
  }
  if (!hasServerTools(tool)) return tool;
  const { functionDeclarations } = tool;
  return functionDeclarations === undefined ? undefined : { functionDeclarations };
}

function patchDeclarations(tool: JsonObject, path: string, context: PatchContext): JsonObject {
  const { functionDeclarations } = tool;
  if (!Array.isArray(functionDeclarations)) return tool;
  const edited = editItems(functionDeclarations, (declaration, index) =>
    patchDeclaration(declaration, `${path}.functionDeclarations[${index}]`, context),
  );
  return editFields(tool, { functionDeclarations: edited });
}

function patchDeclaration(
  declaration: JsonValue,
  path: string,
  { target }: PatchContext,
): JsonValue {
  if (!isJsonObject(declaration)) return declaration;
  const { description, parametersJsonSchema } = declaration;
  const key = isTooDeep(parametersJsonSchema) ? 'parametersJsonSchema' : 'parameters';
  const schema = declaration[key];
  if (!isJsonObject(schema)) return declaration;
  const { receipt, capabilities } = target;
  const { takesJsonSchema } = capabilities;
  const options = { receipt, path: `${path}.${key}`, takesJsonSchema, isRelayed: true };
  const { form, parameters, said } = toToolInput(schema, options);
  const written = form === 'schema' ? 'parameters' : 'parametersJsonSchema';
  const edits: FieldEdits = { [key]: undefined, [written]: parameters };
  if (said === undefined) return editFields(declaration, edits);
  const given = typeof description === 'string' ? description : undefined;
  return editFields(declaration, { ...edits, description: describeFunction(given, said) });
}

function inVocabulary(tool: JsonObject, { profile }: PatchContext): JsonObject {
  const edits: FieldEdits[] = Object.entries(tool).flatMap(([key, value]) => {
    const word = keyIn(profile.vocabulary, key);
    return word === key ? [] : [{ [key]: undefined, [word]: value }];
  });
  return edits.reduce(editFields, tool);
}

/**
 * The same list when it starts with the user. Clients that cut the oldest turns off a long history
 * may leave the model's words first.
 * @throws GatewayError (invalid-request) when nothing is left to send.
 */
function startContents(contents: JsonValue[], receipt: Receipt): JsonValue[] {
  const [first] = contents;
  if (first === undefined) {
    throw invalidRequest('contents', 'contents: there is nothing to answer; send some content.');
  }
  if (!isJsonObject(first) || first.role !== 'model') return contents;
  receipt.add(
    'approximated',
    'contents',
    told`A user turn "\u2026" was put before the first answer.`,
  );
  return [{ role: 'user', parts: [{ text: '…' }] }, ...contents];
}

interface NativeCall {
  readonly id: string | undefined;
  readonly name: string;
  /** Index of the content it stands in. */
  readonly step: number;
  answer: NativeResponse | undefined;
}

interface NativeResponse {
  readonly part: JsonObject;
  readonly response: JsonObject;
  readonly id: string | undefined;
  readonly name: string;
  /** Index of the content it stands in. */
  readonly place: number;
}

interface Pairing {
  /** The calls of each content, in order, with their answers. */
  readonly calls: ReadonlyMap<number, readonly NativeCall[]>;
  /** Responses to calls that have their response already. */
  readonly repeated: readonly NativeResponse[];
  /** Responses to no earlier call. */
  readonly orphans: readonly NativeResponse[];
}

/**
 * By id; a response without an id, or with one that no call has, belongs to the first open call of
 * its name. A later step that uses an id or a name again closes the earlier calls to it.
 */
function pairResponses(contents: readonly JsonValue[]): Pairing {
  const ledger = new Ledger();
  for (const [index, content] of contents.entries()) ledger.read(content, index);
  return ledger;
}

class Ledger implements Pairing {
  readonly calls = new Map<number, readonly NativeCall[]>();
  readonly repeated: NativeResponse[] = [];
  readonly orphans: NativeResponse[] = [];
  readonly #byId = new Map<string, CallQueue>();
  readonly #byName = new Map<string, CallQueue>();
  readonly #answered = new Set<string>();

  read(content: JsonValue, index: number): void {
    if (!isJsonObject(content)) return;
    if (content.role === 'model') {
      const calls = callsIn(content, index);
      if (calls.length > 0) this.calls.set(index, calls);
      for (const call of calls) this.#open(call);
      return;
    }
    const responses = responsesIn(content, index);
    // Those with ids first: one without must not take the call of another.
    const unnamed = responses.filter((response) => !this.#answerById(response));
    for (const response of unnamed) this.#answerByName(response);
  }

  #open(call: NativeCall): void {
    if (call.id !== undefined) addOpen(this.#byId, call.id, call);
    addOpen(this.#byName, call.name, call);
  }

  /** True when the response is dealt with: its id is that of a call. */
  #answerById(response: NativeResponse): boolean {
    const calls = response.id === undefined ? undefined : this.#byId.get(response.id);
    if (calls === undefined) return false;
    const open = firstOpen(calls);
    if (open === undefined) this.repeated.push(response);
    else this.#answer(open, response);
    return true;
  }

  #answerByName(response: NativeResponse): void {
    const calls = this.#byName.get(response.name);
    const open = calls && firstOpen(calls);
    if (open !== undefined) this.#answer(open, response);
    else if (this.#answered.has(response.name)) this.repeated.push(response);
    else this.orphans.push(response);
  }

  #answer(call: NativeCall, response: NativeResponse): void {
    call.answer = response;
    this.#answered.add(call.name);
  }
}

/** Calls of one step that share an id or a name; those before `next` have their answers. */
interface CallQueue {
  readonly calls: NativeCall[];
  next: number;
}

function addOpen(index: Map<string, CallQueue>, key: string, call: NativeCall): void {
  const queue = index.get(key);
  if (queue?.calls[0]?.step === call.step) queue.calls.push(call);
  else index.set(key, { calls: [call], next: 0 });
}

function firstOpen(queue: CallQueue): NativeCall | undefined {
  while (queue.calls[queue.next]?.answer !== undefined) queue.next += 1;
  return queue.calls[queue.next];
}

function callsIn(content: JsonObject, step: number): NativeCall[] {
  return partsOf(content).flatMap((part) => {
    const call = isJsonObject(part) ? part.functionCall : undefined;
    if (!isJsonObject(call) || typeof call.name !== 'string') return [];
    return { id: readId(call), name: call.name, step, answer: undefined };
  });
}

function responsesIn(content: JsonObject, place: number): NativeResponse[] {
  return partsOf(content).flatMap((part) => {
    const response = isJsonObject(part) ? part.functionResponse : undefined;
    if (!isJsonObject(part) || !isJsonObject(response)) return [];
    const name = typeof response.name === 'string' ? response.name : '';
    return { part, response, id: readId(response), name, place };
  });
}

function readId({ id }: JsonObject): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function partsOf(content: JsonValue): readonly JsonValue[] {
  return isJsonObject(content) && Array.isArray(content.parts) ? content.parts : [];
}

/** Applies what the requested model name asked for and the body itself did not set. */
function applyVariant(body: JsonObject, target: PatchTarget): JsonObject {
  const { variant } = target;
  const asked = withThinking(variant.webSearch ? withSearch(body, target) : body, variant);
  return withImage(asked, target);
}

function withSearch(body: JsonObject, { capabilities, receipt }: PatchTarget): JsonObject {
  const tools = Array.isArray(body.tools) ? body.tools : [];
  const has = (key: string): boolean =>
    tools.some((tool) => isJsonObject(tool) && tool[key] !== undefined);
  if (has('googleSearch')) return body;
  if (has('functionDeclarations') && !capabilities.searchWithFunctions) {
    receipt.add('dropped', 'model', told`This model takes no web-search beside function tools.`);
    return body;
  }
  if (hasFormat(body) && capabilities.outputFormats === 'without-tools') {
    receipt.add('dropped', 'model', told`This model takes no web-search beside an output format.`);
    return body;
  }
  return { ...body, tools: [...tools, { googleSearch: {} }] };
}

function hasFormat({ generationConfig }: JsonObject): boolean {
  const type = isJsonObject(generationConfig) ? generationConfig.responseMimeType : undefined;
  return type !== undefined && type !== 'text/plain';
}

function withThinking(body: JsonObject, { effort, thinking }: ModelVariant): JsonObject {
  if (effort === undefined && thinking === undefined) return body;
  const config = isJsonObject(body.generationConfig) ? body.generationConfig : {};
  const said = isJsonObject(config.thinkingConfig) ? config.thinkingConfig : {};
  if (said.thinkingBudget !== undefined || said.thinkingLevel !== undefined) return body;
  const asked = effort === undefined ? { thinkingBudget: -1 } : { thinkingLevel: levelOf(effort) };
  return editFields(body, {
    generationConfig: { ...config, thinkingConfig: { ...said, ...asked } },
  });
}

/** What the body says comes first (the product's order: `imageSize`, `quality`, then the suffix of the model name). */
function withImage(body: JsonObject, target: PatchTarget): JsonObject {
  const { capabilities, receipt } = target;
  const { image } = target.variant;
  if (image === undefined) return body;
  if (!capabilities.drawsImages) {
    receipt.add(
      'dropped',
      'model',
      told`This model draws no images; the suffix of its name has no use.`,
    );
    return body;
  }
  const config = isJsonObject(body.generationConfig) ? body.generationConfig : {};
  const said = isJsonObject(config.imageConfig) ? config.imageConfig : {};
  if (image.size !== undefined && (said.imageSize ?? image.size) !== image.size) {
    receipt.add(
      'approximated',
      'model',
      told`The size in the request wins over the one in the model name.`,
    );
  }
  const imageConfig = editFields(said, {
    aspectRatio: said.aspectRatio ?? image.aspectRatio,
    imageSize: said.imageSize ?? drawnSize(image.size, target, 'model'),
  });
  if (imageConfig === said) return body;
  return editFields(body, { generationConfig: { ...config, imageConfig } });
}

function levelOf(effort: Effort): string {
  return effort === 'xhigh' || effort === 'max' ? 'HIGH' : effort.toUpperCase();
}

/**
 * Neighbouring model contents become one, and neighbouring contents of function responses: upstreams
 * want all calls of a step in one content and all their responses in the next (ai.google.dev,
 * "Function calling"). Parts are neither changed nor joined. The same list when nothing was split.
 */
function mergeContents(contents: JsonValue[]): JsonValue[] {
  const merged: JsonValue[] = [];
  let last: MergeStep | undefined;
  for (const content of contents) {
    const step = readStep(content);
    if (last !== undefined && step !== undefined && isSameStep(last, step)) {
      if (!last.isOwn) {
        last = { ...last, parts: [...last.parts], isOwn: true };
        merged[merged.length - 1] = { ...last.content, parts: last.parts };
      }
      for (const part of step.parts) last.parts.push(part);
    } else {
      merged.push(content);
      last = step;
    }
  }
  return merged.length === contents.length ? contents : merged;
}

interface MergeStep {
  readonly content: JsonObject;
  readonly parts: JsonValue[];
  readonly isResponses: boolean;
  /** True once its parts are a list made here. */
  readonly isOwn: boolean;
}

function readStep(content: JsonValue): MergeStep | undefined {
  if (!isJsonObject(content) || !Array.isArray(content.parts)) return undefined;
  const { parts } = content;
  return { content, parts, isResponses: isResponses(parts), isOwn: false };
}

function isSameStep(before: MergeStep, after: MergeStep): boolean {
  if (before.content.role !== after.content.role) return false;
  return before.content.role === 'model' || (before.isResponses && after.isResponses);
}

function isResponses(parts: readonly JsonValue[]): boolean {
  return parts.every((part) => isJsonObject(part) && part.functionResponse !== undefined);
}

/** What calls are remembered by. */
type CallName = NonNullable<PlacedSignature['call']>;

interface RememberedCall extends CallName {
  readonly entry: SignatureEntry | undefined;
}

interface Declared {
  /** Of the functions as the client declared them. */
  readonly schemas: () => ArgumentSchemas;
  readonly target: PatchTarget;
}

/** In place of the arguments the client returned; undefined where those go up. */
function issuedInput(
  { name, entry }: RememberedCall,
  { args }: JsonObject,
  { schemas, target: { signatures, receipt } }: Declared,
): JsonObject | undefined {
  const returned = isJsonObject(args) ? args : {};
  if (signatures !== 'reissued') {
    const declared = schemas().get(name);
    const shown = inputBehindShown(entry?.input, returned, declared?.schema);
    return shown ?? withoutDefaults(entry, returned, declared);
  }
  const issued = inputAsIssued(entry?.input, returned);
  if (issued !== undefined) receipt.add('approximated', 'contents', tellReissued(name));
  return issued;
}

/** What the model wrote, where the client filled in nothing but defaults: native answers go out as they come. */
function withoutDefaults(
  entry: SignatureEntry | undefined,
  returned: JsonObject,
  declared: ArgumentSchema | undefined,
): JsonObject | undefined {
  if (declared?.hasDefaults() !== true) return undefined;
  const issued = inputAsIssued(entry?.input, returned);
  return issued !== undefined && meansTheSame(returned, issued, declared.schema)
    ? issued
    : undefined;
}

function nativeArguments(tools: JsonValue | undefined): ArgumentSchemas {
  const declarations = (Array.isArray(tools) ? tools : []).flatMap((tool) =>
    isJsonObject(tool) && Array.isArray(tool.functionDeclarations) ? tool.functionDeclarations : [],
  );
  return argumentSchemas(
    declarations.filter(isJsonObject).flatMap(({ name, parametersJsonSchema, parameters }) => {
      return typeof name === 'string' ? [[name, parametersJsonSchema ?? parameters]] : [];
    }),
  );
}
