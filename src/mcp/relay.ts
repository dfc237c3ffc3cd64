// Relays MCP messages to a service of the provider, with its key and nothing of the client.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { Agent, type Dispatcher } from 'undici';
import { clientError, GatewayError, upstreamError } from '../canonical/error.ts';
import type { Settings } from '../config/effective.ts';
import { type Clock, readWithin } from '../lib/clock.ts';
import { derived } from '../lib/once.ts';
import type { ProxyChoice } from '../lib/outbound-proxy.ts';
import { ProxyDispatchers, soundConnections } from '../lib/proxy-agent.ts';
import { headerOf } from '../lib/read-values.ts';
import { createPieceRedactor, scrubText } from '../lib/redact.ts';
import type { MediaFetcher } from '../media/fetch-media.ts';
import type { ServiceAnswer, ServiceInput, ServiceRoute } from '../server/service-route.ts';
import { readRetryAfter } from '../upstreams/refusals.ts';
import { readNetworkError } from '../upstreams/transport/connections.ts';

type RelayedName = Exclude<ServiceName, 'vision'>;
type RelayOptions = Pick<
  McpOptions,
  'settings' | 'openKey' | 'sessionKey' | 'userAgent' | 'proxyFor' | 'clock'
>;

/** Of the client's headers these go along (MCP, "Streamable HTTP"). */
const FORWARDED =
  /^(?:accept|content-type|last-event-id|mcp-(?:protocol-version|method|name|param-[\w-]+))$/;
const RETURNED = ['content-type', 'mcp-protocol-version', 'retry-after', 'allow'];
const SESSION = 'mcp-session-id';

const CONNECT_MS = 5_000;
/** Above the gateway's own limit of 300 s, so that its error wins. */
const HEADERS_MS = 305_000;
const MAX_CONNECTIONS = 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;

interface Target {
  readonly url: URL;
  readonly key: string;
}

export function createRelay(options: RelayOptions) {
  const { settings, openKey, sessionKey, userAgent, proxyFor, clock } = options;
  const agentOptions = {
    allowH2: false,
    connections: MAX_CONNECTIONS,
    headersTimeout: HEADERS_MS,
    bodyTimeout: 0,
  };
  const connect = soundConnections({ allowH2: false, timeout: CONNECT_MS });
  const direct = new Agent({ ...agentOptions, connect });
  const proxies = new ProxyDispatchers({ ...agentOptions, connectMs: CONNECT_MS });
  const sessions = new SessionBinding(sessionKey);
  const currentKey = derived(settings, ({ apiKey = '' }) => openKey(apiKey));
  const targetOf = (name: RelayedName): Target => {
    const current = settings();
    checkService(current, name);
    return { url: new URL(urlOf(current, name) ?? ''), key: currentKey() };
  };
  return {
    /** @throws GatewayError; or the signal's reason */
    async send(
      method: ServiceRoute['method'],
      name: RelayedName,
      input: ServiceInput,
    ): Promise<ServiceAnswer> {
      const asked = settings();
      const target = targetOf(name);
      const scope = `${name} ${target.url.href} ${input.clientKeyId}`;
      const given = input.headers[SESSION];
      const session = given === undefined ? undefined : sessions.open(given, scope);
      const body = method === 'POST' ? await input.readBytes() : null;
      const { signal } = input;
      signal.throwIfAborted();
      const proxy = proxyFor(target.url);
      const agent = proxy === undefined ? direct : proxies.get(proxy.url);
      const response = await agent
        .request({
          ...{ origin: target.url.origin, path: target.url.pathname + target.url.search },
          ...{ method, body, signal },
          headers: {
            accept: 'application/json, text/event-stream',
            ...headersNamed(input, FORWARDED),
            ...(session === undefined ? {} : { [SESSION]: session }),
            authorization: `Bearer ${target.key}`,
            'accept-encoding': 'identity',
            'user-agent': userAgent,
          },
        })
        .catch((error: unknown) => {
          signal.throwIfAborted();
          throw readNetworkError(error, { hasAnswer: false, proxy });
        });
      const { statusCode } = response;
      if (statusCode >= 300) {
        return refusalOf(response, { target, session, now: clock.now() });
      }
      const headers = returnedHeaders(response);
      const issued = headerOf(response.headers, SESSION);
      if (issued !== undefined) headers.push(SESSION, sessions.bind(issued, scope));
      if (!hasText(response)) {
        await drain(response);
        return { status: statusCode, headers };
      }
      const isOpen = (): boolean => settings() === asked || isSame(targetOf(name), target);
      return { status: statusCode, headers, body: readText(response, { signal, isOpen, target }) };
    },
    /** Ends every connection at once. */
    async close(): Promise<void> {
      await Promise.all([direct.destroy(), proxies.destroy()]);
    },
  };
}

