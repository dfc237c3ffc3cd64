// A stream that the gateway itself has to end keeps the form of its surface to the last byte.

import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { checkStreamText } from '../support/stream-grammar/check-stream-text.ts';
import { askSurface, SURFACE_CALLS } from '../support/surface-calls.ts';

const GRACE_MS = 30_000;
const FIRST_EVENT =
  'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Once"}]}}]}\n\n';

/** An upstream that says one word and then nothing more. */
let upstream: Server;
let gateway: PoolApp;

beforeAll(async () => {
  upstream = createServer((request, response) => {
    if (request.method === 'GET') {
      const models = SURFACE_CALLS.map(({ model }) => ({ name: `models/${model}` }));
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ models }));
      return;
    }
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(FIRST_EVENT);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const address = upstream.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  gateway = await startPoolApp({
    environment: { UPSTREAM_BASE_URL: `http://127.0.0.1:${port}`, UPSTREAM_API_KEYS: 'k' },
  });
});
afterAll(async () => {
  await gateway.close();
  upstream.closeAllConnections();
  upstream.close();
});

const WORDS = SURFACE_CALLS.filter(({ name }) => !['images', 'embeddings'].includes(name));

describe('a shutdown whose grace is over', () => {
  test.each(WORDS)('$name ends in its own error', async (call) => {
    await gateway.restart();
    const answer = await askSurface(gateway.url, call, { text: 'Hello', stream: true });
    const text = answer.text();
    const stopping = gateway.stop();
    await gateway.clock.advance(GRACE_MS);
    await stopping;
    expect(await text).toContain('Once');
    expect(await text).toContain('shutting down');
    expect(checkStreamText(call.grammar ?? 'chat', await text)).toBe('error');
  });
});
