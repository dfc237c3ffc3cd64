import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createTestAuthority } from '../../test/support/certificates.ts';
import { listen } from '../../test/support/listen.ts';
import { makeTestFolder } from '../../test/support/test-folder.ts';
import { checkHealth } from './health.ts';

let server: Server;
let status: number;
let dataDir: string;
let url: string;
beforeEach(async () => {
  status = 200;
  server = createServer((request, response) => {
    response.writeHead(request.url === '/readyz' ? status : 404).end();
  });
  const port = await listen(server);
  url = `http://127.0.0.1:${port}`;
  dataDir = makeTestFolder('health');
  writeFileSync(join(dataDir, 'gui_config.json'), JSON.stringify({ proxy: { port } }));
});

const check = () => checkHealth({ environment: {}, flags: { dataDir } });

test('a gateway is found by the settings of its data folder, and takes requests', async () => {
  expect(await check()).toEqual({
    isReady: true,
    url,
    text: `The gateway at ${url} takes requests.`,
  });
});

test('one that listens on every address is asked over loopback', async () => {
  const environment = { host: '0.0.0.0' };
  expect(await checkHealth({ environment, flags: { dataDir } })).toMatchObject({ url });
});

test('one that drains is not ready', async () => {
  status = 503;
  expect(await check()).toEqual({
    isReady: false,
    url,
    text: `The gateway at ${url} takes no requests (503).`,
  });
});

test('where nothing listens, that is said with the reason', async () => {
  await new Promise((resolve) => server.close(resolve));
  const { isReady, text } = await check();
  expect(isReady).toBe(false);
  expect(text).toMatch(/^No gateway answers at http:.*ECONNREFUSED/);
});

test('one with a certificate is asked over HTTPS, whoever signed it', async () => {
  const { cert, key } = createTestAuthority().issue({ names: ['gateway.example'] });
  const secure = createSecureServer({ cert, key }, (_, response) => response.end());
  const port = await listen(secure);
  const files = { tls_cert: join(dataDir, 'cert.pem'), tls_key: join(dataDir, 'key.pem') };
  writeFileSync(files.tls_cert, cert);
  writeFileSync(files.tls_key, key);
  writeFileSync(join(dataDir, 'gui_config.json'), JSON.stringify({ proxy: { port, ...files } }));
  expect(await check()).toMatchObject({ isReady: true, url: `https://127.0.0.1:${port}` });
});
