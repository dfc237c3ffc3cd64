// The fields of generate-content requests: official names and kinds of values.

import { keyIn } from './vocabulary.ts';

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
const numbered = (...names: string[]): FieldKind => ({ kind: 'enum', numbered: names });
const message = (name: GenerateMessage): FieldKind => ({ kind: 'message', message: name });
const list = (name: GenerateMessage): FieldKind => ({ kind: 'message-list', message: name });

/** Names of the Schema dialect's types in order of their numbers (`google.ai.generativelanguage.v1beta`, `Type`). */
export const NUMBERED_TYPES = [
  ...['TYPE_UNSPECIFIED', 'STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'],
];

const CALLING_MODES = ['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED'];

/** How contents are embedded; the public API has them beside the content, and in an object as well. */
const EMBED_SETTINGS = {
  taskType: numbered(
    ...['TASK_TYPE_UNSPECIFIED', 'RETRIEVAL_QUERY', 'RETRIEVAL_DOCUMENT', 'SEMANTIC_SIMILARITY'],
    ...['CLASSIFICATION', 'CLUSTERING', 'QUESTION_ANSWERING', 'FACT_VERIFICATION'],
    'CODE_RETRIEVAL_QUERY',
  ),
  title: TEXT,
  outputDimensionality: integer(1, INT32_MAX),
  autoTruncate: BOOLEAN,
  documentOcr: BOOLEAN,
  audioTrackExtraction: BOOLEAN,
} as const;

const MOMENTS = { startOffset: STRING, endOffset: STRING } as const;
const LAYERS = { contentLayers: STRING_LIST } as const;

/** What is taken of a medium: of documents, sheets and recordings as of videos. */
const MEDIUM_METADATA = {
  videoMetadata: message('VideoMetadata'),
  documentMetadata: message('DocumentMetadata'),
  spreadsheetMetadata: message('SpreadsheetMetadata'),
  audioMetadata: message('AudioMetadata'),
  mediaResolution: message('PartMediaResolution'),
  mediaProcessing: ANY_ENUM,
} as const;