function isSame(left: Target, right: Target): boolean {
  return left.url.href === right.url.href && left.key === right.key;
}

export function headersNamed(
  { headers }: ServiceInput,
  names: RegExp,
): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value !== undefined && names.test(name) ? [[name, value] as const] : [],
  );
  return Object.fromEntries(entries);
}

function returnedHeaders(response: Dispatcher.ResponseData): string[] {
  return RETURNED.flatMap((name) => {
    const value = headerOf(response.headers, name);
    return value === undefined ? [] : [name, value];
  });
}

function hasText(response: Dispatcher.ResponseData): boolean {
  const { statusCode, body } = response;
  if (
    statusCode === 202 ||
    statusCode === 204 ||
    headerOf(response.headers, 'content-length') === '0'
  ) {
    return false;
  }
  const type = headerOf(response.headers, 'content-type') ?? '';
  if (/^(?:application\/json|text\/event-stream)\b/i.test(type)) return true;
  if (type === '') return false;
  body.on('error', () => {}).destroy();
  throw unavailable(`answered with ${type.slice(0, 60)} and not in MCP`);
}

interface Reading {
  readonly signal: AbortSignal;
  readonly isOpen: () => boolean;
  readonly target: Target;
}

/** The client's pull drives the reading. The provider's key is none of the client's, wherever it stands. */
async function* readText(
  { body }: Dispatcher.ResponseData,
  { signal, isOpen, target }: Reading,
): AsyncGenerator<string, void> {
  const redactor = createPieceRedactor([target.key]);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  try {
    for await (const chunk of body) {
      // What is switched off or put elsewhere meanwhile ends here.
      if (!isOpen()) throw unavailable('is another one now');
      const text = redactor.next(decoder.decode(chunk, { stream: true }));
      if (text !== '') yield text;
    }
    const rest = redactor.end();
    if (rest !== '') yield rest;
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof GatewayError ? error : readNetworkError(error, { hasAnswer: true });
  }
}

/** So that its connection can be used again. @throws GatewayError */
async function drain({ body }: Dispatcher.ResponseData): Promise<void> {
  await readWithin(body, MAX_REFUSAL_BYTES).catch((error: unknown) => {
    throw readNetworkError(error, { hasAnswer: true });
  });
}

interface Refused {
  readonly target: Target;
  readonly session: string | undefined;
  readonly now: number;
}

/** What the provider says of its own key, its load and its addresses is no matter of the client's. @throws GatewayError */
async function refusalOf(
  response: Dispatcher.ResponseData,
  { target: { key }, session, now }: Refused,
): Promise<ServiceAnswer> {
  const { statusCode: status } = response;
  const bytes = await readWithin(response.body, MAX_REFUSAL_BYTES).catch(() => undefined);
  const retryAfterMs = readRetryAfter(headerOf(response.headers, 'retry-after') ?? '', now);
  if (status === 401 || status === 403) {
    const message = 'The provider of this MCP service refuses the key of the gateway.';
    throw upstreamError('upstream-auth', message);
  }
  if (status === 429) {
    const message = 'The provider of this MCP service takes no more calls now.';
    throw upstreamError('rate-limited', message, { retryAfterMs });
  }
  if (status === 404 && session !== undefined) throw unknownSession();
  if (status === 404 || status < 400) throw unavailable('has nothing at its address');
  if (status >= 500) throw unavailable(`failed with status ${status}`, retryAfterMs);
  const headers = returnedHeaders(response);
  const isJson = /^application\/json\b/i.test(headerOf(response.headers, 'content-type') ?? '');
  if (isJson && bytes !== undefined) {
    const text = scrubText(bytes.toString(), [key]);
    return { status, headers, body: [text] };
  }
  const kind = status === 405 ? 'method-not-allowed' : 'upstream-rejected';
  const message = `The MCP service answered with status ${status}.`;
  throw upstreamError(kind, message);
}

