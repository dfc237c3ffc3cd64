import { createServer } from 'node:http';
import { request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../test/support/listen.ts';
import { ProxyDispatchers } from './proxy-agent.ts';

test('beyond the bound the proxy that is unused for longest is closed, and ends its calls first', async () => {
  const endings: (() => void)[] = [];
  // Answers what it is asked to forward, and ends the answer when it is told to.
  const proxy = createServer((_asked, response) => {
    response.write('begun, ');
    endings.push(() => response.end('ended'));
  });
  const url = `http://127.0.0.1:${await listen(proxy)}`;
  const dispatchers = new ProxyDispatchers({ connectMs: 1_000 }, 1);
  onTestFinished(() => dispatchers.destroy());
  const first = dispatchers.get(url);
  expect(dispatchers.get(url)).toBe(first);
  const { body } = await request('http://upstream.example/', { dispatcher: first });
  const second = dispatchers.get(`${url}/`);
  expect(second).not.toBe(first);
  await expect(request('http://upstream.example/', { dispatcher: first })).rejects.toThrow(
    'closed',
  );
  for (const end of endings) end();
  expect(await body.text()).toBe('begun, ended');
  expect(dispatchers.get(url)).not.toBe(first);
});
