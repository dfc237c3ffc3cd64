// One small question in each protocol, and its answer read without any SDK.

import { expect } from 'vitest';
import { type JsonObject, parseJson } from '../../src/lib/json.ts';

export interface ProtocolCall {
  readonly name: 'chat' | 'messages' | 'generate';
  /** A model of the sandbox that this protocol's clients ask for. */
  readonly model: string;
  path(model: string, stream: boolean): string;
  body(question: Question): JsonObject;
  /** True when a stream's text has the protocol's own sign of success. */
  isComplete(stream: string): boolean;
  /** True when a stream's text has the protocol's own error in it. */
  hasError(stream: string): boolean;
  /** What the body of an error answer must equal. */
  error(words: ErrorWords): unknown;
}

interface Question {
  readonly model: string;
  readonly text: string;
  readonly stream: boolean;
}

/** What an error is called in each protocol. */
export interface ErrorWords {
  readonly status: number;
  /** Chat: its `code`. */
  readonly chat: string | null;
  /** Messages: its `type`. */
  readonly messages: string;
  /** Generate-Content: its `status`. */
  readonly generate: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly body: unknown;
}

export const PROTOCOL_CALLS: readonly ProtocolCall[] = [
  {
    name: 'chat',
    model: 'alpha-3-flash',
    path: () => '/v1/chat/completions',
    body: ({ model, text, stream }) => ({
      model,
      stream,
      messages: [{ role: 'user', content: text }],
    }),
    isComplete: (stream) =>
      stream.endsWith('data: [DONE]\n\n') && stream.includes('"finish_reason":"'),
    hasError: (stream) => stream.includes('data: {"error":{'),
    error: ({ chat }) => ({
      error: {
        message: expect.any(String),
        type: expect.any(String),
        param: expect.toSatisfy(isTextOrNull),
        code: chat,
      },
    }),
  },
  {
    name: 'messages',
    model: 'beta-sonnet-4-6',
    path: () => '/v1/messages',
    body: ({ model, text, stream }) => ({
      model,
      stream,
      max_tokens: 1000,
      messages: [{ role: 'user', content: text }],
    }),
    isComplete: (stream) => stream.includes('event: message_stop\n'),
    hasError: (stream) => stream.includes('event: error\n'),
    error: ({ messages }) => ({
      type: 'error',
      error: expect.objectContaining({ type: messages, message: expect.any(String) }),
      request_id: expect.any(String),
    }),
  },
  {
    name: 'generate',
    model: 'alpha-3-flash',
    path: (model, stream) =>
      `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: ({ text }) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
    isComplete: (stream) => stream.includes('"finishReason":'),
    hasError: (stream) => stream.includes('data: {"error":{'),
    error: ({ status, generate }) => ({
      error: expect.objectContaining({
        code: status,
        message: expect.any(String),
        status: generate,
      }),
    }),
  },
];

export interface SendOptions extends Partial<Question> {
  readonly headers?: Readonly<Record<string, string>>;
  /** Added to the path's query. */
  readonly query?: string;
  /** Instead of the question. */
  readonly rawBody?: string;
  readonly signal?: AbortSignal;
}

/** Asks one question; JSON unless the headers say otherwise. */
export async function send(
  url: string,
  call: ProtocolCall,
  options: SendOptions = {},
): Promise<Answer> {
  const { model = call.model, text = 'Hello', stream = false, headers, query, rawBody } = options;
  const path = call.path(model, stream);
  const target = query === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
  return readAnswer(
    await fetch(`${url}${target}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: rawBody ?? JSON.stringify(call.body({ model, text, stream })),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    }),
  );
}

export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const { status, headers } = response;
  const isJson = headers.get('content-type')?.startsWith('application/json') === true;
  return { status, headers, text, body: isJson ? parseJson(text) : undefined };
}

/** A stream's or answer's text without what is new in every answer: ids and times. */
export function withoutIds({ text }: Pick<Answer, 'text'>): string {
  return text
    .replaceAll(/"(?:responseId|id)": ?"[^"]*"/g, '"id"')
    .replaceAll(/"created":\d+/g, '"created"');
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}
