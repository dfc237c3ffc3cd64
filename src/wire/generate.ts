// The requests of the generate-content wire: the official name of each field, what it holds, and the types that follow.

import type { JsonObject } from '../lib/json.ts';
import { keyIn } from './vocabulary.ts';

/** The wire's name. */
export const GENERATE_WIRE = 'generate-content';

type Fields = Readonly<Record<string, Field>>;

/** What a field may hold. */
export type Field<Value = unknown> = (
  | PlainField
  | NumberField
  | EnumField
  | MessageField
  | ListField
) & {
  /** Never set: carries the type of the values alone. */
  readonly value?: Value;
};

/**
 * `text` is content and kept as it stands; `object`, `json-schema` and `string-map` are the client's own JSON
 * and keep their keys; `signature` is a thought signature.
 */
interface PlainField {
  readonly kind:
    | ('text' | 'string' | 'boolean' | 'base64' | 'signature')
    | ('schema' | 'json-schema' | 'object' | 'string-map');
}

export interface NumberField {
  readonly kind: 'integer' | 'number';
  readonly min: number;
  readonly max: number;
}

export interface EnumField {
  readonly kind: 'enum';
  /** Absent when any value is accepted. */
  readonly values?: readonly string[];
  /** The names in order of their numbers, which proto JSON takes as well; absent where they are not known. */
  readonly numbered?: readonly string[];
}

export interface MessageField {
  readonly kind: 'message';
  /** By any spelling a client may use: camelCase or snake_case, in either vocabulary. */
  readonly spellings: ReadonlyMap<string, NamedField>;
  readonly needed: readonly string[];
  readonly uncarried: readonly string[];
}

interface NamedField {
  /** The official one, in camelCase. */
  readonly name: string;
  readonly field: Field;
}

export interface ListField {
  readonly kind: 'list';
  readonly items: Field;
}

const INT32_MAX = 2 ** 31 - 1;
const TEXT: Field<string> = { kind: 'text' };
const STRING: Field<string> = { kind: 'string' };
const BOOLEAN: Field<boolean> = { kind: 'boolean' };
const OBJECT: Field<JsonObject> = { kind: 'object' };
const SIGNATURE: Field<string> = { kind: 'signature' };
const BASE64: Field<string> = { kind: 'base64' };
const STRING_MAP: Field<JsonObject> = { kind: 'string-map' };
const JSON_SCHEMA: Field<JsonObject | boolean> = { kind: 'json-schema' };
const SCHEMA: Field<JsonObject> = { kind: 'schema' };
const ANY_ENUM: Field<string> = { kind: 'enum' };
const ANY_INTEGER = integer(-INT32_MAX - 1, INT32_MAX);
const ANY_NUMBER = number(-Number.MAX_VALUE, Number.MAX_VALUE);

function integer(min: number, max: number): Field<number> {
  return { kind: 'integer', min, max };
}

function number(min: number, max: number): Field<number> {
  return { kind: 'number', min, max };
}

function oneOf(...values: readonly string[]): Field<string> {
  return { kind: 'enum', values };
}

function numbered(...names: readonly string[]): Field<string> {
  return { kind: 'enum', numbered: names };
}

function oneOfNumbered(...names: readonly string[]): Field<string> {
  return { kind: 'enum', values: names, numbered: names };
}

function list<Item>(items: Field<Item>): Field<Item[]> {
  return { kind: 'list', items };
}

/** A field without which its object means nothing. */
function needed<Value>(field: Field<Value>): Field<Value> & { readonly isNeeded: true } {
  return { ...field, isNeeded: true };
}

/** A field that nothing canonical stands for: only an upstream of this wire gets it. */
function uncarried<Value>(field: Field<Value>): Field<Value> & { readonly isUncarried: true } {
  return { ...field, isUncarried: true };
}

/** What a field holds once it is normalised. */
export type ValueOf<Of> = Of extends { readonly value?: infer Value }
  ? Exclude<Value, undefined>
  : never;

type NeededIn<Of> = {
  [Name in keyof Of]: Of[Name] extends { readonly isNeeded: true } ? Name : never;
}[keyof Of];

type MessageOf<Of> = { [Name in NeededIn<Of>]: ValueOf<Of[Name]> } & {
  [Name in Exclude<keyof Of, NeededIn<Of>>]?: ValueOf<Of[Name]>;
};

