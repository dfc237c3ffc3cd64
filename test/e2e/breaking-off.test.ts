// A stream that the gateway itself has to end keeps the form of its surface to the last byte.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts';
import { checkStreamText } from '../support/stream-grammar/check-stream-text.ts';
import { askSurface, SURFACE_CALLS } from '../support/surface-calls.ts';

const GRACE_MS = 30_000;
const FIRST_EVENT =
  'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Once"}]}}]}\n\n';

/** An upstream that says one word and then nothing more. */
let upstream: RawUpstream;
let gateway: PoolApp;

beforeAll(async () => {
  const models = SURFACE_CALLS.map(({ model }) => model);
  upstream = await startRawUpstream(models, (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(FIRST_EVENT);
  });
  gateway = await startPoolApp({
    environment: { UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEYS: 'k' },
  });
});
afterAll(async () => {
  await gateway.close();
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
