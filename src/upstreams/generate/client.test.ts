import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer as createRawServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSystemClock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import {
  access,
  call,
  closers,
  failureOf,
  type Handler,
  json,
  readAll,
  sse,
  start,
  upstreamAt,
} from './client.test-support.ts';

/** undici takes a connection up again one turn of the event loop after its last answer. */
const connectionIsFree = (): Promise<void> => setImmediate();

test('a stream is asked for with our own headers only', async () => {
  const { upstream, seen } = await start(sse);
  expect(await readAll(await upstream.open(call()))).toEqual([{ n: 1 }, { n: 2 }]);
  const [request] = seen;
  expect(request?.method).toBe('POST');
  expect(request?.url).toBe('/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse');
  expect(JSON.parse(request?.body ?? '')).toEqual({ ...call().body, project: 'proj-1' });
  const { host, ...headers } = request?.headers ?? {};
  expect(headers).toEqual({
    accept: 'text/event-stream, application/json',
    'accept-encoding': 'identity',
    connection: 'keep-alive',
    'content-length': String(request?.body.length),
    'content-type': 'application/json',
    'user-agent': 'isthmus/1.2.3',
    'x-goog-api-key': 'secret-key',
  });
});

test('a unary answer is one frame, a key may travel in the query, names are escaped', async () => {
  const { upstream, seen } = await start(json({ a: 1 }), { auth: 'query' });
  const { projectId: _, ...withoutProject } = access;
  const asked = call({ stream: false, modelId: '../x?y', access: withoutProject });
  const stream = await upstream.open(asked);
  expect(await readAll(stream)).toEqual([{ a: 1 }]);
  expect(seen[0]?.url).toBe('/v1beta/models/..%2Fx%3Fy:generateContent?key=secret-key');
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual(call().body);
});

test('refusals are classified, and leave the connection usable', async () => {
  const { upstream, seen } = await start(json({ error: { status: 'RESOURCE_EXHAUSTED' } }, 429));
  for (let attempt = 0; attempt < 2; attempt += 1) {
    expect(await failureOf(upstream.open(call()))).toMatchObject({
      failure: { kind: 'rate-limited', status: 429 },
    });
    await connectionIsFree();
  }
  expect(seen[0]?.port).toBe(seen[1]?.port);
});

test('an error in a good answer to what is no call of a model is what it says it is', async () => {
  const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '15s' };
  const error = {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: 'secret-key',
    details: [retry],
  };
  const { upstream } = await start(json({ error }));
  const { signal, modelId } = call();
  const vectors = async () => {
    for await (const part of upstream.embed({ modelId, bodies: [{}], access, signal })) return part;
    return undefined;
  };
  for (const asked of [
    upstream.countTokens(call()),
    vectors(),
    upstream.listModels(access, signal),
  ]) {
    const failed = await failureOf(asked);
    expect(failed).toMatchObject({ failure: { kind: 'rate-limited', retryAfterMs: 15_000 } });
    expect(String(failed.cause)).not.toContain('secret-key');
  }
});

test('the account’s secrets stay out of the client’s error', async () => {
  const { upstream } = await start(json({ error: { message: 'secret-key and proj-1 bad' } }, 400));
  const error = await failureOf(upstream.open(call()));
  expect(error.message).toBe('<hidden> and <hidden> bad');
});

test.each<[string, Handler]>([
  [
    'a page with status 200',
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html>Sign in</html>');
    },
  ],
  [
    'an encoding not asked for',
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      response.end('x');
    },
  ],
  [
    'a redirect',
    (_request, response) => {
      response.writeHead(302, { location: '/elsewhere' });
      response.end();
    },
  ],
])('%s is a fault of the path and is not followed', async (_name, handle) => {
  const { upstream, seen } = await start(handle);
  expect((await failureOf(upstream.open(call()))).failure?.kind).toBe('path');
  expect(seen.length).toBe(1);
});

test.each([
  'text/plain;charset=UTF-8',
  'application/octet-stream',
  'text/json',
  'application/x-ndjson',
  'binary/octet-stream',
  undefined,
])('an answer is read as what it is, though it is called %s', async (type) => {
  for (const body of ['data: {"a":1}\n\n', '{"a":1}']) {
    const { upstream } = await start((_request, response) => {
      response.writeHead(200, type === undefined ? {} : { 'content-type': type });
      response.end(body);
    });
    expect(await readAll(await upstream.open(call()))).toEqual([{ a: 1 }]);
  }
});

