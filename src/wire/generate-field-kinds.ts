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
