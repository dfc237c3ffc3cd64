import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createUpstreamDirectory } from './directory.ts';
import type { UpstreamSettings } from './index.ts';
import type { Upstream, UpstreamStream } from './upstream.ts';

const GRACE_MS = 60_000;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const a: UpstreamSettings = { profile: 'sandbox', id: 'a', baseUrl: 'http://127.0.0.1:9' };
const b: UpstreamSettings = { profile: 'vertex', id: 'b', location: 'us-central1' };

function createDirectory() {
  const clock = createFakeClock();
  const directory = createUpstreamDirectory({ clock, version: '1.2.3' });
  closers.push(() => directory.close());
  return { clock, directory };
}

/** A server that begins an answer and leaves its end to the test. */
async function startServer() {
  const begun = Promise.withResolvers<ServerResponse>();
  const agents: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    agents.push(request.headers['user-agent']);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"n":1}\n\n', () => begun.resolve(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, begun: begun.promise, agents };
}

function openAt(upstream: Upstream | undefined): Promise<UpstreamStream> {
  if (upstream === undefined) throw new Error('There is no such upstream.');
  return upstream.open({
    modelId: 'm',
    body: {},
    stream: true,
    access: { accountId: 'x', credential: 'k', credentialKind: 'api-key' },
    signal: new AbortController().signal,
  });
}

async function countFrames(stream: UpstreamStream): Promise<number> {
  let count = 0;
  for await (const frames of stream) count += frames.length;
  return count;
}

test('upstreams are found by id, in the order of the settings', () => {
  const { directory } = createDirectory();
  directory.replace([b, a, { profile: 'gemini-api' }]);
  expect(directory.list().map(({ id }) => id)).toEqual(['b', 'a', 'gemini-api']);
  expect(directory.get('a')?.id).toBe('a');
  expect(directory.get('toString')).toBeUndefined();
});

test('what stays the same is kept, what changed is built anew', () => {
  const { directory } = createDirectory();
  directory.replace([a, b]);
  const before = directory.list();
  directory.replace([{ ...b, location: 'global' }, { ...a }]);
  expect(directory.get('a')).toBe(before[0]);
  expect(directory.get('b')).not.toBe(before[1]);
});

test('settings that cannot be used change nothing', () => {
  const { directory } = createDirectory();
  directory.replace([a]);
  const before = directory.get('a');
  expect(() => directory.replace([b, b])).toThrow('Two upstreams have the id b');
  expect(() => directory.replace([b, { ...a, baseUrl: 'no address' }])).toThrow();
  expect(directory.list()).toEqual([before]);
});

test('an upstream that is gone ends its calls first, then it is closed', async () => {
  const server = await startServer();
  const { clock, directory } = createDirectory();
  directory.replace([{ ...a, baseUrl: server.baseUrl }]);
  const upstream = directory.get('a');
  const stream = await openAt(upstream);
  directory.replace([]);
  expect(directory.get('a')).toBeUndefined();
  await clock.advance(GRACE_MS + 20_000);
  const response = await server.begun;
  response.end('data: {"n":2}\n\n');
  expect(await countFrames(stream)).toBe(2);
  expect(clock.pendingTimers).toBe(1);
  await clock.advance(5000);
  await expect(openAt(upstream)).rejects.toThrow('closing');
  expect(server.agents).toEqual(['isthmus/1.2.3']);
});

test('a call that has the upstream already may still begin', async () => {
  const server = await startServer();
  const { clock, directory } = createDirectory();
  directory.replace([{ ...a, baseUrl: server.baseUrl }]);
  const upstream = directory.get('a');
  directory.replace([]);
  await clock.advance(GRACE_MS - 1000);
  const stream = await openAt(upstream);
  (await server.begun).end();
  expect(await countFrames(stream)).toBe(1);
});

test('closing ends everything, also what was on its way out', async () => {
  const { clock, directory } = createDirectory();
  directory.replace([a, b]);
  const all = directory.list();
  directory.replace([b]);
  await directory.close();
  for (const upstream of all) {
    const access = { accountId: 'x', credential: 'k', credentialKind: 'api-key' as const };
    await expect(upstream.listModels(access, AbortSignal.timeout(1000))).rejects.toThrow('closing');
  }
  expect(clock.pendingTimers).toBe(0);
  expect(directory.list()).toEqual([]);
});
