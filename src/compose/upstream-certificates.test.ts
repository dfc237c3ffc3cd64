import { createServer } from 'node:tls';
import { expect, test } from 'vitest';
import { createTestAuthority } from '../../test/support/certificates.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { listen } from '../../test/support/listen.ts';
import { NO_PROXY } from '../lib/outbound-proxy.ts';
import { watchUpstreamCertificates } from './upstream-certificates.ts';

const DAY_MS = 86_400_000;

async function startUpstream(expiresAt: number): Promise<string> {
  const server = createServer(
    createTestAuthority().issue({ names: ['127.0.0.1'], expiresAt }),
    (socket) => socket.on('error', () => undefined),
  );
  return `https://127.0.0.1:${await listen(server)}/v1`;
}

test('the end of each certificate is read, also of one that is over; plain and silent upstreams have none', async () => {
  const soon = Math.floor(Date.now() / 1000) * 1000 + 3 * DAY_MS;
  const over = soon - 30 * DAY_MS;
  const urls = new Map([
    ['soon', await startUpstream(soon)],
    ['over', await startUpstream(over)],
    ['plain', 'http://127.0.0.1:1/'],
    ['silent', 'https://127.0.0.1:1/'],
  ]);
  const watch = watchUpstreamCertificates({
    clock: createFakeClock(),
    current: () => ({ upstreams: [...urls.keys()].map((id) => ({ id })) }),
    baseUrlOf: (id) => urls.get(id),
    proxyFor: NO_PROXY,
  });
  await watch.look();
  expect(watch.found()).toEqual([
    { upstream: 'soon', expiresAt: soon },
    { upstream: 'over', expiresAt: over },
  ]);
  watch.close();
});

test('what goes through a proxy is not looked at', async () => {
  const url = await startUpstream(Date.now() + DAY_MS);
  const watch = watchUpstreamCertificates({
    clock: createFakeClock(),
    current: () => ({ upstreams: [{ id: 'main' }] }),
    baseUrlOf: () => url,
    proxyFor: () => ({ url: 'http://127.0.0.1:1', source: 'the test' }),
  });
  await watch.look();
  expect(watch.found()).toEqual([]);
  watch.close();
});
