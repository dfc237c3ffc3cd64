// Fetches media that requests name by address, from the public internet, for upstreams that do not.

import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { invalidRequest } from '../canonical/error.ts';
import { mapMedia, modalityOf, sniffMediaType, spellMediaType } from '../canonical/media.ts';
import type { CanonicalRequest, MediaPart } from '../canonical/request.ts';
import { type Clock, readWithin, withinLimit } from '../lib/clock.ts';
import { type AddressPolicy, literalAddress, PUBLIC_ONLY } from '../lib/net.ts';
import { NO_PROXY, type ProxyChoice } from '../lib/outbound-proxy.ts';
import { ProxyDispatchers } from '../lib/proxy-agent.ts';
import { headerOf } from '../lib/read-values.ts';

export interface FetchedMedia {
  readonly mediaType: string;
  readonly base64: string;
}

export type MediaFetcher = ReturnType<typeof createMediaFetcher>;

interface MediaFetcherOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  readonly isEnabled: () => boolean;
  /** The proxy of the gateway as it is now; without it everything is fetched directly. */
  readonly proxyFor?: ProxyChoice | undefined;
  /** Tests alone give another policy or resolution. */
  readonly policy?: AddressPolicy | undefined;
  readonly resolve?: ResolveHost | undefined;
}

const LIMIT_MS = 10_000;
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_REDIRECTS = 3;

/** Each request has a connection of its own, so that every connection's address is checked. */
export function createMediaFetcher(options: MediaFetcherOptions) {
  const { clock, userAgent, isEnabled, policy = PUBLIC_ONLY, resolve = resolveHost } = options;
  const limits = { allowH2: false, pipelining: 0, headersTimeout: LIMIT_MS, bodyTimeout: LIMIT_MS };
  const direct = new Agent({
    ...limits,
    connect: { lookup: createGuardedLookup(policy, resolve), timeout: LIMIT_MS },
  });
  const proxies = new ProxyDispatchers({ ...limits, connectMs: LIMIT_MS });
  const { proxyFor = NO_PROXY } = options;
  const wayTo = async (url: URL): Promise<Dispatcher> => {
    const proxy = proxyFor(url);
    if (proxy === undefined) return direct;
    // The proxy resolves the name once more; what it then reaches has to hold a certificate of that name.
    if (literalAddress(url) === undefined) await resolvePublic(url.hostname, policy, resolve);
    return proxies.get(proxy.url);
  };
  const exchange: Exchange = { wayTo, policy, userAgent };
  return {
    /** The operator's setting, as it is now. */
    isEnabled,
    /** @throws MediaFault; or the signal's reason when it aborts */
    fetch: (url: string, signal: AbortSignal): Promise<FetchedMedia> =>
      withinLimit(
        {
          ...{ clock, signal, limitMs: LIMIT_MS },
          tooSlow: () => new MediaFault('too-slow'),
          faultOf: (error) =>
            error instanceof MediaFault ? error : new MediaFault('unreachable', error),
        },
        (ended) => followRedirects(url, ended, exchange),
      ),
    /** Ends every connection at once. */
    async close(): Promise<void> {
      await Promise.all([direct.destroy(), proxies.destroy()]);
    },
  };
}

interface Exchange {
  /** @throws MediaFault where the proxy of the gateway would reach what is not public */
  wayTo(url: URL): Promise<Dispatcher>;
  readonly policy: AddressPolicy;
  readonly userAgent: string;
}

async function followRedirects(
  address: string,
  signal: AbortSignal,
  exchange: Exchange,
): Promise<FetchedMedia> {
  let url = checkUrl(address, exchange.policy);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await request(url, signal, exchange);
    const location = locationOf(response);
    if (location === undefined) return readMedia(response);
    discard(response);
    url = checkUrl(location, exchange.policy, url);
  }
  throw new MediaFault('too-many-redirects');
}

function checkUrl(address: string, policy: AddressPolicy, base?: URL): URL {
  const url = URL.parse(address, base?.href);
  if (url === null || !policy.allowsUrl(url)) throw new MediaFault('not-public');
  const literal = literalAddress(url);
  if (literal !== undefined && !policy.allowsAddress(literal)) throw new MediaFault('not-public');
  return url;
}

/** Nothing of the client goes along: no credentials, cookies, referrer or address. */
async function request(
  url: URL,
  signal: AbortSignal,
  { wayTo, userAgent }: Exchange,
): Promise<Dispatcher.ResponseData> {
  const agent = await wayTo(url);
  signal.throwIfAborted();
  return agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'GET',
    headers: {
      accept: 'image/*, application/pdf, audio/*, video/*',
      'accept-encoding': 'identity',
      'user-agent': userAgent,
    },
    signal,
  });
}

function locationOf(response: Dispatcher.ResponseData): string | undefined {
  if (![301, 302, 303, 307, 308].includes(response.statusCode)) return undefined;
  return headerOf(response.headers, 'location');
}

async function readMedia(response: Dispatcher.ResponseData): Promise<FetchedMedia> {
  const fault = faultOfHeaders(response);
  if (fault !== undefined) {
    discard(response);
    throw new MediaFault(fault);
  }
  const bytes = await readWithin(response.body, MAX_BYTES);
  if (bytes === undefined) throw new MediaFault('too-large');
  const base64 = bytes.toString('base64');
  const [declared = ''] = (headerOf(response.headers, 'content-type') ?? '').split(';');
  const mediaType = sniffMediaType(base64) ?? spellMediaType(declared);
  if (bytes.length === 0 || modalityOf(mediaType) === undefined) throw new MediaFault('wrong-type');
  return { mediaType, base64 };
}

