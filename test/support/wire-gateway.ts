// The model routes of all protocols over accounts of one upstream, on loopback: for upstreams of every wire.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { asGatewayError } from '../../src/canonical/error.ts';
import { createReceipt, type ReceiptEntry } from '../../src/canonical/receipt.ts';
import { createDispatcher } from '../../src/dispatch/dispatch.ts';
import type { CallContext } from '../../src/dispatch/dispatcher.ts';
import { createId } from '../../src/lib/ids.ts';
import { isJsonObject, parseJson } from '../../src/lib/json.ts';
import { createProtocols } from '../../src/protocols/index.ts';
import type { ProtocolRoute, RouteInput } from '../../src/protocols/protocol.ts';
import { SignatureCache } from '../../src/signatures/cache.ts';
import type { Upstream } from '../../src/upstreams/upstream.ts';
import { sendJson, serveOnLoopback } from './loopback.ts';
import { createPassingClock } from './passing-clock.ts';
import { modelInPath } from './path-model.ts';
import { createSeedPool } from './seed-pool.ts';

export interface WireGateway {
  readonly url: string;
  /** What was lost of the request that came last. */
  readonly receipt: () => readonly ReceiptEntry[];
  close(): Promise<void>;
}

type ModelRoute = Extract<ProtocolRoute, { operation: 'generate' | 'count-tokens' }>;

interface GatewayOptions {
  readonly accounts?: readonly string[];
  /** The model that is asked for whatever name; the client's own where it is not given. */
  readonly model?: string;
}

export async function startWireGateway(
  upstream: Upstream,
  { accounts = ['a', 'b'], model }: GatewayOptions = {},
): Promise<WireGateway> {
  const clock = createPassingClock();
  const { pool } = createSeedPool({
    accounts: accounts.map((id, index) => ({ id, priority: -index })),
    upstream,
    clock,
  });
  const dispatcher = createDispatcher({
    router: { route: (name) => ({ target: model ?? name, webSearch: false }) },
    pool,
    keeper: new SignatureCache({ clock }),
    clock,
    random: () => 0,
    createId,
    thinkingMode: () => ({ kind: 'auto' }),
  });
  const protocols = createProtocols();
  let last: readonly ReceiptEntry[] = [];

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '', 'http://gateway.test');
    const protocol = protocols.protocolForPath(url.pathname, {}, new URLSearchParams());
    const receipt = createReceipt();
    last = receipt.entries;
    try {
      const value = parseJson(await readText(request));
      const input = { query: url.searchParams, headers: {}, receipt };
      const body = isJsonObject(value) ? value : {};
      const found = findRoute(protocol.routes, url.pathname);
      if (found === undefined) throw new Error(`no route for ${url.pathname}`);
      const { route, pathModel } = found;
      const given: RouteInput = { ...input, body, pathModel };
      const context = contextOf(receipt);
      if (route.operation === 'count-tokens') {
        sendJson(response, 200, await dispatcher.countTokens(route.readCall(given), context));
        return;
      }
      const call = route.readCall(given);
      const answered = await dispatcher.generate(call, context);
      if (answered.kind === 'reply') {
        sendJson(response, 200, answered.body);
        return;
      }
      const { chunks } = answered;
      response.writeHead(200, { 'content-type': chunks.contentType ?? 'text/event-stream' });
      for await (const chunk of chunks) response.write(chunk);
      response.end();
    } catch (error) {
      const shown = protocol.writeError(asGatewayError(error), {
        requestId: 'req_1',
        path: url.pathname,
      });
      sendJson(response, shown.status, shown.body);
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  const { url, close } = await serveOnLoopback(server);
  return {
    url,
    receipt: () => last,
    close,
  };
}

function findRoute(
  routes: readonly ProtocolRoute[],
  path: string,
): { readonly route: ModelRoute; readonly pathModel: string } | undefined {
  for (const route of routes) {
    if (route.operation !== 'generate' && route.operation !== 'count-tokens') continue;
    const pathModel = modelInPath(route, decodeURIComponent(path));
    if (pathModel !== undefined) return { route, pathModel };
  }
  return undefined;
}

function contextOf(receipt: CallContext['receipt']): CallContext {
  return {
    requestId: 'req_1',
    clientKeyId: 'key',
    signal: new AbortController().signal,
    receipt,
    strict: false,
    headerSession: undefined,
    preferredAccount: undefined,
    preferredTier: undefined,
    record: { attempts: [], timings: {} },
  };
}
