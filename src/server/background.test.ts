import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { keeping } from './fake-protocols.test-support.ts';
import { startEdge } from './start-edge.test-support.ts';

const MINUTE_MS = 60_000;

/** A gateway whose answers come when `answer` is called, or never. */
async function start() {
  const clock = createFakeClock();
  const signals: AbortSignal[] = [];
  const waiting: (() => void)[] = [];
  const { server, url } = await startEdge({
    clock,
    settings: { authMode: 'off' },
    generate: (_call, { signal }) =>
      new Promise((resolve, reject) => {
        signals.push(signal);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        waiting.push(() => resolve({ kind: 'reply', body: {} }));
      }),
  });
  const ask = async () => {
    const answer = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"model":"m","background":true}',
    });
    expect(await answer.json()).toMatchObject({ queued: true });
  };
  return { server, clock, signals, ask, answer: () => waiting.shift()?.() };
}

test('an answer in the background has half an hour, whoever waits for it', async () => {
  const { server, clock, signals, ask } = await start();
  await ask();
  await clock.advance(30 * MINUTE_MS - 1);
  expect(signals[0]?.aborted).toBe(false);
  await clock.advance(1);
  expect(signals[0]?.reason).toMatchObject({ kind: 'timeout', source: 'gateway' });
  await expect.poll(() => clock.pendingTimers, { interval: 1 }).toBe(0);
  await server.close();
});

test('an answer that is there leaves no timer behind', async () => {
  const { server, clock, ask, answer } = await start();
  await ask();
  await expect.poll(() => clock.pendingTimers, { interval: 1 }).toBe(1);
  answer();
  await expect.poll(() => clock.pendingTimers, { interval: 1 }).toBe(0);
  await server.close();
});

test('closing ends what is made in the background, and waits until it has ended', async () => {
  const { server, signals, ask } = await start();
  await ask();
  await ask();
  await server.close();
  expect(signals.map((signal) => signal.reason)).toEqual([
    expect.objectContaining({ kind: 'overloaded' }),
    expect.objectContaining({ kind: 'overloaded' }),
  ]);
});

test('one that another process gave up ends as failed, whatever came of it here', async () => {
  const { server, url } = await startEdge({
    clock: createFakeClock(),
    settings: { authMode: 'off' },
    generate: async () => ({ kind: 'stream', chunks: chunks() }),
  });
  async function* chunks(): AsyncGenerator<string> {
    yield 'data: 1\n\n';
    keeping.stands = false;
    yield 'data: completed\n\n';
  }
  const answer = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"model":"m","background":true,"stream":true}',
  });
  const text = await answer.text();
  keeping.stands = undefined;
  expect(text).toBe('data: 1\n\ndata: {"error":"internal","in":"messages"}\n\n');
  await server.close();
});
