// The official clients of the protocols, each doing the same few things with a model.

import Anthropic from '@anthropic-ai/sdk';
import { type Content, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import OpenAI, { APIError } from 'openai';

/** Whom to ask. */
interface Asked {
  readonly url: string;
  readonly model: string;
}

export interface Said {
  readonly text: string;
  readonly promptTokens: number;
  readonly answerTokens: number;
  /** The client's own word for how the answer ended. */
  readonly ending: string;
}

export interface OfficialClient {
  readonly name: string;
  ask(asked: Asked, prompt: string, maxTokens: number): Promise<Said>;
  stream(asked: Asked, prompt: string, maxTokens: number): Promise<Said>;
  /** Has the tool called that the prompt asks for, and gives it a result: its arguments, and the answer to that. */
  useTool(
    asked: Asked,
    prompt: string,
  ): Promise<{ readonly input: unknown; readonly text: string }>;
}

/** The tool that `useTool` offers. */
export const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a city.',
  schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const, maxLength: 20 } },
    required: ['city'],
    additionalProperties: false,
  },
};
const RESULT = 'It rains.';

export const openaiAt = (url: string): OpenAI =>
  new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 });
export const anthropicAt = (url: string): Anthropic =>
  new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 });
const genaiAt = (url: string): GoogleGenAI =>
  new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: url } });

const chat: OfficialClient = {
  name: 'openai',
  async ask({ url, model }, prompt, maxTokens) {
    const completion = await openaiAt(url).chat.completions.create({
      ...{ model, max_completion_tokens: maxTokens },
      messages: [{ role: 'user', content: prompt }],
    });
    return readCompletion(completion);
  },
  async stream({ url, model }, prompt, maxTokens) {
    const stream = openaiAt(url).chat.completions.stream({
      ...{ model, max_completion_tokens: maxTokens, stream_options: { include_usage: true } },
      messages: [{ role: 'user', content: prompt }],
    });
    return readCompletion(await stream.finalChatCompletion());
  },
  async useTool({ url, model }, prompt) {
    const { name, description, schema } = WEATHER;
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: prompt }];
    const request = {
      model,
      messages,
      tools: [{ type: 'function' as const, function: { name, description, parameters: schema } }],
    };
    const choice = { type: 'function' as const, function: { name } };
    const first = await openaiAt(url)
      .chat.completions.stream({ ...request, tool_choice: choice })
      .finalChatCompletion();
    const message = first.choices[0]?.message;
    const calls = message?.tool_calls ?? [];
    const [call] = calls;
    if (message === undefined || calls.length !== 1) throw new Error(`calls: ${calls.length}`);
    messages.push(message);
    for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: RESULT });
    const last = await openaiAt(url).chat.completions.create({ ...request, max_tokens: 100 });
    return {
      input: call?.type === 'function' ? JSON.parse(call.function.arguments) : undefined,
      text: last.choices[0]?.message.content ?? '',
    };
  },
};

function readCompletion({ choices, usage }: OpenAI.ChatCompletion): Said {
  const [choice] = choices;
  return {
    text: choice?.message.content ?? '',
    promptTokens: usage?.prompt_tokens ?? 0,
    answerTokens: usage?.completion_tokens ?? 0,
    ending: choice?.finish_reason ?? '',
  };
}

