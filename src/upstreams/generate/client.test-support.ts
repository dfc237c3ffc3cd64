// What the transport's tests share: an upstream with a scripted server behind it on loopback.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

import type { GatewayError } from '../../canonical/error.ts';
import { type Clock, createSystemClock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ClientOptions } from '../transport/client.ts';
import type { AccountAccess, Upstream, UpstreamCall, UpstreamStream } from '../upstream.ts';
import { createGenerateUpstream } from './index.ts';
import { createGenericProfile, type GenericProfileOptions } from './profiles.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

export interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly port: number | undefined;
}

export const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface UpstreamOptions extends Partial<GenericProfileOptions> {
  readonly limits?: ClientOptions['limits'];
  readonly clock?: Clock | undefined;
}

/** An upstream behind which a scripted server stands, on loopback. */
export async function start(handle: Handler, options: UpstreamOptions = {}) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { method, url, headers, socket } = request;
    seen.push({ method, url, headers, body, port: socket.remotePort });
    handle(request, response, body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { seen, port, ...upstreamAt(server.address(), options) };
}

export function upstreamAt(
  address: AddressInfo | string | null,
  { limits, clock = createSystemClock(), ...options }: UpstreamOptions,
): { upstream: Upstream } {
  const port = typeof address === 'object' ? address?.port : undefined;
  const profile = createGenericProfile({
    baseUrl: `http://127.0.0.1:${port}`,
    vocabulary: 'real',
    auth: 'header',
    version: '1.2.3',
    ...options,
  });
  const upstream = createGenerateUpstream({ profile, clock, limits });
  closers.push(() => upstream.close());
  return { upstream };
}

export const access: AccountAccess = {
  accountId: 'a1',
  credential: 'secret-key',
  credentialKind: 'api-key',
  projectId: 'proj-1',
};

export function call(overrides: Partial<UpstreamCall> = {}): UpstreamCall {
  const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };
  const signal = new AbortController().signal;
  return { modelId: 'gemini-3-flash', body, stream: true, access, signal, ...overrides };
}

export async function readAll(stream: UpstreamStream): Promise<JsonObject[]> {
  const values: JsonObject[] = [];
  for await (const frames of stream) for (const frame of frames) values.push(frame.value);
  return values;
}

export const failureOf = (promise: Promise<unknown>): Promise<GatewayError> =>
  promise.then(
    () => Promise.reject(new Error('It succeeded.')),
    (error) => error,
  );

export const sse: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: {"n":1}\r\n\r\n');
  response.end('data: {"n":2}\r\n\r\n');
};

export function json(value: JsonObject, status = 200): Handler {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' });
    response.end(JSON.stringify(value, null, 2));
  };
}
