// Sends requests to one upstream over its own bounded pool of HTTP/1.1 connections.

import { Pool } from 'undici';
import type { Receipt } from '../../canonical/receipt.ts';
import type { Clock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { turn } from '../../stream/scheduler.ts';
import type { UpstreamStream } from '../upstream.ts';
import { createProxyAgents, gatewayFault } from './connections.ts';
import { pathFault } from './errors.ts';
import { encodeBody } from './request-body.ts';
import { type AnswerLimits, type AnswerRoom, AnswerStream } from './response.ts';

export interface UpstreamClient {
  /**
   * Resolves when the response headers are there and good.
   * @throws GatewayError with `failure` set (without it when the pool is full or closed), or the
   * signal's reason when it aborts.
   */
  open(request: ClientRequest): Promise<UpstreamStream>;
  /** The whole answer as one object. @throws as `open` */
  readObject(request: ClientRequest): Promise<JsonObject>;
  underWay(): number;
  /** Ends every connection at once; requests under way fail. */
  close(): Promise<void>;
}

export interface ClientRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query below the base URL, percent-encoded. */
  readonly path: string;
  /** Credential headers; the rest is always the same, and nothing of the client's is passed on. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonObject | undefined;
  /** Told when the text of the body has to be mended. */
  readonly receipt?: Receipt | undefined;
  readonly signal: AbortSignal;
  readonly secrets: readonly string[];
  readonly freshConnection?: boolean | undefined;
  /** The proxy of the account; undefined goes direct. */
  readonly proxyUrl?: string | undefined;
  /** True for models that draw, which are silent for long. */
  readonly drawsImages?: boolean | undefined;
}

export interface ClientOptions {
  readonly baseUrl: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly limits?: Partial<ClientLimits> | undefined;
  readonly answerRoom?: AnswerRoom | undefined;
}

export interface ClientLimits extends AnswerLimits {
  readonly maxConnections: number;
  readonly connectMs: number;
  /** For an idle connection; a shorter `Keep-Alive` hint of the upstream's own wins. */
  readonly keepAliveMs: number;
  /** Above the gateway's own limit of 300 s, so that its error wins. */
  readonly headersMs: number;
}

const LIMITS: ClientLimits = {
  maxConnections: 1024,
  connectMs: 5_000,
  // Longer than most pauses between two calls of an agent; what a burst has opened goes with it.
  keepAliveMs: 15_000,
  headersMs: 305_000,
  firstFrameMs: 305_000,
  refusalMs: 5_000,
  maxRefusalBytes: 64 * 1024,
  maxFrameBytes: 64 * 1024 * 1024,
  maxAnswerBytes: 256 * 1024 * 1024,
  maxWaitingBytes: 64 * 1024,
};

/** HTTP/2 stays off: one GOAWAY would fail every request on the connection. Redirects are not followed. */
export function createUpstreamClient(options: ClientOptions): UpstreamClient {
  const limits = { ...LIMITS, ...options.limits };
  const { origin, pathname } = new URL(options.baseUrl);
  const basePath = pathname.replace(/\/+$/, '');
  const kept = new Pool(origin, poolOptions(limits));
  const single = new Pool(origin, { ...poolOptions(limits), pipelining: 0 });
  const proxies = createProxyAgents(poolOptions(limits), limits);
  const withoutBody = [
    ...['accept', 'text/event-stream, application/json'],
    ...['accept-encoding', 'identity'],
    ...['user-agent', options.userAgent],
  ];
  const withBody = [...withoutBody, 'content-type', 'application/json'];
  let underWay = 0;

  const open = async (request: ClientRequest): Promise<UpstreamStream> => {
    const { signal, secrets, body, receipt, proxyUrl, method, drawsImages } = request;
    signal.throwIfAborted();
    const encoded = body === undefined ? null : encodeBody(body, receipt);
    const bytes = encoded instanceof Promise ? await encoded : encoded;
    signal.throwIfAborted();
    if (underWay >= limits.maxConnections) {
      throw gatewayFault('overloaded', told`Too many requests are under way. Try again shortly.`);
    }
    const isFresh = request.freshConnection === true;
    const route =
      proxyUrl === undefined ? undefined : proxies.acquire(proxyUrl, isFresh ? 'fresh' : 'kept');
    underWay += 1;
    const stream = new AnswerStream({
      clock: options.clock,
      signal,
      secrets,
      tools: body?.tools,
      limits,
      drawsImages,
      room: options.answerRoom,
      onClosed: () => {
        underWay -= 1;
        route?.release();
      },
    });
    // Names and values in turn: undici looks at an object's three times.
    const headers: string[] = [];
    for (const name in request.headers) headers.push(name, request.headers[name] ?? '');
    const dispatched = {
      origin,
      path: basePath + request.path,
      method,
      headers: headers.concat(bytes === null ? withoutBody : withBody),
      body: bytes,
    };
    turn.toUpstreams.add(() => {
      if (!stream.isOver) (route ?? (isFresh ? single : kept)).dispatch(dispatched, stream);
    });
    return stream.opened;
  };

  return {
    open,
    underWay: () => underWay,
    readObject: async (request) => firstObject(await open(request)),
    close: async () => {
      await Promise.all([kept.destroy(), single.destroy(), proxies.close()]);
    },
  };
}

function poolOptions(limits: ClientLimits): Pool.Options {
  return {
    allowH2: false,
    connections: limits.maxConnections,
    connect: { timeout: limits.connectMs },
    keepAliveTimeout: limits.keepAliveMs,
    keepAliveMaxTimeout: limits.keepAliveMs,
    headersTimeout: limits.headersMs,
    bodyTimeout: 0,
  };
}

/** Reads to the end, so that the connection can be used again. */
async function firstObject(stream: UpstreamStream): Promise<JsonObject> {
  let first: JsonObject | undefined;
  for await (const frames of stream) first ??= frames[0]?.value;
  if (first === undefined) throw pathFault(told`The upstream closed without an answer.`);
  return first;
}
