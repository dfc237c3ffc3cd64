// The fields of generate-content requests: official names, accepted spellings and kinds of values.

import { keyIn } from './vocabulary.ts';

/**
 * What a field may hold. `text` is content and kept as it stands; `free` and `schema` are the
 * client's own JSON and keep their keys; `signature` is a thought signature.
 */
export type FieldKind = TextualKind | NumberKind | EnumKind | FreeKind | MessageKind | ListKind;

export interface TextualKind {
  readonly kind: 'text' | 'string' | 'boolean' | 'base64' | 'signature' | 'schema';
}

export interface NumberKind {
  readonly kind: 'integer' | 'number';
  readonly min: number;
  readonly max: number;
}

export interface EnumKind {
  readonly kind: 'enum';
  /** Absent when any value is accepted. */
  readonly values?: readonly string[];
}

export interface FreeKind {
  readonly kind: 'free';
  readonly shape: 'object' | 'schema' | 'string-map';
}

export interface MessageKind {
  readonly kind: 'message';
  readonly message: GenerateMessage;
}

export type ListKind =
  | { readonly kind: 'string-list' }
  | { readonly kind: 'enum-list'; readonly values: readonly string[] }
  | { readonly kind: 'message-list'; readonly message: GenerateMessage };

export type GenerateMessage =
  | 'Request'
  | 'Content'
  | 'Part'
  | 'Blob'
  | 'FileReference'
  | 'VideoMetadata'
  | 'PartMediaResolution'
  | 'FunctionCall'
  | 'FunctionResponse'
  | 'FunctionResponsePart'
  | 'ExecutableCode'
  | 'CodeExecutionResult'
  | 'ServerToolCall'
  | 'ServerToolResponse'
  | 'Tool'
  | 'FunctionDeclaration'
  | 'SearchTool'
  | 'SearchTypes'
  | 'TimeRange'
  | 'SearchRetrievalTool'
  | 'DynamicRetrievalConfig'
  | 'MapsTool'
  | 'FileSearchTool'
  | 'ComputerUseTool'
  | 'ToolConfig'
  | 'FunctionCallingConfig'
  | 'RetrievalConfig'
  | 'LatLng'
  | 'SafetySetting'
  | 'GenerationConfig'
  | 'ThinkingConfig'
  | 'ImageConfig'
  | 'SpeechConfig'
  | 'VoiceConfig'
  | 'PrebuiltVoiceConfig'
  | 'MultiSpeakerVoiceConfig'
  | 'SpeakerVoiceConfig'
  | 'ResponseFormat'
  | 'TextFormat'
  | 'ImageFormat'
  | 'EmbedRequest'
  | 'EmbedBatch'
  | 'EmbedConfig';

/** A field under its official camelCase name. */
export interface GenerateField {
  readonly name: string;
  readonly kind: FieldKind;
}

const INT32_MAX = 2 ** 31 - 1;
const TEXT = { kind: 'text' } as const;
const STRING = { kind: 'string' } as const;
const BOOLEAN = { kind: 'boolean' } as const;
const STRING_LIST = { kind: 'string-list' } as const;
const OBJECT = { kind: 'free', shape: 'object' } as const;
const JSON_SCHEMA = { kind: 'free', shape: 'schema' } as const;
const SCHEMA = { kind: 'schema' } as const;
const ANY_ENUM = { kind: 'enum' } as const;
const ANY_INTEGER = { kind: 'integer', min: -INT32_MAX - 1, max: INT32_MAX } as const;
const ANY_NUMBER = { kind: 'number', min: -Number.MAX_VALUE, max: Number.MAX_VALUE } as const;

const integer = (min: number, max: number): FieldKind => ({ kind: 'integer', min, max });
const number = (min: number, max: number): FieldKind => ({ kind: 'number', min, max });
const oneOf = (...values: string[]): FieldKind => ({ kind: 'enum', values });
const message = (name: GenerateMessage): FieldKind => ({ kind: 'message', message: name });
const list = (name: GenerateMessage): FieldKind => ({ kind: 'message-list', message: name });

/** How contents are embedded; the public API has them beside the content, and in an object as well. */
const EMBED_SETTINGS = {
  taskType: ANY_ENUM,
  title: TEXT,
  outputDimensionality: integer(1, INT32_MAX),
  autoTruncate: BOOLEAN,
  documentOcr: BOOLEAN,
  audioTrackExtraction: BOOLEAN,
} as const;

