// A strict upstream of the Messages wire on loopback: refuses what the real service refuses, and answers by script.

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/lib/json.ts';
import { sendJson, serveOnLoopback } from './loopback.ts';

interface MessagesUpstreamCall {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonObject;
}

type MessagesAnswer =
  | {
      readonly kind: 'blocks';
      readonly blocks: readonly JsonObject[];
      readonly stop?: string;
      readonly stopSequence?: string;
      readonly usage?: JsonObject;
      /** Where the stream ends before it is whole: without a word, or with an error of this type. */
      readonly cut?: 'silently' | string;
    }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly type: string;
      readonly message: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

export interface MessagesUpstreamServer {
  readonly url: string;
  /** Requests for answers and counts that were taken or refused, oldest first. */
  readonly calls: readonly MessagesUpstreamCall[];
  /** What the next answers are; undefined answers by the markers of the prompt. */
  script(answer: ((body: JsonObject, nth: number) => MessagesAnswer | undefined) | undefined): void;
  close(): Promise<void>;
}

interface StartOptions {
  readonly models?: readonly string[];
  /** False for a service that counts no tokens and lists no models. */
  readonly hasQueries?: boolean;
}

export async function startMessagesUpstream({
  models = ['claude-opus-4-5', 'claude-sonnet-4-6'],
  hasQueries = true,
}: StartOptions = {}): Promise<MessagesUpstreamServer> {
  const calls: MessagesUpstreamCall[] = [];
  let script: Parameters<MessagesUpstreamServer['script']>[0];
  let nth = 0;
  const answerModel = (response: ServerResponse, body: JsonObject): void => {
    nth += 1;
    const answer = script?.(body, nth) ?? playMarkers(body);
    if (answer.kind === 'status') {
      refuse(response, answer.status, answer.type, answer.message, answer.headers);
    } else if (body.stream === true) sendStream(response, body, answer);
    else sendJson(response, 200, messageOf(body, answer));
  };
  const answerPost = (request: IncomingMessage, response: ServerResponse, text: string): void => {
    const path = request.url ?? '';
    const isCount = path === '/v1/messages/count_tokens' && hasQueries;
    if (path !== '/v1/messages' && !isCount) {
      refuse(response, 404, 'not_found_error', 'Not found');
      return;
    }
    const value = parseJson(text);
    const body = isJsonObject(value) ? value : {};
    calls.push({ path, headers: request.headers, body });
    const complaint = complaintAbout(body, isCount);
    if (complaint !== undefined) refuse(response, 400, 'invalid_request_error', complaint);
    else if (isCount) sendJson(response, 200, countOf(body));
    else answerModel(response, body);
  };
  const server = createServer((request, response) => {
    void readText(request).then((text) => {
      const url = new URL(request.url ?? '', 'http://upstream.test');
      const fault = faultOfHeaders(request);
      if (fault !== undefined) refuse(response, 400, 'invalid_request_error', fault);
      else if (url.pathname === '/v1/models' && hasQueries) listModels(response, url, models);
      else answerPost(request, response, text);
    });
  });
  const { url, close } = await serveOnLoopback(server);
  return {
    url,
    calls,
    script(answer) {
      script = answer;
      nth = 0;
      calls.length = 0;
    },
    close,
  };
}

/** Bound to the thought, as the real ones are. */
function signatureOf(thought: string): string {
  return createHash('sha256').update(`thought ${thought}`).digest('base64');
}

export function thought(text: string): JsonObject {
  return { type: 'thinking', thinking: text, signature: signatureOf(text) };
}

function faultOfHeaders({ headers }: IncomingMessage): string | undefined {
  if (headers['anthropic-version'] === undefined) return 'anthropic-version: header is required';
  const hasKey = headers['x-api-key'] !== undefined;
  const hasBearer = headers.authorization?.startsWith('Bearer ') === true;
  return hasKey === hasBearer ? 'one credential is required' : undefined;
}

const COUNTED = [
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'context_management',
];
const FIELDS = [
  ...COUNTED,
  ...(['max_tokens', 'stream', 'stop_sequences', 'temperature', 'top_p', 'top_k'] as const),
  ...(['metadata', 'service_tier'] as const),
];
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'image', 'document', 'tool_result', 'search_result'],
  assistant: [
    ...(['text', 'thinking', 'redacted_thinking', 'tool_use', 'server_tool_use'] as const),
    ...(['web_search_tool_result', 'code_execution_tool_result'] as const),
  ],
};
const BLOCK_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'citations'],
  image: ['source'],
  document: ['source', 'title', 'context', 'citations'],
  tool_result: ['tool_use_id', 'content', 'is_error'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
  tool_use: ['id', 'name', 'input'],
};

