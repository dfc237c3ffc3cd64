// Reads JSON as a protocol-buffers message: strict about fields and types, tolerant only where proto JSON is.
// Source: the public types of the generate-content API (GenerateContentRequest and what it holds).

import { badRequest, type Violation } from './errors.ts';
import { isJsonObject, isRawNumber, type JsonObject, type JsonValue, readNumber } from './json.ts';
import type {
  BatchEmbedContentsRequest,
  CountTokensRequest,
  EmbedContentRequest,
  GenerateRequest,
} from './wire.ts';

/** Deepest nesting proto JSON parsers take. */
const MAX_DEPTH = 100;
const INT32_END = 2 ** 31;

/** Where reading stands; every problem found is added to `violations`. */
interface Place {
  readonly path: string;
  readonly depth: number;
  readonly violations: Violation[];
  readonly words: Words;
}

type Read = JsonValue | undefined;

/** @throws SandboxError 400 naming every unknown or mistyped field. */
export function readGenerateRequest(body: JsonValue, words: Words = 'neutral'): GenerateRequest {
  // The one narrowing: the descriptors have just checked every field the interface declares.
  return readMessage('GenerateContentRequest', body, words) as GenerateRequest;
}

/** @throws SandboxError 400 naming every unknown or mistyped field. */
export function readCountTokensRequest(body: JsonValue): CountTokensRequest {
  // As above.
  return readMessage('CountTokensRequest', body, 'neutral') as CountTokensRequest;
}

/** The form of project paths. @throws SandboxError 400 naming every unknown or mistyped field. */
export function readProjectCountTokensRequest(body: JsonValue, words: Words): GenerateRequest {
  // As above.
  return readMessage('ProjectCountTokensRequest', body, words) as GenerateRequest;
}

/** @throws SandboxError 400 naming every unknown or mistyped field. */
export function readEmbedRequest(body: JsonValue): EmbedContentRequest {
  // As above.
  return readMessage('EmbedContentRequest', body, 'neutral') as EmbedContentRequest;
}

/** @throws SandboxError 400 naming every unknown or mistyped field. */
export function readBatchEmbedRequest(body: JsonValue): BatchEmbedContentsRequest {
  // As above.
  return readMessage('BatchEmbedContentsRequest', body, 'neutral') as BatchEmbedContentsRequest;
}

/** A copy with camelCase keys and upper-case enum values, nulls dropped. */
function readMessage(name: MessageName, body: JsonValue, words: Words): JsonObject {
  const violations: Violation[] = [];
  const result = readFields(name, body, { path: '', depth: 0, violations, words });
  if (violations.length > 0 || result === undefined) throw badRequest(violations);
  return result;
}

function readFields(name: MessageName, value: JsonValue, place: Place): JsonObject | undefined {
  if (!isJsonObject(value)) return reject(place, `must be a ${name} object, not ${show(value)}`);
  if (place.depth > MAX_DEPTH) return reject(place, 'is nested too deeply');
  const fields = fieldsOf(name, place.words);
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const field = fields.get(key);
    if (field === undefined) {
      reject(place, `unknown field ${JSON.stringify(key)} (${name} has no such field)`);
      continue;
    }
    readField(field, item, { result, place });
  }
  return result;
}

function readField(
  field: Field,
  item: JsonValue,
  into: { readonly result: JsonObject; readonly place: Place },
): void {
  const inner = step(into.place, into.place.path === '' ? field.snakeName : `.${field.snakeName}`);
  if (item === null) return;
  if (field.name in into.result) {
    reject(inner, 'is given twice, in camelCase and in snake_case');
    return;
  }
  const read = readValue(field.type, item, inner);
  if (read !== undefined) into.result[field.name] = read;
}

function readValue(type: FieldType, value: JsonValue, place: Place): Read {
  switch (type.kind) {
    case 'string':
      return typeof value === 'string' ? value : mistyped(place, 'a string', value);
    case 'bool':
      return typeof value === 'boolean' ? value : mistyped(place, 'true or false', value);
    case 'int32':
    case 'int64':
      return readInteger(type.kind, value, place);
    case 'double':
      return readDouble(value, place);
    case 'bytes':
      return isBase64(value) ? value : mistyped(place, 'base64 text', value);
    case 'struct':
      return isJsonObject(value)
        ? readFreeForm(value, place)
        : mistyped(place, 'a JSON object', value);
    case 'value':
      return readFreeForm(value, place);
    case 'enum':
      return readEnum(type.values, value, place);
    case 'list':
      return readList(type.of, value, place);
    case 'map':
      return readMap(type.of, value, place);
    case 'message':
      return readFields(type.message, value, place);
    default:
      return type satisfies never;
  }
}

