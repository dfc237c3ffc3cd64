import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { closeIdle } from './idle-connections.ts';

const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

const server = createServer((_request, response) => response.end('ok'));
closeIdle(server);
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

test('a request that came while the thread was busy is answered, and an idle connection is closed', async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const accepted = once(server, 'connection');
  const client = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1');
  const [socket] = (await accepted) as [Socket];
  client.write(REQUEST);
  await once(client, 'data');
  // As node does when the time is over: where timers fire, before it reads on.
  await new Promise((resolve) => setTimeout(resolve, 0));
  client.write(REQUEST);
  socket.emit('timeout');
  expect(String(await once(client, 'data'))).toMatch(/^HTTP\/1.1 200/);
  const closed = once(client, 'close');
  socket.emit('timeout');
  await closed;
});
