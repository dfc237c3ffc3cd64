// The request as the sandbox sees it once its JSON was read: camelCase keys, no nulls, known fields only.

import type { JsonObject, JsonValue } from './json.ts';

export interface GenerateRequest {
  readonly model?: string;
  readonly project?: string;
  readonly contents?: readonly Content[];
  readonly systemInstruction?: Content;
  readonly tools?: readonly Tool[];
  readonly toolConfig?: ToolConfig;
  readonly safetySettings?: readonly { readonly category?: string; readonly threshold?: string }[];
  readonly generationConfig?: GenerationConfig;
  readonly cachedContent?: string;
}

export interface CountTokensRequest {
  readonly model?: string;
  readonly project?: string;
  readonly contents?: readonly Content[];
  readonly generateContentRequest?: GenerateRequest;
}

export interface EmbedContentRequest {
  readonly model?: string;
  readonly project?: string;
  readonly content?: Content;
  readonly taskType?: string;
  readonly title?: string;
  readonly outputDimensionality?: number;
}

export interface BatchEmbedContentsRequest {
  readonly model?: string;
  readonly project?: string;
  readonly requests?: readonly EmbedContentRequest[];
}

export interface Content {
  readonly role?: string;
  readonly parts?: readonly Part[];
}

export interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly inlineData?: Blob;
  readonly fileData?: { readonly mimeType?: string; readonly fileUri?: string };
  readonly functionCall?: FunctionCall;
  readonly functionResponse?: FunctionResponse;
  readonly executableCode?: JsonObject;
  readonly codeExecutionResult?: JsonObject;
  readonly toolCall?: JsonObject;
  readonly toolResponse?: JsonObject;
}

export interface Blob {
  readonly mimeType?: string;
  /** Base64, either alphabet. */
  readonly data?: string;
}

export interface FunctionCall {
  readonly id?: string;
  readonly name?: string;
  readonly args?: JsonObject;
}

export interface FunctionResponse {
  readonly id?: string;
  readonly name?: string;
  readonly response?: JsonObject;
  readonly parts?: readonly { readonly inlineData?: Blob }[];
}

export interface Tool {
  readonly functionDeclarations?: readonly FunctionDeclaration[];
  readonly vendoraSearch?: JsonObject;
  readonly vendoraSearchRetrieval?: JsonObject;
  readonly urlContext?: JsonObject;
  readonly codeExecution?: JsonObject;
}

export interface FunctionDeclaration {
  readonly name?: string;
  readonly description?: string;
  readonly parameters?: Schema;
  readonly parametersJsonSchema?: JsonValue;
  readonly response?: Schema;
  readonly responseJsonSchema?: JsonValue;
}

/** The OpenAPI-like schema of `parameters` and `responseSchema`; types in upper case. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly propertyOrdering?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly anyOf?: readonly Schema[];
}

interface ToolConfig {
  readonly functionCallingConfig?: FunctionCallingConfig;
  readonly includeServerSideToolInvocations?: boolean;
}

interface FunctionCallingConfig {
  readonly mode?: string;
  readonly allowedFunctionNames?: readonly string[];
}

export interface GenerationConfig {
  readonly candidateCount?: number;
  readonly stopSequences?: readonly string[];
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly responseLogprobs?: boolean;
  readonly logprobs?: number;
  readonly responseMimeType?: string;
  readonly responseSchema?: Schema;
  readonly responseJsonSchema?: JsonValue;
  readonly responseModalities?: readonly string[];
  readonly mediaResolution?: string;
  readonly speechConfig?: JsonObject;
  readonly imageConfig?: ImageConfig;
  readonly thinkingConfig?: ThinkingConfig;
}

export interface ImageConfig {
  readonly aspectRatio?: string;
  readonly imageSize?: string;
  readonly personGeneration?: string;
}

export interface ThinkingConfig {
  readonly includeThoughts?: boolean;
  readonly thinkingBudget?: number;
  readonly thinkingLevel?: string;
}

export function partsOf(content: Content | undefined): readonly Part[] {
  return content?.parts ?? [];
}

export function functionCallsOf(content: Content | undefined): readonly FunctionCall[] {
  return partsOf(content).flatMap((part) => part.functionCall ?? []);
}

export function functionResponsesOf(content: Content | undefined): readonly FunctionResponse[] {
  return partsOf(content).flatMap((part) => part.functionResponse ?? []);
}

export function declarationsOf(request: GenerateRequest): readonly FunctionDeclaration[] {
  return (request.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);
}