const messages: OfficialClient = {
  name: 'anthropic',
  async ask({ url, model }, prompt, maxTokens) {
    const message = await anthropicAt(url).messages.create({
      ...{ model, max_tokens: maxTokens, messages: [{ role: 'user', content: prompt }] },
    });
    return readMessage(message);
  },
  async stream({ url, model }, prompt, maxTokens) {
    const stream = anthropicAt(url).messages.stream({
      ...{ model, max_tokens: maxTokens, messages: [{ role: 'user', content: prompt }] },
    });
    return readMessage(await stream.finalMessage());
  },
  async useTool({ url, model }, prompt) {
    const { name, description, schema } = WEATHER;
    const turns: Anthropic.MessageParam[] = [{ role: 'user', content: prompt }];
    const request = {
      ...{ model, max_tokens: 100, messages: turns },
      tools: [{ name, description, input_schema: schema }],
    };
    const first = await anthropicAt(url)
      .messages.stream({ ...request, tool_choice: { type: 'tool', name } })
      .finalMessage();
    const calls = first.content.filter((block) => block.type === 'tool_use');
    if (calls.length !== 1) throw new Error(`calls: ${calls.length}`);
    turns.push(
      { role: 'assistant', content: first.content },
      {
        role: 'user',
        content: calls.map(({ id }) => ({
          ...{ type: 'tool_result' as const, tool_use_id: id, content: RESULT },
        })),
      },
    );
    const last = await anthropicAt(url).messages.create(request);
    return { input: calls[0]?.input, text: readMessage(last).text };
  },
};

function readMessage({ content, usage, stop_reason }: Anthropic.Message): Said {
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    promptTokens: usage.input_tokens,
    answerTokens: usage.output_tokens,
    ending: stop_reason ?? '',
  };
}

const generate: OfficialClient = {
  name: 'genai',
  async ask({ url, model }, prompt, maxOutputTokens) {
    const { text, usageMetadata, candidates } = await genaiAt(url).models.generateContent({
      ...{ model, contents: prompt, config: { maxOutputTokens } },
    });
    return {
      text: text ?? '',
      promptTokens: usageMetadata?.promptTokenCount ?? 0,
      answerTokens: usageMetadata?.candidatesTokenCount ?? 0,
      ending: candidates?.[0]?.finishReason ?? '',
    };
  },
  async stream({ url, model }, prompt, maxOutputTokens) {
    const said = { text: '', promptTokens: 0, answerTokens: 0, ending: '' };
    const stream = await genaiAt(url).models.generateContentStream({
      ...{ model, contents: prompt, config: { maxOutputTokens } },
    });
    for await (const { text, usageMetadata, candidates } of stream) {
      said.text += text ?? '';
      said.promptTokens = usageMetadata?.promptTokenCount ?? said.promptTokens;
      said.answerTokens = usageMetadata?.candidatesTokenCount ?? said.answerTokens;
      said.ending = candidates?.[0]?.finishReason ?? said.ending;
    }
    return said;
  },
  async useTool({ url, model }, prompt) {
    const { name, description, schema } = WEATHER;
    const contents: Content[] = [{ role: 'user', parts: [{ text: prompt }] }];
    const tools = [{ functionDeclarations: [{ name, description, parametersJsonSchema: schema }] }];
    const first = await genaiAt(url).models.generateContent({
      ...{ model, contents },
      config: {
        tools,
        toolConfig: {
          functionCallingConfig: {
            mode: FunctionCallingConfigMode.ANY,
            allowedFunctionNames: [name],
          },
        },
      },
    });
    const calls = first.functionCalls ?? [];
    const content = first.candidates?.[0]?.content;
    if (calls.length !== 1 || content === undefined) throw new Error(`calls: ${calls.length}`);
    const parts = calls.map(({ id = '' }) => ({
      functionResponse: { id, name, response: { output: RESULT } },
    }));
    contents.push(content, { role: 'user', parts });
    const last = await genaiAt(url).models.generateContent({
      ...{ model, contents, config: { tools, maxOutputTokens: 100 } },
    });
    return { input: calls[0]?.args, text: last.text ?? '' };
  },
};

export const OFFICIAL_CLIENTS: readonly OfficialClient[] = [chat, messages, generate];

/** What a call of OpenAI's client is refused with; fails where it is not. */
export async function refusalOf(call: Promise<unknown>): Promise<APIError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof APIError) return error;
  throw new Error(`Not refused by the gateway: ${String(error)}`);
}
