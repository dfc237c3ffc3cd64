// Reads a request of the Chat wire as what the simulation answers.

import {
  type ChatMessage,
  type ChatPart,
  type ChatRequest,
  type ChatTool,
  nameOfTool,
  partsOfMessage,
} from './chat-wire.ts';
import { isJsonObject, type JsonObject, parseJson } from './json.ts';
import { DATA_URL } from './media-bytes.ts';
import type {
  Content,
  FunctionDeclaration,
  GenerateRequest,
  GenerationConfig,
  Part,
} from './wire.ts';
import type { ChatModel } from './wire-models.ts';

/** Expects a request that was checked. */
export function toSimulated(request: ChatRequest, model: ChatModel): GenerateRequest {
  const { messages, tools = [], tool_choice: choice } = request;
  const names = namesOf(messages);
  const isInstruction = ({ role }: ChatMessage): boolean =>
    role === 'system' || role === 'developer';
  const instructions = messages
    .filter(isInstruction)
    .flatMap((message) => partsOfMessage(message).map(toPart));
  const contents = messages
    .filter((message) => !isInstruction(message))
    .map((message) => contentOf(message, names));
  return {
    contents,
    ...(instructions.length > 0 && { systemInstruction: { parts: instructions } }),
    ...(tools.length > 0 && { tools: [{ functionDeclarations: tools.map(declarationOf) }] }),
    ...(choice !== undefined && { toolConfig: { functionCallingConfig: readChoice(choice) } }),
    generationConfig: configOf(request, model),
  };
}

function namesOf(messages: readonly ChatMessage[]): ReadonlyMap<string | undefined, string> {
  return new Map(
    messages.flatMap(({ tool_calls: calls = [] }) =>
      calls.map((call) => [call.id, nameOfTool(call)] as const),
    ),
  );
}

function contentOf(message: ChatMessage, names: ReadonlyMap<string | undefined, string>): Content {
  const {
    role,
    tool_call_id: id = '',
    tool_calls: calls = [],
    reasoning_content: thought,
  } = message;
  const parts = partsOfMessage(message).map(toPart);
  if (role === 'user') return { role, parts };
  if (role === 'tool') {
    const output = parts.map(({ text = '' }) => text).join('\n');
    const response = { id, name: names.get(id) ?? '', response: { output } };
    return { role: 'user', parts: [{ functionResponse: response }] };
  }
  return {
    role: 'model',
    parts: [
      ...(thought ? [{ text: thought, thought: true }] : []),
      ...parts,
      ...calls.map((call) => ({
        functionCall: {
          id: call.id,
          name: nameOfTool(call),
          args: readArguments(call.function?.arguments) ?? { input: call.custom?.input ?? '' },
        },
      })),
    ],
  };
}

/** Models write arguments themselves, so they may be no JSON. */
function readArguments(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function toPart({ text, refusal, image_url: image, input_audio: audio, file }: ChatPart): Part {
  if (image !== undefined) return mediaOf(image.url);
  if (audio !== undefined) {
    return { inlineData: { mimeType: `audio/${audio.format}`, data: audio.data } };
  }
  if (file?.file_data !== undefined) return mediaOf(file.file_data);
  return { text: text ?? refusal ?? '' };
}

function mediaOf(url: string): Part {
  const [, mimeType = '', data = ''] = DATA_URL.exec(url) ?? [];
  return data === '' ? { fileData: { fileUri: url } } : { inlineData: { mimeType, data } };
}

const FREE_INPUT: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
};

function declarationOf({ function: plain, custom }: ChatTool): FunctionDeclaration {
  if (plain === undefined) return { name: custom?.name ?? '', parametersJsonSchema: FREE_INPUT };
  const { name, description, parameters } = plain;
  return {
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parametersJsonSchema: parameters }),
  };
}

function readChoice(choice: NonNullable<ChatRequest['tool_choice']>) {
  if (typeof choice === 'string') {
    return { mode: choice === 'required' ? 'ANY' : choice.toUpperCase() };
  }
  const { allowed_tools: allowed } = choice;
  if (allowed === undefined) return { mode: 'ANY', allowedFunctionNames: [nameOfTool(choice)] };
  const allowedFunctionNames = allowed.tools.map(nameOfTool);
  return { mode: allowed.mode === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames };
}

function configOf(request: ChatRequest, model: ChatModel): GenerationConfig {
  const { stop, n, temperature, top_p: topP, seed, logprobs, response_format: format } = request;
  const limit = request.max_completion_tokens ?? request.max_tokens;
  const { reasoning_effort: effort } = request;
  const isJson = format != null && format.type !== 'text';
  const schema = format?.json_schema?.schema;
  return {
    ...(limit != null && { maxOutputTokens: limit }),
    ...(stop != null && { stopSequences: typeof stop === 'string' ? [stop] : stop }),
    ...(n != null && { candidateCount: n }),
    ...(temperature != null && { temperature }),
    ...(topP != null && { topP }),
    ...(seed != null && { seed }),
    ...(logprobs === true && { responseLogprobs: true }),
    ...(isJson && { responseMimeType: 'application/json' }),
    ...(schema !== undefined && { responseJsonSchema: schema }),
    ...(model.thinking !== undefined &&
      effort !== 'none' && {
        thinkingConfig: {
          includeThoughts: true,
          ...(effort != null && { thinkingLevel: effort.toUpperCase() }),
        },
      }),
  };
}
