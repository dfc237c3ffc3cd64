// Writes a request of the playground as each client protocol would send it.

import { type Attachment, dataUrl, kindOf, takesFile, textOfFile } from './attachments.ts';
import { type FunctionTool, writeTools } from './tools.ts';
import type { WireProtocol } from './wire-protocol.ts';

/** A tool that the model calls, with its arguments as JSON. */
export interface ToolCall {
  /** Names the call; '' where the protocol has no ids. */
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

export interface ToolResult {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly files?: readonly Attachment[];
  /** Of the assistant. */
  readonly calls?: readonly ToolCall[];
  /** Of the user: what the calls of the turn before gave. */
  readonly results?: readonly ToolResult[];
}

type Parts = Required<Pick<Turn, 'files' | 'calls' | 'results'>>;

/** Without what there is none of. */
export function withParts({ files, calls, results }: Parts): Partial<Turn> {
  return {
    ...(files.length === 0 ? {} : { files }),
    ...(calls.length === 0 ? {} : { calls }),
    ...(results.length === 0 ? {} : { results }),
  };
}

export function joinTurns(first: Turn, second: Turn): Turn {
  const texts = [first.text, second.text].filter((text) => text !== '');
  return {
    role: first.role,
    text: texts.join('\n\n'),
    ...withParts({
      files: [...(first.files ?? []), ...(second.files ?? [])],
      calls: [...(first.calls ?? []), ...(second.calls ?? [])],
      results: [...(first.results ?? []), ...(second.results ?? [])],
    }),
  };
}

export interface Draft {
  readonly protocol: WireProtocol;
  readonly model: string;
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly FunctionTool[];
  readonly stream: boolean;
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
  /** Tokens to think with; undefined leaves it to the model. */
  readonly thinkingTokens: number | undefined;
  readonly size: string;
  readonly quality: string;
  readonly count: number;
}

export interface WireRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Needed by the Messages protocol where a person says nothing. */
const DEFAULT_MAX_TOKENS = 4096;

export function writeRequest(draft: Draft): WireRequest {
  const headers = { 'content-type': 'application/json' };
  switch (draft.protocol) {
    case 'chat':
      return { path: '/v1/chat/completions', headers, body: writeChat(draft) };
    case 'messages':
      return {
        path: '/v1/messages',
        headers: { ...headers, 'anthropic-version': '2023-06-01' },
        body: writeMessages(draft),
      };
    case 'generate': {
      const verb = draft.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
      const model = encodeURIComponent(draft.model);
      return { path: `/v1beta/models/${model}:${verb}`, headers, body: writeGenerate(draft) };
    }
    case 'responses':
      return { path: '/v1/responses', headers, body: writeResponses(draft) };
    case 'images':
      return { path: '/v1/images/generations', headers, body: writeImages(draft) };
    default:
      return draft.protocol satisfies never;
  }
}

function writeChat({ model, system, turns, tools, stream, ...rest }: Draft): WireRequest['body'] {
  const messages = turns.flatMap(writeChatTurn);
  return {
    model,
    messages: system === '' ? messages : [{ role: 'system', content: system }, ...messages],
    ...writeTools('chat', tools),
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    ...present({ max_tokens: rest.maxTokens, temperature: rest.temperature }),
    ...(rest.thinkingTokens === undefined
      ? {}
      : { reasoning_effort: effortOf(rest.thinkingTokens) }),
  };
}

function writeChatTurn({ role, text, files, calls = [], results = [] }: Turn): readonly object[] {
  const answers = results.map(({ id, text: content }) => ({
    role: 'tool',
    tool_call_id: id,
    content,
  }));
  if (role === 'assistant') {
    const made = calls.map(({ id, name, text: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: args === '' ? '{}' : args },
    }));
    return [{ role, content: text, ...(made.length === 0 ? {} : { tool_calls: made }) }];
  }
  const parts = filesFor('chat', files).map(writeChatFile);
  const said = text === '' ? [] : [{ type: 'text', text }];
  if (parts.length > 0) return [...answers, { role, content: [...parts, ...said] }];
  return text === '' && answers.length > 0 ? answers : [...answers, { role, content: text }];
}

function writeChatFile(file: Attachment): object {
  switch (kindOf(file)) {
    case 'image':
      return { type: 'image_url', image_url: { url: dataUrl(file) } };
    case 'audio':
      return {
        type: 'input_audio',
        input_audio: { data: file.base64, format: file.type === 'audio/wav' ? 'wav' : 'mp3' },
      };
    case 'pdf':
      return { type: 'file', file: { filename: file.name, file_data: dataUrl(file) } };
    default:
      return { type: 'text', text: quoteFile(file) };
  }
}

function writeMessages(draft: Draft): WireRequest['body'] {
  const { model, system, turns, tools, stream, ...rest } = draft;
  const { thinkingTokens, maxTokens = DEFAULT_MAX_TOKENS, temperature } = rest;
  return {
    model,
    // The answer comes on top of the thinking.
    max_tokens: maxTokens + (thinkingTokens ?? 0),
    ...(system === '' ? {} : { system }),
    messages: turns.map(writeMessagesTurn),
    ...writeTools('messages', tools),
    stream,
    ...present({ temperature }),
    ...(thinkingTokens === undefined
      ? {}
      : { thinking: { type: 'enabled', budget_tokens: thinkingTokens } }),
  };
}

