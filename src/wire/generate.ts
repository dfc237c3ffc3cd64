// The requests of the generate-content wire as types: camelCase and the official vocabulary. Answers are read field by field.

import type { JsonObject, JsonValue } from '../lib/json.ts';

// Sources: @google/genai 3.1.0 `dist/genai.d.ts`; ai.google.dev, "GenerateContent API reference".
// These are type aliases, not interfaces, so that a value of one is also a JsonObject.

export type WireContent = {
  role?: 'user' | 'model';
  parts: WirePart[];
};

/** Exactly one data field a part; the rest describes it. */
export type WirePart = {
  text?: string;
  inlineData?: WireBlob;
  fileData?: WireFileData;
  functionCall?: WireFunctionCall;
  functionResponse?: WireFunctionResponse;
  executableCode?: WireExecutableCode;
  codeExecutionResult?: WireCodeExecutionResult;
  /** Trace of a tool the upstream ran itself; echoed unchanged. */
  toolCall?: JsonObject;
  toolResponse?: JsonObject;
  thought?: boolean;
  /** Base64; checked by the upstream against the part it stands on. */
  thoughtSignature?: string;
  videoMetadata?: JsonObject;
  mediaResolution?: { level?: WireMediaResolution };
  partMetadata?: JsonObject;
};

export type WireBlob = { mimeType: string; data: string };

type WireFileData = { fileUri: string; mimeType?: string };

type WireFunctionCall = { id?: string; name: string; args?: JsonObject };

export type WireFunctionResponse = {
  id?: string;
  name: string;
  /** `output` holds a result, `error` a failure; any other object is the whole result. */
  response: JsonObject;
  parts?: WireFunctionResponsePart[];
  scheduling?: string;
  willContinue?: boolean;
};

export type WireFunctionResponsePart = { inlineData: WireBlob } | { fileData: WireFileData };

type WireExecutableCode = { language: string; code: string; id?: string };

export type WireCodeExecutionResult = {
  outcome: 'OUTCOME_OK' | 'OUTCOME_FAILED' | 'OUTCOME_DEADLINE_EXCEEDED';
  output?: string;
  id?: string;
};

/** `parameters` is in the upstream's own schema dialect and excludes `parametersJsonSchema`. */
export type WireFunctionDeclaration = {
  name: string;
  description?: string;
  parameters?: JsonObject;
  parametersJsonSchema?: JsonValue;
  response?: JsonObject;
  responseJsonSchema?: JsonValue;
  behavior?: string;
};

export type WireToolConfig = {
  functionCallingConfig?: WireFunctionCallingConfig;
  retrievalConfig?: JsonObject;
  /** Needed for built-in tools beside functions (Gemini 3 and later). */
  includeServerSideToolInvocations?: boolean;
};

export type WireFunctionCallingConfig = {
  mode?: 'AUTO' | 'ANY' | 'NONE' | 'VALIDATED';
  /** Only with ANY or VALIDATED. */
  allowedFunctionNames?: string[];
};

export type WireGenerationConfig = {
  /** Tokens, thoughts included. */
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  candidateCount?: number;
  /** At most five. */
  stopSequences?: string[];
  seed?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  responseLogprobs?: boolean;
  logprobs?: number;
  responseMimeType?: string;
  responseSchema?: JsonObject;
  responseJsonSchema?: JsonValue;
  responseModalities?: ('TEXT' | 'IMAGE' | 'AUDIO')[];
  imageConfig?: { aspectRatio?: string; imageSize?: string };
  speechConfig?: JsonObject;
  mediaResolution?: WireMediaResolution;
  thinkingConfig?: WireThinkingConfig;
};

type WireMediaResolution =
  | 'MEDIA_RESOLUTION_LOW'
  | 'MEDIA_RESOLUTION_MEDIUM'
  | 'MEDIA_RESOLUTION_HIGH';

/** A budget and a level exclude each other. */
export type WireThinkingConfig = {
  includeThoughts?: boolean;
  /** 0 is off, -1 automatic, else tokens. */
  thinkingBudget?: number;
  thinkingLevel?: string;
};
