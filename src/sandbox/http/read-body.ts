// Reads a request body as JSON, within a size limit.

import { isAscii } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { type JsonValue, parseJson } from '../../lib/json.ts';
import { nextTurn, STEPWISE_FROM_BYTES } from '../../lib/next-turn.ts';
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
  const bytes = await readBytes(request);
  // The gateway runs in the same process.
  const isLarge = bytes.length >= STEPWISE_FROM_BYTES;
  if (isLarge) await nextTurn();
  const text = isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8');
  if (isLarge) await nextTurn();
  const value = parse(text);
  if (isLarge) await nextTurn();
  return { text, value };
}

function parse(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    throw new SandboxError(400, 'The body is not JSON.');
  }
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) {
      throw new SandboxError(413, `The body is larger than ${MAX_BYTES} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
