// Reading JSON bodies, sending JSON, and who may reach the pages and controls.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { SandboxError, writeError } from './errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from './json.ts';

interface JsonBody {
  readonly text: string;
  readonly value: JsonValue;
}

const MAX_BYTES = 100 * 1024 * 1024;

/** @throws SandboxError 400 when it is no JSON or compressed, 413 when it is too large. */
export async function readJsonBody(request: IncomingMessage): Promise<JsonBody> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (!/^application\/json\b/i.test(type)) {
    throw new SandboxError(400, 'The Content-Type must be application/json.');
  }
  if (encoding !== 'identity') {
    throw new SandboxError(400, `A body with Content-Encoding ${encoding} is not accepted.`);
  }
  const text = (await readBytes(request)).toString();
  try {
    return { text, value: parseJson(text) };
  } catch {
    throw new SandboxError(400, 'The body is not JSON.');
  }
}

/** Fields of forms that are numbers or switches in JSON. */
const TYPED_FIELDS: ReadonlySet<string> = new Set([
  ...['n', 'partial_images', 'output_compression', 'temperature', 'stream'],
]);

/**
 * A form as the object it stands for: files are `{type, data}` in base64, `name[]` and fields that come twice lists,
 * `name[member]` is a member of an object.
 * @throws SandboxError 400 when it is no form
 */
export async function readFormBody(request: IncomingMessage): Promise<JsonBody> {
  const { 'content-type': type = '' } = request.headers;
  const bytes = await readBytes(request);
  try {
    const form = await new Response(bytes, { headers: { 'content-type': type } }).formData();
    const value: Record<string, JsonValue> = {};
    for (const [key, given] of form) {
      const name = key.replace(/\[\]$/, '');
      const item = typeof given === 'string' ? readField(name, given) : await readFormFile(given);
      const [, holder, member] = /^([^[\]]+)\[([^[\]]+)\]$/.exec(name) ?? [];
      const known = value[holder ?? name];
      if (holder !== undefined && member !== undefined) {
        value[holder] = { ...(isJsonObject(known) ? known : {}), [member]: item };
      } else if (Array.isArray(known)) value[name] = [...known, item];
      else if (known !== undefined) value[name] = [known, item];
      else value[name] = name === key ? item : [item];
    }
    return { text: JSON.stringify(value), value };
  } catch {
    throw new SandboxError(400, 'The body is no multipart/form-data.');
  }
}

function readField(name: string, text: string): JsonValue {
  if (!TYPED_FIELDS.has(name)) return text;
  if (text === 'true' || text === 'false') return text === 'true';
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

async function readFormFile(file: File): Promise<JsonValue> {
  return { type: file.type, data: Buffer.from(await file.arrayBuffer()).toString('base64') };
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) {
      throw new SandboxError(413, `The body is larger than ${MAX_BYTES} bytes.`);
    }
  }
  return Buffer.concat(chunks);
}

export function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  sendText(response, status, JSON.stringify(body));
}

/** Sends a text as JSON; answers of token endpoints must not be kept (RFC 6749, 5.1), nor need others be. */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(text);
  response.writeHead(status, {
    'content-type': 'application/json; charset=UTF-8',
    'content-length': bytes.length,
    'cache-control': 'no-store',
    ...headers,
  });
  response.end(bytes);
}

/** Sends the error; once the answer has begun, all that is left is to drop the connection. */
export function sendError(response: ServerResponse, error: SandboxError): void {
  if (response.headersSent) response.destroy();
  else sendJson(response, error.status, writeError(error));
}

const LOOPBACK_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i;

/** @throws SandboxError 403 for a foreign Host (DNS rebinding) or any Origin (a page in a browser). */
export function requireLocalTool(request: IncomingMessage): void {
  const { host = '', origin } = request.headers;
  if (!LOOPBACK_HOST.test(host) || origin !== undefined) {
    throw new SandboxError(403, 'The controls of the sandbox are for local tools, not for pages.');
  }
}

/** @throws SandboxError 403 for a foreign Host, or an Origin that is not the sandbox itself. */
export function requireOwnPage(request: IncomingMessage): void {
  const { host = '', origin = `http://${host}` } = request.headers;
  if (!LOOPBACK_HOST.test(host) || origin !== `http://${host}`) {
    throw new SandboxError(403, 'The sign-in of the sandbox is for this machine and its own page.');
  }
}