/** Integers may come as decimal text; a fraction, or more than the type holds, is refused. */
function readInteger(kind: 'int32' | 'int64', value: JsonValue, place: Place): Read {
  const number = readNumeric(value);
  const fits =
    number !== undefined &&
    Number.isInteger(number) &&
    (kind === 'int64' || (number < INT32_END && number >= -INT32_END));
  return fits ? number : mistyped(place, `an ${kind}`, value);
}

function readDouble(value: JsonValue, place: Place): Read {
  const number = readNumeric(value);
  return number !== undefined && Number.isFinite(number)
    ? number
    : mistyped(place, 'a number', value);
}

function readNumeric(value: JsonValue): number | undefined {
  if (typeof value === 'string') return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
  return readNumber(value);
}

/** Either alphabet, padded or not. One search for what does not belong is quick over megabytes too. */
function isBase64(value: JsonValue): value is string {
  if (typeof value !== 'string') return false;
  const bare = value.replace(/={1,2}$/, '');
  return bare.length % 4 !== 1 && !/[^A-Za-z0-9+/_-]/.test(bare);
}

function readEnum(values: readonly string[], value: JsonValue, place: Place): Read {
  const word = typeof value === 'string' ? value.toUpperCase() : undefined;
  return word !== undefined && values.includes(word)
    ? word
    : mistyped(place, `one of ${values.join(', ')}`, value);
}

/** A lone message stands for a list of one, as proto JSON parsers take it. */
function readList(of: FieldType, value: JsonValue, place: Place): Read {
  if (!Array.isArray(value) && !(of.kind === 'message' && isJsonObject(value))) {
    return mistyped(place, 'a list', value);
  }
  const items = Array.isArray(value) ? value : [value];
  const result: JsonValue[] = [];
  for (const [index, item] of items.entries()) {
    const read = readValue(of, item, step(place, `[${index}]`));
    if (read !== undefined) result.push(read);
  }
  return result;
}

/** Built through entries: keys are the client's own and may be `__proto__`. */
function readMap(of: FieldType, value: JsonValue, place: Place): Read {
  if (!isJsonObject(value)) return mistyped(place, 'a JSON object', value);
  const entries: [string, JsonValue][] = [];
  for (const [key, item] of Object.entries(value)) {
    const read = readValue(of, item, step(place, `[${JSON.stringify(key)}]`));
    if (read !== undefined) entries.push([key, read]);
  }
  return Object.fromEntries(entries);
}

function readFreeForm(value: JsonValue, place: Place): Read {
  return depthWithin(value, MAX_DEPTH - place.depth)
    ? value
    : reject(place, 'is nested too deeply');
}

function depthWithin(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return true;
  if (levels <= 0) return false;
  return Object.values(value).every((item) => depthWithin(item, levels - 1));
}

function mistyped(place: Place, wanted: string, value: JsonValue): undefined {
  return reject(place, `must be ${wanted}, not ${show(value)}`);
}

function reject(place: Place, description: string): undefined {
  place.violations.push({ field: place.path, description });
  return undefined;
}

function step(place: Place, suffix: string): Place {
  return { ...place, path: place.path + suffix, depth: place.depth + 1 };
}

function show(value: JsonValue): string {
  if (Array.isArray(value)) return 'a list';
  if (isJsonObject(value)) return 'an object';
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

type FieldType =
  | { readonly kind: 'string' | 'bool' | 'int32' | 'int64' | 'double' | 'bytes' }
  /** A free-form JSON object; `value` is any JSON at all. */
  | { readonly kind: 'struct' | 'value' }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'list' | 'map'; readonly of: FieldType }
  | { readonly kind: 'message'; readonly message: MessageName };

/** Which of a vendor's words are understood: those of project paths are the real ones. */
export type Words = 'neutral' | 'real';

interface Field {
  /** The camelCase name, neutral whatever the caller's words. */
  readonly name: string;
  /** The snake_case name, used in error paths. */
  readonly snakeName: string;
  readonly type: FieldType;
}

type MessageName =
  | 'GenerateContentRequest'
  | 'CountTokensRequest'
  | 'ProjectCountTokensRequest'
  | 'EmbedContentRequest'
  | 'BatchEmbedContentsRequest'
  | 'Content'
  | 'Part'
  | 'Blob'
  | 'FileData'
  | 'VideoMetadata'
  | 'ExecutableCode'
  | 'CodeExecutionResult'
  | 'FunctionCall'
  | 'FunctionResponse'
  | 'FunctionResponsePart'
  | 'Tool'
  | 'VendoraSearch'
  | 'FunctionDeclaration'
  | 'Schema'
  | 'ToolConfig'
  | 'FunctionCallingConfig'
  | 'SafetySetting'
  | 'GenerationConfig'
  | 'ImageConfig'
  | 'ThinkingConfig';

