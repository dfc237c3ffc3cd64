// The generate-content wire as types: camelCase and the official vocabulary, requests and answers.

import type { JsonObject, JsonValue } from '../lib/json.ts';

// Sources: @google/genai 3.1.0 `dist/genai.d.ts`; ai.google.dev, "GenerateContent API reference".
// These are type aliases, not interfaces, so that a value of one is also a JsonObject.

export type WireRequest = {
  contents: WireContent[];
  systemInstruction?: WireContent;
  tools?: WireTool[];
  toolConfig?: WireToolConfig;
  generationConfig?: WireGenerationConfig;
  safetySettings?: WireSafetySetting[];
  cachedContent?: string;
  serviceTier?: string;
  labels?: JsonObject;
  store?: boolean;
  /** Set by the gateway where the upstream wants it in the body. */
  project?: string;
};

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

export type WireFileData = { fileUri: string; mimeType?: string };

export type WireFunctionCall = { id?: string; name: string; args?: JsonObject };

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

export type WireExecutableCode = { language: string; code: string; id?: string };

export type WireCodeExecutionResult = {
  outcome: 'OUTCOME_OK' | 'OUTCOME_FAILED' | 'OUTCOME_DEADLINE_EXCEEDED';
  output?: string;
  id?: string;
};

export type WireTool = {
  functionDeclarations?: WireFunctionDeclaration[];
  googleSearch?: JsonObject;
  googleSearchRetrieval?: JsonObject;
  urlContext?: JsonObject;
  codeExecution?: JsonObject;
  googleMaps?: JsonObject;
  computerUse?: JsonObject;
  fileSearch?: JsonObject;
  mcpServers?: JsonObject[];
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

export type WireSafetySetting = { category: string; threshold: string };

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

export type WireMediaResolution =
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

/** An answer, or one frame of a stream. Every field may be absent. */
export type WireResponse = {
  candidates?: WireCandidate[];
  promptFeedback?: WirePromptFeedback;
  usageMetadata?: WireUsage;
  modelVersion?: string;
  responseId?: string;
};

export type WireCandidate = {
  index?: number;
  content?: WireContent;
  /** Tool calls end with `STOP`: there is no tool-call reason. */
  finishReason?: string;
  finishMessage?: string;
  groundingMetadata?: WireGroundingMetadata;
  citationMetadata?: JsonObject;
  safetyRatings?: JsonValue[];
  urlContextMetadata?: JsonObject;
  avgLogprobs?: number;
  logprobsResult?: JsonObject;
  tokenCount?: number;
};

export type WirePromptFeedback = {
  blockReason?: string;
  blockReasonMessage?: string;
  safetyRatings?: JsonValue[];
};

/** `promptTokenCount` includes the cached tokens, `candidatesTokenCount` excludes the thoughts. */
export type WireUsage = {
  promptTokenCount?: number;
  cachedContentTokenCount?: number;
  toolUsePromptTokenCount?: number;
  candidatesTokenCount?: number;
  thoughtsTokenCount?: number;
  totalTokenCount?: number;
  promptTokensDetails?: WireModalityCount[];
  candidatesTokensDetails?: WireModalityCount[];
  cacheTokensDetails?: WireModalityCount[];
};

export type WireModalityCount = { modality: string; tokenCount: number };

export type WireGroundingMetadata = {
  webSearchQueries?: string[];
  groundingChunks?: { web?: { uri?: string; title?: string; domain?: string } }[];
  groundingSupports?: WireGroundingSupport[];
  searchEntryPoint?: { renderedContent?: string };
};

export type WireGroundingSupport = {
  /** Offsets are UTF-8 bytes inside the part; an absent start is 0. */
  segment?: { partIndex?: number; startIndex?: number; endIndex?: number; text?: string };
  groundingChunkIndices?: number[];
  confidenceScores?: number[];
};

export type WireCountTokensResponse = {
  totalTokens: number;
  cachedContentTokenCount?: number;
};

export type WireModel = {
  /** With the prefix `models/`. */
  name: string;
  version?: string;
  displayName?: string;
  description?: string;
  inputTokenLimit?: number;
  outputTokenLimit?: number;
  supportedGenerationMethods?: string[];
  thinking?: boolean;
};

export type WireError = {
  error: { code: number; message: string; status: string; details?: JsonObject[] };
};
