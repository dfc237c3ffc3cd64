import type { LookupAddress } from 'node:dns';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { type AddressPolicy, PUBLIC_ONLY } from '../lib/net.ts';
import { createMediaFetcher } from './fetch-media.ts';

type MediaFetcherOptions = Parameters<typeof createMediaFetcher>[0];

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUg==', 'base64');
/** What tests of the exchange itself allow: plain http to this machine. */
const LOOPBACK: AddressPolicy = {
  allowsUrl: ({ protocol }) => protocol === 'http:',
  allowsAddress: (address) => address === '127.0.0.1',
};
const toLoopback = async (): Promise<LookupAddress[]> => [{ address: '127.0.0.1', family: 4 }];

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Host {
  readonly origin: string;
  readonly seen: IncomingMessage[];
  connections: number;
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

async function hostOf(answer: Answer): Promise<Host> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    answer(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const host: Host = { origin: `http://pictures.example:${port}`, seen, connections: 0 };
  server.on('connection', () => {
    host.connections += 1;
  });
  return host;
}

function fetcherOf(change: Partial<MediaFetcherOptions> = {}) {
  const clock = createFakeClock();
  const fetcher = createMediaFetcher({
    clock,
    userAgent: 'isthmus/test',
    isEnabled: () => true,
    policy: LOOPBACK,
    resolve: toLoopback,
    ...change,
  });
  closers.push(() => fetcher.close());
  const live = new AbortController().signal;
  return { clock, fetch: (url: string, signal = live) => fetcher.fetch(url, signal) };
}

function send(headers: Record<string, string>, body: Buffer | string = PNG): Answer {
  return (response) => void response.writeHead(200, headers).end(body);
}

test('bytes come back with the type they are, whatever the host calls them', async () => {
  const host = await hostOf(send({ 'content-type': 'text/plain' }));
  const { fetch } = fetcherOf();
  const media = { mediaType: 'image/png', base64: PNG.toString('base64') };
  expect(await fetch(`${host.origin}/a.png?b=c`)).toEqual(media);
  expect(host.seen[0]?.url).toBe('/a.png?b=c');
});

test('the type is the declared one when the bytes do not tell', async () => {
  const host = await hostOf(send({ 'content-type': 'Video/WebM; codecs=vp9' }, 'xxxx'));
  const { fetch } = fetcherOf();
  expect(await fetch(host.origin)).toMatchObject({ mediaType: 'video/webm' });
});

test('nothing but what is needed is sent', async () => {
  const host = await hostOf(send({}));
  await fetcherOf().fetch(host.origin);
  expect(Object.keys(host.seen[0]?.headers ?? {}).sort()).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'host',
    'user-agent',
  ]);
  expect(host.seen[0]?.headers).toMatchObject({ 'user-agent': 'isthmus/test' });
});

test.each<[string, string, Answer]>([
  ['a page', 'wrong-type', send({ 'content-type': 'text/html' }, '<html>')],
  ['a text of no type', 'wrong-type', send({}, 'text')],
  ['nothing', 'wrong-type', send({ 'content-type': 'image/png' }, '')],
  ['404', 'refused', (response) => void response.writeHead(404).end('no')],
  ['401', 'refused', (response) => void response.writeHead(401).end('no')],
  ['a redirect to nowhere', 'refused', (response) => void response.writeHead(302).end()],
  ['compressed bytes', 'refused', send({ 'content-encoding': 'gzip' })],
  [
    'a length above the limit',
    'too-large',
    (response) => void response.writeHead(200, { 'content-length': '20971521' }).write(PNG),
  ],
  [
    'a body above the limit',
    'too-large',
    (response) => {
      const piece = Buffer.alloc(1024 * 1024);
      for (let index = 0; index < 21; index += 1) response.write(piece);
    },
  ],
  [
    'a cut body',
    'unreachable',
    (response) => {
      response.writeHead(200, { 'content-length': '100' }).write(PNG, () => response.destroy());
    },
  ],
  ['a cut connection', 'unreachable', (response) => void response.destroy()],
])('%s is no medium: %s', async (_name, kind, answer) => {
  const host = await hostOf(answer);
  await expect(fetcherOf().fetch(host.origin)).rejects.toMatchObject({ kind });
});

const redirect =
  (location: string): Answer =>
  (response) =>
    void response.writeHead(302, { location }).end();

