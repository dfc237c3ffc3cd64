import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { explainListening } from './start-checks.ts';

const SETTINGS = { host: 'gateway.lan', port: 80 };

test('a port that is taken is told with the way to another one', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const second = createServer().listen(port, '127.0.0.1');
  const [error] = await once(second, 'error');
  taken.close();
  expect(explainListening(error, SETTINGS)).toMatchObject({
    message: expect.stringMatching(/EADDRINUSE.*\n.*--port or PORT/),
    cause: error,
  });
});

test.each([
  ['ENOTFOUND', 'The name gateway.lan leads to no address. Set HOST, or proxy.host'],
  ['EAI_AGAIN', 'The name gateway.lan leads to no address. Set HOST, or proxy.host'],
  ['EADDRNOTAVAIL', 'This machine has no address gateway.lan. Set HOST, or proxy.host'],
  ['EACCES', 'Port 80 is kept for the administrator of this machine.'],
])('%s names what is set wrong, and what would do', (code, wayOut) => {
  const error = Object.assign(new Error('as the system says it'), { code });
  const explained = explainListening(error, SETTINGS);
  expect(explained).toMatchObject({ message: expect.stringContaining(wayOut), cause: error });
  expect(explained).toMatchObject({ message: expect.stringContaining('as the system says it') });
});

test('any other error stays what it is', () => {
  const error = new Error('something else');
  expect(explainListening(error, SETTINGS)).toBe(error);
  expect(explainListening('no error', SETTINGS)).toBe('no error');
});
