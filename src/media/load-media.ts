// Replaces media addresses in a request by their bytes, for upstreams that do not fetch.

import { invalidRequest } from '../canonical/error.ts';
import { mapMedia, modalityOf } from '../canonical/media.ts';
import type { CanonicalRequest, MediaPart } from '../canonical/request.ts';
import { type FetchedMedia, MediaFault, type MediaFetcher } from './fetch-media.ts';

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

/**
 * The same request when there is nothing to fetch. Each address is fetched once.
 * @throws GatewayError (invalid-request) for what cannot be fetched; or the signal's reason
 */
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
