// Which fields each message of the generate-content API has, in the neutral vocabulary.
// Source: the public types of the generate-content API (GenerateContentRequest and what it holds).

export type FieldType =
  | { readonly kind: 'string' | 'bool' | 'int32' | 'int64' | 'double' | 'bytes' }
  /** A free-form JSON object; `value` is any JSON at all. */
  | { readonly kind: 'struct' | 'value' }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'list' | 'map'; readonly of: FieldType }
  | { readonly kind: 'message'; readonly message: MessageName };

/** Which of a vendor's words are understood: those of project paths are the real ones. */
export type Words = 'neutral' | 'real';

export interface Field {
  /** The camelCase name, neutral whatever the caller's words. */
  readonly name: string;
  /** The snake_case name, used in error paths. */
  readonly snakeName: string;
  readonly type: FieldType;
}

export type MessageName =
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
export function fieldsOf(name: MessageName, words: Words): ReadonlyMap<string, Field> {
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
