// Fetches one medium from the public internet: https only, every redirect checked, size and time limits.

import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { modalityOf, sniffMediaType, spellMediaType } from '../canonical/media.ts';
import type { Clock } from '../lib/clock.ts';
import { type AddressPolicy, literalAddress, PUBLIC_ONLY } from '../lib/net.ts';
import { readWithin, withinLimit } from '../lib/time-limit.ts';

export interface FetchedMedia {
  readonly mediaType: string;
  readonly base64: string;
}

export type MediaFetcher = ReturnType<typeof createMediaFetcher>;

interface MediaFetcherOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  readonly isEnabled: () => boolean;
  /** Tests alone give another policy or resolution. */
  readonly policy?: AddressPolicy | undefined;
  readonly resolve?: ResolveHost | undefined;
}

const LIMIT_MS = 10_000;
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_REDIRECTS = 3;

/** Each request has a connection of its own, so that every connection's address is checked. */
export function createMediaFetcher(options: MediaFetcherOptions) {
  const { clock, userAgent, isEnabled, policy = PUBLIC_ONLY, resolve } = options;
  const agent = new Agent({
    allowH2: false,
    pipelining: 0,
    connect: { lookup: createGuardedLookup(policy, resolve), timeout: LIMIT_MS },
    headersTimeout: LIMIT_MS,
    bodyTimeout: LIMIT_MS,
  });
  const exchange: Exchange = { agent, policy, userAgent };
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
    close: (): Promise<void> => agent.destroy(),
  };
}

interface Exchange {
  readonly agent: Agent;
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
function request(
  url: URL,
  signal: AbortSignal,
  { agent, userAgent }: Exchange,
): Promise<Dispatcher.ResponseData> {
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
  return headerOf(response, 'location');
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
  const [declared = ''] = (headerOf(response, 'content-type') ?? '').split(';');
  const mediaType = sniffMediaType(base64) ?? spellMediaType(declared);
  if (bytes.length === 0 || modalityOf(mediaType) === undefined) throw new MediaFault('wrong-type');
  return { mediaType, base64 };
}

function faultOfHeaders(response: Dispatcher.ResponseData) {
  if (response.statusCode !== 200) return 'refused';
  if ((headerOf(response, 'content-encoding') ?? 'identity') !== 'identity') return 'refused';
  return Number(headerOf(response, 'content-length') ?? 0) > MAX_BYTES ? 'too-large' : undefined;
}

function headerOf({ headers }: Dispatcher.ResponseData, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Closes the connection; what it still had to say is of no interest. */
function discard({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => {});
  body.destroy();
}

type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>;

/**
 * The connection goes to the very addresses that were checked, so a name that changes its mind
 * between check and use (DNS rebinding) gains nothing. Literal addresses never come here.
 */
function createGuardedLookup(
  policy: Pick<AddressPolicy, 'allowsAddress'>,
  resolve: ResolveHost = resolveHost,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        const isAllowed = addresses.every(({ address }) => policy.allowsAddress(address));
        if (first === undefined || !isAllowed) callback(new MediaFault('not-public'), '');
        else if (options.all === true) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      () => callback(new MediaFault('unreachable'), ''),
    );
  };
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
