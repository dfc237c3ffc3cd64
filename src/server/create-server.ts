// Builds the HTTP edge: every request passes the target gate, then its route of the edge's table.

import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { invalidRequest } from '../canonical/error.ts';
import { createDoor } from '../door/door.ts';
import { createId } from '../lib/ids.ts';
import { ownAddress } from '../lib/loopback.ts';
import { told } from '../lib/told.ts';
import { createBackgroundRuns } from '../shelf/background-runs.ts';
import { createActivity, shuttingDown } from './activity.ts';
import type { Edge, EdgeOptions } from './edge.ts';
import { refuse, serve } from './exchange.ts';
import { createBodyBudget } from './gates/body-budget.ts';
import { createAddressReader, readTrustedProxies } from './gates/client-address.ts';
import { createKeyRing } from './gates/credentials.ts';
import { checkSingleHeaders, checkTransferCoding, readTarget } from './gates/target.ts';
import { limitConnections } from './limit-connections.ts';
import { httpOptions } from './listen.ts';
import { memoize } from './memoize.ts';
import { createMalformedRefusal } from './refuse-malformed.ts';
import { createRouteTable, type RouteTable } from './routes.ts';

export interface EdgeServer {
  /** For `inject` and for plugins with routes of their own; those pass the target gate too. */
  readonly app: FastifyInstance;
  readonly routes: RouteTable;
  /** The address is one that this machine reaches. @throws Error when it is taken or not ours. */
  listen(): Promise<{ readonly url: string; readonly port: number }>;
  /** Stops accepting, lets running answers finish within the grace of the settings, then ends them with an error. */
  close(): Promise<void>;
}

export function createServer(options: EdgeOptions): EdgeServer {
  const keyRing = memoize(createKeyRing);
  const trustedProxies = memoize(readTrustedProxies);
  const { settings, clock, log } = options;
  const edge: Edge = {
    ...options,
    door: options.door ?? createDoor({ settings, clock, createId, log }),
    runs: createBackgroundRuns(),
    bodies: options.bodies ?? createBodyBudget(options.clock),
    routes: createRouteTable(options.protocols.all, options.adminRoutes),
    activity: createActivity(options.clock),
    keyRing: (settings) => keyRing(settings.apiKeys),
    trustedProxies: (settings) => trustedProxies(settings.trustedProxies),
    readClientAddress: createAddressReader(),
  };
  const app = createApp(edge);
  let closing: Promise<void> | undefined;
  return {
    app,
    routes: edge.routes,
    async listen() {
      const { host, port } = edge.settings();
      await app.listen({ host, port });
      const address = app.server.address();
      const taken = typeof address === 'object' && address !== null ? address.port : port;
      return { url: ownAddress(host, taken), port: taken };
    },
    close() {
      closing ??= close(edge, app);
      return closing;
    },
  };
}

function createApp(edge: Edge): FastifyInstance {
  const app = fastify({
    ...httpOptions(edge.settings(), createMalformedRefusal(edge)),
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      refuse(edge, { request: request.raw, response: reply.raw }, badTarget());
    },
  });
  limitConnections(app.server, {
    trustedProxies: () => edge.trustedProxies(edge.settings()),
    log: edge.log,
    clock: edge.clock,
    openFiles: edge.openFiles,
  });
  app.server.on('checkContinue', (request, response) => {
    // `100 Continue` is sent by the body reader, when the body is wanted.
    app.server.emit('request', request, response);
  });
  // Other expectations may be ignored (RFC 9110, 10.1.1); node would answer without a body.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  app.addHook('onRequest', (request, reply, done) => {
    try {
      checkSingleHeaders(request.raw.rawHeaders, request.raw.httpVersion);
      checkTransferCoding(request.raw.headers['transfer-encoding']);
      readTarget(request.raw.url ?? '');
    } catch (error) {
      reply.hijack();
      refuse(edge, { request: request.raw, response: reply.raw }, error);
      return;
    }
    done();
  });
  // Answered in a hook: behind it the framework would read the body before anyone is authenticated.
  const takeOver = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack();
    void serve(edge, request.raw, reply.raw);
  };
  app.route({ method: app.supportedMethods, url: '/*', onRequest: takeOver, handler: takeOver });
  app.setNotFoundHandler(takeOver);
  return app;
}

async function close(edge: Edge, app: FastifyInstance): Promise<void> {
  const drained = edge.activity.drain(edge.settings().shutdownGraceMs);
  const closed = app.close();
  await drained;
  app.server.closeAllConnections();
  await closed;
  await edge.runs.close(shuttingDown());
}

function badTarget(): Error {
  return invalidRequest('path', told`The request target holds a malformed percent escape.`);
}
