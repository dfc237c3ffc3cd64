// Sends requests to one upstream over its own bounded pool of HTTP/1.1 connections.

import { type Dispatcher, Pool } from 'undici';
import type { Receipt } from '../../canonical/receipt.ts';
import type { Clock } from '../../lib/clock.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { withoutSlashes } from '../../lib/net.ts';
import { NO_PROXY, type ProxyChoice } from '../../lib/outbound-proxy.ts';
import { ProxyDispatchers, ProxyError, soundConnections } from '../../lib/proxy-agent.ts';
import type { AnswerRoom } from '../../stream/held-memory.ts';
import { turn } from '../../stream/scheduler.ts';
import { errorIn, noAnswer } from '../errors.ts';
import type { UpstreamStream } from '../upstream.ts';
import { gatewayFault, type ProxyInUse, proxyFault } from './connections.ts';
import {
  type AnswerLimits,
  type AnswerPlace,
  type AnswerRequest,
  AnswerStream,
  type WireAnswers,
} from './response.ts';

export interface ClientRequest extends AnswerRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query below the base URL, percent-encoded. */
  readonly path: string;
  /** Lower-case names: the credential, and what goes in place of the headers that are always the same. */
  readonly headers: Readonly<Record<string, string>>;
  /** Told when the text of the body has to be mended. */
  readonly receipt?: Receipt | undefined;
  /** True for a body of megabytes, which is written in steps. */
  readonly isLarge?: boolean | undefined;
  /** Whose share of the connections it takes. */
  readonly clientKeyId?: string | undefined;
  readonly freshConnection?: boolean | undefined;
  /** The body as it is sent, where it has another form than those of the wire; its type is among the headers. */
  readonly bytes?: Buffer | undefined;
  /** The proxy of the account; undefined goes the way of the gateway. */
  readonly proxyUrl?: string | undefined;
}

/** What of an exchange depends on the wire. */
export interface WireRules extends WireAnswers {
  /** The error that stands in a good answer, as if it had been the status. */
  classifyErrorFrame(value: JsonValue, now: number, secrets: readonly string[]): Error;
  /** The bytes of a request body. What has to be mended in it is noted in the receipt before this returns. */
  encodeBody(
    body: JsonObject,
    receipt: Receipt | undefined,
    isLarge: boolean,
  ): Buffer | Promise<Buffer>;
}

export interface ClientOptions {
  readonly wire: WireRules;
  readonly baseUrl: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly limits?: Partial<ClientLimits> | undefined;
  readonly answerRoom?: AnswerRoom | undefined;
  /** The proxy of the gateway as it is now; without it calls go direct. */
  readonly proxyFor?: ProxyChoice | undefined;
}

interface ClientLimits extends AnswerLimits {
  /** No client key has more than half of them: the others are served beside it. */
  readonly maxConnections: number;
  readonly connectMs: number;
  /** For an idle connection; a shorter `Keep-Alive` hint of the upstream's own wins. */
  readonly keepAliveMs: number;
  /** Above the gateway's own limit of 300 s, so that its error wins. */
  readonly headersMs: number;
}