/** Source: type definitions of `@google/genai` and of `google-genai` for Python, and the public GenerateContent reference. */
const MESSAGE_FIELDS: Readonly<Record<GenerateMessage, Readonly<Record<string, FieldKind>>>> = {
  Request: {
    contents: list('Content'),
    systemInstruction: message('Content'),
    generationConfig: message('GenerationConfig'),
    tools: list('Tool'),
    toolConfig: message('ToolConfig'),
    safetySettings: list('SafetySetting'),
    cachedContent: STRING,
    modelArmorConfig: OBJECT,
    labels: { kind: 'free', shape: 'string-map' },
    outputConfig: OBJECT,
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
    audioTranscription: OBJECT,
    thought: BOOLEAN,
    thoughtSignature: { kind: 'signature' },
    ...MEDIUM_METADATA,
    speechMetadata: message('SpeechMetadata'),
    partMetadata: OBJECT,
  },
  SpeechMetadata: { speaker: STRING, style: STRING },
  Blob: { mimeType: STRING, data: { kind: 'base64' }, displayName: STRING },
  FileReference: { mimeType: STRING, fileUri: STRING, displayName: STRING },
  VideoMetadata: { ...MOMENTS, fps: ANY_NUMBER, ...LAYERS },
  DocumentMetadata: { startPage: ANY_INTEGER, endPage: ANY_INTEGER, ...LAYERS },
  SpreadsheetMetadata: { visibleCells: STRING, sheetIndex: ANY_INTEGER, ...LAYERS },
  AudioMetadata: MOMENTS,
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
  FunctionResponsePart: {
    inlineData: message('Blob'),
    fileData: message('FileReference'),
    ...MEDIUM_METADATA,
  },
  ExecutableCode: { id: STRING, language: numbered('LANGUAGE_UNSPECIFIED', 'PYTHON'), code: TEXT },
  CodeExecutionResult: {
    id: STRING,
    outcome: numbered(
      ...['OUTCOME_UNSPECIFIED', 'OUTCOME_OK', 'OUTCOME_FAILED', 'OUTCOME_DEADLINE_EXCEEDED'],
    ),
    output: TEXT,
  },
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
    mcpServers: list('McpServer'),
    retrieval: OBJECT,
    enterpriseWebSearch: OBJECT,
    exaAiSearch: OBJECT,
    parallelAiSearch: OBJECT,
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
  DynamicRetrievalConfig: {
    mode: numbered('MODE_UNSPECIFIED', 'MODE_DYNAMIC'),
    dynamicThreshold: ANY_NUMBER,
  },
  MapsTool: { enableWidget: BOOLEAN, authConfig: OBJECT, groundingTypes: OBJECT },
  FileSearchTool: { fileSearchStoreNames: STRING_LIST, metadataFilter: STRING, topK: ANY_INTEGER },
  ComputerUseTool: {
    environment: ANY_ENUM,
    excludedPredefinedFunctions: STRING_LIST,
    enablePromptInjectionDetection: BOOLEAN,
    disabledSafetyPolicies: STRING_LIST,
  },
  McpServer: { name: STRING, streamableHttpTransport: message('HttpTransport') },
  HttpTransport: {
    url: STRING,
    headers: { kind: 'free', shape: 'string-map' },
    timeout: STRING,
    sseReadTimeout: STRING,
    terminateOnClose: BOOLEAN,
  },
  ToolConfig: {
    functionCallingConfig: message('FunctionCallingConfig'),
    retrievalConfig: message('RetrievalConfig'),
    includeServerSideToolInvocations: BOOLEAN,
  },
  FunctionCallingConfig: {
    mode: { kind: 'enum', values: CALLING_MODES, numbered: CALLING_MODES },
    allowedFunctionNames: STRING_LIST,
    streamFunctionCallArguments: BOOLEAN,
  },
  RetrievalConfig: { latLng: message('LatLng'), languageCode: STRING },
  LatLng: { latitude: ANY_NUMBER, longitude: ANY_NUMBER },
  SafetySetting: {
    category: numbered(
      ...['HARM_CATEGORY_UNSPECIFIED', 'HARM_CATEGORY_DEROGATORY', 'HARM_CATEGORY_TOXICITY'],
      ...['HARM_CATEGORY_VIOLENCE', 'HARM_CATEGORY_SEXUAL', 'HARM_CATEGORY_MEDICAL'],
      ...['HARM_CATEGORY_DANGEROUS', 'HARM_CATEGORY_HARASSMENT', 'HARM_CATEGORY_HATE_SPEECH'],
      ...['HARM_CATEGORY_SEXUALLY_EXPLICIT', 'HARM_CATEGORY_DANGEROUS_CONTENT'],
      'HARM_CATEGORY_CIVIC_INTEGRITY',
    ),
    threshold: numbered(
      ...['HARM_BLOCK_THRESHOLD_UNSPECIFIED', 'BLOCK_LOW_AND_ABOVE', 'BLOCK_MEDIUM_AND_ABOVE'],
      ...['BLOCK_ONLY_HIGH', 'BLOCK_NONE', 'OFF'],
    ),
    method: ANY_ENUM,
  },
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
    mediaResolution: numbered(
      ...['MEDIA_RESOLUTION_UNSPECIFIED', 'MEDIA_RESOLUTION_LOW', 'MEDIA_RESOLUTION_MEDIUM'],
      'MEDIA_RESOLUTION_HIGH',
    ),
    thinkingConfig: message('ThinkingConfig'),
    audioTimestamp: BOOLEAN,
    enableAffectiveDialog: BOOLEAN,
    routingConfig: OBJECT,
    modelConfig: OBJECT,
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
  ImageConfig: {
    aspectRatio: STRING,
    imageSize: ANY_ENUM,
    personGeneration: ANY_ENUM,
    prominentPeople: ANY_ENUM,
    imageOutputOptions: message('ImageOutputOptions'),
  },
  ImageOutputOptions: { mimeType: STRING, compressionQuality: ANY_INTEGER },
  SpeechConfig: {
    voiceConfig: message('VoiceConfig'),
    multiSpeakerVoiceConfig: message('MultiSpeakerVoiceConfig'),
    languageCode: STRING,
  },
  VoiceConfig: {
    prebuiltVoiceConfig: message('PrebuiltVoiceConfig'),
    replicatedVoiceConfig: OBJECT,
    voice: STRING,
  },
  PrebuiltVoiceConfig: { voiceName: STRING },
  MultiSpeakerVoiceConfig: { speakerVoiceConfigs: list('SpeakerVoiceConfig') },
  SpeakerVoiceConfig: { speaker: STRING, voiceConfig: message('VoiceConfig') },
  ResponseFormat: { text: message('TextFormat'), image: message('ImageFormat'), audio: OBJECT },
  TextFormat: { mimeType: STRING, schema: JSON_SCHEMA },
  ImageFormat: { aspectRatio: STRING, imageSize: STRING, mimeType: STRING, delivery: ANY_ENUM },
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
  'audioTranscription',
] as const;

// What the fields of generate-content requests may hold.

/**
 * What a field may hold. `text` is content and kept as it stands; `free` and `schema` are the
 * client's own JSON and keep their keys; `signature` is a thought signature.
 */
export type FieldKind = TextualKind | NumberKind | EnumKind | FreeKind | MessageKind | ListKind;

interface TextualKind {
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
  /** The names in order of their numbers, which proto JSON takes as well; absent where they are not known. */
  readonly numbered?: readonly string[];
}

interface FreeKind {
  readonly kind: 'free';
  readonly shape: 'object' | 'schema' | 'string-map';
}

interface MessageKind {
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
  | 'DocumentMetadata'
  | 'SpreadsheetMetadata'
  | 'AudioMetadata'
  | 'PartMediaResolution'
  | 'SpeechMetadata'
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
  | 'McpServer'
  | 'HttpTransport'
  | 'ToolConfig'
  | 'FunctionCallingConfig'
  | 'RetrievalConfig'
  | 'LatLng'
  | 'SafetySetting'
  | 'GenerationConfig'
  | 'ThinkingConfig'
  | 'ImageConfig'
  | 'ImageOutputOptions'
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

// Finds a field of a generate-content request by any spelling a client may use.

/** A field under its official camelCase name. */
export interface GenerateField {
  readonly name: string;
  readonly kind: FieldKind;
}

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

/** Names that follow no rule: an older one, and the official client's own word for what it sends. */
const ALIASES: readonly (readonly [GenerateMessage, alias: string, name: string])[] = [
  ['GenerationConfig', '_responseJsonSchema', 'responseJsonSchema'],
  ['GenerationConfig', 'modelSelectionConfig', 'modelConfig'],
  ['GenerationConfig', 'model_selection_config', 'modelConfig'],
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
  for (const [owner, fields] of Object.entries(MESSAGE_FIELDS)) {
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
