// A gateway inside another program, which asks it by function call or over a port.

import { readFileSync } from 'node:fs';
import {
  type ClientRequest,
  type IncomingMessage,
  request as requestOver,
  type Server,
} from 'node:http';
import { type Duplex, duplexPair, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openGateway } from './cli/open-gateway.ts';
import { explainListening } from './cli/start-checks.ts';
import { readEnvironment } from './config/env.ts';
import { fixedSource } from './config/file.ts';
import { messageOf } from './lib/localized-message.ts';
import type { createGateway as declared } from './public-types.ts';

export const openEmbedded: typeof declared = async (options = {}) => {
  const { dataDir, host, port, authMode, logLevel, settings, onLog } = options;
  const gateway = await openGateway({
    flags: { dataDir, host, port, authMode, logLevel },
    environment: readEnvironment({ variables: options.environment ?? {}, readText }),
    source: settings && fixedSource(settings),
    output: { isTerminal: false, output: { write: (lines) => onLog?.(lines) } },
    onLogFault: (error) => onLog?.(describeFault(error)),
  });
  const { app, config } = gateway;
  app.start();
  let closing: Promise<void> | undefined;
  const refuseClosed = (): void => {
    if (closing !== undefined) throw new Error('The gateway is closed.');
  };
  return {
    version: app.version,
    async fetch(input, { clientAddress, ...init } = {}) {
      refuseClosed();
      const isWhole = input instanceof Request && Object.keys(init).length === 0;
      const request = isWhole ? input : new Request(input, init);
      return answerInProcess(app.server.http, request, { clientAddress });
    },
    async listen() {
      refuseClosed();
      return app.server.listen().catch((error: unknown) => {
        throw explainListening(error, config.current());
      });
    },
    close() {
      closing ??= gateway.close();
      return closing;
    },
  };
};

const readText = (path: string): string => readFileSync(path, 'utf8');

function describeFault(error: unknown): string {
  const message = messageOf(error);
  const msg = 'The log cannot be written to its files.';
  return `${JSON.stringify({ level: 40, time: Date.now(), msg, error: { message } })}\n`;
}

interface InProcess {
  /** Who asks, for authentication and IP rules; nobody known unless given. */
  readonly clientAddress?: string | undefined;
}

/** Of one connection (RFC 9110, 7.6.1), which is made here; the length is known by what is sent. */
const OF_CONNECTION =
  /^(?:connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|expect)$/;
/** Their answers have no body (Fetch standard, "null body status"). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Passes the whole server without a socket of the system. The answer comes as it is written: a stream streams.
 * @throws what aborted the request
 */
async function answerInProcess(
  server: Server,
  request: Request,
  { clientAddress }: InProcess = {},
): Promise<Response> {
  request.signal.throwIfAborted();
  const { pathname, search } = new URL(request.url);
  const sent = requestOver({
    createConnection: () => connect(server, clientAddress),
    method: request.method,
    path: pathname + search,
    headers: headersOf(request),
    signal: request.signal,
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve);
    sent.once('error', reject);
  });
  // Whoever waits for the answer is told; a body that is not read to its end breaks off too.
  sendBody(request, sent).catch(() => undefined);
  try {
    return toResponse(await answer, request.method);
  } catch (error) {
    throw request.signal.aborted ? request.signal.reason : error;
  }
}

/** As much of a socket as node's server and ours ask for. */
function connect(server: Server, remoteAddress: string | undefined): Duplex {
  const [client, served] = duplexPair();
  Object.assign(served, {
    remoteAddress,
    setTimeout: () => served,
    destroySoon: () => served.end(),
  });
  server.emit('connection', served);
  // The end of one half says nothing to the other by itself when it did not come in order.
  client.once('close', () => served.destroy());
  served.once('close', () => client.destroy());
  return client;
}

function headersOf(request: Request): Record<string, string> {
  const headers: Record<string, string> = { host: new URL(request.url).host };
  for (const [name, value] of request.headers) {
    if (!OF_CONNECTION.test(name)) headers[name] = value;
  }
  return headers;
}

async function sendBody({ body }: Request, sent: ClientRequest): Promise<void> {
  if (body === null) sent.end();
  else await pipeline(Readable.fromWeb(body), sent);
}

function toResponse(answer: IncomingMessage, method: string): Response {
  const headers = new Headers();
  for (let at = 0; at < answer.rawHeaders.length; at += 2) {
    const [name = '', value = ''] = answer.rawHeaders.slice(at, at + 2);
    if (!OF_CONNECTION.test(name.toLowerCase())) headers.append(name, value);
  }
  const { statusCode: status = 500, statusMessage: statusText = '' } = answer;
  const isEmpty = method === 'HEAD' || WITHOUT_BODY.has(status);
  if (isEmpty) answer.resume();
  return new Response(isEmpty ? null : Readable.toWeb(answer), { status, statusText, headers });
}
