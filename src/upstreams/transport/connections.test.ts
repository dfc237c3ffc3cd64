import { once } from 'node:events';
import { createServer as createHttpServer, request as sendRequest } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  access,
  call,
  closers,
  failureOf,
  type Handler,
  json,
  readAll,
  start,
} from '../generate/client.test-support.ts';
import { readNetworkError } from './connections.ts';

const throughProxy = (proxyUrl: string) => call({ stream: false, access: { ...access, proxyUrl } });

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A forwarding proxy; it notes who came and where to. */
async function startHttpProxy(password?: string) {
  const seen: { url: string | undefined; authorization: string | undefined }[] = [];
  const ports = new Set<number | undefined>();
  const server = createHttpServer((request, response) => {
    const authorization = request.headers['proxy-authorization'];
    seen.push({ url: request.url, authorization });
    ports.add(request.socket.remotePort);
    if (password !== undefined && !atob(authorization?.slice(6) ?? '').endsWith(`:${password}`)) {
      response.writeHead(407).end();
      return;
    }
    const { method } = request;
    const { 'proxy-authorization': _mine, ...headers } = request.headers;
    const forwarded = sendRequest(request.url ?? '', { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  server.on('connect', (request, socket: Socket) => {
    seen.push({ url: request.url, authorization: request.headers['proxy-authorization'] });
    socket.on('error', () => {});
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
  });
  return { port: await listen(server), seen, ports };
}

/** A SOCKS5 proxy (RFC 1928, 1929) that asks for a user and a password. */
async function startSocksProxy(user: string, password: string) {
  const seen: string[] = [];
  const server = createServer((socket) => {
    let step: 'greeting' | 'login' | 'request' = 'greeting';
    socket.on('data', function onData(bytes: Buffer) {
      if (step === 'greeting') {
        step = 'login';
        socket.write(Buffer.from([5, 2]));
      } else if (step === 'login') {
        const userLength = bytes[1] ?? 0;
        const name = bytes.subarray(2, 2 + userLength).toString();
        const word = bytes.subarray(3 + userLength).toString();
        const isRight = name === user && word === password;
        step = 'request';
        if (isRight) socket.write(Buffer.from([1, 0]));
        else socket.end(Buffer.from([1, 1]));
      } else {
        socket.off('data', onData);
        const port = bytes.readUInt16BE(bytes.length - 2);
        seen.push(`asked for port ${port}`);
        const target = connect(port, '127.0.0.1', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
          socket.pipe(target).pipe(socket);
        });
        target.on('error', () => socket.destroy());
      }
    });
  });
  return { port: await listen(server), seen };
}

test('an account goes through its proxy with its password, others go direct', async () => {
  const proxy = await startHttpProxy('p@ss word');
  const { upstream, seen } = await start(json({ a: 1 }));
  const proxyUrl = `http://ann:p%40ss%20word@127.0.0.1:${proxy.port}`;
  expect(await readAll(await upstream.open(throughProxy(proxyUrl)))).toEqual([{ a: 1 }]);
  expect(proxy.seen[0]?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1beta\/models\//);
  expect(seen[0]?.headers['proxy-authorization']).toBeUndefined();
  await readAll(await upstream.open(call({ stream: false })));
  expect(proxy.seen).toHaveLength(1);
});

test('headers of an answer may be as long as proxies make them, and what is too long is told', async () => {
  const sends = (length: number): Handler => {
    const policy = 'p'.repeat(length);
    return (_request, response) =>
      response.writeHead(200, { 'content-security-policy': policy }).end('{"a":1}');
  };
  const { upstream } = await start(sends(60_000));
  expect(await readAll(await upstream.open(call({ stream: false })))).toEqual([{ a: 1 }]);
  const other = await start(sends(70_000));
  const error = await failureOf(other.upstream.open(call({ stream: false })));
  expect(error.message).toBe('The upstream sent headers that are too long.');
});

test('model lists and quotas go through the proxy as well', async () => {
  const proxy = await startHttpProxy();
  const { upstream } = await start(json({ models: [] }));
  const proxied = { ...access, proxyUrl: `http://127.0.0.1:${proxy.port}` };
  const { signal } = new AbortController();
  await upstream.listModels(proxied, signal);
  await upstream.readQuota(proxied, signal);
  expect(proxy.seen).toHaveLength(2);
});

test('a SOCKS5 proxy is used with its user and password', async () => {
  const proxy = await startSocksProxy('ann@lab', 'p@ss: w%rd');
  const { upstream } = await start(json({ a: 1 }));
  const right = `socks5://ann%40lab:p%40ss%3A%20w%25rd@127.0.0.1:${proxy.port}`;
  expect(await readAll(await upstream.open(throughProxy(right)))).toEqual([{ a: 1 }]);
  expect(proxy.seen).toHaveLength(1);
  const wrong = `socks5://ann:wr0ng-one@127.0.0.1:${proxy.port}`;
  const error = await failureOf(upstream.open(throughProxy(wrong)));
  expect(error).toMatchObject({ failure: { kind: 'path' } });
  expect(String(error.cause)).not.toContain('wr0ng-one');
});

test.each(['http', 'https'])(
  'a proxy that refuses the password is a fault of the path for %s upstreams',
  async (scheme) => {
    const proxy = await startHttpProxy('right');
    const { upstream, seen } = await start(json({}), { baseUrl: `${scheme}://127.0.0.1:9` });
    const proxyUrl = `http://ann:wr0ng-one@127.0.0.1:${proxy.port}`;
    const error = await failureOf(upstream.open(throughProxy(proxyUrl)));
    expect(error).toMatchObject({
      kind: 'upstream-unavailable',
      message: 'The upstream could not be reached through the proxy of the account.',
      failure: { kind: 'path' },
    });
    expect(`${error.cause}`).not.toContain('wr0ng-one');
    expect(proxy.seen).toHaveLength(1);
    expect(seen).toEqual([]);
  },
);

test('P164: a proxy that takes connections and says nothing does not hang the call', async () => {
  const port = await listen(createServer());
  const { upstream } = await start(json({}), {
    baseUrl: 'https://127.0.0.1:9',
    limits: { connectMs: 50 },
  });
  const answers = [`http://127.0.0.1:${port}`, `socks5://127.0.0.1:${port}`].map(async (url) => {
    const error = await failureOf(upstream.open(throughProxy(url)));
    expect(error.failure?.kind).toBe('path');
  });
  await Promise.all(answers);
});

test('a proxy that is not there, and an address that is none, are faults of the path', async () => {
  const { upstream, seen } = await start(json({}));
  for (const proxyUrl of ['http://ann:s3cret@127.0.0.1:1', 'ftp://ann:s3cret@proxy']) {
    const error = await failureOf(upstream.open(throughProxy(proxyUrl)));
    expect(error.failure?.kind).toBe('path');
    expect(`${error.message} ${error.cause}`).not.toContain('s3cret');
  }
  expect(seen).toEqual([]);
});

test('connections through a proxy are used again, unless a fresh one is asked for', async () => {
  const { upstream } = await start(json({ a: 1 }));
  const socks = await startSocksProxy('ann', 's3cret');
  const http = await startHttpProxy();
  const ways = [
    { url: `socks5://ann:s3cret@127.0.0.1:${socks.port}`, count: () => socks.seen.length },
    { url: `http://127.0.0.1:${http.port}`, count: () => http.ports.size },
  ];
  for (const { url, count } of ways) {
    const send = async (freshConnection: boolean): Promise<void> => {
      await readAll(await upstream.open({ ...throughProxy(url), freshConnection }));
      await setImmediate();
    };
    await send(false);
    await send(false);
    expect(count()).toBe(1);
    await send(true);
    await send(true);
    expect(count()).toBe(3);
  }
});

test.each([
  ['CERT_HAS_EXPIRED', 'not valid now'],
  ['CERT_NOT_YET_VALID', 'not valid now'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another address'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'NODE_USE_SYSTEM_CA=1'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'begin with http://'],
])('what is wrong with a certificate, or that there is none, is told: %s', (code, words) => {
  const error = readNetworkError(Object.assign(new Error('TLS'), { code }), { hasAnswer: false });
  expect(error).toMatchObject({ failure: { kind: 'path' } });
  expect(error.message).toContain(words);
});