/** Source: `@google/genai` type definitions and the public GenerateContent reference. */
const MESSAGES: Readonly<Record<GenerateMessage, Readonly<Record<string, FieldKind>>>> = {
  Request: {
    contents: list('Content'),
    systemInstruction: message('Content'),
    generationConfig: message('GenerationConfig'),
    tools: list('Tool'),
    toolConfig: message('ToolConfig'),
    safetySettings: list('SafetySetting'),
    cachedContent: STRING,
    labels: { kind: 'free', shape: 'string-map' },
    serviceTier: STRING,
    store: BOOLEAN,
    continuationToken: STRING,
    model: STRING,
    project: STRING,
  },
  Content: { role: STRING, parts: list('Part') },
  Part: {
    text: TEXT,
    inlineData: message('Blob'),
    fileData: message('FileReference'),
    functionCall: message('FunctionCall'),
    functionResponse: message('FunctionResponse'),
    executableCode: message('ExecutableCode'),
    codeExecutionResult: message('CodeExecutionResult'),
    toolCall: message('ServerToolCall'),
    toolResponse: message('ServerToolResponse'),
    thought: BOOLEAN,
    thoughtSignature: { kind: 'signature' },
    videoMetadata: message('VideoMetadata'),
    mediaResolution: message('PartMediaResolution'),
    partMetadata: OBJECT,
  },
  Blob: { mimeType: STRING, data: { kind: 'base64' }, displayName: STRING },
  FileReference: { mimeType: STRING, fileUri: STRING, displayName: STRING },
  VideoMetadata: { startOffset: STRING, endOffset: STRING, fps: ANY_NUMBER },
  PartMediaResolution: { level: ANY_ENUM, numTokens: ANY_INTEGER },
  FunctionCall: { id: STRING, name: STRING, args: OBJECT },
  FunctionResponse: {
    id: STRING,
    name: STRING,
    response: OBJECT,
    parts: list('FunctionResponsePart'),
    scheduling: ANY_ENUM,
    willContinue: BOOLEAN,
  },
  FunctionResponsePart: { inlineData: message('Blob'), fileData: message('FileReference') },
  ExecutableCode: { id: STRING, language: ANY_ENUM, code: TEXT },
  CodeExecutionResult: { id: STRING, outcome: ANY_ENUM, output: TEXT },
  ServerToolCall: { id: STRING, toolType: ANY_ENUM, args: OBJECT },
  ServerToolResponse: { id: STRING, toolType: ANY_ENUM, response: OBJECT },
  Tool: {
    functionDeclarations: list('FunctionDeclaration'),
    googleSearch: message('SearchTool'),
    googleSearchRetrieval: message('SearchRetrievalTool'),
    urlContext: OBJECT,
    codeExecution: OBJECT,
    googleMaps: message('MapsTool'),
    fileSearch: message('FileSearchTool'),
    computerUse: message('ComputerUseTool'),
  },
  FunctionDeclaration: {
    name: STRING,
    description: STRING,
    parameters: SCHEMA,
    parametersJsonSchema: JSON_SCHEMA,
    response: SCHEMA,
    responseJsonSchema: JSON_SCHEMA,
    behavior: ANY_ENUM,
  },
  SearchTool: {
    timeRangeFilter: message('TimeRange'),
    searchTypes: message('SearchTypes'),
    excludeDomains: STRING_LIST,
    blockingConfidence: ANY_ENUM,
  },
  SearchTypes: { webSearch: OBJECT, imageSearch: OBJECT },
  TimeRange: { startTime: STRING, endTime: STRING },
  SearchRetrievalTool: { dynamicRetrievalConfig: message('DynamicRetrievalConfig') },
  DynamicRetrievalConfig: { mode: ANY_ENUM, dynamicThreshold: ANY_NUMBER },
  MapsTool: { enableWidget: BOOLEAN },
  FileSearchTool: { fileSearchStoreNames: STRING_LIST, metadataFilter: STRING, topK: ANY_INTEGER },
  ComputerUseTool: { environment: ANY_ENUM, excludedPredefinedFunctions: STRING_LIST },
  ToolConfig: {
    functionCallingConfig: message('FunctionCallingConfig'),
    retrievalConfig: message('RetrievalConfig'),
    includeServerSideToolInvocations: BOOLEAN,
  },
  FunctionCallingConfig: {
    mode: oneOf('MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED'),
    allowedFunctionNames: STRING_LIST,
  },
  RetrievalConfig: { latLng: message('LatLng'), languageCode: STRING },
  LatLng: { latitude: ANY_NUMBER, longitude: ANY_NUMBER },
  SafetySetting: { category: ANY_ENUM, threshold: ANY_ENUM },
  GenerationConfig: {
    temperature: number(0, 2),
    topP: number(0, 1),
    topK: integer(1, INT32_MAX),
    // The type's own limit only: figures above the model's cap are capped later, never refused.
    maxOutputTokens: integer(1, Number.MAX_SAFE_INTEGER),
    candidateCount: integer(1, 8),
    stopSequences: STRING_LIST,
    seed: ANY_INTEGER,
    presencePenalty: number(-2, 2),
    frequencyPenalty: number(-2, 2),
    responseLogprobs: BOOLEAN,
    logprobs: integer(0, 20),
    responseMimeType: STRING,
    responseSchema: SCHEMA,
    responseJsonSchema: JSON_SCHEMA,
    responseFormat: list('ResponseFormat'),
    responseModalities: {
      kind: 'enum-list',
      values: ['MODALITY_UNSPECIFIED', 'TEXT', 'IMAGE', 'AUDIO', 'VIDEO'],
    },
    imageConfig: message('ImageConfig'),
    speechConfig: message('SpeechConfig'),
    mediaResolution: ANY_ENUM,
    thinkingConfig: message('ThinkingConfig'),
    audioTranscriptionConfig: OBJECT,
    translationConfig: OBJECT,
    enableEnhancedCivicAnswers: BOOLEAN,
  },
  ThinkingConfig: {
    includeThoughts: BOOLEAN,
    thinkingBudget: integer(-1, INT32_MAX),
    // `NONE` is this product's addition; it never goes upstream as a level.
    thinkingLevel: oneOf('THINKING_LEVEL_UNSPECIFIED', 'NONE', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'),
  },
  ImageConfig: { aspectRatio: STRING, imageSize: ANY_ENUM, personGeneration: ANY_ENUM },
  SpeechConfig: {
    voiceConfig: message('VoiceConfig'),
    multiSpeakerVoiceConfig: message('MultiSpeakerVoiceConfig'),
    languageCode: STRING,
  },
  VoiceConfig: { prebuiltVoiceConfig: message('PrebuiltVoiceConfig') },
  PrebuiltVoiceConfig: { voiceName: STRING },
  MultiSpeakerVoiceConfig: { speakerVoiceConfigs: list('SpeakerVoiceConfig') },
  SpeakerVoiceConfig: { speaker: STRING, voiceConfig: message('VoiceConfig') },
  ResponseFormat: { text: message('TextFormat'), image: message('ImageFormat'), audio: OBJECT },
  TextFormat: { mimeType: STRING, schema: JSON_SCHEMA },
  ImageFormat: {
    aspectRatio: STRING,
    imageSize: STRING,
    mimeType: STRING,
    delivery: ANY_ENUM,
  },
  EmbedRequest: {
    model: STRING,
    project: STRING,
    content: message('Content'),
    embedContentConfig: message('EmbedConfig'),
    ...EMBED_SETTINGS,
  },
  EmbedBatch: { model: STRING, project: STRING, requests: list('EmbedRequest') },
  EmbedConfig: EMBED_SETTINGS,
};

/** The fields of which a part holds exactly one. */
export const PART_DATA_FIELDS = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
] as const;

