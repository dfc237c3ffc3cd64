// An upstream of the Chat Completions wire on loopback, strict in what it takes, whose every answer a test decides.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/lib/json.ts';
import { sendJson, serveOnLoopback } from './loopback.ts';

interface ChatUpstreamCall {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonObject;
}

export type ChatUpstreamReply =
  /** A message, streamed in pieces where a stream was asked for; with null no chunk says how it ended. */
  | { readonly kind: 'message'; readonly message: JsonObject; readonly finish?: string | null }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body: JsonObject;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** These chunks, and the end of the body without `[DONE]`. */
  | { readonly kind: 'chunks'; readonly chunks: readonly JsonObject[] };

export interface FakeChatUpstream {
  /** With the version segment. */
  readonly url: string;
  /** Oldest first; those that were refused too. */
  readonly calls: readonly ChatUpstreamCall[];
  /** What was wrong with what came. */
  readonly faults: readonly string[];
  /** Decides the answers to come. */
  answer(decide: (body: JsonObject, nth: number) => ChatUpstreamReply): void;
  close(): Promise<void>;
}

const FIELDS = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'tools', 'tool_choice', 'n', 'stop', 'seed'],
  ...['parallel_tool_calls', 'max_completion_tokens', 'temperature', 'top_p', 'response_format'],
  ...['reasoning_effort', 'presence_penalty', 'frequency_penalty', 'logprobs', 'top_logprobs'],
  // Of Z.ai.
  'tool_stream',
]);
const ROLES: Readonly<Record<string, readonly string[]>> = {
  system: ['role', 'content', 'name'],
  developer: ['role', 'content', 'name'],
  user: ['role', 'content', 'name'],
  assistant: ['role', 'content', 'name', 'refusal', 'tool_calls', 'reasoning_content', 'reasoning'],
  tool: ['role', 'content', 'tool_call_id'],
};

/** `listed` is what its list says of each model, beside the context. */
export async function startChatUpstream(
  models: readonly string[],
  listed: JsonObject = {},
): Promise<FakeChatUpstream> {
  const calls: ChatUpstreamCall[] = [];
  const faults: string[] = [];
  let decide: (body: JsonObject, nth: number) => ChatUpstreamReply = () => ({
    kind: 'message',
    message: { content: 'Good answer.' },
  });
  let asked = 0;
  const server = createServer((request, response) => {
    void readText(request).then((text) => {
      const path = request.url ?? '';
      if (path === '/v1/models') {
        const data = models.map((id) => ({
          ...{ id, object: 'model', context_length: 128_000 },
          ...listed,
        }));
        return sendJson(response, 200, { object: 'list', data });
      }
      if (request.method === 'GET')
        return sendJson(response, 404, { error: { message: 'Not found' } });
      const parsed = parseJson(text);
      const body = isJsonObject(parsed) ? parsed : {};
      calls.push({ path, headers: request.headers, body });
      if (path === '/v1/embeddings') return sendJson(response, 200, vectorsOf(body));
      const fault = faultOf(body);
      if (fault !== undefined) {
        faults.push(fault);
        const error = { message: fault, type: 'invalid_request_error', param: null, code: null };
        return sendJson(response, 400, { error });
      }
      asked += 1;
      return send(response, decide(body, asked), body);
    });
  });
  const { url, close } = await serveOnLoopback(server);
  return {
    url: `${url}/v1`,
    calls,
    faults,
    answer(next) {
      decide = next;
      asked = 0;
      calls.length = 0;
      faults.length = 0;
    },
    close,
  };
}

/** The first thing that the real service would refuse; undefined for a good body. */
function faultOf(body: JsonObject): string | undefined {
  const unknown = Object.keys(body).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) return `Unrecognized request argument supplied: ${unknown}`;
  if (body.stream_options !== undefined && body.stream !== true)
    return 'stream_options without stream';
  if (body.tool_choice !== undefined && body.tools === undefined)
    return 'tool_choice without tools';
  return faultOfMessages(Array.isArray(body.messages) ? body.messages : []);
}

