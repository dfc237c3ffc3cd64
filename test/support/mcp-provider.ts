// A provider with one MCP service, which a test can make fail, and the Messages protocol beside it.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { sendJson, serveOnLoopback } from './loopback.ts';

interface SeenCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonObject;
}

/** Answers a call itself; false leaves it to the service. */
type Fault = (call: SeenCall, response: ServerResponse) => boolean;

export type McpProvider = Awaited<ReturnType<typeof startMcpProvider>>;

/** Its service is at `/search`, with sessions and one tool, `search`, that tells its progress. */
export async function startMcpProvider() {
  const seen: SeenCall[] = [];
  const sessions = new Set<string>();
  const script: { fault: Fault } = { fault: () => false };
  const server = createServer(async (request, response) => {
    const text = await readText(request);
    const body = text === '' ? {} : parseJson(text);
    const { method = '', url: path = '', headers } = request;
    const call = { method, path, headers, body: isJsonObject(body) ? body : {} };
    seen.push(call);
    if (script.fault(call, response)) return;
    if (path === '/v1/messages') answerMessage(call, response);
    else answerMcp(call, response, sessions);
  });
  const { url, close } = await serveOnLoopback(server);
  return {
    url,
    seen,
    sessions,
    script,
    /** MCP messages of that method, in the order they came. */
    calls: (method: string) => seen.filter(({ body }) => body.method === method),
    close,
  };
}

const TOOL = {
  name: 'search',
  description: 'Searches.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
};

function answerMcp(
  { method, headers, body }: SeenCall,
  response: ServerResponse,
  sessions: Set<string>,
): void {
  const session = String(headers['mcp-session-id']);
  if (body.method === 'initialize') beginSession(body, response, sessions);
  else if (!sessions.has(session)) {
    sendJson(response, 404, { jsonrpc: '2.0', error: { code: -32_001, message: 'x' }, id: null });
  } else if (method === 'DELETE') {
    sessions.delete(session);
    response.writeHead(200).end();
  } else if (method === 'GET') listen(headers['last-event-id'], response);
  else if (body.id === undefined) response.writeHead(202).end();
  else if (body.method === 'tools/list') {
    sendJson(response, 200, { jsonrpc: '2.0', id: body.id, result: { tools: [TOOL] } });
  } else {
    beginEvents(response);
    response.write(progressEvent(body));
    response.end(sseEvent(`${body.id}-2`, resultOf(body.id, 'found')));
  }
}

function beginSession(body: JsonObject, response: ServerResponse, sessions: Set<string>): void {
  const session = `session-${sessions.size + 1}`;
  sessions.add(session);
  const { protocolVersion } = isJsonObject(body.params) ? body.params : {};
  const result = {
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'provider', version: '1' },
  };
  response.setHeader('mcp-session-id', session);
  sendJson(response, 200, { jsonrpc: '2.0', id: body.id, result });
}

/** Without an event id the stream tells a change; with one it gives what that request still lacks. */
function listen(lastEventId: unknown, response: ServerResponse): void {
  beginEvents(response);
  const [id] = typeof lastEventId === 'string' ? lastEventId.split('-') : [];
  const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
  if (id === undefined) response.write(sseEvent('change-1', changed));
  else response.end(sseEvent(`${id}-2`, resultOf(Number(id), 'found after all')));
}

export function beginEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** The first event of a tool call; its id is what the rest is asked for with. */
export function progressEvent({ id, params }: JsonObject): string {
  const { _meta } = isJsonObject(params) ? params : {};
  const { progressToken } = isJsonObject(_meta) ? _meta : {};
  const told = { progressToken: progressToken ?? 0, progress: 1, total: 2 };
  return sseEvent(`${id}-1`, { jsonrpc: '2.0', method: 'notifications/progress', params: told });
}

function sseEvent(id: string, message: object): string {
  return `id: ${id}\nevent: message\ndata: ${JSON.stringify(message)}\n\n`;
}

function resultOf(id: unknown, text: string): object {
  return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } };
}

function answerMessage({ body }: SeenCall, response: ServerResponse): void {
  sendJson(response, 200, {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [{ type: 'text', text: 'A small red square.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 50, output_tokens: 7 },
  });
}
