import { afterEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { countTurns } from '../../test/support/turns.ts';
import { arrival, openRaw, rawPost, sendRaw } from './raw-socket.test-support.ts';
import { startEdge, type TestEdge } from './start-edge.test-support.ts';

const running: TestEdge[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map(({ server }) => server.close()));
});

async function start(options: Parameters<typeof startEdge>[0] = {}): Promise<TestEdge> {
  const edge = await startEdge({
    ...options,
    settings: { authMode: 'off', allowedHosts: ['a'], ...options.settings },
  });
  running.push(edge);
  return edge;
}

const CLOSE = 'Connection: close\r\n\r\n';
const POST = 'POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';

test.each([
  ['two Host lines', `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil\r\n${CLOSE}`],
  ['no Host line', `GET /v1/models HTTP/1.1\r\n${CLOSE}`],
  ['absolute form', `GET http://127.0.0.1/v1/models HTTP/1.1\r\nHost: a\r\n${CLOSE}`],
  ['absolute form elsewhere', `GET http://evil/api/x HTTP/1.1\r\nHost: a\r\n${CLOSE}`],
  ['a double slash', `GET //v1/models HTTP/1.1\r\nHost: a\r\n${CLOSE}`],
  ['asterisk form', `OPTIONS * HTTP/1.1\r\nHost: a\r\n${CLOSE}`],
  ['dot segments', `GET /v1/../health HTTP/1.1\r\nHost: a\r\n${CLOSE}`],
  ['encoded dot segments', `GET /v1/%2e%2e/health HTTP/1.1\r\nHost: a\r\n${CLOSE}`],
  ['an encoded slash', `GET /v1%2fmodels HTTP/1.1\r\nHost: a\r\n${CLOSE}`],
  ['a backslash', `GET /v1\\models HTTP/1.1\r\nHost: a\r\n${CLOSE}`],
  ['an encoded NUL', `GET /v1/models%00 HTTP/1.1\r\nHost: a\r\n${CLOSE}`],
  ['a bad escape', `GET /v1/%zz HTTP/1.1\r\nHost: a\r\n${CLOSE}`],
  [
    'two Authorization lines',
    `GET /health HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n${CLOSE}`,
  ],
  [
    'two x-api-key lines',
    `GET /health HTTP/1.1\r\nHost: a\r\nX-Api-Key: a\r\nx-api-key: a\r\n${CLOSE}`,
  ],
  ['length and chunks', `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['two lengths', `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
  ['a signed length', `${POST}Content-Length: +2\r\n\r\n{}`],
  ['an unknown transfer coding', `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['chunks within chunks', `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`],
  ['a coding after chunked', `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
  ['a space before the colon', `GET /health HTTP/1.1\r\nHost : a\r\n${CLOSE}`],
  ['a folded header', `GET /health HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\n${CLOSE}`],
  ['bare line feeds', 'GET /health HTTP/1.1\nHost: a\nConnection: close\n\n'],
  ['a bare carriage return', `GET /health HTTP/1.1\r\nHost: a\r\nX-A: b\rc\r\n${CLOSE}`],
  ['a NUL in a header', `GET /health HTTP/1.1\r\nHost: a\r\nX-A: b\u0000c\r\n${CLOSE}`],
  ['a NUL in the target', `GET /health\u0000 HTTP/1.1\r\nHost: a\r\n${CLOSE}`],
  ['an unknown method', `FETCH /health HTTP/1.1\r\nHost: a\r\n${CLOSE}`],
  ['no HTTP at all', '\u0016\u0003\u0001\u0002\u0000\u0001'],
])('T14: %s gets one 400 in JSON and a closed connection', async (_name, text) => {
  const { port } = await start();
  const received = await sendRaw(port, text);
  expect(received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  const body = received.slice(received.indexOf('\r\n\r\n') + 4);
  expect(JSON.parse(body)).toBeTypeOf('object');
});

test.each([
  'gzip, chunked',
  'deflate,chunked',
  'identity, chunked',
  'gzip\r\nTransfer-Encoding: chunked',
])('D3: a body in the transfer coding %s gets one 501 and a closed connection', async (coding) => {
  const { port } = await start();
  const text = `${POST}Transfer-Encoding: ${coding}\r\n\r\n2\r\n{}\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: a\r\n\r\n`;
  const received = await sendRaw(port, text);
  expect(received).toMatch(/^HTTP\/1\.1 501 Not Implemented\r\n/);
  expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  expect(received.toLowerCase()).toContain('connection: close');
});

test('headers of 20 kB get 431 in JSON', async () => {
  const { port } = await start();
  const text = `GET /health HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(20_000)}\r\n${CLOSE}`;
  expect(await sendRaw(port, text)).toMatch(/^HTTP\/1\.1 431 .*"kind":"headers-too-large"/s);
});

test.each([
  ['FETCH /v1/messages?beta=true HTTP/1.1', 'messages'],
  ['FETCH /v1beta/models HTTP/1.1', 'generate'],
  ['FETCH /v1/chat/completions HTTP/1.1', 'chat'],
  ['FETCH  HTTP/1.1', 'chat'],
])('what begins with %s is refused in the shape of %s, with a request id', async (line, name) => {
  const { port } = await start();
  const received = await sendRaw(port, `${line}\r\nHost: a\r\n${CLOSE}`);
  expect(received).toMatch(new RegExp(`^HTTP/1.1 400 .*"protocol":"${name}"`, 's'));
  expect(received).toMatch(/\r\nx-request-id: req_\w+/);
});

test('a health check of HTTP/1.0 needs no Host line', async () => {
  const { port } = await start();
  expect(await sendRaw(port, 'GET /health HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK/);
});

test('CONNECT closes the connection without an answer', async () => {
  const { port } = await start();
  const received = await sendRaw(port, 'CONNECT evil:443 HTTP/1.1\r\nHost: evil:443\r\n\r\n');
  expect(received).not.toContain(' 200 ');
});

test.each(['websocket', 'h2c'])('an upgrade to %s is never made and harms nobody', async (name) => {
  const { port } = await start();
  const connection = openRaw(port);
  connection.write(
    `GET /health HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${name}\r\n\r\n`,
  );
  expect(await connection.until((text) => text.endsWith('}'))).toMatch(/^HTTP\/1\.1 200 OK/);
  connection.write(`GET /nowhere HTTP/1.1\r\nHost: a\r\n${CLOSE}`);
  expect(await connection.closed()).toContain('404 Not Found');
});

test('a WebSocket to a path of ours is told to come over HTTP, to another that there is none', async () => {
  const { port } = await start();
  const upgrade = (path: string) =>
    sendRaw(
      port,
      `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close, Upgrade\r\nUpgrade: WebSocket\r\n\r\n`,
    );
  const refused = await upgrade('/v1/chat/completions');
  expect(refused).toMatch(/^HTTP\/1\.1 426 /);
  expect(refused).toContain('upgrade: HTTP/1.1\r\n');
  expect(await upgrade('/v1/nothing')).toMatch(/^HTTP\/1\.1 404 /);
});

test.each([
  ['another route', '/v1/chat/completions', {}],
  ['a handshake without its key', '/v1/talk', { key: '' }],
  ['a handshake of another version', '/v1/talk', { version: '12' }],
  ['the switch turned off', '/v1/talk', { takesWebSockets: false }],
])('%s makes no WebSocket, and the client comes over HTTP', async (_name, path, change) => {
  const given = { key: 'dGhlIHNhbXBsZSBub25jZQ==', version: '13', takesWebSockets: true };
  const { key, version, takesWebSockets } = { ...given, ...change };
  const { port } = await start({ settings: { takesWebSockets } });
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: a',
    'Connection: close, Upgrade',
    'Upgrade: websocket',
    `Sec-WebSocket-Version: ${version}`,
    `Sec-WebSocket-Key: ${key}`,
  ];
  const received = await sendRaw(port, `${lines.join('\r\n')}\r\n\r\n`);
  expect(received).toMatch(/^HTTP\/1\.1 426 /);
});

test('an expectation nobody knows is ignored', async () => {
  const { port } = await start();
  const received = await sendRaw(
    port,
    `GET /health HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\n${CLOSE}`,
  );
  expect(received).toMatch(/^HTTP\/1\.1 200 .*"status":"ok"/s);
});

test('pipelined requests are answered in their order, each by its own identity', async () => {
  const keys = ['a', 'b'].map((id) => ({ id, key: `key-${id}` }));
  const edge = await start({ settings: { authMode: 'strict', apiKeys: keys } });
  const post = (model: string, key: string): string =>
    rawPost('/v1/messages', JSON.stringify({ model }), key === '' ? [] : [`X-Api-Key: ${key}`]);
  const received = await sendRaw(
    edge.port,
    post('m1', 'key-a') +
      post('m2', 'key-b') +
      post('m3', '') +
      `GET /health HTTP/1.1\r\nHost: a\r\n${CLOSE}`,
  );
  const answers = received.split(/HTTP\/1\.1 /).slice(1);
  expect(answers.map((answer) => answer.slice(0, 3))).toEqual(['200', '200', '401', '200']);
  expect(answers[0]).toContain('{"model":"m1","protocol":"messages","client":"a"}');
  expect(answers[1]).toContain('{"model":"m2","protocol":"messages","client":"b"}');
  await edge.server.close();
  expect(edge.lines.filter(({ message }) => message === 'request')).toHaveLength(4);
});

test('hundreds of pipelined requests leave turns to others, and are all answered', async () => {
  const { port } = await start();
  const one = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n';
  const { result, turns } = await countTurns(() =>
    sendRaw(port, `${one.repeat(799)}GET /health HTTP/1.1\r\nHost: a\r\n${CLOSE}`),
  );
  expect(result.split('HTTP/1.1 200 ')).toHaveLength(801);
  expect(turns).toBeGreaterThan(800 / 16);
});

test('a body over the limit is refused at once from its declared length', async () => {
  const { port } = await start({ settings: { maxBodyBytes: 1000 }, clock: createFakeClock() });
  const connection = openRaw(port);
  connection.write(`${POST}Content-Length: 104857601\r\n\r\n{"a":`);
  const received = await connection.until((text) => text.includes('"too-large"'));
  expect(received).toMatch(/^HTTP\/1\.1 413 /);
  expect(received).toContain('connection: close');
  connection.socket.end();
  await connection.closed();
});

test('a body that is longer than any text is refused at once, however large bodies may be', async () => {
  const { port } = await start({ settings: { maxBodyBytes: 2_000_000_000 } });
  const connection = openRaw(port);
  connection.write(`${POST}Content-Length: 600000000\r\n\r\n{"a":`);
  const received = await connection.until((text) => text.includes('"too-large"'));
  expect(received).toMatch(/^HTTP\/1\.1 413 /);
  connection.socket.destroy();
});

test('a body sent in chunks is refused once it passes the limit', async () => {
  const { port } = await start({ settings: { maxBodyBytes: 1000 } });
  const connection = openRaw(port);
  connection.write(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
  connection.write(`3e8\r\n${' '.repeat(1000)}\r\n`);
  connection.write(`1\r\n{\r\n`);
  expect(await connection.until((text) => text.includes('"too-large"'))).toMatch(
    /^HTTP\/1\.1 413 /,
  );
  connection.socket.end();
  await connection.closed();
});

test('a body of exactly the limit passes, chunked or not', async () => {
  const body = '{"model":"m"}';
  const { port } = await start({ settings: { maxBodyBytes: body.length } });
  expect(await sendRaw(port, rawPost('/v1/messages', body, ['Connection: close']))).toContain(
    ' 200 OK',
  );
  const chunked = `${POST}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=1\r\n{"mod\r\n8\r\nel":"m"}\r\n0\r\n\r\n`;
  expect(await sendRaw(port, chunked)).toContain(' 200 OK');
});

test('a refused client that waits for 100 Continue is not asked for its body', async () => {
  const { port } = await start({ settings: { maxBodyBytes: 1000 }, clock: createFakeClock() });
  const connection = openRaw(port);
  connection.write(`${POST}Expect: 100-continue\r\nContent-Length: 5000000\r\n\r\n`);
  const received = await connection.until((text) => text.includes('"too-large"'));
  expect(received).not.toContain('100 Continue');
  connection.socket.destroy();
});

test('a client that waits for 100 Continue gets it when its body is wanted', async () => {
  const { port } = await start();
  const connection = openRaw(port);
  connection.write(
    `${POST}Expect: 100-continue\r\nContent-Length: 13\r\nConnection: close\r\n\r\n`,
  );
  await connection.until((text) => text.includes('HTTP/1.1 100 Continue'));
  connection.write('{"model":"m"}');
  expect(await connection.closed()).toContain('HTTP/1.1 200 OK');
});

test('a client of HTTP/1.0, or one that expects something else, gets its answer only', async () => {
  const { port } = await start();
  const rest = 'Content-Type: application/json\r\nContent-Length: 13\r\n\r\n{"model":"m"}';
  const head = (version: string) => `POST /v1/messages HTTP/${version}\r\nHost: 127.0.0.1\r\n`;
  const old = await sendRaw(port, `${head('1.0')}Expect: 100-continue\r\n${rest}`);
  expect(old).toMatch(/^HTTP\/1\.1 200 OK/);
  const other = `${head('1.1')}Expect: something\r\nConnection: close\r\n${rest}`;
  expect(await sendRaw(port, other)).toMatch(/^HTTP\/1\.1 200 OK/);
});

test('T15: a body that trickles in is cut after its grace', async () => {
  const clock = createFakeClock();
  const { port } = await start({ clock });
  const connection = openRaw(port);
  connection.write(`${POST}Content-Length: 1000000\r\n\r\n{"a":`);
  while (clock.pendingTimers === 0) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(14_999);
  await arrival();
  expect(connection.received).toBe('');
  await clock.advance(1);
  const refused = await connection.until((text) => text.includes('"timeout"'));
  expect(refused).toMatch(/^HTTP\/1\.1 408 /);
  expect(refused).not.toContain('x-should-retry');
  await clock.advance(5_000);
  await connection.closed();
});

test('a client that goes on sending has a moment to notice its refusal, and no more', async () => {
  const clock = createFakeClock();
  const edge = await start({ settings: { maxBodyBytes: 1000 }, clock });
  const ended = edge.nextEnd();
  const connection = openRaw(edge.port);
  connection.write(`${POST}Content-Length: 104857601\r\n\r\n{"a":`);
  await connection.until((text) => text.includes('"too-large"'));
  await clock.advance(1_000);
  await connection.closed();
  expect((await ended).fields).toMatchObject({ status: 413 });
});

test('chunks whose type is not JSON are refused like any other body, and their connection closed', async () => {
  const clock = createFakeClock();
  const { port } = await start({ clock });
  const connection = openRaw(port);
  connection.write(
    'POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n',
  );
  connection.write('d\r\n{"model":"m"}\r\n');
  const refused = await connection.until((text) => text.includes('"unsupported-media-type"'));
  expect(refused).toMatch(/^HTTP\/1\.1 415 /);
  expect(refused).toContain('connection: close');
  await clock.advance(1_000);
  await connection.closed();
});

test('T15: the server waits ten seconds for a head, longer than balancers for the next request', async () => {
  const { server } = await start({ settings: { requestTimeoutMs: 300_000 } });
  expect(server.http).toMatchObject({
    headersTimeout: 10_000,
    requestTimeout: 300_000,
    keepAliveTimeout: 65_000,
    timeout: 330_000,
  });
});

test('what is no HTTP behind an answer closes the connection without another word', async () => {
  const { port } = await start();
  const connection = openRaw(port);
  connection.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n');
  await connection.until((text) => text.endsWith('}'));
  connection.write('\u0016\u0003\u0001\r\n\r\n');
  expect((await connection.closed()).match(/HTTP\/1\.1 /g)).toHaveLength(1);
});

test('extensions of chunks are bounded', async () => {
  const { port } = await start();
  const connection = openRaw(port);
  connection.write(`${POST}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(20_000)}\r\n{}\r\n`);
  expect(await connection.closed()).toMatch(/^HTTP\/1\.1 413 .*"kind":"too-large"/s);
});

test('T15: a refused body that never ends holds no connection', async () => {
  const clock = createFakeClock();
  const { port } = await start({ clock, settings: { authMode: 'strict' } });
  const connection = openRaw(port);
  connection.write(`${POST}Content-Length: 1000\r\n\r\n{"a":`);
  await connection.until((text) => text.startsWith('HTTP/1.1 401'));
  await clock.advance(5_000);
  await connection.closed();
});

test('the rest of a refused body keeps its connection when it comes', async () => {
  const clock = createFakeClock();
  const { port } = await start({ clock, settings: { authMode: 'strict' } });
  const connection = openRaw(port);
  connection.write(`${POST}Content-Length: 7\r\n\r\n{"a":`);
  await connection.until((text) => text.startsWith('HTTP/1.1 401'));
  connection.write('1}');
  connection.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n');
  await connection.until((text) => text.includes('HTTP/1.1 200'));
  await clock.advance(5_000);
  connection.write('GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  expect((await connection.closed()).split('HTTP/1.1 200').length).toBe(3);
});

test('a client that leaves during its upload is only noted, and nothing waits for it', async () => {
  const clock = createFakeClock();
  const edge = await start({ clock });
  const ended = edge.nextEnd();
  const connection = openRaw(edge.port);
  connection.write(`${POST}Content-Length: 1000\r\n\r\n{"a":`);
  await expect.poll(() => clock.pendingTimers, { interval: 1 }).toBe(1);
  connection.socket.destroySoon();
  expect((await ended).fields).toMatchObject({ status: 499, error: 'client-gone' });
  await expect.poll(() => clock.pendingTimers, { interval: 1 }).toBe(0);
  expect(edge.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

test.each([
  ['GET /v1/models', ' 200 OK'],
  ['GET /v1/nothing', ' 404 Not Found'],
])('a client that closes its side right behind %s is answered', async (line, status) => {
  const edge = await start();
  const connection = openRaw(edge.port);
  connection.write(`${line} HTTP/1.1\r\nHost: a\r\n\r\n`);
  connection.socket.end();
  expect(await connection.closed()).toContain(status);
});

test('a client that is gone before its request had its turn is noted, and nothing is asked for it', async () => {
  let asked = 0;
  const edge = await start({
    generate: async () => {
      asked += 1;
      throw new Error('Nobody waits for this.');
    },
  });
  const ended = edge.nextEnd();
  edge.server.http.on('request', (request) => request.socket.destroy());
  const connection = openRaw(edge.port);
  connection.write(rawPost('/v1/messages', '{"model":"m"}'));
  expect((await ended).fields).toMatchObject({ status: 499, error: 'client-gone' });
  await connection.closed();
  await edge.server.close();
  expect(asked).toBe(0);
});

test('T26: a header called __proto__ harms nobody', async () => {
  const { port } = await start();
  const text = rawPost('/v1/messages', '{"model":"m"}', [
    '__proto__: 1',
    'constructor: 1',
    'Connection: close',
  ]);
  expect(await sendRaw(port, text)).toContain(' 200 OK');
});

test('A11b: an answer tells how long its connection may be idle, less in a crowd', async () => {
  const { port } = await start();
  const ask = async (connection = openRaw(port)) => {
    const before = connection.received.length;
    connection.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n');
    const answer = await connection.until((text) => text.slice(before).includes('\r\n\r\n{'));
    return { connection, seconds: /Keep-Alive: timeout=(\d+)/i.exec(answer.slice(before))?.[1] };
  };
  const first = await ask();
  expect(first.seconds).toBe('65');
  const crowd = await Promise.all(Array.from({ length: 40 }, () => ask()));
  expect((await ask(first.connection)).seconds).toBe('10');
  for (const { connection } of [first, ...crowd]) connection.socket.destroy();
});
