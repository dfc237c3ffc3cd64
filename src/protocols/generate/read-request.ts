// A normalised body as a canonical request, for the translate lane and for counting tokens.

import { amountOfBudget, amountOfWord } from '../../canonical/effort.ts';
import { asImageSize, splitInlineImages } from '../../canonical/media.ts';
import { memberPath, type Receipt, receiptWithin } from '../../canonical/receipt.ts';
import type {
  CanonicalRequest,
  CodeResultPart,
  FunctionTool,
  ImageOptions,
  MediaPart,
  MediaResolution,
  MediaSource,
  Modality,
  OutputFormat,
  OutputModality,
  Part,
  Reasoning,
  ReasoningAmount,
  SafetySetting,
  Sampling,
  Signature,
  TextPart,
  Tool,
  ToolChoice,
  ToolResultContent,
  Turn,
} from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { type CallIds, createCallIds } from './normalize-body.ts';
import {
  booleanAt,
  clientNamesOf,
  numberAt,
  objectAt,
  objectsAt,
  type Place,
  readPartSignature,
  textAt,
  textsAt,
} from './schema.ts';

const HOSTED_TOOLS = [
  ...['googleMaps', 'fileSearch', 'computerUse', 'mcpServers', 'retrieval'],
  ...['enterpriseWebSearch', 'exaAiSearch', 'parallelAiSearch'],
];
const SERVER_TOOLS = [
  ['urlContext', 'url-context'],
  ['codeExecution', 'code-execution'],
] as const;
const UNCARRIED_MEMBERS = [
  ...['labels', 'store', 'continuationToken', 'modelArmorConfig', 'outputConfig'],
];

/** `body` is what normalizeBody gave. Repairs nothing: turns stay as the client sent them. */
export function readRequest(body: JsonObject, receipt: Receipt): CanonicalRequest {
  noteTopLevel(body, receipt);
  const config = objectAt(body, 'generationConfig') ?? {};
  const tools = objectsAt(body, 'tools').flatMap((tool, index) => readTools(tool, index, receipt));
  return {
    system: readSystem(body, receipt),
    turns: readTurns(body, receipt),
    tools,
    toolChoice: readToolChoice(body, tools, receipt),
    stopSequences: textsAt(config, 'stopSequences'),
    choices: numberAt(config, 'candidateCount') ?? 1,
    ...readConfig(config, receipt),
    safety: objectsAt(body, 'safetySettings').map((setting, index) =>
      readSafety(setting, { path: `safetySettings[${index}]`, receipt }),
    ),
    serviceTier: textAt(body, 'serviceTier'),
    clientNames: clientNamesOf(config),
  };
}

/**
 * The part of a request that counts: safety settings and the like are no tokens. `wrapperKey` is the
 * field of the client's body the request stands in, '' when it is the body itself.
 */
export function readCountRequest(
  body: JsonObject,
  wrapperKey: string,
  receipt: Receipt,
): CanonicalRequest {
  const counted = countedFields(body);
  if (wrapperKey === '') return readRequest(counted, receipt);
  const within = (path: string): string => memberPath(wrapperKey, path);
  const request = readRequest(counted, receiptWithin(receipt, wrapperKey));
  const names = Object.entries(request.clientNames ?? {});
  return {
    ...request,
    tools: request.tools.map((tool) => placedWithin(tool, within)),
    clientNames: Object.fromEntries(names.map(([word, path]) => [word, within(path)])),
  };
}

/** The fields of a body that counts may depend on: the others are no tokens. */
export function countedFields(body: JsonObject): JsonObject {
  const { safetySettings: _safety, labels: _labels, store: _store, ...counted } = body;
  return counted;
}

function placedWithin(tool: Tool, within: (path: string) => string): Tool {
  const path = tool.path === undefined ? undefined : within(tool.path);
  if (tool.kind !== 'function' || tool.parametersPath === undefined) return { ...tool, path };
  return { ...tool, path, parametersPath: within(tool.parametersPath) };
}

function noteTopLevel(body: JsonObject, receipt: Receipt): void {
  for (const member of UNCARRIED_MEMBERS) {
    if (body[member] === undefined) continue;
    receipt.add('dropped', member, told`The upstream in use has no counterpart.`);
  }
}