test('a page is none, whatever it is called', async () => {
  for (const type of ['text/html', 'application/xhtml+xml', 'text/plain']) {
    const { upstream } = await start((_request, response) => {
      response.writeHead(200, { 'content-type': type });
      response.end('<html>Sign in</html>');
    });
    const reading = failureOf(upstream.open(call()).then(readAll));
    expect((await reading).failure?.kind).toBe('path');
  }
});

test('interim answers that nobody asked for are passed over', async () => {
  const interim = ['100 Continue', '103 Early Hints\r\nlink: </x>; rel=preload', '102 Processing'];
  const heads = [...interim, ...interim].map((head) => `HTTP/1.1 ${head}\r\n\r\n`);
  const server = createRawServer((socket) => {
    socket.on('error', () => {});
    socket.setNoDelay(true);
    socket.on('data', async () => {
      for (const head of heads) {
        socket.write(head);
        await setImmediate();
      }
      const body = 'data: {"n":1}\n\n';
      const type = 'content-type: text/event-stream';
      socket.write(`HTTP/1.1 200 OK\r\n${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  const { upstream } = upstreamAt(server.address(), {});
  for (let times = 0; times < 2; times += 1) {
    expect(await readAll(await upstream.open(call()))).toEqual([{ n: 1 }]);
    await connectionIsFree();
  }
});

test('a connection that closes before any byte is lost; a fresh one can be asked for', async () => {
  let count = 0;
  const { upstream, seen } = await start((request, response, body) => {
    count += 1;
    if (count === 2) request.socket.destroy();
    else sse(request, response, body);
  });
  await readAll(await upstream.open(call()));
  await connectionIsFree();
  expect(await failureOf(upstream.open(call()))).toMatchObject({
    kind: 'upstream-unavailable',
    failure: { kind: 'connection-lost' },
  });
  expect(seen[0]?.port).toBe(seen[1]?.port);
  await readAll(await upstream.open(call()));
  await connectionIsFree();
  await readAll(await upstream.open(call({ freshConnection: true })));
  expect(new Set(seen.map(({ port }) => port)).size).toBe(3);
});

test('a connection kept over a sleep of the machine is not used again', async () => {
  let sleptMs = 0;
  const system = createSystemClock();
  const clock = { ...system, now: () => system.now() + sleptMs };
  const deaf = new Set<number | undefined>();
  const { upstream, seen } = await start(
    (request, response, body) => {
      if (!deaf.has(request.socket.remotePort)) json({})(request, response, body);
    },
    { clock },
  );
  const ask = async (): Promise<number | undefined> => {
    await readAll(await upstream.open(call({ stream: false })));
    await connectionIsFree();
    return seen.at(-1)?.port;
  };
  const kept = await ask();
  expect(await ask()).toBe(kept);
  sleptMs = 3_600_000;
  deaf.add(kept);
  expect(await ask()).not.toBe(kept);
});

test('an upstream that is not there is a fault of the path', async () => {
  const server = createRawServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { upstream } = upstreamAt(server.address(), {});
  server.close();
  await once(server, 'close');
  expect(await failureOf(upstream.open(call()))).toMatchObject({
    message: 'The upstream could not be reached.',
    failure: { kind: 'path' },
  });
});

test('P081: a stream that breaks off fails after its frames', async () => {
  const { upstream } = await start((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"n":1}\n\n', () => response.destroy());
  });
  const frames: JsonObject[] = [];
  const stream = await upstream.open(call());
  const read = async () => {
    for await (const batch of stream) frames.push(...batch.map(({ value }) => value));
  };
  expect((await failureOf(read())).failure?.kind).toBe('path');
  expect(frames).toEqual([{ n: 1 }]);
});

test('P081: a body cut off where only closing ends it is left to the decoder', async () => {
  const server = createRawServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.end(
        'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n' +
          'data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}\n\n',
      );
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  const { upstream } = upstreamAt(server.address(), {});
  const decoder = upstream.createDecoder({ signatureFamily: 'x', createId: (prefix) => prefix });
  for (const frame of await readAll(await upstream.open(call()))) decoder.push(frame);
  expect(decoder.end().at(-1)).toMatchObject({
    kind: 'error',
    error: { failure: { kind: 'path' } },
  });
});

test('a reader that is behind gets every frame in order, and holds the upstream’s socket back', async () => {
  const count = 20_000;
  let sent = 0;
  const { upstream } = await start((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const write = (): void => {
      while (sent < count) {
        const text = `data: {"n":${sent},"pad":"${'x'.repeat(1000)}"}\n\n`;
        sent += 1;
        if (!response.write(text)) return void response.once('drain', write);
      }
      response.end();
    };
    write();
  });
  const stream = await upstream.open(call());
  const order: unknown[] = [];
  for await (const frames of stream) {
    for (const { value } of frames) order.push(value.n);
    await setImmediate();
    if (order.length < 1000) expect(sent).toBeLessThan(count);
  }
  expect(order).toEqual(Array.from({ length: count }, (_, n) => n));
});

test('P090: a client that leaves closes the upstream’s socket, before and after the headers', async () => {
  for (const answersFirst of [false, true]) {
    const arrived = Promise.withResolvers<{ closed: Promise<unknown> }>();
    const { upstream } = await start((request, response) => {
      // A reset closes it as well, for which `once` would fail.
      const closed = new Promise((resolve) => request.socket.once('close', resolve));
      if (answersFirst) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"n":1}\n\n');
      }
      arrived.resolve({ closed });
    });
    const abort = new AbortController();
    const reason = new Error('left');
    const reading = failureOf(upstream.open(call({ signal: abort.signal })).then(readAll));
    const { closed } = await arrived.promise;
    abort.abort(reason);
    expect(await reading).toBe(reason);
    await closed;
  }
});

test('an aborted signal sends nothing', async () => {
  const { upstream, seen } = await start(sse);
  const signal = AbortSignal.abort(new Error('left'));
  expect((await failureOf(upstream.open(call({ signal })))).message).toBe('left');
  expect(seen).toEqual([]);
});

test('a full pool blames nobody, and is free again when an answer ends', async () => {
  const open = Promise.withResolvers<ServerResponse>();
  const { upstream } = await start(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"n":1}\n\n', () => open.resolve(response));
    },
    { limits: { maxConnections: 1 } },
  );
  const first = await upstream.open(call());
  const refused = await failureOf(upstream.open(call()));
  expect(refused).toMatchObject({ kind: 'overloaded', source: 'gateway', failure: undefined });
  (await open.promise).end();
  await readAll(first);
  await upstream.open(call());
});

test('one client key has half of the connections, and what others ask goes through beside it', async () => {
  const open: ServerResponse[] = [];
  const { upstream } = await start(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"n":1}\n\n');
      open.push(response);
    },
    { limits: { maxConnections: 4 } },
  );
  const ask = (clientKeyId?: string) => upstream.open(call({ clientKeyId }));
  const [first] = [await ask('a'), await ask('a')];
  expect(await failureOf(ask('a'))).toMatchObject({ kind: 'overloaded', failure: undefined });
  await ask('b');
  await ask();
  expect(await failureOf(ask('c'))).toMatchObject({ kind: 'overloaded' });
  open[0]?.end();
  await readAll(first);
  await ask('a');
});

test('closing fails what is under way', async () => {
  const arrived = Promise.withResolvers<void>();
  const { upstream } = await start(() => arrived.resolve());
  const opening = failureOf(upstream.open(call()));
  await arrived.promise;
  await upstream.close();
  expect(await opening).toMatchObject({ kind: 'overloaded', failure: undefined });
});

test('a refusal that came before the body was sent leaves the rest of it to nobody else', async () => {
  let connections = 0;
  const server = createRawServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
    socket.once('data', () => {
      const status = connections === 1 ? '429 Slow Down' : '200 OK';
      // The first leaves most of the body unread, and the connection open.
      if (connections === 1) socket.pause();
      socket.write(
        `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  const { upstream } = upstreamAt(server.address(), {});
  const large = { contents: [{ role: 'user', parts: [{ text: 'x'.repeat(32_000_000) }] }] };
  const refused = await failureOf(upstream.open(call({ body: large, stream: false })));
  expect(refused).toMatchObject({ failure: { kind: 'rate-limited' } });
  await connectionIsFree();
  const next = call({ stream: false });
  expect(await failureOf(upstream.open(next))).toMatchObject({
    failure: { kind: 'connection-lost' },
  });
  expect(await readAll(await upstream.open(next))).toEqual([{}]);
  expect(connections).toBe(2);
});