function unavailable(what: string, retryAfterMs?: number): GatewayError {
  const message = `The MCP service of the provider ${what}.`;
  return upstreamError('upstream-unavailable', message, { retryAfterMs });
}

/** Clients begin a new session by it (MCP, "Session Management"). */
function unknownSession(): GatewayError {
  return clientError('not-found', 'There is no such MCP session. Initialize a new one.');
}

const TAG_LENGTH = 22;

/** All clients share one key of the provider: the id of a session is good for the client alone that got it. */
class SessionBinding {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  bind(id: string, scope: string): string {
    return `${id}.${this.#tag(id, scope)}`;
  }

  /** @throws GatewayError not-found */
  open(bound: string, scope: string): string {
    const at = bound.lastIndexOf('.');
    const id = bound.slice(0, Math.max(at, 0));
    const [given, right] = [Buffer.from(bound.slice(at + 1)), Buffer.from(this.#tag(id, scope))];
    if (given.length !== right.length || !timingSafeEqual(given, right)) throw unknownSession();
    return id;
  }

  #tag(id: string, scope: string): string {
    const hmac = createHmac('sha256', this.#key).update(`${scope}\n${id}`);
    return hmac.digest('base64url').slice(0, TAG_LENGTH);
  }
}

type ProviderSettings = Settings['externalProvider'];

export interface McpOptions {
  /** As they are now. */
  readonly settings: () => ProviderSettings;
  /** Opens the key of the provider, which the file may hold sealed. @throws Error */
  readonly openKey: (text: string) => string;
  /** Binds the provider's sessions to the clients that have them. */
  readonly sessionKey: Buffer;
  /** The upstream that looks at pictures. */
  readonly upstreamId: string;
  readonly media: Pick<MediaFetcher, 'isEnabled' | 'fetch'>;
  readonly version: string;
  readonly userAgent: string;
  /** The proxy of the gateway as it is now. */
  readonly proxyFor: ProxyChoice;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}

export type ServiceName = 'web_search' | 'web_reader' | 'vision';

/** @throws GatewayError not-found naming the first setting that is off or missing */
export function checkService(settings: ProviderSettings, name: ServiceName): void {
  const { enabled, apiKey, mcp } = settings;
  const missing = [
    ['enabled', enabled],
    ['api_key', apiKey],
    ['mcp.enabled', mcp.enabled],
    [`mcp.${name}_enabled`, switchOf(settings, name)],
    name === 'vision' ? ['base_url', settings.baseUrl] : [`mcp.${name}_url`, urlOf(settings, name)],
  ].find(([, value]) => !value);
  if (missing === undefined) return;
  const setting = `proxy.extprov.${missing[0]}`;
  const message = `/mcp/${name}/mcp is off here: the gateway's setting ${setting} is not set.`;
  throw clientError('not-found', message);
}

function switchOf({ mcp }: ProviderSettings, name: ServiceName): boolean {
  switch (name) {
    case 'web_search':
      return mcp.webSearchEnabled;
    case 'web_reader':
      return mcp.webReaderEnabled;
    case 'vision':
      return mcp.visionEnabled;
    default:
      return name satisfies never;
  }
}

/** Where the provider has the service; undefined until that is set. */
function urlOf(
  { mcp }: ProviderSettings,
  name: Exclude<ServiceName, 'vision'>,
): string | undefined {
  return name === 'web_search' ? mcp.webSearchUrl : mcp.webReaderUrl;
}
