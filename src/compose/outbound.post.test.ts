import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { startConnectProxy } from '../../test/support/connect-proxy.ts';
import { listen } from '../../test/support/listen.ts';
import { createSystemClock } from '../lib/clock.ts';
import { NO_PROXY } from '../lib/outbound-proxy.ts';
import { createPost } from './outbound.ts';

const clock = createSystemClock();

interface Received {
  readonly method: string | undefined;
  readonly type: string | undefined;
  readonly body: string;
}

/** A webhook on loopback that answers with a status. */
async function startWebhook(status: number, location?: string) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (data) => (body += data));
    request.on('end', () => {
      received.push({ method: request.method, type: request.headers['content-type'], body });
      response.writeHead(status, location === undefined ? {} : { location }).end();
    });
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}/hook/canary-secret`, port, received };
}

test('JSON is posted, and the status is told', async () => {
  const { url, received } = await startWebhook(204);
  const post = createPost({ proxyFor: NO_PROXY, clock });
  expect(await post(url, { text: 'Hello' })).toEqual({ status: 204 });
  expect(received).toEqual([
    { method: 'POST', type: 'application/json', body: '{"text":"Hello"}' },
  ]);
});

test('nobody is followed elsewhere', async () => {
  const elsewhere = await startWebhook(200);
  const { url } = await startWebhook(307, elsewhere.url);
  const post = createPost({ proxyFor: NO_PROXY, clock });
  expect(await post(url, {})).toEqual({ status: 307 });
  expect(elsewhere.received).toEqual([]);
});

test('what went wrong is told without the address', async () => {
  const post = createPost({ proxyFor: NO_PROXY, clock });
  // No system gives out ports so low, so that nobody listens there.
  const failed = await post('http://127.0.0.1:2/hook', {}).catch((error: unknown) => String(error));
  expect(failed).toBe('Error: It could not be reached (ECONNREFUSED).');
});

test('a link-local address is not called', async () => {
  const post = createPost({ proxyFor: NO_PROXY, clock });
  for (const url of ['http://169.254.169.254/latest', 'http://[fe80::1]/']) {
    await expect(post(url, {})).rejects.toThrow('link-local');
  }
});

test('the outbound proxy is respected', async () => {
  const { port, received } = await startWebhook(200);
  const proxy = await startConnectProxy({ routes: { 'hooks.example:80': port } });
  onTestFinished(() => proxy.close());
  const post = createPost({
    proxyFor: () => ({ url: `http://127.0.0.1:${proxy.port}`, source: 'the test' }),
    clock,
  });
  expect(await post('http://hooks.example/hook', {})).toEqual({ status: 200 });
  expect(received).toHaveLength(1);
  expect(proxy.asked).toEqual(['hooks.example:80']);
});