test('three redirects are followed, each on a connection of its own; a fourth is not', async () => {
  const host = await hostOf((response, request) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) send({})(response, request);
    else redirect(`/${left - 1}`)(response, request);
  });
  const { fetch } = fetcherOf();
  expect(await fetch(`${host.origin}/3`)).toMatchObject({ mediaType: 'image/png' });
  expect(host.connections).toBe(4);
  await expect(fetch(`${host.origin}/4`)).rejects.toMatchObject({ kind: 'too-many-redirects' });
});

test.each([
  'http://10.0.0.1/',
  'http://[::ffff:169.254.169.254]/latest/meta-data',
  'http://0x7f000002/',
  'ftp://pictures.example/',
  'file:///etc/passwd',
  'http://[',
])('a redirect to %s is not followed (T10)', async (location) => {
  const host = await hostOf(redirect(location));
  await expect(fetcherOf().fetch(host.origin)).rejects.toMatchObject({ kind: 'not-public' });
  expect(host.connections).toBe(1);
});

test('a name that resolves to an address that is not public is not connected to', async () => {
  const host = await hostOf(send({}));
  const { fetch } = fetcherOf({ policy: { ...PUBLIC_ONLY, allowsUrl: () => true } });
  await expect(fetch(host.origin)).rejects.toMatchObject({ kind: 'not-public' });
  expect(host.connections).toBe(0);
});

test('the same holds for https', async () => {
  const { fetch } = fetcherOf({ policy: PUBLIC_ONLY });
  await expect(fetch('https://pictures.example/a.png')).rejects.toMatchObject({
    kind: 'not-public',
  });
});

test('one bad address among good ones refuses the name', async () => {
  const resolve = async () => [...(await toLoopback()), { address: '10.0.0.1', family: 4 }];
  const host = await hostOf(send({}));
  await expect(fetcherOf({ resolve }).fetch(host.origin)).rejects.toMatchObject({
    kind: 'not-public',
  });
  expect(host.connections).toBe(0);
});

test('DNS rebinding gains nothing: the second answer is checked like the first (T10)', async () => {
  const answers = ['127.0.0.1', '127.0.0.2'];
  const resolve = async () => [{ address: answers.shift() ?? '', family: 4 }];
  const host = await hostOf(redirect('/again'));
  await expect(fetcherOf({ resolve }).fetch(host.origin)).rejects.toMatchObject({
    kind: 'not-public',
  });
  expect(host.connections).toBe(1);
});

test('the checked addresses are in the form that the connection asks for', async () => {
  const asksForAll = getDefaultAutoSelectFamily();
  closers.push(async () => setDefaultAutoSelectFamily(asksForAll));
  const host = await hostOf(send({}));
  for (const all of [true, false]) {
    setDefaultAutoSelectFamily(all);
    expect(await fetcherOf().fetch(host.origin)).toMatchObject({ mediaType: 'image/png' });
  }
});

test('a name without an address is no public one', async () => {
  const { fetch } = fetcherOf({ resolve: async () => [] });
  await expect(fetch('http://x.example')).rejects.toMatchObject({ kind: 'not-public' });
});

test('a name that does not resolve is unreachable', async () => {
  const resolve = () => Promise.reject(new Error('ENOTFOUND'));
  await expect(fetcherOf({ resolve }).fetch('http://x.example')).rejects.toMatchObject({
    kind: 'unreachable',
  });
});

test('a silent name server ends after ten seconds of the clock', async () => {
  const { clock, fetch } = fetcherOf({ resolve: () => new Promise(() => {}) });
  const answer = expect(fetch('http://x.example')).rejects.toMatchObject({ kind: 'too-slow' });
  await clock.advance(9_999);
  expect(clock.pendingTimers).toBe(1);
  await clock.advance(1);
  await answer;
});

test('a body that stalls ends after ten seconds of the clock, and the connection goes', async () => {
  let begun = (): void => {};
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const gone = Promise.withResolvers<void>();
  const host = await hostOf((response) => {
    response.on('close', () => gone.resolve());
    response.writeHead(200, { 'content-type': 'image/png' }).write(PNG, () => begun());
  });
  const { clock, fetch } = fetcherOf();
  const answer = expect(fetch(host.origin)).rejects.toMatchObject({ kind: 'too-slow' });
  await isBegun;
  await clock.advance(10_000);
  await answer;
  await gone.promise;
});

test('a client that leaves ends the fetch with its own reason', async () => {
  const client = new AbortController();
  const { clock, fetch } = fetcherOf({ resolve: () => new Promise(() => {}) });
  const answer = expect(fetch('http://x.example', client.signal)).rejects.toBe('gone');
  client.abort('gone');
  await answer;
  expect(clock.pendingTimers).toBe(0);
  await expect(fetch('http://x.example', client.signal)).rejects.toBe('gone');
});