function writeMessagesTurn({ role, text, files, calls = [], results = [] }: Turn): object {
  const blocks = [
    ...results.map(({ id, text: content }) => ({ type: 'tool_result', tool_use_id: id, content })),
    ...filesFor('messages', files).map(writeMessagesFile),
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, text: args }) => ({
      type: 'tool_use',
      id,
      name,
      input: readArguments(args),
    })),
  ];
  const isPlain = blocks.every(({ type }) => type === 'text');
  return { role, content: isPlain && blocks.length < 2 ? text : blocks };
}

function writeMessagesFile(file: Attachment) {
  const source = { type: 'base64', media_type: file.type, data: file.base64 };
  switch (kindOf(file)) {
    case 'image':
      return { type: 'image', source };
    case 'pdf':
      return { type: 'document', source, title: file.name };
    default:
      return { type: 'document', source: textSource(file), title: file.name };
  }
}

function textSource(file: Attachment) {
  return { type: 'text', media_type: 'text/plain', data: textOfFile(file) };
}

function writeGenerate({ system, turns, tools, ...rest }: Draft): WireRequest['body'] {
  const generationConfig = {
    ...present({ maxOutputTokens: rest.maxTokens, temperature: rest.temperature }),
    ...(rest.thinkingTokens === undefined
      ? {}
      : { thinkingConfig: { thinkingBudget: rest.thinkingTokens, includeThoughts: true } }),
  };
  return {
    ...(system === '' ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    contents: turns.map(({ role, text, files, calls = [], results = [] }) => ({
      role: role === 'user' ? 'user' : 'model',
      parts: [
        ...results.map(({ id, name, text: result }) => ({
          functionResponse: { ...named(id), name, response: { result } },
        })),
        ...filesFor('generate', files).map((file) =>
          kindOf(file) === 'text'
            ? { text: quoteFile(file) }
            : { inlineData: { mimeType: file.type, data: file.base64 } },
        ),
        ...(text === '' ? [] : [{ text }]),
        ...calls.map(({ id, name, text: args }) => ({
          functionCall: { ...named(id), name, args: readArguments(args) },
        })),
      ],
    })),
    ...writeTools('generate', tools),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
  };
}

function named(id: string): { readonly id?: string } {
  return id === '' ? {} : { id };
}

function writeResponses(draft: Draft): WireRequest['body'] {
  const { model, system, turns, tools, stream, ...rest } = draft;
  return {
    model,
    ...(system === '' ? {} : { instructions: system }),
    input: turns.flatMap(writeResponsesTurn),
    ...writeTools('responses', tools),
    stream,
    store: false,
    ...present({ max_output_tokens: rest.maxTokens, temperature: rest.temperature }),
    ...(rest.thinkingTokens === undefined
      ? {}
      : { reasoning: { effort: effortOf(rest.thinkingTokens), summary: 'auto' } }),
  };
}

function writeResponsesTurn({ role, text, files, calls = [], results = [] }: Turn) {
  const parts = filesFor('responses', files).map(writeResponsesFile);
  const said = text === '' ? [] : [{ type: 'input_text', text }];
  const content = parts.length === 0 ? text : [...parts, ...said];
  return [
    ...results.map(({ id, text: output }) => ({
      type: 'function_call_output',
      call_id: id,
      output,
    })),
    ...(content === '' ? [] : [{ role, content }]),
    ...calls.map(({ id, name, text: args }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: args === '' ? '{}' : args,
    })),
  ];
}

function writeResponsesFile(file: Attachment): object {
  switch (kindOf(file)) {
    case 'image':
      return { type: 'input_image', image_url: dataUrl(file) };
    case 'pdf':
      return { type: 'input_file', filename: file.name, file_data: dataUrl(file) };
    default:
      return { type: 'input_text', text: quoteFile(file) };
  }
}

function writeImages({ model, turns, size, quality, count }: Draft): WireRequest['body'] {
  return {
    model,
    prompt: turns.findLast(({ role }) => role === 'user')?.text ?? '',
    n: count,
    ...(size === '' ? {} : { size }),
    ...(quality === '' ? {} : { quality }),
    response_format: 'b64_json',
  };
}

/** What another protocol takes and this one does not is left out of earlier turns. */
function filesFor(
  protocol: WireProtocol,
  files: readonly Attachment[] = [],
): readonly Attachment[] {
  return files.filter((file) => takesFile(protocol, file));
}

/** Where a protocol has no part for it, a text goes along with its name. */
function quoteFile(file: Attachment): string {
  return `${file.name}:\n\n${textOfFile(file)}`;
}

/** Arguments that are no JSON object go along as one. */
function readArguments(text: string): unknown {
  if (text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : { value };
  } catch {
    return { value: text };
  }
}

/** The words of the protocols that know no tokens for thinking; the steps the specification names. */
export const THINKING_TOKENS = { low: 8192, medium: 16_384, high: 24_576 } as const;

export function effortOf(tokens: number): keyof typeof THINKING_TOKENS {
  if (tokens >= THINKING_TOKENS.high) return 'high';
  return tokens >= THINKING_TOKENS.medium ? 'medium' : 'low';
}

function present(values: Readonly<Record<string, number | undefined>>): Record<string, number> {
  const given: Record<string, number> = {};
  for (const [name, value] of Object.entries(values)) if (value !== undefined) given[name] = value;
  return given;
}
