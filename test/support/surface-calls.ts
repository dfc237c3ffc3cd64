// One small question on every surface that answers with a model's words, sounds or pictures.

import type { JsonObject } from '../../src/lib/json.ts';
import { WEATHER } from './prompts.ts';
import { wavOf } from './sounds.ts';
import type { StreamSurface } from './stream-grammar/check-stream-text.ts';

export interface SurfaceCall {
  readonly name: string;
  readonly model: string;
  /** Absent for surfaces that do not stream. */
  readonly grammar?: StreamSurface;
  /** What the sandbox's faults call it; its answers when absent. */
  readonly endpoint?: 'embed';
  /** True when prompts can have the model call a tool. */
  readonly hasTools?: true;
  request(question: SurfaceQuestion): {
    readonly path: string;
    readonly body: JsonObject | FormData;
  };
}

export interface SurfaceQuestion {
  readonly text: string;
  readonly stream: boolean;
}

const MODEL = 'alpha-3-flash';
const PAINTER = 'alpha-3-pro-image';
const FUNCTION = { name: WEATHER.name, parameters: WEATHER.schema };
const DECLARED = [{ name: WEATHER.name, parametersJsonSchema: WEATHER.schema }];

export const SURFACE_CALLS: readonly SurfaceCall[] = [
  {
    name: 'chat',
    model: MODEL,
    grammar: 'chat',
    hasTools: true,
    request: ({ text, stream }) => ({
      path: '/v1/chat/completions',
      body: {
        ...{ model: MODEL, stream, messages: [{ role: 'user', content: text }] },
        tools: [{ type: 'function', function: FUNCTION }],
        stream_options: { include_usage: true },
      },
    }),
  },
  {
    name: 'responses',
    model: MODEL,
    grammar: 'responses',
    hasTools: true,
    request: ({ text, stream }) => ({
      path: '/v1/responses',
      body: {
        ...{ model: MODEL, stream, input: text, store: false },
        reasoning: { effort: 'low', summary: 'auto' },
        tools: [{ type: 'function', ...FUNCTION }],
      },
    }),
  },
  {
    name: 'completions',
    model: MODEL,
    grammar: 'completions',
    request: ({ text, stream }) => ({
      path: '/v1/completions',
      body: { model: MODEL, stream, prompt: text, max_tokens: 400 },
    }),
  },
  {
    name: 'messages',
    model: 'beta-sonnet-4-6',
    grammar: 'messages',
    hasTools: true,
    request: ({ text, stream }) => ({
      path: '/v1/messages',
      body: {
        ...{ model: 'beta-sonnet-4-6', stream, max_tokens: 4000 },
        messages: [{ role: 'user', content: text }],
        thinking: { type: 'enabled', budget_tokens: 1024 },
        tools: [{ name: WEATHER.name, input_schema: WEATHER.schema }],
      },
    }),
  },
  ...(['generate', 'generate-array'] as const).map(
    (name): SurfaceCall => ({
      name,
      model: MODEL,
      grammar: name,
      hasTools: true,
      request: ({ text, stream }) => {
        const verb = stream ? 'streamGenerateContent' : 'generateContent';
        const query = stream && name === 'generate' ? '?alt=sse' : '';
        const contents = [{ role: 'user', parts: [{ text }] }];
        const tools = [{ functionDeclarations: DECLARED }];
        return { path: `/v1beta/models/${MODEL}:${verb}${query}`, body: { contents, tools } };
      },
    }),
  ),
  {
    name: 'images',
    model: PAINTER,
    grammar: 'images',
    request: ({ text, stream }) => ({
      path: '/v1/images/generations',
      body: { model: PAINTER, stream, prompt: text, size: '1:1' },
    }),
  },
  {
    name: 'transcriptions',
    model: MODEL,
    grammar: 'transcriptions',
    request: ({ stream }) => {
      const body = new FormData();
      const wav = Uint8Array.from(wavOf({ seconds: 0.5, peak: 0.5 }));
      body.append('file', new Blob([wav], { type: 'audio/wav' }), 'a.wav');
      body.append('model', MODEL);
      body.append('stream', String(stream));
      return { path: '/v1/audio/transcriptions', body };
    },
  },
  {
    name: 'embeddings',
    model: 'alpha-embedding-001',
    endpoint: 'embed',
    request: ({ text }) => ({
      path: '/v1/embeddings',
      body: { model: 'alpha-embedding-001', input: text },
    }),
  },
];

export function askSurface(
  url: string,
  call: SurfaceCall,
  { headers = {}, ...question }: SurfaceQuestion & { readonly headers?: Record<string, string> },
): Promise<Response> {
  const { path, body } = call.request(question);
  if (body instanceof FormData) return fetch(`${url}${path}`, { method: 'POST', headers, body });
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}
