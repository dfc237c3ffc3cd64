// A normalised body as a canonical request, for the translate lane and for counting tokens.

import type { ReasoningAmount } from '../../canonical/effort.ts';
import { amountOfBudget, amountOfWord } from '../../canonical/effort.ts';
import { invalidRequest } from '../../canonical/error.ts';
import type { ImageOptions } from '../../canonical/image-options.ts';
import { asImageSize } from '../../canonical/image-options.ts';
import {
  isTextType,
  readTextFile,
  spellMediaType,
  splitInlineImages,
} from '../../canonical/media.ts';
import { memberPath, type Receipt, receiptWithin } from '../../canonical/receipt.ts';
import type {
  CanonicalRequest,
  FunctionTool,
  MediaPart,
  MediaResolution,
  MediaSource,
  Modality,
  OutputFormat,
  OutputModality,
  Part,
  Signature,
  TextPart,
  Tool,
  ToolChoice,
  ToolResultContent,
  Turn,
} from '../../canonical/request.ts';
import { isJsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { findUrlFault } from '../../lib/net.ts';
import {
  type DECLARATION,
  type FUNCTION_RESPONSE,
  type IMAGE_CONFIG,
  outcomeOf,
  REQUEST,
  type ValueOf,
} from '../../wire/generate.ts';
import {
  CallIds,
  type Config,
  type GenerateBody,
  type Part as NativePart,
  type Tool as NativeTool,
} from './normalize-body.ts';
import {
  clientNamesOf,
  NOT_CARRIED,
  noteUncarried,
  type Place,
  readPartSignature,
} from './schema.ts';

/** `body` is what normalizeBody gave. Repairs nothing: turns stay as the client sent them. */
export function readRequest(body: GenerateBody, receipt: Receipt): CanonicalRequest {
  noteUncarried(body, REQUEST, { path: '', receipt });
  const { generationConfig: config = {} } = body;
  const tools = (body.tools ?? []).flatMap(readTools);
  return {
    system: readSystem(body, receipt),
    turns: readTurns(body, receipt),
    tools,
    toolChoice: readToolChoice(body, tools),
    stopSequences: config.stopSequences ?? [],
    choices: config.candidateCount ?? 1,
    ...readConfig(config, receipt),
    safety: (body.safetySettings ?? []).map((setting) => {
      const { category = '', threshold = '' } = setting;
      return { category, threshold };
    }),
    serviceTier: body.serviceTier,
    clientNames: clientNamesOf(config),
  };
}

/**
 * The part of a request that counts: safety settings and the like are no tokens. `wrapperKey` is the
 * field of the client's body the request stands in, '' when it is the body itself.
 */
export function readCountRequest(
  body: GenerateBody,
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
export function countedFields(body: GenerateBody): GenerateBody {
  const { safetySettings: _safety, labels: _labels, store: _store, ...counted } = body;
  return counted;
}

function placedWithin(tool: Tool, within: (path: string) => string): Tool {
  const path = tool.path === undefined ? undefined : within(tool.path);
  if (tool.kind !== 'function' || tool.parametersPath === undefined) return { ...tool, path };
  return { ...tool, path, parametersPath: within(tool.parametersPath) };
}

function readSystem({ systemInstruction }: GenerateBody, receipt: Receipt): TextPart[] {
  const system: TextPart[] = [];
  for (const [index, { text }] of (systemInstruction?.parts ?? []).entries()) {
    if (text !== undefined) system.push({ kind: 'text', text });
    else {
      const path = `systemInstruction.parts[${index}]`;
      receipt.add('dropped', path, told`Instructions are text only.`);
    }
  }
  return system;
}

function readTurns({ contents = [] }: GenerateBody, receipt: Receipt): Turn[] {
  const callIds = new CallIds();
  let lastRole: Turn['role'] | undefined;
  const turns = contents.map((content, turnIndex): Turn => {
    const role = content.role === 'model' ? 'assistant' : 'user';
    if (role !== lastRole) {
      if (role === 'assistant') callIds.startStep();
      else callIds.pairResults(resultsFrom(contents, turnIndex));
    }
    lastRole = role;
    const parts: Part[] = [];
    for (const [partIndex, part] of (content.parts ?? []).entries()) {
      const path = `contents[${turnIndex}].parts[${partIndex}]`;
      const position = `${turnIndex}_${partIndex}`;
      const read = readPart(part, { callIds, position, place: { path, receipt } });
      if (read === undefined) continue;
      if (read.kind === 'media') parts.push(...labelOf(part));
      // A signature vouches for the text it stands on, as it is.
      const isSplit = read.kind === 'text' && read.signature === undefined;
      parts.push(...(isSplit ? splitInlineImages(read) : [read]));
    }
    return { role, parts };
  });
  return joinPieces(turns);
}

/**
 * Streams tell a text or a thought in pieces, and the signature of a thought on an empty one behind them. Official chats
 * send each piece back as it came, in a content of its own (`@google/genai`, `Chat.recordHistory`): it is one again, as
 * the signature is for all of it.
 */
function joinPieces(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  let parts: Part[] = [];
  for (const turn of turns) {
    const isAnswer = turn.role === 'assistant';
    if (!isAnswer || joined.at(-1)?.role !== 'assistant') {
      parts = [];
      joined.push(isAnswer ? { role: 'assistant', parts } : turn);
    }
    if (!isAnswer) continue;
    for (const part of turn.parts) {
      const said = withWordsOf(part, parts.at(-1));
      if (said === undefined) parts.push(part);
      else parts[parts.length - 1] = said;
    }
  }
  return joined;
}

/** The part with the words of the one before it, which it goes on with; undefined where it is another. */
function withWordsOf(part: Part, last: Part | undefined): Part | undefined {
  if (part.kind === 'text') {
    const isOne = last?.kind === 'text' && !last.signature && !part.signature;
    return isOne ? { ...part, text: last.text + part.text } : undefined;
  }
  if (part.kind !== 'thinking' || last?.kind !== 'thinking' || last.signature) return undefined;
  const isOne = part.signature === undefined || part.text === '';
  return isOne ? { ...part, text: last.text + part.text } : undefined;
}

/** The results up to the model's next turn. */
function resultsFrom(contents: NonNullable<GenerateBody['contents']>, from: number) {
  let end = from + 1;
  while (end < contents.length && contents[end]?.role !== 'model') end += 1;
  return contents
    .slice(from, end)
    .flatMap(({ parts = [] }, at) =>
      parts.flatMap(({ functionResponse: response }, partIndex) =>
        response === undefined
          ? []
          : [{ id: response.id, name: response.name, position: `${from + at}_${partIndex}` }],
      ),
    );
}

function readTools(tool: NativeTool, index: number): Tool[] {
  const path = `tools[${index}]`;
  const tools: Tool[] = (tool.functionDeclarations ?? []).map((declaration, position) =>
    readDeclaration(declaration, `${path}.functionDeclarations[${position}]`),
  );
  if (tool.googleSearch !== undefined) {
    const { excludeDomains: blockedDomains = [] } = tool.googleSearch;
    const search = { kind: 'web-search', path: `${path}.googleSearch` } as const;
    tools.push(blockedDomains.length === 0 ? search : { ...search, blockedDomains });
  }
  if (tool.urlContext !== undefined) {
    tools.push({ kind: 'url-context', path: `${path}.urlContext` });
  }
  if (tool.codeExecution !== undefined) {
    tools.push({ kind: 'code-execution', path: `${path}.codeExecution` });
  }
  return tools;
}

function readDeclaration(declaration: ValueOf<typeof DECLARATION>, path: string): FunctionTool {
  const { name = '', description, parameters, parametersJsonSchema: schema } = declaration;
  const schemaKey = schema === undefined ? 'parameters' : 'parametersJsonSchema';
  return {
    kind: 'function',
    name,
    description,
    parameters: schema ?? parameters,
    path,
    parametersPath: `${path}.${schemaKey}`,
  };
}

/** It is a choice among functions alone: the tools the upstream runs stay allowed. */
function readToolChoice({ toolConfig = {} }: GenerateBody, tools: readonly Tool[]): ToolChoice {
  const { functionCallingConfig: config = {} } = toolConfig;
  const names = config.allowedFunctionNames ?? [];
  const choice = choiceOf(config.mode, names);
  if (choice.kind === 'required' && tools.length === 0) {
    const path = 'toolConfig.functionCallingConfig.mode';
    throw invalidRequest(path, `${path} demands a function call, but tools declares no function.`);
  }
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

const RESOLUTIONS: ReadonlyMap<string, MediaResolution> = new Map(
  Object.entries({ LOW: 'low', MEDIUM: 'medium', HIGH: 'high', ULTRA_HIGH: 'high' } as const),
);

interface PartContext {
  readonly callIds: CallIds;
  /** Unique within the conversation. */
  readonly position: string;
  readonly place: Place;
}

/** The canonical part; undefined for a part that holds nothing canonical can say. */
function readPart(part: NativePart, context: PartContext): Part | undefined {
  const { functionCall: call, functionResponse: response } = part;
  const signatureOn = (on: NonNullable<Signature['on']>): Signature | undefined =>
    readPartSignature(part.thoughtSignature, on);
  const transcript = part.audioTranscription?.text;
  const text = part.text ?? (typeof transcript === 'string' ? transcript : undefined);
  if (text !== undefined) {
    const kind = part.thought === true ? 'thinking' : 'text';
    return { kind, text, signature: signatureOn(kind) };
  }
  const media = readMedia(part, context.place);
  if (media !== undefined) return { ...media, signature: signatureOn(media.kind) };
  if (call !== undefined) {
    const { name, args: input = {} } = call;
    const id = context.callIds.call(call.id, name, context.position);
    return { kind: 'tool-call', id, name, input, signature: signatureOn('tool-call') };
  }
  if (response !== undefined) return readResponse(response, context);
  return readServerSide(part, context.position, signatureOn('text'));
}

/** Code the model ran, its result, and traces of tools the upstream ran. */
function readServerSide(
  part: NativePart,
  position: string,
  signature: Signature | undefined,
): Part | undefined {
  const { executableCode: code, codeExecutionResult: result, toolCall, toolResponse } = part;
  if (code !== undefined) {
    const { id, language = 'PYTHON', code: text } = code;
    const isNamed = language !== 'LANGUAGE_UNSPECIFIED';
    const named = isNamed ? language.toLowerCase() : '';
    return { kind: 'code', id, language: named, code: text, signature };
  }
  if (result !== undefined) {
    const outcome = outcomeOf(result.outcome) ?? 'failed';
    return { kind: 'code-result', id: result.id, outcome, output: result.output ?? '', signature };
  }
  if (toolCall !== undefined) {
    const { id = `server_${position}`, toolType: name = '', args: input = {} } = toolCall;
    return { kind: 'server-tool-call', id, name, input };
  }
  if (toolResponse === undefined) return undefined;
  const { id: callId = '', toolType: name = '', response = {} } = toolResponse;
  return { kind: 'server-tool-result', callId, name, text: JSON.stringify(response) };
}

/** `MEDIA_RESOLUTION_LOW` or `LOW`; undefined for unspecified and unknown values. */
function readResolution(value: string | undefined): MediaResolution | undefined {
  return RESOLUTIONS.get(value?.replace('MEDIA_RESOLUTION_', '') ?? '');
}

function readMedia(
  owner: Pick<NativePart, 'inlineData' | 'fileData' | 'mediaResolution'>,
  { path, receipt }: Place,
): TextPart | MediaPart | undefined {
  const { inlineData: inline, fileData: file, mediaResolution } = owner;
  const declared = (inline ?? file)?.mimeType;
  const mediaType = declared && spellMediaType(declared);
  if (inline && isTextType(mediaType)) {
    return { kind: 'text', text: readTextFile(inline.data, inline.displayName) };
  }
  const source: MediaSource | undefined = inline
    ? { kind: 'base64', base64: inline.data }
    : file && addressOf(file, `${path}.fileData.fileUri`);
  if (source === undefined) return undefined;
  const level = mediaResolution?.level;
  if (level?.endsWith('ULTRA_HIGH') === true) {
    receipt.add('approximated', `${path}.mediaResolution`, told`Sent as high.`);
  }
  return {
    kind: 'media',
    modality: readModality(mediaType ?? ''),
    mediaType,
    source,
    resolution: readResolution(level),
  };
}

/** Files of the Files API; everything else on the web is an address that other upstreams read as well. */
const STORED_FILE = /\/v1\w*\/files\//;
/** Without them the address may be that of a page with a video. */
const WEB_TYPES = /^(?:image\/|application\/pdf$)/i;

function addressOf(
  { fileUri: uri, mimeType = '' }: NonNullable<NativePart['fileData']>,
  path: string,
): MediaSource {
  const isStored = !uri.startsWith('https://') || STORED_FILE.test(uri);
  return isStored || !WEB_TYPES.test(mimeType) || findUrlFault(uri) !== undefined
    ? { kind: 'file', uri, path }
    : { kind: 'url', url: uri, path };
}

/** What the conversation calls the medium: other wires have no field for it, so it stands before the medium. */
function labelOf({
  inlineData: inline,
  fileData: file,
}: Pick<NativePart, 'inlineData' | 'fileData'>): readonly TextPart[] {
  const { displayName: label = '' } = inline ?? file ?? {};
  return label === '' ? [] : [{ kind: 'text', text: label }];
}

function readModality(mediaType: string): Modality {
  const [type] = mediaType.split('/');
  return type === 'image' || type === 'audio' || type === 'video' ? type : 'document';
}

function readResponse(native: ValueOf<typeof FUNCTION_RESPONSE>, context: PartContext): Part {
  const { receipt } = context.place;
  const path = `${context.place.path}.functionResponse`;
  const { name } = native;
  const { isError, said } = readResult(native);
  const content: ToolResultContent[] = [said];
  for (const [index, part] of (native.parts ?? []).entries()) {
    const media = readMedia(part, { path: `${path}.parts[${index}]`, receipt });
    if (media !== undefined) content.push(...labelOf(part), media);
  }
  const callId = context.callIds.result();
  return { kind: 'tool-result', callId, name, content, isError, path };
}

/**
 * By convention a lone `output` or `error` text is the result; any other object is it as a whole. The AI SDK
 * (`@ai-sdk/google`) says `content` for the first, of any type, and repeats the name of the function beside both.
 */
function readResult({ name, response }: ValueOf<typeof FUNCTION_RESPONSE>): {
  readonly isError: boolean;
  readonly said: ToolResultContent;
} {
  const { name: repeated, ...rest } = response;
  const [key, ...otherKeys] = Object.keys(rest);
  const isLone = key !== undefined && otherKeys.length === 0;
  const value = isLone ? rest[key] : undefined;
  const isError = key === 'error' && isLone;
  if (isLone && repeated === name && (isError || key === 'content')) {
    if (isJsonObject(value)) return { isError, said: { kind: 'json', value } };
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return { isError, said: { kind: 'text', text } };
  }
  const isPlain = repeated === undefined && (isError || (isLone && key === 'output'));
  if (isPlain && typeof value === 'string') return { isError, said: { kind: 'text', text: value } };
  return { isError: isError && isPlain, said: { kind: 'json', value: response } };
}

const MODALITIES: ReadonlyMap<string, OutputModality> = new Map([
  ['TEXT', 'text'],
  ['IMAGE', 'image'],
  ['AUDIO', 'audio'],
]);

function readConfig(config: Config, receipt: Receipt) {
  const { thinkingConfig: thinking = {}, logprobs: alternatives = 0 } = config;
  return {
    sampling: {
      temperature: config.temperature,
      topP: config.topP,
      topK: config.topK,
      seed: config.seed,
      presencePenalty: config.presencePenalty,
      frequencyPenalty: config.frequencyPenalty,
      logprobs: config.responseLogprobs === true ? { alternatives } : undefined,
    },
    maxOutputTokens: config.maxOutputTokens,
    reasoning: { amount: readAmount(thinking), showThoughts: thinking.includeThoughts === true },
    outputFormat: readOutputFormat(config, receipt),
    outputModalities: readModalities(config, receipt),
    image: config.imageConfig && readImage(config.imageConfig, receipt),
    speech: config.speechConfig,
    mediaResolution: readResolution(config.mediaResolution),
  };
}

/** A level word is one of `NONE`, `MINIMAL`, `LOW`, `MEDIUM`, `HIGH`. */
function readAmount({
  thinkingBudget,
  thinkingLevel,
}: NonNullable<Config['thinkingConfig']>): ReasoningAmount {
  if (thinkingBudget !== undefined) return amountOfBudget(thinkingBudget);
  return amountOfWord(thinkingLevel?.toLowerCase() ?? '') ?? { kind: 'unset' };
}

function readOutputFormat(config: Config, receipt: Receipt): OutputFormat {
  const { responseJsonSchema, responseSchema } = config;
  const schema = responseJsonSchema ?? responseSchema;
  const { responseMimeType: mimeType = 'text/plain' } = config;
  if (mimeType === 'text/x.enum' && typeof schema === 'object') return { kind: 'enum', schema };
  if (schema !== undefined) {
    return { kind: 'json-schema', schema, ...(schema === responseSchema && { isClosed: true }) };
  }
  if (mimeType === 'application/json') return { kind: 'json' };
  // XML, say, which other upstreams have no format for.
  if (mimeType !== 'text/plain') {
    receipt.add('dropped', 'generationConfig.responseMimeType', NOT_CARRIED);
  }
  return { kind: 'text' };
}

function readModalities(
  { responseModalities = [] }: Config,
  receipt: Receipt,
): readonly OutputModality[] | undefined {
  const modalities: OutputModality[] = [];
  for (const [index, value] of responseModalities.entries()) {
    const modality = MODALITIES.get(value);
    if (modality !== undefined) modalities.push(modality);
    else if (value === 'VIDEO') {
      const path = `generationConfig.responseModalities[${index}]`;
      receipt.add('dropped', path, told`No model of the pool answers with video.`);
    }
  }
  return modalities.length === 0 ? undefined : modalities;
}

function readImage(
  { aspectRatio, imageSize }: ValueOf<typeof IMAGE_CONFIG>,
  receipt: Receipt,
): ImageOptions {
  if (imageSize === undefined) return { aspectRatio };
  const size = asImageSize(imageSize);
  if (size !== undefined) return { aspectRatio, size };
  receipt.add('dropped', 'generationConfig.imageConfig.imageSize', NOT_CARRIED);
  return { aspectRatio };
}