function readSystem(body: JsonObject, receipt: Receipt): TextPart[] {
  const system: TextPart[] = [];
  objectsAt(objectAt(body, 'systemInstruction'), 'parts').forEach((part, index) => {
    const text = textAt(part, 'text');
    if (text !== undefined) {
      system.push({ kind: 'text', text });
    } else {
      const path = `systemInstruction.parts[${index}]`;
      receipt.add('dropped', path, told`Instructions are text only.`);
    }
  });
  return system;
}

function readSafety(setting: JsonObject, place: Place): SafetySetting {
  noteUncarried(setting, ['method'], place);
  return {
    category: textAt(setting, 'category') ?? '',
    threshold: textAt(setting, 'threshold') ?? '',
  };
}

function readTurns(body: JsonObject, receipt: Receipt): Turn[] {
  const callIds = createCallIds();
  let lastRole: Turn['role'] = 'user';
  return objectsAt(body, 'contents').map((content, turnIndex): Turn => {
    const role = textAt(content, 'role') === 'model' ? 'assistant' : 'user';
    if (role === 'assistant' && lastRole === 'user') callIds.startStep();
    lastRole = role;
    const parts: Part[] = [];
    objectsAt(content, 'parts').forEach((part, partIndex) => {
      const path = `contents[${turnIndex}].parts[${partIndex}]`;
      const position = `${turnIndex}_${partIndex}`;
      const read = readPart(part, { callIds, position, place: { path, receipt } });
      if (read !== undefined) parts.push(...splitUnsigned(read));
    });
    return { role, parts };
  });
}

/** A signature vouches for the text it stands on, as it is. */
function splitUnsigned(part: Part): readonly Part[] {
  return part.kind === 'text' && part.signature === undefined ? splitInlineImages(part) : [part];
}

function readTools(tool: JsonObject, index: number, receipt: Receipt): Tool[] {
  const place = { path: `tools[${index}]`, receipt };
  noteUncarried(tool, HOSTED_TOOLS, place);
  const tools: Tool[] = objectsAt(tool, 'functionDeclarations').map((declaration, position) => {
    const path = `${place.path}.functionDeclarations[${position}]`;
    noteUncarried(declaration, ['response', 'responseJsonSchema', 'behavior'], { path, receipt });
    return readDeclaration(declaration, path);
  });
  const search = objectAt(tool, 'googleSearch');
  if (search !== undefined) tools.push(readSearch(search, `${place.path}.googleSearch`, receipt));
  else if (tool.googleSearchRetrieval !== undefined) {
    tools.push({ kind: 'web-search', path: `${place.path}.googleSearchRetrieval` });
  }
  for (const [key, kind] of SERVER_TOOLS) {
    if (tool[key] !== undefined) tools.push({ kind, path: `${place.path}.${key}` });
  }
  return tools;
}

function readDeclaration(declaration: JsonObject, path: string): FunctionTool {
  const schema = declaration.parametersJsonSchema;
  const schemaKey = schema === undefined ? 'parameters' : 'parametersJsonSchema';
  return {
    kind: 'function',
    name: textAt(declaration, 'name') ?? '',
    description: textAt(declaration, 'description'),
    parameters: typeof schema === 'boolean' ? schema : readSchema(declaration),
    path,
    parametersPath: `${path}.${schemaKey}`,
  };
}

function readSchema(declaration: JsonObject): JsonObject | undefined {
  return objectAt(declaration, 'parametersJsonSchema') ?? objectAt(declaration, 'parameters');
}

function readSearch(search: JsonObject, path: string, receipt: Receipt): Tool {
  const members = ['timeRangeFilter', 'searchTypes', 'blockingConfidence'];
  noteUncarried(search, members, { path, receipt });
  const blockedDomains = textsAt(search, 'excludeDomains');
  return blockedDomains.length === 0
    ? { kind: 'web-search', path }
    : { kind: 'web-search', path, blockedDomains };
}

/** It is a choice among functions alone: the tools the upstream runs stay allowed. */
function readToolChoice(body: JsonObject, tools: readonly Tool[], receipt: Receipt): ToolChoice {
  const toolConfig = objectAt(body, 'toolConfig') ?? {};
  noteUncarried(toolConfig, ['retrievalConfig'], { path: 'toolConfig', receipt });
  const config = objectAt(toolConfig, 'functionCallingConfig') ?? {};
  const place = { path: 'toolConfig.functionCallingConfig', receipt };
  noteUncarried(config, ['streamFunctionCallArguments'], place);
  const names = textsAt(config, 'allowedFunctionNames');
  const choice = choiceOf(textAt(config, 'mode'), names);
  const kinds = tools.map(({ kind }) => kind);
  const serverTools = kinds.filter((kind) => kind !== 'function' && kind !== 'freeform');
  const isLimited = choice.kind === 'none' || names.length > 0;
  return isLimited && serverTools.length > 0 ? { ...choice, serverTools } : choice;
}

