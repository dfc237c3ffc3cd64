import { once } from 'node:events';
import { connect } from 'node:net';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import type { GenerateAnswer } from '../dispatch/dispatcher.ts';
import { createBodyBudget } from './gates/body.ts';
import { startEdge, type TestEdge } from './start-edge.test-support.ts';

const MEGABYTE = 1_048_576;
const running: TestEdge[] = [];
let letGo: (() => void)[] = [];

afterEach(async () => {
  for (const go of letGo) go();
  await Promise.all(running.splice(0).map(({ server }) => server.close()));
});

/** A memory that has room for bodies of 4.5 MB together. */
const MEMORY = { limit: 80 * MEGABYTE, heapLimit: 300 * MEGABYTE };

/** Answers that are held wait until `letGo`. */
async function start(answers: 'held' | 'at once'): Promise<TestEdge> {
  letGo = [];
  const generate = async (): Promise<GenerateAnswer> => {
    if (answers === 'held') await new Promise<void>((resolve) => letGo.push(resolve));
    return { kind: 'reply', body: { text: 'ok' } };
  };
  const edge = await startEdge({ generate, memory: MEMORY });
  running.push(edge);
  return edge;
}

function post(url: string, megabytes: number, path = '/v1/chat/completions'): Promise<Response> {
  const filler = 'x'.repeat(Math.floor(megabytes * MEGABYTE));
  const body = JSON.stringify({ model: 'm', max_tokens: 9, messages: [], filler });
  return fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
}

const headOf = (port: number) =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n`;

const begun = (count: number) =>
  expect.poll(() => letGo.length, { interval: 5 }).toBeGreaterThanOrEqual(count);

test('large bodies beyond the room for all of them are refused with a wait, small ones never', async () => {
  const { url } = await start('held');
  const first = post(url, 2.5);
  await begun(1);
  const refused = await post(url, 2.5);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await refused.json()).toMatchObject({ protocol: 'chat', kind: 'overloaded' });
  expect((await post(url, 2.5, '/v1/messages')).status).toBe(503);
  const small = [post(url, 0.5), post(url, 0.5), post(url, 0.5)];
  await begun(4);
  for (const go of letGo) go();
  expect((await first).status).toBe(200);
  for (const one of await Promise.all(small)) expect(one.status).toBe(200);
  const again = post(url, 2.5);
  await begun(5);
  letGo.at(-1)?.();
  expect((await again).status).toBe(200);
});

test('large schemas take more memory than other texts of a body', async () => {
  const { url } = await start('at once');
  const ask = async (filler: object) => {
    const body = JSON.stringify({ model: 'm', max_tokens: 9, messages: [], ...filler });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
    return answer.status;
  };
  const description = 'x'.repeat(2.5 * MEGABYTE);
  expect(await ask({ description })).toBe(200);
  expect(await ask({ schema: { description } })).toBe(413);
  expect(await ask({ schema: { description: 'x' } })).toBe(200);
});

test('a refused upload is logged with what its sender was told, also when that one leaves at once', async () => {
  const edge = await startEdge({ settings: { maxBodyBytes: MEGABYTE } });
  running.push(edge);
  const ended = edge.nextEnd();
  const socket = connect(edge.port, '127.0.0.1');
  socket.write(`${headOf(edge.port)}content-length: ${9 * MEGABYTE}\r\n\r\n{`);
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
  socket.destroy();
  expect((await ended).fields).toMatchObject({ status: 413, error: 'too-large' });
});

test('a body that needs more than all the room is refused with the memory it would need', async () => {
  const { url } = await start('held');
  const refused = await post(url, 8);
  expect(refused.status).toBe(413);
  expect(await refused.text()).toContain('needs about 29 MB of memory');
  const large = post(url, 4.5);
  await begun(1);
  letGo[0]?.();
  expect((await large).status).toBe(200);
});

test('A4: what was announced takes no room, what came of it does until the sender leaves', async () => {
  const { url, port } = await start('at once');
  const isRefused = async () => (await post(url, 2.5)).status === 503;
  const socket = connect(port, '127.0.0.1');
  const length = `content-length: ${4 * MEGABYTE}`;
  socket.write(`${headOf(port)}expect: 100-continue\r\n${length}\r\n\r\n`);
  await once(socket, 'data');
  expect(await isRefused()).toBe(false);
  socket.write('x'.repeat(3 * MEGABYTE));
  await expect.poll(isRefused, { interval: 5 }).toBe(true);
  socket.destroy();
  await expect.poll(isRefused, { interval: 5 }).toBe(false);
});

test('a body of unknown size is refused once it has come too far', async () => {
  const { url, port } = await start('held');
  const first = post(url, 2.5);
  await begun(1);
  const socket = connect(port, '127.0.0.1');
  const size = 3 * MEGABYTE;
  const chunk = `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;
  socket.write(`${headOf(port)}transfer-encoding: chunked\r\n\r\n${chunk}`);
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 503 /);
  socket.destroy();
  letGo[0]?.();
  expect((await first).status).toBe(200);
});

test('a large answer is written whole, and counts until its bytes are there', async () => {
  const body = {
    text: `${'a"\\\n'.repeat(500_000)}ü😀\ud800`,
    list: [1, { deep: 'ü'.repeat(50_000) }],
  };
  const clock = createFakeClock();
  const bodies = createBodyBudget(clock, MEMORY);
  const added: number[] = [];
  const watched: typeof bodies = {
    ...bodies,
    add: (holder, bytes) => {
      added.push(bytes);
      bodies.add(holder, bytes);
    },
  };
  const heldBytes = 10 * MEGABYTE;
  const edge = await startEdge({
    bodies: watched,
    generate: async () => ({ kind: 'reply', body, heldBytes }),
  });
  running.push(edge);
  const response = await post(edge.url, 0);
  const text = await response.text();
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(text).toBe(JSON.stringify(body));
  expect(added.slice(0, 2)).toEqual([heldBytes, -heldBytes]);
});

const LINES = Array.from({ length: 20_000 }, (_, at) => `line ${at * 7919}`);
const compressed = (body: object) => zstdCompressSync(JSON.stringify(body));

async function postZstd(body: Buffer<ArrayBuffer>): Promise<Response> {
  const edge = await startEdge({ settings: { maxBodyBytes: 8 * MEGABYTE } });
  running.push(edge);
  return fetch(`${edge.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-encoding': 'zstd' },
    body,
  });
}

test.each([
  ['small', 'x'],
  ['large', LINES.join()],
])('a %s body in zstd is read as its text', async (_size, filler) => {
  const answer = await postZstd(compressed({ filler, model: 'last' }));
  expect(await answer.json()).toMatchObject({ model: 'last' });
});

const text = compressed({ filler: LINES.join(), model: 'm' });

test.each([
  ['not compressed', 400, 'not valid zstd', Buffer.from('{"model":"m"}')],
  ['cut off', 400, 'not valid zstd', text.subarray(0, -5)],
  ['no JSON', 400, 'not valid JSON', zstdCompressSync('{"model":}')],
  [
    'larger than the limit',
    413,
    'larger than 8388608 bytes',
    compressed(Array.from({ length: 900_000 }, (_, at) => at * 7919)),
  ],
  ['one letter by the million', 413, 'times as large', compressed({ a: 'a'.repeat(6_000_000) })],
])('a body in zstd that is %s is refused', async (_what, status, words, body) => {
  const answer = await postZstd(body);
  expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(words)]);
});
