// However the upstream's bytes are cut into pieces, the client gets the same stream.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, startGateway, type TestApp } from '../support/app.ts';
import { serveOnLoopback } from '../support/loopback.ts';
import { PROTOCOL_CALLS, send, withoutIds } from '../support/protocol-calls.ts';

const QUESTION = 'Grüße, 世界 😀 \u2028 "quoted"';

let whole: TestApp;
let split: Omit<TestApp, 'sandbox'>;
let splitter: Awaited<ReturnType<typeof serveOnLoopback>>;
let pieceBytes = 1;

beforeAll(async () => {
  whole = await startApp();
  splitter = await serveOnLoopback(
    createServer((request, response) => void answerInPieces(request, response)),
  );
  split = await startGateway({
    environment: {
      UPSTREAM_PROFILE: 'sandbox',
      UPSTREAM_BASE_URL: splitter.url,
      UPSTREAM_API_KEYS: 'any',
    },
  });
});
afterAll(async () => {
  await split.close();
  await splitter.close();
  await whole.close();
});

describe.each(PROTOCOL_CALLS)('$name', (call) => {
  test.each([1, 2, 3, 5, 64])('pieces of %s bytes', async (size) => {
    pieceBytes = size;
    const expected = await send(whole.url, call, { text: QUESTION, stream: true });
    const answer = await send(split.url, call, { text: QUESTION, stream: true });
    expect(call.isComplete(answer.text)).toBe(true);
    expect(answer.text).toContain('世界 😀');
    expect(withoutIds(answer)).toBe(withoutIds(expected));
  });
});

/** Passes a call on to the sandbox and its answer back in small pieces. */
async function answerInPieces(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await Array.fromAsync(request));
  const answer = await fetch(`${whole.sandbox.url}${request.url}`, {
    method: request.method ?? 'GET',
    headers: { ...whole.sandbox.authorization, 'content-type': 'application/json' },
    ...(body.length > 0 && { body }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const type = answer.headers.get('content-type') ?? 'application/json';
  response.writeHead(answer.status, { 'content-type': type });
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    response.write(bytes.subarray(at, at + pieceBytes));
  }
  response.end();
}