/** The first thing the real service would refuse; undefined for a good body. */
function complaintAbout(body: JsonObject, isCount: boolean): string | undefined {
  const known = isCount ? COUNTED : FIELDS;
  const extra = Object.keys(body).find((field) => !known.includes(field));
  if (extra !== undefined) return `${extra}: Extra inputs are not permitted`;
  const limit = Number(body.max_tokens);
  if (!isCount && !(limit >= 1)) return 'max_tokens: Field required';
  const messages = objects(body.messages);
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  return (
    messages.map(complaintAboutMessage).find((complaint) => complaint !== undefined) ??
    complaintAboutPairs(messages) ??
    complaintAboutThinking(body, messages, limit) ??
    complaintAboutMarks(body)
  );
}

function complaintAboutMessage({ role, content }: JsonObject, index: number): string | undefined {
  const at = `messages.${index}`;
  if (typeof content === 'string') return content.trim() === '' ? `${at}: empty` : undefined;
  const blocks = objects(content);
  if (blocks.length === 0) return `${at}: all messages must have non-empty content`;
  for (const [place, block] of blocks.entries()) {
    const type = String(block.type);
    const path = `${at}.content.${place}`;
    if (BLOCKS[String(role)]?.includes(type) !== true) return `${path}: no ${type} in ${role}`;
    const fields = BLOCK_FIELDS[type];
    const extra = Object.keys(block).find(
      (key) => key !== 'type' && key !== 'cache_control' && fields?.includes(key) === false,
    );
    if (extra !== undefined) return `${path}.${extra}: Extra inputs are not permitted`;
    if (type === 'text' && String(block.text).trim() === '') {
      return `${path}: text content blocks must contain non-whitespace text`;
    }
    if (type === 'thinking' && block.signature !== signatureOf(String(block.thinking))) {
      return `${path}: Invalid \`signature\` in \`thinking\` block`;
    }
  }
  return undefined;
}

function complaintAboutPairs(messages: readonly JsonObject[]): string | undefined {
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== 'assistant') continue;
    const ids = objects(content).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
    const answers = objects(messages[index + 1]?.content).slice(0, ids.length);
    const given = answers.map(({ tool_use_id: id }) => id);
    if (ids.some((id) => !given.includes(id))) {
      return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`;
    }
  }
  return undefined;
}

function complaintAboutThinking(
  { thinking, temperature, tool_choice: choice }: JsonObject,
  messages: readonly JsonObject[],
  limit: number,
): string | undefined {
  if (!isJsonObject(thinking) || thinking.type !== 'enabled') return undefined;
  if (Number(thinking.budget_tokens) >= limit) {
    return '`max_tokens` must be greater than `thinking.budget_tokens`.';
  }
  if (temperature !== undefined && temperature !== 1) {
    return '`temperature` may only be set to 1 when thinking is enabled.';
  }
  if (isJsonObject(choice) && (choice.type === 'any' || choice.type === 'tool')) {
    return 'Thinking may not be enabled when tool_choice forces tool use.';
  }
  const last = messages.findLast(({ role }) => role === 'assistant');
  const isInLoop = objects(messages.at(-1)?.content).some(({ type }) => type === 'tool_result');
  const [first] = objects(last?.content);
  return isInLoop && first?.type !== 'thinking' && first?.type !== 'redacted_thinking'
    ? `messages.1.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first?.type}\`.`
    : undefined;
}

function complaintAboutMarks(body: JsonObject): string | undefined {
  const marks = JSON.stringify(body).split('"cache_control"').length - 1;
  return marks > 4 ? `A maximum of 4 blocks with cache_control may be provided.` : undefined;
}

/** `CALL-TOOL <name> <json>` calls, a result is told, everything else is greeted; thoughts come where they are asked for. */
function playMarkers(body: JsonObject): MessagesAnswer {
  const blocks: JsonObject[] = [];
  const mode = isJsonObject(body.thinking) ? body.thinking.type : undefined;
  if (mode === 'enabled' || mode === 'adaptive') blocks.push(thought('Thinking it over.'));
  const content = objects(body.messages).at(-1)?.content;
  const result = objects(content).find(({ type }) => type === 'tool_result');
  if (result !== undefined) {
    blocks.push({ type: 'text', text: `TOOL-RESULT-SEEN: ${JSON.stringify(result.content)}` });
    return { kind: 'blocks', blocks };
  }
  const text =
    typeof content === 'string' ? content : JSON.stringify(objects(content).map((one) => one.text));
  const calls = [...text.replaceAll('\\"', '"').matchAll(/CALL-TOOL (\S+) (\{[^}]*\})/g)];
  for (const [index, [, name = '', input = '{}']] of calls.entries()) {
    const value = parseJson(input);
    blocks.push({
      type: 'tool_use',
      id: `toolu_${index}`,
      name,
      input: isJsonObject(value) ? value : {},
    });
  }
  if (calls.length > 0) return { kind: 'blocks', blocks, stop: 'tool_use' };
  return { kind: 'blocks', blocks: [...blocks, { type: 'text', text: 'Hello there.' }] };
}