function faultOfHeaders(response: Dispatcher.ResponseData) {
  if (response.statusCode !== 200) return 'refused';
  if ((headerOf(response.headers, 'content-encoding') ?? 'identity') !== 'identity')
    return 'refused';
  return Number(headerOf(response.headers, 'content-length') ?? 0) > MAX_BYTES
    ? 'too-large'
    : undefined;
}

/** Closes the connection; what it still had to say is of no interest. */
function discard({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => {});
  body.destroy();
}

type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Connects to the addresses that were checked, against DNS rebinding. Literal ones never come here. */
function createGuardedLookup(
  policy: Pick<AddressPolicy, 'allowsAddress'>,
  resolve: ResolveHost,
): LookupFunction {
  return (hostname, options, callback) => {
    resolvePublic(hostname, policy, resolve).then(
      ([first, ...others]) => {
        if (options.all === true) callback(null, [first, ...others]);
        else callback(null, first.address, first.family);
      },
      (fault: MediaFault) => callback(fault, ''),
    );
  };
}

async function resolvePublic(
  hostname: string,
  policy: Pick<AddressPolicy, 'allowsAddress'>,
  resolve: ResolveHost,
): Promise<readonly [LookupAddress, ...LookupAddress[]]> {
  const [first, ...others] = await resolve(hostname).catch((error: unknown) => {
    throw new MediaFault('unreachable', error);
  });
  const isAllowed = [first, ...others].every((one) => one && policy.allowsAddress(one.address));
  if (first === undefined || !isAllowed) throw new MediaFault('not-public');
  return [first, ...others];
}

function resolveHost(hostname: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses);
      else reject(error);
    });
  });
}

const WORDS = {
  'not-public': 'only https addresses of public hosts are fetched, without a port',
  unreachable: 'its host could not be reached',
  'too-slow': 'it did not come in time',
  'too-large': 'it is too large',
  'too-many-redirects': 'it redirects too often',
  refused: 'its host did not give it out',
  'wrong-type': 'it is no image, PDF, audio or video',
} as const;

type MediaFaultKind = keyof typeof WORDS;

/** The message is a clause without an end mark. */
export class MediaFault extends Error {
  readonly kind: MediaFaultKind;

  constructor(kind: MediaFaultKind, cause?: unknown) {
    super(WORDS[kind], cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

interface LoadOptions {
  readonly fetcher: Pick<MediaFetcher, 'fetch'>;
  /** True for addresses the upstream itself reads; they stay. */
  readonly isReadable: (uri: string) => boolean;
  readonly signal: AbortSignal;
  /** What was fetched for this request before, by address; added to. */
  readonly fetched: Map<string, FetchedMedia>;
}

const MAX_ADDRESSES = 16;
const MAX_AT_ONCE = 4;
/** Of all media of a request together, as base64. */
const MAX_TOTAL_LENGTH = 64 * 1024 * 1024;

/** Fetches each address once. @throws GatewayError invalid-request, or the signal's reason */
export async function loadMedia(
  request: CanonicalRequest,
  options: LoadOptions,
): Promise<CanonicalRequest> {
  const { fetched, isReadable } = options;
  const addressOf = (part: MediaPart): string | undefined => {
    const address = webAddressOf(part);
    return address === undefined || isReadable(address) ? undefined : address;
  };
  const wanted = new Map<string, MediaPart>();
  mapMedia(request, (part) => {
    const address = addressOf(part);
    if (address !== undefined) wanted.set(address, part);
    return part;
  });
  if (wanted.size === 0) return request;
  if (wanted.size > MAX_ADDRESSES) {
    const message = `messages: at most ${MAX_ADDRESSES} media are fetched for one request.`;
    throw invalidRequest('messages', message);
  }
  const missing = [...wanted].filter(([address]) => !fetched.has(address));
  await fetchAll(missing, options);
  return mapMedia(request, (part) => withBytes(part, fetched.get(addressOf(part) ?? '')));
}

/** The first failure ends the others. */
async function fetchAll(
  wanted: readonly (readonly [address: string, part: MediaPart])[],
  { fetcher, signal, fetched }: LoadOptions,
): Promise<void> {
  const failure = new AbortController();
  const ended = AbortSignal.any([signal, failure.signal]);
  const queue = wanted.values();
  const work = async (): Promise<void> => {
    for (const [address, part] of queue) {
      try {
        fetched.set(address, await fetcher.fetch(address, ended));
        checkTotal(fetched);
      } catch (error) {
        const reason = error instanceof MediaFault ? unfetched(address, part, error) : error;
        failure.abort(reason);
        throw reason;
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, work));
}

function checkTotal(fetched: ReadonlyMap<string, FetchedMedia>): void {
  let length = 0;
  for (const { base64 } of fetched.values()) length += base64.length;
  if (length <= MAX_TOTAL_LENGTH) return;
  throw invalidRequest('messages', 'messages: the media to fetch are too large together.');
}

function unfetched(address: string, { modality, source }: MediaPart, fault: MediaFault): Error {
  const host = URL.parse(address)?.host ?? '';
  const path = (source.kind === 'base64' ? undefined : source.path) ?? 'messages';
  const message = `${path}: the ${modality} at ${host} cannot be used: ${fault.message}.`;
  return invalidRequest(path, message);
}

function withBytes(part: MediaPart, media: FetchedMedia | undefined): MediaPart {
  if (media === undefined) return part;
  const { mediaType, base64 } = media;
  const modality = modalityOf(mediaType) ?? part.modality;
  return { ...part, modality, mediaType, source: { kind: 'base64', base64 } };
}

function webAddressOf({ source }: MediaPart): string | undefined {
  if (source.kind === 'base64') return undefined;
  const address = source.kind === 'url' ? source.url : source.uri;
  return /^https?:/i.test(address) ? address : undefined;
}
