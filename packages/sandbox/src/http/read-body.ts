// Reads a request body as JSON, within a size limit.

import type { IncomingMessage } from 'node:http';
import { SandboxError } from '../errors.ts';
import { type JsonValue, parseJson } from '../json.ts';

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
  const text = (await readBytes(request)).toString();
  try {
    return { text, value: parseJson(text) };
  } catch {
    throw new SandboxError(400, 'The body is not JSON.');
  }
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
