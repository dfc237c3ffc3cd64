// Writes a request of the playground as each client protocol would send it.

import type { WireProtocol } from './wire-protocol.ts';

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export interface Draft {
  readonly protocol: WireProtocol;
  readonly model: string;
  readonly system: string;
  readonly turns: readonly Turn[];
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

function writeChat({ model, system, turns, stream, ...rest }: Draft): WireRequest['body'] {
  const messages = turns.map(({ role, text }) => ({ role, content: text }));
  return {
    model,
    messages: system === '' ? messages : [{ role: 'system', content: system }, ...messages],
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    ...present({ max_tokens: rest.maxTokens, temperature: rest.temperature }),
    ...(rest.thinkingTokens === undefined
      ? {}
      : { reasoning_effort: effortOf(rest.thinkingTokens) }),
  };
}

function writeMessages({ model, system, turns, stream, ...rest }: Draft): WireRequest['body'] {
  const { thinkingTokens, maxTokens = DEFAULT_MAX_TOKENS, temperature } = rest;
  return {
    model,
    // The answer comes on top of the thinking.
    max_tokens: maxTokens + (thinkingTokens ?? 0),
    ...(system === '' ? {} : { system }),
    messages: turns.map(({ role, text }) => ({ role, content: text })),
    stream,
    ...present({ temperature }),
    ...(thinkingTokens === undefined
      ? {}
      : { thinking: { type: 'enabled', budget_tokens: thinkingTokens } }),
  };
}

function writeGenerate({ system, turns, ...rest }: Draft): WireRequest['body'] {
  const generationConfig = {
    ...present({ maxOutputTokens: rest.maxTokens, temperature: rest.temperature }),
    ...(rest.thinkingTokens === undefined
      ? {}
      : { thinkingConfig: { thinkingBudget: rest.thinkingTokens, includeThoughts: true } }),
  };
  return {
    ...(system === '' ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    contents: turns.map(({ role, text }) => ({
      role: role === 'user' ? 'user' : 'model',
      parts: [{ text }],
    })),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
  };
}

function writeResponses({ model, system, turns, stream, ...rest }: Draft): WireRequest['body'] {
  return {
    model,
    ...(system === '' ? {} : { instructions: system }),
    input: turns.map(({ role, text }) => ({ role, content: text })),
    stream,
    store: false,
    ...present({ max_output_tokens: rest.maxTokens, temperature: rest.temperature }),
    ...(rest.thinkingTokens === undefined
      ? {}
      : { reasoning: { effort: effortOf(rest.thinkingTokens), summary: 'auto' } }),
  };
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

/** The words of the protocols that know no tokens for thinking; the steps the specification names. */
const MEDIUM_TOKENS = 16_384;
const HIGH_TOKENS = 24_576;

function effortOf(tokens: number): string {
  if (tokens >= HIGH_TOKENS) return 'high';
  return tokens >= MEDIUM_TOKENS ? 'medium' : 'low';
}

function present(values: Readonly<Record<string, number | undefined>>): Record<string, number> {
  const given: Record<string, number> = {};
  for (const [name, value] of Object.entries(values)) if (value !== undefined) given[name] = value;
  return given;
}
