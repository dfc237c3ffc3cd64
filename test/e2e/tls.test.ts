// The gateway over HTTPS: clients of all protocols, WebSockets, the console's cookie, workers, a renewed certificate.

import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createTestAuthority, trustAuthority } from '../support/certificates.ts';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';
import { OFFICIAL_CLIENTS, openaiAt } from '../support/official-clients.ts';
import { runGateway } from '../support/run-program.ts';
import { openWebSocket } from '../support/web-socket-client.ts';

const PASSWORD = 'a password for the console';
const authority = createTestAuthority();
let folder: string;
let endTrust: () => void;
let gateway: RunningGateway;
const opened: (() => unknown)[] = [];

function issue(serving = folder): void {
  const { cert, key } = authority.issue({ names: ['localhost', 'models.lan', '127.0.0.1'] });
  for (const [name, text] of [
    ['cert.pem', cert],
    ['key.pem', key],
  ] as const) {
    writeFileSync(join(serving, `${name}.new`), text);
    renameSync(join(serving, `${name}.new`), join(serving, name));
  }
}

const environment = (): Record<string, string> => ({
  ISTHMUS_TLS_CERT: join(folder, 'cert.pem'),
  ISTHMUS_TLS_KEY: join(folder, 'key.pem'),
  WEB_PASSWORD: PASSWORD,
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'isthmus-tls-'));
  writeFileSync(join(folder, 'authority.pem'), authority.cert);
  issue();
  endTrust = trustAuthority(authority.cert);
  gateway = await startGateway(environment());
});
afterAll(async () => {
  await gateway.stop();
  endTrust();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

test('the banner says https and what the certificate is for', () => {
  expect(gateway.url).toMatch(/^https:\/\/127\.0\.0\.1:/);
  expect(gateway.output()).toContain('certificate for localhost, models.lan, 127.0.0.1, until 20');
});

test.each(OFFICIAL_CLIENTS)('the client of $name is served, whole and streamed', async (client) => {
  const asked = { url: gateway.url, model: 'alpha-3-flash' };
  expect((await client.ask(asked, 'Say hello', 200)).text).not.toBe('');
  expect((await client.stream(asked, 'Say hello', 200)).text).not.toBe('');
});

test('a WebSocket is served', async () => {
  const client = await openWebSocket(`${gateway.url}/v1/responses`);
  opened.push(() => client.close());
  const answer = await client.ask({ model: 'alpha-3-flash', input: 'Say hello' });
  expect(answer).toMatchObject({ status: 'completed' });
});

test('the cookie of the console is for https alone, and nothing tells browsers to remember that', async () => {
  const headers = { 'content-type': 'application/json', 'x-isthmus-console': '1' };
  const body = JSON.stringify({ password: PASSWORD });
  const answer = await fetch(`${gateway.url}/api/session`, { method: 'POST', headers, body });
  expect(answer.headers.get('set-cookie')).toMatch(/^__Host-isthmus_session_.*; Secure/);
  expect(answer.headers.get('strict-transport-security')).toBeNull();
});

test('HTTP/1.1 is all it offers, and plain HTTP is closed', async () => {
  const { port } = new URL(gateway.url);
  const options = { host: '127.0.0.1', port: Number(port), ca: authority.cert };
  const socket = connect({ ...options, ALPNProtocols: ['h2', 'http/1.1'] });
  await once(socket, 'secureConnect');
  expect([socket.alpnProtocol, socket.getProtocol()]).toEqual(['http/1.1', 'TLSv1.3']);
  socket.destroy();
  const plain = connectPlain(Number(port), '127.0.0.1');
  plain.on('error', () => {});
  plain.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n');
  plain.resume();
  await once(plain, 'close');
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
});

test('commands reach it with the certificate of its settings, or with that of an authority', async () => {
  const run = (flags: readonly string[], more: Record<string, string> = {}): Promise<string> =>
    runGateway(['accounts', 'list', '--json', ...flags], {
      WEB_PASSWORD: PASSWORD,
      ISTHMUS_DATA_DIR: folder,
      ...more,
    });
  const ca = ['--ca', join(folder, 'authority.pem')];
  expect(JSON.parse(await run(['--url', gateway.url, ...ca])).accounts).toHaveLength(4);
  await expect(run(['--url', gateway.url])).rejects.toThrow(/of no known authority[\s\S]*--ca/);
  const { port } = new URL(gateway.url);
  expect(JSON.parse(await run([], { ...environment(), PORT: port })).accounts).toHaveLength(4);
});

test('so do those that set clients up, and doctor', async () => {
  const { port } = new URL(gateway.url);
  const at = { HOME: folder, ISTHMUS_DATA_DIR: folder, WEB_PASSWORD: PASSWORD };
  const own = { ...at, ...environment(), PORT: port };
  const address = ['--url', gateway.url];
  const ca = ['--ca', join(folder, 'authority.pem')];
  for (const [flags, variables] of [
    [[], own],
    [[...address, ...ca], at],
  ] as const) {
    const connected = await runGateway(['connect', 'sdk-openai', '--json', ...flags], variables);
    expect(JSON.parse(connected).variables.OPENAI_BASE_URL).toBe(`${gateway.url}/v1`);
    // The certificate of these tests is good for a day, which is a warning.
    const doctor = runGateway(['doctor', ...flags], variables);
    await expect(doctor).rejects.toThrow(`answers at ${gateway.url}.`);
  }
  const blind = ['connect', 'sdk-openai', ...address];
  await expect(runGateway(blind, at)).rejects.toThrow(/of no known authority[\s\S]*--ca/);
  await expect(runGateway(['doctor', ...address], at)).rejects.toThrow(/of no known authority/);
});

test('a renewed certificate is for new connections, and a stream goes on over the one before', async () => {
  const stream = await openaiAt(gateway.url).chat.completions.create({
    model: 'alpha-3-flash',
    messages: [{ role: 'user', content: 'Say hello' }],
    stream: true,
  });
  const serialNow = async (): Promise<string> => {
    const { port } = new URL(gateway.url);
    const socket = connect({ host: '127.0.0.1', port: Number(port), ca: authority.cert });
    await once(socket, 'secureConnect');
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };
  const before = await serialNow();
  const replaced = new Promise<void>((resolve) => {
    const end = gateway.onOutput(() => {
      if (!gateway.output().includes('certificate of the listener was replaced')) return;
      end();
      resolve();
    });
  });
  issue();
  await replaced;
  expect(await serialNow()).not.toBe(before);
  let text = '';
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
  expect(text).not.toBe('');
}, 20_000);

test('several workers serve it', async () => {
  const workers = await startGateway({ ...environment(), WORKERS: '2' });
  opened.push(() => workers.stop());
  const asks = Array.from({ length: 8 }, () => fetch(`${workers.url}/health`));
  expect((await Promise.all(asks)).map(({ status }) => status)).toEqual(Array(8).fill(200));
});

test('one file without the other keeps it from starting', async () => {
  const started = startGateway({ ISTHMUS_TLS_CERT: join(folder, 'cert.pem') });
  await expect(started).rejects.toThrow(
    'set proxy.tls_cert (ISTHMUS_TLS_CERT) and proxy.tls_key (ISTHMUS_TLS_KEY), or neither of them',
  );
});
