// Calls to the provider of a sign-in: redirects, proxies, and what no error repeats.

import { createServer } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createOAuthOutbound, TokenEndpoint } from '../../src/oauth/oauth-client.ts';

import { createFakeClock } from '../support/fake-clock.ts';

const NEVER = new AbortController().signal;
const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

function outbound() {
  const created = createOAuthOutbound({ userAgent: 'isthmus/test' });
  opened.push(() => created.close());
  return created;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  opened.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening');
  return address.port;
}

test('a redirect is answered as it came, and nobody is sent what the form held', async () => {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  const url = `http://127.0.0.1:${await listen(server)}/token`;
  const { fetch } = outbound();
  const reply = await fetch(url, { method: 'POST', headers: {}, body: 'a=b', signal: NEVER });
  expect([reply.status, reply.headers.get('Location')]).toEqual([307, '/elsewhere']);
  expect(paths).toEqual(['/token']);
});

test('calls go through the proxy given, with its user and password', async () => {
  const seen: unknown[] = [];
  const proxy = createServer((request, response) => {
    seen.push([request.url, request.headers['proxy-authorization']]);
    response.end('{"ok":true}');
  });
  const proxyUrl = `http://user:pass@127.0.0.1:${await listen(proxy)}`;
  const { fetch } = outbound();
  await fetch('http://id.test/token', { method: 'GET', headers: {}, signal: NEVER, proxyUrl });
  const password = `Basic ${Buffer.from('user:pass').toString('base64')}`;
  expect(seen).toEqual([['http://id.test/token', password]]);
});

test.each(['http', 'socks5'])('a %s proxy that never answers fails in time', async (scheme) => {
  const connected = Promise.withResolvers<void>();
  const port = await listen(
    createTcpServer((socket) => {
      opened.push(() => socket.destroy());
      connected.resolve();
    }),
  );
  const clock = createFakeClock();
  const log = { info: () => {}, warn: () => {} };
  const endpoint = new TokenEndpoint({ fetch: outbound().fetch, clock, log });
  const reach = { signal: NEVER, proxyUrl: `${scheme}://u:canary@127.0.0.1:${port}` };
  const call = endpoint.call({ url: 'https://id.test/token', reach });
  const failure = expect(call).rejects.toThrow('did not answer within 10 s');
  await connected.promise;
  await clock.advance(10_000);
  await failure;
});

test('a proxy that refuses, and an address that is none, fail at once without their password', async () => {
  const clock = createFakeClock();
  const log = { info: () => {}, warn: () => {} };
  const endpoint = new TokenEndpoint({ fetch: outbound().fetch, clock, log });
  for (const proxyUrl of ['http://u:canary@127.0.0.1:1', 'ftp://u:canary@x', 'canary']) {
    const call = endpoint.call({ url: 'https://id.test/', reach: { signal: NEVER, proxyUrl } });
    const error: unknown = await call.catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/could not be reached/);
    expect(String(error)).not.toContain('canary');
  }
});
