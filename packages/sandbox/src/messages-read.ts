// Reads a request of the Messages wire as what the simulation answers.

import type { JsonObject } from './json.ts';
import {
  type Block,
  blocksOf,
  type Message,
  type MessagesRequest,
  type MessagesTool,
} from './messages-wire.ts';
import type { Content, GenerateRequest, GenerationConfig, Part, Tool } from './wire.ts';

/** Expects a request that was checked. */
export function toSimulated(request: MessagesRequest): GenerateRequest {
  const { messages, system, tools = [], tool_choice: choice } = request;
  const names = namesOf(messages);
  const instructions = [
    ...blocksOf(system),
    ...messages.flatMap(({ role, content }) => (role === 'system' ? blocksOf(content) : [])),
  ].map(({ text = '' }): Part => ({ text }));
  const contents = messages.flatMap(({ role, content }): Content[] => {
    if (role === 'system') return [];
    const parts = blocksOf(content).flatMap((block) => partsOfBlock(block, names));
    return [{ role: role === 'assistant' ? 'model' : 'user', parts }];
  });
  const offered = toolsOf(tools);
  return {
    contents,
    ...(instructions.length > 0 && { systemInstruction: { parts: instructions } }),
    ...(offered.length > 0 && { tools: offered }),
    ...(choice !== undefined && {
      toolConfig: {
        functionCallingConfig: {
          mode: MODES[choice.type],
          ...(choice.name !== undefined && { allowedFunctionNames: [choice.name] }),
        },
      },
    }),
    generationConfig: configOf(request),
  };
}

const MODES = { auto: 'AUTO', any: 'ANY', tool: 'ANY', none: 'NONE' } as const;

function namesOf(messages: readonly Message[]): ReadonlyMap<string | undefined, string> {
  return new Map(
    messages.flatMap(({ content }) =>
      blocksOf(content).flatMap(({ type, id, name = '' }) =>
        type === 'tool_use' ? [[id, name] as const] : [],
      ),
    ),
  );
}

export function partsOfBlock(
  block: Block,
  names: ReadonlyMap<string | undefined, string> = new Map(),
): readonly Part[] {
  const { type, text, id = '', name = '', input = {}, tool_use_id: callId = '' } = block;
  switch (type) {
    case 'text':
      return text === undefined ? [] : [{ text }];
    case 'thinking':
      return [{ text: block.thinking ?? '', thought: true }];
    case 'tool_use':
      return [{ functionCall: { id, name, args: input } }];
    case 'tool_result':
      return [resultOf(block, { id: callId, name: names.get(callId) ?? '' })];
    case 'image':
    case 'document':
      return mediaOf(block);
    case 'search_result':
      return blocksOf(block.content).map((inner) => ({ text: inner.text ?? '' }));
    default:
      return [];
  }
}

function resultOf({ content, is_error: failed }: Block, of: { id: string; name: string }): Part {
  const inner = blocksOf(content).flatMap((block) => partsOfBlock(block));
  const text = inner.flatMap((part) => part.text ?? []).join('\n');
  const response: JsonObject = failed === true ? { error: text } : { output: text };
  const parts = inner.flatMap(({ inlineData }) => (inlineData ? [{ inlineData }] : []));
  return { functionResponse: { ...of, response, ...(parts.length > 0 && { parts }) } };
}

function mediaOf({ source }: Block): readonly Part[] {
  switch (source?.type) {
    case 'base64': {
      const { media_type: mimeType = '', data = '' } = source;
      return [{ inlineData: { mimeType, data } }];
    }
    case 'url':
      return [{ fileData: { fileUri: source.url ?? '' } }];
    case 'text':
      return [{ text: source.data ?? '' }];
    case 'content':
      return blocksOf(source.content).flatMap((block) => partsOfBlock(block));
    default:
      return [];
  }
}

/** Those that the provider runs itself. */
const SERVER_TOOL = /^(?:web_search|web_fetch|code_execution|tool_search_tool)_/;

function toolsOf(tools: readonly MessagesTool[]): readonly Tool[] {
  const own = tools.filter(({ type }) => !SERVER_TOOL.test(type ?? ''));
  const searches = tools.some(({ type }) => type?.startsWith('web_search_') === true);
  return [
    ...(own.length === 0
      ? []
      : [
          {
            functionDeclarations: own.map(({ name, description, input_schema: schema }) => ({
              name,
              ...(description !== undefined && { description }),
              ...(schema !== undefined && { parametersJsonSchema: schema }),
            })),
          },
        ]),
    ...(searches ? [{ vendoraSearch: {} }] : []),
  ];
}

function configOf(request: MessagesRequest): GenerationConfig {
  const { thinking, output_config: output, output_format: early } = request;
  const { max_tokens: maxOutputTokens, stop_sequences: stopSequences } = request;
  const { temperature, top_p: topP, top_k: topK } = request;
  const schema = output?.format?.schema ?? early?.schema;
  const isThinking = thinking !== undefined && thinking.type !== 'disabled';
  const { budget_tokens: thinkingBudget } = thinking ?? {};
  return {
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(stopSequences !== undefined && { stopSequences }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(schema !== undefined && {
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    }),
    ...(isThinking && {
      thinkingConfig: {
        includeThoughts: true,
        ...(thinkingBudget !== undefined && { thinkingBudget }),
        ...(output?.effort && { thinkingLevel: output.effort.toUpperCase() }),
      },
    }),
  };
}