function faultOfMessages(messages: readonly JsonValue[]): string | undefined {
  let open = new Set<JsonValue | undefined>();
  for (const [at, message] of messages.entries()) {
    if (!isJsonObject(message)) return `messages[${at}] is no object`;
    const fields = ROLES[String(message.role)];
    if (fields === undefined) return `messages[${at}].role`;
    const unknown = Object.keys(message).find((field) => !fields.includes(field));
    if (unknown !== undefined) return `Unknown parameter: messages[${at}].${unknown}`;
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id)) return `messages[${at}] answers no call`;
      continue;
    }
    if (open.size > 0) return `messages[${at}] stands between a call and its result`;
    const made = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isJsonObject) : [];
    open = new Set(made.map(({ id }) => id));
  }
  return open.size > 0 ? 'a call has no result' : undefined;
}

const USAGE = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };

function send(response: ServerResponse, reply: ChatUpstreamReply, body: JsonObject): void {
  switch (reply.kind) {
    case 'status':
      sendJson(response, reply.status, reply.body, reply.headers);
      return;
    case 'chunks':
      sendChunks(response, reply.chunks, '');
      return;
    case 'message': {
      const { message, finish = 'tool_calls' in message ? 'tool_calls' : 'stop' } = reply;
      const base = { id: 'chatcmpl-1', created: 1, model: 'served-model' };
      if (body.stream === true) {
        const chunks = chunksOf(message, finish).map((choice) => ({
          ...base,
          object: 'chat.completion.chunk',
          choices: [choice],
        }));
        const counted = { ...base, object: 'chat.completion.chunk', choices: [], usage: USAGE };
        const isAsked =
          isJsonObject(body.stream_options) && body.stream_options.include_usage === true;
        sendChunks(response, isAsked ? [...chunks, counted] : chunks, 'data: [DONE]\n\n');
        return;
      }
      const choice = {
        index: 0,
        message: { role: 'assistant', ...message },
        finish_reason: finish,
      };
      sendJson(response, 200, {
        ...base,
        object: 'chat.completion',
        choices: [choice],
        usage: USAGE,
      });
      return;
    }
    default:
      reply satisfies never;
  }
}

function chunksOf(message: JsonObject, finish: string | null): JsonObject[] {
  const { content, tool_calls: calls, ...rest } = message;
  const halves = (text: string): string[] => {
    const middle = Math.ceil(text.length / 2);
    return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
  };
  const deltas: JsonObject[] = [{ role: 'assistant', content: '' }];
  for (const [field, value] of Object.entries({ ...rest, content: content ?? null })) {
    if (typeof value === 'string') deltas.push(...halves(value).map((half) => ({ [field]: half })));
    else if (value !== null) deltas.push({ [field]: value });
  }
  for (const [index, call] of (Array.isArray(calls) ? calls : []).entries()) {
    const holder = isJsonObject(call) && isJsonObject(call.function) ? call.function : {};
    const head = isJsonObject(call) ? call : {};
    const opening = { ...head, index, function: { ...holder, arguments: '' } };
    deltas.push({ tool_calls: [opening] });
    for (const half of halves(String(holder.arguments ?? ''))) {
      deltas.push({ tool_calls: [{ index, function: { arguments: half } }] });
    }
  }
  const chunks: JsonObject[] = deltas.map((delta) => ({ index: 0, delta, finish_reason: null }));
  return finish === null ? chunks : [...chunks, { index: 0, delta: {}, finish_reason: finish }];
}

function sendChunks(response: ServerResponse, chunks: readonly JsonObject[], end: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('') + end);
}

/** As many vectors as inputs; the first number is the place. */
function vectorsOf({ input, encoding_format: format, dimensions }: JsonObject): JsonObject {
  const length = Number(dimensions ?? 2);
  const inputs = Array.isArray(input) ? input : [input ?? ''];
  const data = inputs.map((_, index) => {
    const vector = Array.from({ length }, (_, at) => ((index === 0) === (at === 0) ? 1 : 0));
    const bytes = Buffer.from(new Float32Array(vector).buffer);
    const embedding = format === 'base64' ? bytes.toString('base64') : vector;
    return { object: 'embedding', index, embedding };
  });
  return {
    object: 'list',
    data,
    model: 'served-embedding',
    usage: { prompt_tokens: 3, total_tokens: 3 },
  };
}