function choiceOf(mode: string | undefined, names: readonly string[]): ToolChoice {
  switch (mode) {
    case 'NONE':
      return { kind: 'none' };
    case 'ANY':
      return { kind: 'required', names };
    case 'VALIDATED':
      return { kind: 'validated', names };
    default:
      return { kind: 'auto', names };
  }
}

const OUTCOMES: ReadonlyMap<string, CodeResultPart['outcome']> = new Map([
  ['OUTCOME_OK', 'ok'],
  ['OUTCOME_FAILED', 'failed'],
  ['OUTCOME_DEADLINE_EXCEEDED', 'timeout'],
]);

const RESOLUTIONS: ReadonlyMap<string, MediaResolution> = new Map([
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
  ['ULTRA_HIGH', 'high'],
]);

/** Members without a canonical counterpart: first those of media, which results have as well. */
const UNCARRIED_OF_MEDIA = [
  ...['videoMetadata', 'documentMetadata', 'spreadsheetMetadata', 'audioMetadata'],
  'mediaProcessing',
];
const UNCARRIED = [...UNCARRIED_OF_MEDIA, 'partMetadata', 'speechMetadata'];

interface PartContext {
  readonly callIds: CallIds;
  /** Unique within the conversation. */
  readonly position: string;
  readonly place: Place;
}

/** The canonical part; undefined for a part that holds nothing canonical can say. */
function readPart(part: JsonObject, context: PartContext): Part | undefined {
  noteUncarried(part, UNCARRIED, context.place);
  const signatureText = textAt(part, 'thoughtSignature');
  const text = textAt(part, 'text') ?? textAt(objectAt(part, 'audioTranscription'), 'text');
  if (text !== undefined) {
    const kind = part.thought === true ? 'thinking' : 'text';
    return { kind, text, signature: readPartSignature(signatureText, kind) };
  }
  const media = readMedia(part, context.place);
  if (media !== undefined) {
    return { ...media, signature: readPartSignature(signatureText, 'media') };
  }
  const call = objectAt(part, 'functionCall');
  if (call !== undefined) return readCall(call, signatureText, context);
  const response = objectAt(part, 'functionResponse');
  if (response !== undefined) return readResponse(response, context);
  return readCodePart(part, signatureText) ?? readServerTool(part, context);
}

/** `MEDIA_RESOLUTION_LOW` or `LOW`; undefined for unspecified and unknown values. */
function readResolution(value: string | undefined): MediaResolution | undefined {
  return RESOLUTIONS.get(value?.replace('MEDIA_RESOLUTION_', '') ?? '');
}

/** Notes members that the translate lane cannot carry. */
function noteUncarried(owner: JsonObject, members: readonly string[], place: Place): void {
  for (const member of members) {
    if (owner[member] === undefined) continue;
    const reason = told`The upstream in use has no counterpart.`;
    place.receipt.add('dropped', `${place.path}.${member}`, reason);
  }
}

function readMedia(owner: JsonObject, place: Place): MediaPart | undefined {
  const inline = objectAt(owner, 'inlineData');
  const blob = inline ?? objectAt(owner, 'fileData');
  if (blob === undefined) return undefined;
  const mediaType = textAt(blob, 'mimeType');
  const level = textAt(objectAt(owner, 'mediaResolution'), 'level');
  const source: MediaSource =
    inline === undefined
      ? {
          kind: 'file',
          uri: textAt(blob, 'fileUri') ?? '',
          path: `${place.path}.fileData.fileUri`,
        }
      : { kind: 'base64', base64: textAt(blob, 'data') ?? '' };
  if (level?.endsWith('ULTRA_HIGH') === true) {
    place.receipt.add('approximated', `${place.path}.mediaResolution`, told`Sent as high.`);
  }
  return {
    kind: 'media',
    modality: readModality(mediaType ?? ''),
    mediaType,
    source,
    resolution: readResolution(level),
  };
}