/** @param aliases names that follow no rule: older ones, and the official client's own words for what it sends */
function message<Of extends Fields>(
  fields: Of,
  aliases: readonly (readonly [alias: string, name: keyof Of & string])[] = [],
): MessageField & Field<MessageOf<Of>> {
  const spellings = new Map<string, NamedField>();
  for (const [name, field] of Object.entries(fields)) {
    for (const word of [name, keyIn('neutral', name)]) {
      spellings.set(word, { name, field }).set(snakeCase(word), { name, field });
    }
  }
  for (const [alias, name] of aliases) {
    const known = spellings.get(name);
    if (known !== undefined) spellings.set(alias, known);
  }
  const having = (mark: string): string[] =>
    Object.keys(fields).filter((name) => mark in (fields[name] ?? {}));
  return {
    kind: 'message',
    spellings,
    needed: having('isNeeded'),
    uncarried: having('isUncarried'),
  };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Names of the Schema dialect's types in order of their numbers (`google.ai.generativelanguage.v1beta`, `Type`). */
export const NUMBERED_TYPES = [
  ...['TYPE_UNSPECIFIED', 'STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'],
];

/** Keys of the Schema dialect that snake case spells differently (public reference: Schema). */
const SCHEMA_KEYS = new Map(
  [
    ...['minItems', 'maxItems', 'minProperties', 'maxProperties', 'minLength', 'maxLength'],
    ...['anyOf', 'propertyOrdering'],
  ].map((key) => [snakeCase(key), key]),
);

/** The camelCase spelling of a Schema key; other keys unchanged. */
export function officialSchemaKey(key: string): string {
  return SCHEMA_KEYS.get(key) ?? key;
}

// Sources: type definitions of `@google/genai` and of `google-genai` for Python, and the public GenerateContent reference.

const LAYERS = { contentLayers: list(STRING) };
const MOMENTS = { startOffset: STRING, endOffset: STRING };
const RESOLUTION = message({ level: ANY_ENUM, numTokens: ANY_INTEGER });

/** What is taken of a medium: of documents, sheets and recordings as of videos. */
const MEDIUM = {
  videoMetadata: uncarried(message({ ...MOMENTS, fps: ANY_NUMBER, ...LAYERS })),
  documentMetadata: uncarried(message({ startPage: ANY_INTEGER, endPage: ANY_INTEGER, ...LAYERS })),
  spreadsheetMetadata: uncarried(
    message({ visibleCells: STRING, sheetIndex: ANY_INTEGER, ...LAYERS }),
  ),
  audioMetadata: uncarried(message(MOMENTS)),
  mediaProcessing: uncarried(ANY_ENUM),
  mediaResolution: RESOLUTION,
};
const BLOB = message({ mimeType: needed(STRING), data: needed(BASE64), displayName: STRING });
const FILE = message({ mimeType: STRING, fileUri: needed(STRING), displayName: STRING });

const RESPONSE_PART = message({ inlineData: BLOB, fileData: FILE, ...MEDIUM });
export const FUNCTION_RESPONSE = message({
  id: STRING,
  name: needed(STRING),
  response: needed(OBJECT),
  parts: list(RESPONSE_PART),
  scheduling: uncarried(ANY_ENUM),
  willContinue: uncarried(BOOLEAN),
});

/** The fields of which a part holds exactly one. */
/** The wire's words for how code ended, in the order of their numbers. */
export const OUTCOMES = {
  ok: 'OUTCOME_OK',
  failed: 'OUTCOME_FAILED',
  timeout: 'OUTCOME_DEADLINE_EXCEEDED',
} as const;

export function outcomeOf(word: unknown): keyof typeof OUTCOMES | undefined {
  return (['ok', 'failed', 'timeout'] as const).find((outcome) => OUTCOMES[outcome] === word);
}

/** The wire has a word for one language. */
export function languageWord(language: string): 'PYTHON' | 'LANGUAGE_UNSPECIFIED' {
  return /^python\d*$/i.test(language) ? 'PYTHON' : 'LANGUAGE_UNSPECIFIED';
}

/** `finishMessage` of an answer that ended at a stop sequence, for which there is no reason: gateways tell it each other so. */
export function stopMessage(stop: string): string {
  return `Stopped at the stop sequence ${JSON.stringify(stop)}.`;
}

const PART_DATA = {
  text: TEXT,
  inlineData: BLOB,
  fileData: FILE,
  functionCall: message({ id: STRING, name: needed(STRING), args: OBJECT }),
  functionResponse: FUNCTION_RESPONSE,
  executableCode: message({
    id: STRING,
    language: numbered('LANGUAGE_UNSPECIFIED', 'PYTHON'),
    code: needed(TEXT),
  }),
  codeExecutionResult: message({
    id: STRING,
    outcome: needed(numbered('OUTCOME_UNSPECIFIED', ...Object.values(OUTCOMES))),
    output: TEXT,
  }),
  /** Traces of tools the upstream ran itself, echoed unchanged. */
  toolCall: message({ id: STRING, toolType: ANY_ENUM, args: OBJECT }),
  toolResponse: message({ id: STRING, toolType: ANY_ENUM, response: OBJECT }),
  audioTranscription: OBJECT,
};
export const PART = message({
  ...PART_DATA,
  thought: BOOLEAN,
  /** Base64; checked by the upstream against the part it stands on. */
  thoughtSignature: SIGNATURE,
  ...MEDIUM,
  partMetadata: uncarried(OBJECT),
  speechMetadata: uncarried(message({ speaker: STRING, style: STRING })),
});

export type PartDatum = keyof typeof PART_DATA;

export const PART_DATA_FIELDS = Object.keys(PART_DATA) as readonly PartDatum[];

export const CONTENT = message({ role: STRING, parts: list(PART) });

export const DECLARATION = message({
  name: STRING,
  description: STRING,
  parameters: SCHEMA,
  parametersJsonSchema: JSON_SCHEMA,
  response: uncarried(SCHEMA),
  responseJsonSchema: uncarried(JSON_SCHEMA),
  behavior: uncarried(ANY_ENUM),
});
const SEARCH = message({
  timeRangeFilter: uncarried(message({ startTime: STRING, endTime: STRING })),
  searchTypes: uncarried(message({ webSearch: OBJECT, imageSearch: OBJECT })),
  excludeDomains: list(STRING),
  blockingConfidence: uncarried(ANY_ENUM),
});
const TOOL = message({
  functionDeclarations: list(DECLARATION),
  googleSearch: SEARCH,
  googleSearchRetrieval: message({
    dynamicRetrievalConfig: message({
      mode: numbered('MODE_UNSPECIFIED', 'MODE_DYNAMIC'),
      dynamicThreshold: ANY_NUMBER,
    }),
  }),
  urlContext: OBJECT,
  codeExecution: OBJECT,
  googleMaps: uncarried(
    message({ enableWidget: BOOLEAN, authConfig: OBJECT, groundingTypes: OBJECT }),
  ),
  fileSearch: uncarried(
    message({ fileSearchStoreNames: list(STRING), metadataFilter: STRING, topK: ANY_INTEGER }),
  ),
  computerUse: uncarried(
    message({
      environment: ANY_ENUM,
      excludedPredefinedFunctions: list(STRING),
      enablePromptInjectionDetection: BOOLEAN,
      disabledSafetyPolicies: list(STRING),
    }),
  ),
  mcpServers: uncarried(
    list(
      message({
        name: STRING,
        streamableHttpTransport: message({
          url: STRING,
          headers: STRING_MAP,
          timeout: STRING,
          sseReadTimeout: STRING,
          terminateOnClose: BOOLEAN,
        }),
      }),
    ),
  ),
  retrieval: uncarried(OBJECT),
  enterpriseWebSearch: uncarried(OBJECT),
  exaAiSearch: uncarried(OBJECT),
  parallelAiSearch: uncarried(OBJECT),
});

const CALLING_CONFIG = message({
  mode: oneOfNumbered('MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED'),
  /** Only with ANY or VALIDATED. */
  allowedFunctionNames: list(STRING),
  streamFunctionCallArguments: uncarried(BOOLEAN),
});
const TOOL_CONFIG = message({
  functionCallingConfig: CALLING_CONFIG,
  retrievalConfig: uncarried(
    message({
      latLng: message({ latitude: ANY_NUMBER, longitude: ANY_NUMBER }),
      languageCode: STRING,
    }),
  ),
  /** Needed for built-in tools beside functions (Gemini 3 and later). */
  includeServerSideToolInvocations: BOOLEAN,
});

const SAFETY_SETTING = message({
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
  method: uncarried(ANY_ENUM),
});

/** A budget (0 is off, -1 automatic, else tokens) and a level exclude each other. */
const THINKING_CONFIG = message({
  includeThoughts: BOOLEAN,
  thinkingBudget: integer(-1, INT32_MAX),
  // `NONE` is this product's addition; it never goes upstream as a level.
  thinkingLevel: oneOf('THINKING_LEVEL_UNSPECIFIED', 'NONE', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'),
});
export const IMAGE_CONFIG = message({
  aspectRatio: STRING,
  imageSize: ANY_ENUM,
  personGeneration: uncarried(ANY_ENUM),
  prominentPeople: uncarried(ANY_ENUM),
  imageOutputOptions: uncarried(message({ mimeType: STRING, compressionQuality: ANY_INTEGER })),
});
const VOICE_CONFIG = message({
  prebuiltVoiceConfig: message({ voiceName: STRING }),
  replicatedVoiceConfig: OBJECT,
  voice: STRING,
});
const SPEECH_CONFIG: Field<JsonObject> = message({
  voiceConfig: VOICE_CONFIG,
  multiSpeakerVoiceConfig: message({
    speakerVoiceConfigs: list(message({ speaker: STRING, voiceConfig: VOICE_CONFIG })),
  }),
  languageCode: STRING,
});
const RESPONSE_FORMAT = message({
  text: message({ mimeType: STRING, schema: JSON_SCHEMA }),
  image: message({ aspectRatio: STRING, imageSize: STRING, mimeType: STRING, delivery: ANY_ENUM }),
  audio: OBJECT,
});
const GENERATION_CONFIG = message(
  {
    temperature: number(0, 2),
    topP: number(0, 1),
    topK: integer(1, INT32_MAX),
    // Thoughts included, and the type's own limit only: figures above the model's cap are capped later, never refused.
    maxOutputTokens: integer(1, Number.MAX_SAFE_INTEGER),
    candidateCount: integer(1, 8),
    stopSequences: list(STRING),
    seed: ANY_INTEGER,
    presencePenalty: number(-2, 2),
    frequencyPenalty: number(-2, 2),
    responseLogprobs: BOOLEAN,
    logprobs: integer(0, 20),
    responseMimeType: STRING,
    responseSchema: SCHEMA,
    responseJsonSchema: JSON_SCHEMA,
    responseFormat: list(RESPONSE_FORMAT),
    responseModalities: list(
      oneOfNumbered('MODALITY_UNSPECIFIED', 'TEXT', 'IMAGE', 'AUDIO', 'VIDEO'),
    ),
    imageConfig: IMAGE_CONFIG,
    speechConfig: SPEECH_CONFIG,
    mediaResolution: numbered(
      ...['MEDIA_RESOLUTION_UNSPECIFIED', 'MEDIA_RESOLUTION_LOW', 'MEDIA_RESOLUTION_MEDIUM'],
      'MEDIA_RESOLUTION_HIGH',
    ),
    thinkingConfig: THINKING_CONFIG,
    audioTimestamp: uncarried(BOOLEAN),
    enableAffectiveDialog: uncarried(BOOLEAN),
    routingConfig: uncarried(OBJECT),
    modelConfig: uncarried(OBJECT),
    audioTranscriptionConfig: uncarried(OBJECT),
    translationConfig: uncarried(OBJECT),
    enableEnhancedCivicAnswers: uncarried(BOOLEAN),
  },
  [
    ['_responseJsonSchema', 'responseJsonSchema'],
    ['modelSelectionConfig', 'modelConfig'],
    ['model_selection_config', 'modelConfig'],
  ],
);

export const REQUEST = message({
  contents: list(CONTENT),
  systemInstruction: CONTENT,
  generationConfig: GENERATION_CONFIG,
  tools: list(TOOL),
  toolConfig: TOOL_CONFIG,
  safetySettings: list(SAFETY_SETTING),
  cachedContent: STRING,
  labels: uncarried(STRING_MAP),
  store: uncarried(BOOLEAN),
  continuationToken: uncarried(STRING),
  modelArmorConfig: uncarried(OBJECT),
  outputConfig: uncarried(OBJECT),
  serviceTier: STRING,
  model: STRING,
  project: STRING,
});

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
};
export const EMBED_REQUEST = message({
  model: STRING,
  project: STRING,
  content: CONTENT,
  embedContentConfig: message(EMBED_SETTINGS),
  ...EMBED_SETTINGS,
});
export const EMBED_BATCH = message({
  model: STRING,
  project: STRING,
  requests: list(EMBED_REQUEST),
});

/** What is sent upstream. Type aliases, so that a value of one is also a JsonObject. */
export type WirePart = ValueOf<typeof PART>;
export type WireContent = { role?: 'user' | 'model'; parts: WirePart[] };
export type WireBlob = ValueOf<typeof BLOB>;
export type WireFunctionResponse = ValueOf<typeof FUNCTION_RESPONSE>;
export type WireFunctionResponsePart = ValueOf<typeof RESPONSE_PART>;
export type WireFunctionDeclaration = ValueOf<typeof DECLARATION>;
export type WireToolConfig = ValueOf<typeof TOOL_CONFIG>;
export type WireFunctionCallingConfig = ValueOf<typeof CALLING_CONFIG>;
export type WireGenerationConfig = ValueOf<typeof GENERATION_CONFIG>;
export type WireThinkingConfig = ValueOf<typeof THINKING_CONFIG>;
