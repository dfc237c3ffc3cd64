// Reads a request body as JSON, within a size limit.

import type { IncomingMessage } from 'node:http';
import { type JsonValue, parseJson } from '../../lib/json.ts';
import { SandboxError } from '../errors.ts';

export interface JsonBody {
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
  const text = await readText(request);
  try {
    return { text, value: parseJson(text) };
  } catch {
    throw new SandboxError(400, 'The body is not JSON.');
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    if (bytes > MAX_BYTES) {
      throw new SandboxError(413, `The body is larger than ${MAX_BYTES} bytes.`);
    }
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