/** Keys of the Schema dialect that snake case spells differently (public reference: Schema). */
const SCHEMA_KEYS = [
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'anyOf',
  'propertyOrdering',
];

const SCHEMA_SPELLINGS = new Map(SCHEMA_KEYS.map((key) => [snakeCase(key), key]));

/** Older names that follow no rule. */
const ALIASES: readonly (readonly [GenerateMessage, alias: string, name: string])[] = [
  ['GenerationConfig', '_responseJsonSchema', 'responseJsonSchema'],
];

const SPELLINGS = indexSpellings();

/** The field a key stands for, in camelCase or snake_case and in either vocabulary. */
export function findField(owner: GenerateMessage, key: string): GenerateField | undefined {
  return SPELLINGS.get(owner)?.get(key);
}

/** The camelCase spelling of a Schema key; other keys unchanged. */
export function officialSchemaKey(key: string): string {
  return SCHEMA_SPELLINGS.get(key) ?? key;
}

function indexSpellings(): ReadonlyMap<string, ReadonlyMap<string, GenerateField>> {
  const index = new Map<string, Map<string, GenerateField>>();
  for (const [owner, fields] of Object.entries(MESSAGES)) {
    const spellings = new Map<string, GenerateField>();
    for (const [name, kind] of Object.entries(fields)) {
      for (const word of [name, keyIn('neutral', name)]) {
        spellings.set(word, { name, kind }).set(snakeCase(word), { name, kind });
      }
    }
    index.set(owner, spellings);
  }
  for (const [owner, alias, name] of ALIASES) {
    const field = index.get(owner)?.get(name);
    if (field !== undefined) index.get(owner)?.set(alias, field);
  }
  return index;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