function readModality(mediaType: string): Modality {
  const [type] = mediaType.toLowerCase().split('/');
  return type === 'image' || type === 'audio' || type === 'video' ? type : 'document';
}

function readCall(call: JsonObject, signatureText: string | undefined, context: PartContext): Part {
  const name = textAt(call, 'name') ?? '';
  return {
    kind: 'tool-call',
    id: context.callIds.call(textAt(call, 'id'), name, context.position),
    name,
    input: objectAt(call, 'args') ?? {},
    signature: readPartSignature(signatureText, 'tool-call'),
  };
}

/** By convention a lone `output` or `error` text is the result; any other object is it as a whole. */
function readResponse(response: JsonObject, context: PartContext): Part {
  const place = { ...context.place, path: `${context.place.path}.functionResponse` };
  noteUncarried(response, ['scheduling', 'willContinue'], place);
  const name = textAt(response, 'name') ?? '';
  const value = objectAt(response, 'response') ?? {};
  const [key, ...otherKeys] = Object.keys(value);
  const isError = key === 'error' && otherKeys.length === 0;
  const isPlain = otherKeys.length === 0 && (key === 'error' || key === 'output');
  const text = isPlain ? textAt(value, key) : undefined;
  const media = objectsAt(response, 'parts').map((part, index) => {
    const inner = { ...place, path: `${place.path}.parts[${index}]` };
    noteUncarried(part, UNCARRIED_OF_MEDIA, inner);
    return readMedia(part, inner);
  });
  const content: ToolResultContent[] = [
    text === undefined ? { kind: 'json', value } : { kind: 'text', text },
    ...media.filter((part) => part !== undefined),
  ];
  const callId = context.callIds.result(textAt(response, 'id'), name, context.position);
  return { kind: 'tool-result', callId, name, content, isError };
}

function readCodePart(part: JsonObject, signatureText: string | undefined): Part | undefined {
  const code = objectAt(part, 'executableCode');
  const signature = readPartSignature(signatureText, 'text');
  if (code !== undefined) {
    const language = textAt(code, 'language') ?? 'PYTHON';
    return {
      kind: 'code',
      id: textAt(code, 'id'),
      language: language.toLowerCase(),
      code: textAt(code, 'code') ?? '',
      signature,
    };
  }
  const result = objectAt(part, 'codeExecutionResult');
  if (result === undefined) return undefined;
  return {
    kind: 'code-result',
    id: textAt(result, 'id'),
    outcome: OUTCOMES.get(textAt(result, 'outcome') ?? '') ?? 'failed',
    output: textAt(result, 'output') ?? '',
    signature,
  };
}

function readServerTool(part: JsonObject, context: PartContext): Part | undefined {
  const call = objectAt(part, 'toolCall');
  if (call !== undefined) {
    const name = textAt(call, 'toolType') ?? '';
    const id = textAt(call, 'id') ?? `server_${context.position}`;
    return { kind: 'server-tool-call', id, name, input: objectAt(call, 'args') ?? {} };
  }
  const response = objectAt(part, 'toolResponse');
  if (response === undefined) return undefined;
  return {
    kind: 'server-tool-result',
    callId: textAt(response, 'id') ?? '',
    name: textAt(response, 'toolType') ?? '',
    text: JSON.stringify(objectAt(response, 'response') ?? {}),
  };
}

type ConfigFields = Pick<
  CanonicalRequest,
  | 'sampling'
  | 'maxOutputTokens'
  | 'reasoning'
  | 'outputFormat'
  | 'outputModalities'
  | 'image'
  | 'speech'
  | 'mediaResolution'
>;

const UNCARRIED_CONFIG_MEMBERS = [
  'audioTimestamp',
  'enableAffectiveDialog',
  'routingConfig',
  'modelConfig',
  'audioTranscriptionConfig',
  'translationConfig',
  'enableEnhancedCivicAnswers',
];

const MODALITIES: ReadonlyMap<string, OutputModality> = new Map([
  ['TEXT', 'text'],
  ['IMAGE', 'image'],
  ['AUDIO', 'audio'],
]);

function readConfig(config: JsonObject, receipt: Receipt): ConfigFields {
  noteUncarried(config, UNCARRIED_CONFIG_MEMBERS, { path: 'generationConfig', receipt });
  return {
    sampling: readSampling(config),
    maxOutputTokens: numberAt(config, 'maxOutputTokens'),
    reasoning: readReasoning(objectAt(config, 'thinkingConfig')),
    outputFormat: readOutputFormat(config),
    outputModalities: readModalities(config, receipt),
    image: readImage(objectAt(config, 'imageConfig'), receipt),
    speech: objectAt(config, 'speechConfig'),
    mediaResolution: readResolution(textAt(config, 'mediaResolution')),
  };
}