const string: FieldType = { kind: 'string' };
const bool: FieldType = { kind: 'bool' };
const int32: FieldType = { kind: 'int32' };
const int64: FieldType = { kind: 'int64' };
const double: FieldType = { kind: 'double' };
const bytes: FieldType = { kind: 'bytes' };
const struct: FieldType = { kind: 'struct' };
const value: FieldType = { kind: 'value' };
const list = (of: FieldType): FieldType => ({ kind: 'list', of });
const map = (of: FieldType): FieldType => ({ kind: 'map', of });
const message = (name: MessageName): FieldType => ({ kind: 'message', message: name });
const oneOf = (...values: readonly string[]): FieldType => ({ kind: 'enum', values });

const MESSAGES: Readonly<Record<MessageName, Readonly<Record<string, FieldType>>>> = {
  GenerateContentRequest: {
    model: string,
    project: string,
    contents: list(message('Content')),
    systemInstruction: message('Content'),
    tools: list(message('Tool')),
    toolConfig: message('ToolConfig'),
    safetySettings: list(message('SafetySetting')),
    generationConfig: message('GenerationConfig'),
    cachedContent: string,
    serviceTier: string,
    store: bool,
    labels: map(string),
  },
  CountTokensRequest: {
    model: string,
    project: string,
    contents: list(message('Content')),
    generateContentRequest: message('GenerateContentRequest'),
  },
  ProjectCountTokensRequest: {
    model: string,
    contents: list(message('Content')),
    systemInstruction: message('Content'),
    tools: list(message('Tool')),
    generationConfig: message('GenerationConfig'),
  },
  EmbedContentRequest: {
    model: string,
    project: string,
    content: message('Content'),
    taskType: oneOf(
      'TASK_TYPE_UNSPECIFIED',
      'RETRIEVAL_QUERY',
      'RETRIEVAL_DOCUMENT',
      'SEMANTIC_SIMILARITY',
      'CLASSIFICATION',
      'CLUSTERING',
      'QUESTION_ANSWERING',
      'FACT_VERIFICATION',
      'CODE_RETRIEVAL_QUERY',
    ),
    title: string,
    outputDimensionality: int32,
  },
  BatchEmbedContentsRequest: {
    model: string,
    project: string,
    requests: list(message('EmbedContentRequest')),
  },
  Content: { role: string, parts: list(message('Part')) },
  Part: {
    text: string,
    inlineData: message('Blob'),
    fileData: message('FileData'),
    functionCall: message('FunctionCall'),
    functionResponse: message('FunctionResponse'),
    executableCode: message('ExecutableCode'),
    codeExecutionResult: message('CodeExecutionResult'),
    toolCall: struct,
    toolResponse: struct,
    thought: bool,
    thoughtSignature: bytes,
    videoMetadata: message('VideoMetadata'),
    mediaResolution: struct,
    partMetadata: struct,
  },
  Blob: { mimeType: string, data: bytes },
  FileData: { mimeType: string, fileUri: string },
  VideoMetadata: { startOffset: string, endOffset: string, fps: double },
  ExecutableCode: { id: string, language: oneOf('LANGUAGE_UNSPECIFIED', 'PYTHON'), code: string },
  CodeExecutionResult: {
    id: string,
    outcome: oneOf('OUTCOME_OK', 'OUTCOME_FAILED', 'OUTCOME_DEADLINE_EXCEEDED'),
    output: string,
  },
  FunctionCall: { id: string, name: string, args: struct },
  FunctionResponse: {
    id: string,
    name: string,
    response: struct,
    parts: list(message('FunctionResponsePart')),
    willContinue: bool,
    scheduling: string,
  },
  FunctionResponsePart: { inlineData: message('Blob') },
  Tool: {
    functionDeclarations: list(message('FunctionDeclaration')),
    vendoraSearch: message('VendoraSearch'),
    vendoraSearchRetrieval: struct,
    vendoraMaps: struct,
    urlContext: struct,
    codeExecution: struct,
    computerUse: struct,
    fileSearch: struct,
    mcpServers: list(struct),
  },
  VendoraSearch: { timeRangeFilter: struct, searchTypes: struct },
  FunctionDeclaration: {
    name: string,
    description: string,
    behavior: oneOf('UNSPECIFIED', 'BLOCKING', 'NON_BLOCKING'),
    parameters: message('Schema'),
    parametersJsonSchema: value,
    response: message('Schema'),
    responseJsonSchema: value,
  },
  Schema: {
    type: oneOf('STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'),
    format: string,
    title: string,
    description: string,
    nullable: bool,
    enum: list(string),
    items: message('Schema'),
    minItems: int64,
    maxItems: int64,
    properties: map(message('Schema')),
    required: list(string),
    propertyOrdering: list(string),
    minProperties: int64,
    maxProperties: int64,
    minimum: double,
    maximum: double,
    minLength: int64,
    maxLength: int64,
    pattern: string,
    anyOf: list(message('Schema')),
    default: value,
    example: value,
  },
  ToolConfig: {
    functionCallingConfig: message('FunctionCallingConfig'),
    retrievalConfig: struct,
    includeServerSideToolInvocations: bool,
  },
  FunctionCallingConfig: {
    mode: oneOf('MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED'),
    allowedFunctionNames: list(string),
  },
  SafetySetting: {
    category: oneOf(
      'HARM_CATEGORY_HARASSMENT',
      'HARM_CATEGORY_HATE_SPEECH',
      'HARM_CATEGORY_SEXUALLY_EXPLICIT',
      'HARM_CATEGORY_DANGEROUS_CONTENT',
      'HARM_CATEGORY_CIVIC_INTEGRITY',
    ),
    threshold: oneOf(
      'HARM_BLOCK_THRESHOLD_UNSPECIFIED',
      'OFF',
      'BLOCK_NONE',
      'BLOCK_ONLY_HIGH',
      'BLOCK_MEDIUM_AND_ABOVE',
      'BLOCK_LOW_AND_ABOVE',
    ),
  },
  GenerationConfig: {
    candidateCount: int32,
    stopSequences: list(string),
    maxOutputTokens: int32,
    temperature: double,
    topP: double,
    topK: int32,
    seed: int32,
    presencePenalty: double,
    frequencyPenalty: double,
    responseLogprobs: bool,
    logprobs: int32,
    responseMimeType: string,
    responseSchema: message('Schema'),
    responseJsonSchema: value,
    responseModalities: list(oneOf('MODALITY_UNSPECIFIED', 'TEXT', 'IMAGE', 'AUDIO')),
    mediaResolution: oneOf(
      'MEDIA_RESOLUTION_UNSPECIFIED',
      'MEDIA_RESOLUTION_LOW',
      'MEDIA_RESOLUTION_MEDIUM',
      'MEDIA_RESOLUTION_HIGH',
    ),
    speechConfig: struct,
    imageConfig: message('ImageConfig'),
    thinkingConfig: message('ThinkingConfig'),
    enableEnhancedCivicAnswers: bool,
  },
  ImageConfig: { aspectRatio: string, imageSize: string, personGeneration: string },
  ThinkingConfig: {
    includeThoughts: bool,
    thinkingBudget: int32,
    thinkingLevel: oneOf('THINKING_LEVEL_UNSPECIFIED', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'),
  },
};

/** Neutral field → what real clients call it. */
const REAL_NAMES: ReadonlyMap<string, string> = new Map([
  ['vendoraSearch', 'googleSearch'],
  ['vendoraSearchRetrieval', 'googleSearchRetrieval'],
  ['vendoraMaps', 'googleMaps'],
]);

const FIELDS: Readonly<Record<Words, ReadonlyMap<string, ReadonlyMap<string, Field>>>> = {
  neutral: indexMessages((name) => name),
  real: indexMessages((name) => REAL_NAMES.get(name) ?? name),
};
const NO_FIELDS: ReadonlyMap<string, Field> = new Map();

/** The message's fields under both of their spellings (proto JSON accepts either). */
function fieldsOf(name: MessageName, words: Words): ReadonlyMap<string, Field> {
  return FIELDS[words].get(name) ?? NO_FIELDS;
}

type Spelling = (name: string) => string;

function indexMessages(spell: Spelling): ReadonlyMap<string, ReadonlyMap<string, Field>> {
  return new Map(
    Object.entries(MESSAGES).map(([name, fields]) => [name, indexFields(fields, spell)] as const),
  );
}

function indexFields(
  fields: Readonly<Record<string, FieldType>>,
  spell: Spelling,
): ReadonlyMap<string, Field> {
  const index = new Map<string, Field>();
  for (const [name, type] of Object.entries(fields)) {
    const spelled = spell(name);
    const snakeName = spelled.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const field = { name, snakeName, type };
    index.set(spelled, field);
    index.set(snakeName, field);
  }
  return index;
}