const LIMITS: ClientLimits = {
  maxConnections: 2048,
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

/** Of an answer, together; node's own limit is a quarter, which rate limits and policies that proxies add may be over. */
const MAX_HEADER_BYTES = 65_536;

/** An upstream may have an account for each of many proxies. */
const MAX_PROXIES = 256;

interface Ways {
  readonly direct: Pool;
  readonly proxied: ProxyDispatchers;
}

/** HTTP/2 stays off: one GOAWAY would fail every request on the connection. Redirects are not followed. */
export class UpstreamClient {
  readonly #limits: ClientLimits;
  readonly #wire: WireRules;
  readonly #place: AnswerPlace;
  readonly #origin: string;
  readonly #proxyFor: ProxyChoice;
  readonly #basePath: string;
  readonly #kept: Ways;
  /** For requests that want a connection of their own. */
  readonly #single: Ways;
  readonly #withoutBody: readonly string[];
  readonly #withBody: readonly string[];
  /** From monotonic time, which stands still while the machine sleeps, to the time of day. */
  #toTimeOfDay: number;
  /** Monotonic milliseconds. */
  #distrustedUntil = Number.NEGATIVE_INFINITY;
  #underWay = 0;
  /** Of these, by client key. */
  readonly #ofKeys = new Map<string, number>();

  constructor(options: ClientOptions) {
    const { wire, baseUrl, userAgent, clock, limits, answerRoom, proxyFor = NO_PROXY } = options;
    this.#limits = { ...LIMITS, ...limits };
    this.#wire = wire;
    this.#place = { wire, clock, limits: this.#limits, room: answerRoom };
    this.#toTimeOfDay = clock.now() - clock.monotonic();
    const { connectMs, keepAliveMs, headersMs, maxConnections } = this.#limits;
    const pool: Pool.Options = {
      allowH2: false,
      connections: maxConnections,
      connect: soundConnections({ allowH2: false, timeout: connectMs }),
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      headersTimeout: headersMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      bodyTimeout: 0,
    };
    const { origin, pathname } = new URL(baseUrl);
    this.#origin = origin;
    this.#basePath = withoutSlashes(pathname);
    this.#proxyFor = proxyFor;
    const waysOf = (options: Pool.Options): Ways => ({
      direct: new Pool(origin, options),
      proxied: new ProxyDispatchers({ ...options, connectMs }, MAX_PROXIES),
    });
    this.#kept = waysOf(pool);
    this.#single = waysOf({ ...pool, pipelining: 0 });
    this.#withoutBody = [
      ...['accept', 'text/event-stream, application/json'],
      ...['accept-encoding', 'identity'],
      ...['user-agent', userAgent],
    ];
    this.#withBody = [...this.#withoutBody, 'content-type', 'application/json'];
  }

  /** How many requests are sent and not answered to their end. */
  get underWay(): number {
    return this.#underWay;
  }

  /**
   * Resolves when the response headers are there and good.
   * @throws GatewayError with `failure` set (without it when the pool is full or closed), or the
   * signal's reason when it aborts.
   */
  async open(request: ClientRequest): Promise<UpstreamStream> {
    const { signal, body, receipt, isLarge = false, method } = request;
    signal.throwIfAborted();
    const encoded =
      request.bytes ?? (body === undefined ? null : this.#wire.encodeBody(body, receipt, isLarge));
    const bytes = encoded instanceof Promise ? await encoded : encoded;
    signal.throwIfAborted();
    const at = this.#place.clock.monotonic();
    const toTimeOfDay = this.#place.clock.now() - at;
    const { keepAliveMs } = this.#limits;
    // The other end of what was kept over a sleep is mostly gone, which nothing tells: a request sent on it waits for minutes.
    // Idle connections are looked through now and then only, so that they are closed a while later.
    if (toTimeOfDay - this.#toTimeOfDay > keepAliveMs) this.#distrustedUntil = at + 2 * keepAliveMs;
    this.#toTimeOfDay = toTimeOfDay;
    const isFresh = at < this.#distrustedUntil || request.freshConnection === true;
    const { direct, proxied } = isFresh ? this.#single : this.#kept;
    const { proxyUrl } = request;
    const proxy = proxyUrl === undefined ? this.#proxyFor(this.#origin) : { url: proxyUrl };
    const way = proxy === undefined ? direct : through(proxy, proxied);
    const release = this.#take(request.clientKeyId);
    const stream = new AnswerStream(proxy ? { ...request, proxy } : request, this.#place, release);
    // Names and values in turn: undici looks at an object's three times.
    const headers: string[] = [];
    for (const name in request.headers) headers.push(name, request.headers[name] ?? '');
    const usual = bytes === null ? this.#withoutBody : this.#withBody;
    for (let at = 0; at < usual.length; at += 2) {
      const [name = '', value = ''] = [usual[at], usual[at + 1]];
      if (request.headers[name] === undefined) headers.push(name, value);
    }
    const dispatched = {
      origin: this.#origin,
      path: this.#basePath + request.path,
      method,
      headers,
      body: bytes,
      // Pools behind proxies are kept by others, who know nothing of ours.
      ...(isFresh && proxy !== undefined && { reset: true }),
    };
    turn.toUpstreams.add(() => {
      if (!stream.isOver) way.dispatch(dispatched, stream);
    });
    return stream.opened;
  }

  /** Takes a connection; what it gives lets it go. @throws GatewayError overloaded where there is none */
  #take(clientKeyId: string | undefined): () => void {
    const { maxConnections } = this.#limits;
    const ofKey = clientKeyId === undefined ? 0 : (this.#ofKeys.get(clientKeyId) ?? 0);
    if (this.#underWay >= maxConnections || ofKey >= maxConnections / 2) {
      throw gatewayFault('overloaded', told`Too many requests are under way. Try again shortly.`);
    }
    this.#underWay += 1;
    if (clientKeyId !== undefined) this.#ofKeys.set(clientKeyId, ofKey + 1);
    return () => {
      this.#underWay -= 1;
      if (clientKeyId === undefined) return;
      const left = (this.#ofKeys.get(clientKeyId) ?? 1) - 1;
      if (left === 0) this.#ofKeys.delete(clientKeyId);
      else this.#ofKeys.set(clientKeyId, left);
    };
  }

  /** The whole answer as one object, read to the end, so that the connection can be used again. @throws as `open` */
  async readObject(request: ClientRequest): Promise<JsonObject> {
    const [first] = await this.readObjects(request);
    if (first === undefined) throw noAnswer();
    return first;
  }

  /** As `readObject`, of an array the objects in it. @throws as `open`, also for an error in a good answer */
  async readObjects(request: ClientRequest): Promise<readonly JsonObject[]> {
    const objects: JsonObject[] = [];
    for await (const frames of await this.open(request)) {
      for (const { value } of frames) objects.push(value);
    }
    const error = objects[0] && errorIn(objects[0]);
    if (error === undefined) return objects;
    throw this.#wire.classifyErrorFrame(error, this.#place.clock.now(), request.secrets);
  }

  /** Ends every connection at once; requests under way fail. */
  async close(): Promise<void> {
    const all = [this.#kept, this.#single].flatMap(({ direct, proxied }) => [direct, proxied]);
    await Promise.all(all.map((one) => one.destroy()));
  }
}

/** @throws GatewayError when its address cannot be used */
function through(proxy: ProxyInUse, ways: ProxyDispatchers): Dispatcher {
  try {
    return ways.get(proxy.url);
  } catch (error) {
    throw error instanceof ProxyError ? proxyFault(error, proxy) : error;
  }
}
