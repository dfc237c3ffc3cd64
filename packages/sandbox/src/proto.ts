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

interface Messages {
  readonly GenerateContentRequest: GenerateRequest;
  readonly CountTokensRequest: CountTokensRequest;
  /** The form of project paths. */
  readonly ProjectCountTokensRequest: GenerateRequest;
  readonly EmbedContentRequest: EmbedContentRequest;
  readonly BatchEmbedContentsRequest: BatchEmbedContentsRequest;
}

/**
 * A copy with camelCase keys and upper-case enum values, nulls dropped.
 * @throws SandboxError 400 naming every unknown or mistyped field.
 */
export function readMessage<Name extends keyof Messages>(
  name: Name,
  body: JsonValue,
  words: Words = 'neutral',
): Messages[Name] {
  const violations: Violation[] = [];
  const result = readFields(name, body, { path: '', depth: 0, violations, words });
  if (violations.length > 0 || result === undefined) throw badRequest(violations);
  // The one narrowing: the descriptors have just checked every field the interfaces declare.
  return result as Messages[Name];
}

function readFields(name: string, value: JsonValue, place: Place): JsonObject | undefined {
  if (!isJsonObject(value)) return reject(place, `must be a ${name} object, not ${show(value)}`);
  if (place.depth > MAX_DEPTH) return reject(place, 'is nested too deeply');
  const fields = FIELDS[place.words].get(name);
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const field = fields?.get(key);
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
  /** A `struct` is a free-form JSON object; `value` is any JSON at all. */
  | { readonly kind: (typeof SCALARS)[number] }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'list' | 'map'; readonly of: FieldType }
  | { readonly kind: 'message'; readonly message: string };

/** Which of a vendor's words are understood: those of project paths are the real ones. */
export type Words = 'neutral' | 'real';

interface Field {
  /** The camelCase name, neutral whatever the caller's words. */
  readonly name: string;
  /** The snake_case name, used in error paths. */
  readonly snakeName: string;
  readonly type: FieldType;
}

const SCALARS = ['string', 'bool', 'int32', 'int64', 'double', 'bytes', 'struct', 'value'] as const;

/** Fields and their type, a line each; `|` stands between the values of an enum, also at the end of a line. */
const MESSAGES = readMessages(`
message GenerateContentRequest
  model, project, cachedContent, serviceTier: string
  contents: Content[]
  systemInstruction: Content
  tools: Tool[]
  toolConfig: ToolConfig
  safetySettings: SafetySetting[]
  generationConfig: GenerationConfig
  store: bool
  labels: map string
message CountTokensRequest
  model, project: string
  contents: Content[]
  generateContentRequest: GenerateContentRequest
message ProjectCountTokensRequest
  model: string
  contents: Content[]
  systemInstruction: Content
  tools: Tool[]
  generationConfig: GenerationConfig
message EmbedContentRequest
  model, project, title: string
  content: Content
  taskType: TASK_TYPE_UNSPECIFIED|RETRIEVAL_QUERY|RETRIEVAL_DOCUMENT|SEMANTIC_SIMILARITY|CLASSIFICATION|
    CLUSTERING|QUESTION_ANSWERING|FACT_VERIFICATION|CODE_RETRIEVAL_QUERY
  outputDimensionality: int32
message BatchEmbedContentsRequest
  model, project: string
  requests: EmbedContentRequest[]
message Content
  role: string
  parts: Part[]
message Part
  text: string
  inlineData: Blob
  fileData: FileData
  functionCall: FunctionCall
  functionResponse: FunctionResponse
  executableCode: ExecutableCode
  codeExecutionResult: CodeExecutionResult
  toolCall, toolResponse, mediaResolution, partMetadata: struct
  thought: bool
  thoughtSignature: bytes
  videoMetadata: VideoMetadata
message Blob
  mimeType: string
  data: bytes
message FileData
  mimeType, fileUri: string
message VideoMetadata
  startOffset, endOffset: string
  fps: double
message ExecutableCode
  id, code: string
  language: LANGUAGE_UNSPECIFIED|PYTHON
message CodeExecutionResult
  id, output: string
  outcome: OUTCOME_OK|OUTCOME_FAILED|OUTCOME_DEADLINE_EXCEEDED
message FunctionCall
  id, name: string
  args: struct
message FunctionResponse
  id, name, scheduling: string
  response: struct
  parts: FunctionResponsePart[]
  willContinue: bool
message FunctionResponsePart
  inlineData: Blob
message Tool
  functionDeclarations: FunctionDeclaration[]
  vendoraSearch: VendoraSearch
  vendoraSearchRetrieval, vendoraMaps, urlContext, codeExecution, computerUse, fileSearch: struct
  mcpServers: struct[]
message VendoraSearch
  timeRangeFilter, searchTypes: struct
message FunctionDeclaration
  name, description: string
  behavior: UNSPECIFIED|BLOCKING|NON_BLOCKING
  parameters, response: Schema
  parametersJsonSchema, responseJsonSchema: value
message Schema
  type: STRING|NUMBER|INTEGER|BOOLEAN|ARRAY|OBJECT|NULL
  format, title, description, pattern: string
  nullable: bool
  enum, required, propertyOrdering: string[]
  items: Schema
  minItems, maxItems, minProperties, maxProperties, minLength, maxLength: int64
  properties: map Schema
  minimum, maximum: double
  anyOf: Schema[]
  default, example: value
message ToolConfig
  functionCallingConfig: FunctionCallingConfig
  retrievalConfig: struct
  includeServerSideToolInvocations: bool
message FunctionCallingConfig
  mode: MODE_UNSPECIFIED|AUTO|ANY|NONE|VALIDATED
  allowedFunctionNames: string[]
message SafetySetting
  category: HARM_CATEGORY_HARASSMENT|HARM_CATEGORY_HATE_SPEECH|HARM_CATEGORY_SEXUALLY_EXPLICIT|
    HARM_CATEGORY_DANGEROUS_CONTENT|HARM_CATEGORY_CIVIC_INTEGRITY
  threshold: HARM_BLOCK_THRESHOLD_UNSPECIFIED|OFF|BLOCK_NONE|BLOCK_ONLY_HIGH|BLOCK_MEDIUM_AND_ABOVE|
    BLOCK_LOW_AND_ABOVE
message GenerationConfig
  candidateCount, maxOutputTokens, topK, seed, logprobs: int32
  stopSequences: string[]
  temperature, topP, presencePenalty, frequencyPenalty: double
  responseLogprobs, enableEnhancedCivicAnswers: bool
  responseMimeType: string
  responseSchema: Schema
  responseJsonSchema: value
  responseModalities: MODALITY_UNSPECIFIED|TEXT|IMAGE|AUDIO[]
  mediaResolution: MEDIA_RESOLUTION_UNSPECIFIED|MEDIA_RESOLUTION_LOW|MEDIA_RESOLUTION_MEDIUM|
    MEDIA_RESOLUTION_HIGH
  speechConfig: struct
  imageConfig: ImageConfig
  thinkingConfig: ThinkingConfig
message ImageConfig
  aspectRatio, imageSize, personGeneration: string
message ThinkingConfig
  includeThoughts: bool
  thinkingBudget: int32
  thinkingLevel: THINKING_LEVEL_UNSPECIFIED|MINIMAL|LOW|MEDIUM|HIGH
`);