type Blocks = Extract<MessagesAnswer, { kind: 'blocks' }>;

const USAGE = {
  input_tokens: 7,
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 20,
  output_tokens: 31,
  output_tokens_details: { thinking_tokens: 11 },
};

/** The whole answer. */
export function messageOf({ model = 'm' }: JsonObject, answer: Blocks): JsonObject {
  const { blocks, stop = 'end_turn', stopSequence = null, usage = USAGE } = answer;
  return {
    ...{ id: 'msg_up', type: 'message', role: 'assistant', model, content: [...blocks] },
    ...{ stop_reason: stop, stop_sequence: stopSequence, usage },
  };
}

/** The events of its stream; texts come in pieces. */
export function eventsOf(body: JsonObject, answer: Blocks): JsonObject[] {
  const { stop_reason, stop_sequence, usage, ...message } = messageOf(body, answer);
  const start = { ...message, content: [], stop_reason: null, stop_sequence: null };
  const events: JsonObject[] = [
    {
      type: 'message_start',
      message: { ...start, usage: { ...(isJsonObject(usage) ? usage : {}), output_tokens: 1 } },
    },
    { type: 'ping' },
  ];
  for (const [index, block] of answer.blocks.entries()) {
    events.push(...eventsOfBlock(block, index));
  }
  return [
    ...events,
    {
      type: 'message_delta',
      delta: { stop_reason: stop_reason ?? null, stop_sequence: stop_sequence ?? null },
      usage: usage ?? null,
    },
    { type: 'message_stop' },
  ];
}

function eventsOfBlock(block: JsonObject, index: number): JsonObject[] {
  const opening = (content_block: JsonObject): JsonObject => ({
    type: 'content_block_start',
    index,
    content_block,
  });
  const delta = (value: JsonObject): JsonObject => ({
    type: 'content_block_delta',
    index,
    delta: value,
  });
  const stop = { type: 'content_block_stop', index };
  switch (block.type) {
    case 'text': {
      const { citations, text } = block;
      return [
        opening({ type: 'text', text: '' }),
        ...objects(citations).map((citation) => delta({ type: 'citations_delta', citation })),
        ...pieces(String(text)).map((piece) => delta({ type: 'text_delta', text: piece })),
        stop,
      ];
    }
    case 'thinking':
      return [
        opening({ type: 'thinking', thinking: '', signature: '' }),
        ...pieces(String(block.thinking)).map((thinking) =>
          delta({ type: 'thinking_delta', thinking }),
        ),
        delta({ type: 'signature_delta', signature: block.signature ?? '' }),
        stop,
      ];
    case 'tool_use':
    case 'server_tool_use': {
      const json = JSON.stringify(block.input);
      return [
        opening({ ...block, input: {} }),
        ...pieces(json).map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
        stop,
      ];
    }
    default:
      return [opening(block), stop];
  }
}

function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,7}/g) ?? [];
}

/** As it goes over the wire. */
export function streamText(events: readonly JsonObject[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/** With `context_management`, also the tokens before it (Messages API, beta "Token counting"). */
function countOf({ context_management: edits }: JsonObject): JsonObject {
  const counted = { input_tokens: 42 };
  if (edits === undefined) return counted;
  return { ...counted, context_management: { original_input_tokens: 70 } };
}

function sendStream(response: ServerResponse, body: JsonObject, answer: Blocks): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const events = eventsOf(body, answer);
  const { cut } = answer;
  if (cut === undefined) {
    response.end(streamText(events));
    return;
  }
  const begun = events.slice(0, -3);
  const error = { type: 'error', error: { type: cut, message: 'Overloaded' } };
  response.end(streamText(cut === 'silently' ? begun : [...begun, error]));
}

function listModels(response: ServerResponse, url: URL, models: readonly string[]): void {
  const after = url.searchParams.get('after_id');
  const rest = after === null ? models : models.slice(models.indexOf(after) + 1);
  // One a page, so that whoever does not go on sees one.
  const page = rest.slice(0, 1);
  const data = page.map((id) => ({
    ...{ type: 'model', id, display_name: id.toUpperCase(), created_at: '2026-01-01T00:00:00Z' },
    ...{ max_input_tokens: 200_000, max_tokens: 64_000 },
  }));
  sendJson(response, 200, {
    ...{ data, has_more: rest.length > 1, first_id: page[0] ?? null, last_id: page.at(-1) ?? null },
  });
}

function refuse(
  response: ServerResponse,
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendJson(response, status, { type: 'error', error: { type, message } }, headers);
}

function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
