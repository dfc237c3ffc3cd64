// An HTTP proxy on loopback that opens tunnels (RFC 9110, CONNECT) to where a test sends each host.

import { createServer, request as sendRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

interface ProxyOptions {
  /** `host:port` as clients ask for it → a port of this machine. */
  readonly routes: Readonly<Record<string, number>>;
  /** `user:password` that it asks for. */
  readonly credential?: string | undefined;
}

export async function startConnectProxy({ routes, credential }: ProxyOptions) {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const state: { refusal: number | undefined } = { refusal: undefined };
  const expected = credential && `Basic ${Buffer.from(credential).toString('base64')}`;
  const refusalOf = (given: string | undefined, target: string): number | undefined => {
    if (expected !== undefined && given !== expected) return 407;
    return state.refusal ?? (routes[target] === undefined ? 502 : undefined);
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '');
    const target = `${url.hostname}:${url.port || 80}`;
    asked.push(target);
    const refusal = refusalOf(request.headers['proxy-authorization'], target);
    if (refusal !== undefined) return void response.writeHead(refusal).end();
    const { method, headers } = request;
    const to = { port: routes[target], host: '127.0.0.1', path: url.pathname + url.search };
    const forwarded = sendRequest({ ...to, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  server.on('connect', (request, socket: Socket) => {
    const target = request.url ?? '';
    asked.push(target);
    const refusal = refusalOf(request.headers['proxy-authorization'], target);
    if (refusal !== undefined) return void socket.end(`HTTP/1.1 ${refusal} No\r\n\r\n`);
    const beyond = connect(routes[target] ?? 0, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(beyond).pipe(socket);
    });
    beyond.on('error', () => socket.destroy());
    socket.on('close', () => beyond.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    /** What was asked for, in order. */
    asked,
    /** With what it refuses everything; undefined serves again. */
    refuse(status: number | undefined): void {
      state.refusal = status;
      for (const socket of sockets) socket.destroy();
    },
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