/** Neutral field → what real clients call it. */
const REAL_NAMES: ReadonlyMap<string, string> = new Map([
  ['vendoraSearch', 'googleSearch'],
  ['vendoraSearchRetrieval', 'googleSearchRetrieval'],
  ['vendoraMaps', 'googleMaps'],
]);

type FieldIndex = ReadonlyMap<string, ReadonlyMap<string, Field>>;

/** Each message's fields under both of their spellings (proto JSON accepts either). */
const FIELDS: Readonly<Record<Words, FieldIndex>> = {
  neutral: indexFields((name) => name),
  real: indexFields((name) => REAL_NAMES.get(name) ?? name),
};

function readMessages(text: string): ReadonlyMap<string, ReadonlyMap<string, FieldType>> {
  const [, ...messages] = text.replaceAll(/\|\s+/g, '|').split(/^message /m);
  return new Map(
    messages.map((message) => {
      const [name = '', ...lines] = message.trim().split('\n');
      const fields = lines.flatMap((line) => {
        const [names = '', type = ''] = line.trim().split(': ');
        return names.split(', ').map((field) => [field, readType(type)] as const);
      });
      return [name, new Map(fields)];
    }),
  );
}

function readType(text: string): FieldType {
  if (text.endsWith('[]')) return { kind: 'list', of: readType(text.slice(0, -2)) };
  if (text.startsWith('map ')) return { kind: 'map', of: readType(text.slice(4)) };
  const scalar = SCALARS.find((kind) => kind === text);
  if (scalar !== undefined) return { kind: scalar };
  return text.includes('_') || text.includes('|')
    ? { kind: 'enum', values: text.split('|') }
    : { kind: 'message', message: text };
}

function indexFields(spell: (name: string) => string): FieldIndex {
  return new Map(
    [...MESSAGES].map(([message, fields]) => {
      const index = new Map<string, Field>();
      for (const [name, type] of fields) {
        const spelled = spell(name);
        const snakeName = spelled.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
        index.set(spelled, { name, snakeName, type });
        index.set(snakeName, { name, snakeName, type });
      }
      return [message, index];
    }),
  );
}
