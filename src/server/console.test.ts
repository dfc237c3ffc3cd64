import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConsoleFiles, createConsoleFiles } from './console.ts';
import { sendRaw } from './raw-socket.test-support.ts';
import { startEdge, type TestEdge } from './start-edge.test-support.ts';

const SECRET = 'canary-outside-the-folder';
const SCRIPT = `/assets/index-DnU3x_8q.js`;
const SOURCE = `console.log(${JSON.stringify('hello '.repeat(500))})`;

let folder: string;
let files: ConsoleFiles;
let edge: TestEdge;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'isthmus-console-'));
  const dist = join(folder, 'dist');
  mkdirSync(join(dist, 'assets'), { recursive: true });
  writeFileSync(join(folder, 'secret.txt'), SECRET);
  writeFileSync(join(dist, '.env'), SECRET);
  symlinkSync(join(folder, 'secret.txt'), join(dist, 'link.txt'));
  symlinkSync(folder, join(dist, 'up'));
  writeFileSync(join(dist, 'index.html'), '<!doctype html><style nonce="__STYLE_NONCE__"></style>');
  writeFileSync(join(dist, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(dist, SCRIPT), SOURCE);
  files = createConsoleFiles({ distPath: dist });
  edge = await startEdge({ consoleFiles: files, settings: { authMode: 'strict' } });
});
afterAll(async () => {
  await edge.server.close();
  rmSync(folder, { recursive: true });
});

const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
  fetch(`${edge.url}${path}`, { method, headers: { 'accept-encoding': 'identity', ...headers } });

test('the page has a policy without inline scripts, a nonce of its own, and is never kept', async () => {
  const pages = await Promise.all([get('/'), get('/', { cookie: 'a=b' })]);
  const nonces = await Promise.all(
    pages.map(async (page) => {
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none';");
      expect(policy).not.toContain('unsafe');
      const nonce = /style-src 'self' 'nonce-([\w+/]+)'/.exec(policy)?.[1];
      expect(await page.text()).toContain(`nonce="${nonce}"`);
      return nonce;
    }),
  );
  expect(new Set(nonces).size).toBe(2);
  const [{ headers } = new Response()] = pages;
  expect(Object.fromEntries(headers)).toMatchObject({
    'cache-control': 'no-store',
    'content-type': 'text/html; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
});

async function bodyOf(coding: 'br' | 'gzip' | undefined): Promise<Buffer> {
  const file = files.find(SCRIPT);
  const coded = await file?.codings.find(({ name }) => name === coding)?.body();
  return coded ?? file?.content ?? Buffer.alloc(0);
}

test('hashed files are kept for ever and come compressed where that is taken', async () => {
  const whole = await get(SCRIPT);
  expect(whole.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(whole.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(whole.headers.get('vary')).toBe('accept-encoding');
  expect(await whole.text()).toBe(SOURCE);
  for (const [accepted, coding] of [
    ['gzip, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['brotli', undefined],
  ] as const) {
    const answer = await bodyOf(coding);
    const raw = await sendRaw(
      edge.port,
      `GET ${SCRIPT} HTTP/1.1\r\nhost: 127.0.0.1:${edge.port}\r\naccept-encoding: ${accepted}\r\nconnection: close\r\n\r\n`,
    );
    expect(/content-encoding: (\w+)/.exec(raw)?.[1]).toBe(coding);
    expect(raw).toContain(`content-length: ${answer.length}`);
  }
  expect(brotliDecompressSync(await bodyOf('br')).toString()).toBe(SOURCE);
  expect(gunzipSync(await bodyOf('gzip')).toString()).toBe(SOURCE);
});

test('other files are asked for anew and answered shortly when they are the same', async () => {
  const first = await get('/favicon.svg');
  expect(first.headers.get('cache-control')).toBe('no-cache');
  expect(first.headers.get('content-security-policy')).toBe(
    "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  );
  expect(first.headers.get('x-frame-options')).toBe('DENY');
  const tag = first.headers.get('etag') ?? '';
  const again = await get('/favicon.svg', { 'if-none-match': tag });
  expect([again.status, await again.text()]).toEqual([304, '']);
  const head = await get('/favicon.svg', {}, 'HEAD');
  expect([head.status, await head.text()]).toEqual([200, '']);
});

test('a browser gets the page for paths of the console and an error for those of the gateway', async () => {
  const html = { accept: 'text/html,application/xhtml+xml' };
  const status = async (path: string, headers: Readonly<Record<string, string>>) =>
    (await get(path, headers)).status;
  expect(await status('/accounts/ada', html)).toBe(200);
  expect(await status('/accounts/ada', { accept: '*/*' })).toBe(404);
  const missing = ['/v1/nothing', '/v1beta/nothing', '/assets/missing', '/missing.js'];
  // Without its policy and nonce the page is no page.
  for (const path of [...missing, '/index.html']) {
    expect([path, await status(path, html)]).toEqual([path, 404]);
  }
  expect((await get('/accounts', html, 'POST')).status).toBe(404);
});

test('two hundred ways out of the folder give not one byte of what is outside', async () => {
  const ups = [
    '..',
    '%2e%2e',
    '%2E.',
    '.%2e',
    '..;',
    '...',
    '%c0%ae%c0%ae',
    '%252e%252e',
    '．．',
    '..%00',
  ];
  const slashes = ['/', '%2f', '%5c', '\\', '//', '/./', '%252f', '%c0%af', '/%00/', ';/'];
  const targets = ['secret.txt', 'link.txt'];
  const paths = ups.flatMap((up) =>
    slashes.flatMap((slash) =>
      targets.map((target) => `/assets${slash}${up}${slash}${up}${slash}${target}`),
    ),
  );
  paths.push(
    '/link.txt',
    '/up/secret.txt',
    '/.env',
    '/up',
    '/index.html%00',
    `${folder}/secret.txt`,
  );
  expect(paths.length).toBeGreaterThanOrEqual(200);
  for (const path of paths) {
    expect(files.find(path)).toBeUndefined();
    const raw = await sendRaw(
      edge.port,
      `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${edge.port}\r\naccept: */*\r\nconnection: close\r\n\r\n`,
    );
    expect([path, /^HTTP\/1\.1 (?:400|404) /.test(raw)]).toEqual([path, true]);
    expect(raw).not.toContain(SECRET);
  }
});

test('a folder that is no console is not read into memory', () => {
  const large = join(folder, 'large');
  mkdirSync(large);
  writeFileSync(join(large, 'backup.bin'), '');
  truncateSync(join(large, 'backup.bin'), 65 * 1024 * 1024);
  const warnings: string[] = [];
  const log = { warn: (_fields: object, message: string) => void warnings.push(message) };
  const read = createConsoleFiles({ distPath: large, log });
  expect(read.find('/backup.bin')).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining('larger than 67108864 bytes')]);
});

test('without a built console one page says how to build it', async () => {
  const none = createConsoleFiles({ distPath: join(folder, 'nothing') });
  expect(none.find('/index.html')).toBeUndefined();
  expect(none.page().html).toContain('npm start');
  const other = await startEdge({ consoleFiles: none });
  const page = await fetch(other.url);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect([page.status, await page.text()]).toEqual([200, none.page().html]);
  await other.server.close();
});