function readSampling(config: JsonObject): Sampling {
  const alternatives = numberAt(config, 'logprobs') ?? 0;
  return {
    temperature: numberAt(config, 'temperature'),
    topP: numberAt(config, 'topP'),
    topK: numberAt(config, 'topK'),
    seed: numberAt(config, 'seed'),
    presencePenalty: numberAt(config, 'presencePenalty'),
    frequencyPenalty: numberAt(config, 'frequencyPenalty'),
    logprobs: booleanAt(config, 'responseLogprobs') === true ? { alternatives } : undefined,
  };
}

function readReasoning(thinking: JsonObject | undefined): Reasoning {
  return {
    amount: readAmount(thinking),
    showThoughts: booleanAt(thinking, 'includeThoughts'),
  };
}

/** A level word is one of `NONE`, `MINIMAL`, `LOW`, `MEDIUM`, `HIGH`. */
function readAmount(thinking: JsonObject | undefined): ReasoningAmount {
  const tokens = numberAt(thinking, 'thinkingBudget');
  if (tokens !== undefined) return amountOfBudget(tokens);
  const level = textAt(thinking, 'thinkingLevel')?.toLowerCase();
  return (level === undefined ? undefined : amountOfWord(level)) ?? { kind: 'unset' };
}

function readOutputFormat(config: JsonObject): OutputFormat {
  const given = config.responseJsonSchema ?? config.responseSchema;
  const schema = typeof given === 'boolean' ? given : readResponseSchema(config);
  const mimeType = textAt(config, 'responseMimeType');
  if (mimeType === 'text/x.enum' && typeof schema === 'object') return { kind: 'enum', schema };
  if (schema !== undefined) return { kind: 'json-schema', schema };
  return { kind: mimeType === 'application/json' ? 'json' : 'text' };
}

function readResponseSchema(config: JsonObject): JsonObject | undefined {
  return objectAt(config, 'responseJsonSchema') ?? objectAt(config, 'responseSchema');
}

function readModalities(
  config: JsonObject,
  receipt: Receipt,
): readonly OutputModality[] | undefined {
  const modalities: OutputModality[] = [];
  textsAt(config, 'responseModalities').forEach((value, index) => {
    const modality = MODALITIES.get(value);
    if (modality !== undefined) modalities.push(modality);
    else if (value === 'VIDEO') {
      const path = `generationConfig.responseModalities[${index}]`;
      receipt.add('dropped', path, told`No model of the pool answers with video.`);
    }
  });
  return modalities.length === 0 ? undefined : modalities;
}

function readImage(image: JsonObject | undefined, receipt: Receipt): ImageOptions | undefined {
  if (image === undefined) return undefined;
  const place = { path: 'generationConfig.imageConfig', receipt };
  noteUncarried(image, ['personGeneration', 'prominentPeople', 'imageOutputOptions'], place);
  const size = textAt(image, 'imageSize');
  const known = size === undefined ? undefined : asImageSize(size);
  if (size !== undefined && known === undefined) noteUncarried(image, ['imageSize'], place);
  const aspectRatio = textAt(image, 'aspectRatio');
  return known === undefined ? { aspectRatio } : { aspectRatio, size: known };
}

/** A signature that ended a thinking block but came on the part after it: restored to that block. */
export interface PendingSignature {
  /** The signature to write on a block of this kind, given the one the block came with. */
  sign(kind: string, own: Signature | undefined): Signature | undefined;
  /** What no later block took. */
  take(): Signature | undefined;
}

/** One instance a choice; blocks are signed in their order. */
export function createPendingSignature(): PendingSignature {
  let pending: Signature | undefined;
  return {
    sign(kind, own) {
      if (kind === 'thinking') {
        if (own?.on === undefined || own.on === 'thinking') return own;
        pending = own;
        return undefined;
      }
      const signature = own ?? (pending?.on === kind ? pending : undefined);
      if (signature !== undefined && signature.value === pending?.value) pending = undefined;
      return signature;
    },
    take() {
      const left = pending;
      pending = undefined;
      return left;
    },
  };
}
