// The canonical request of one call, with the media its upstream cannot read by address in it.

import type { CanonicalRequest } from '../canonical/request.ts';
import type { FetchedMedia, MediaFetcher } from '../media/fetch-media.ts';
import { loadMedia } from '../media/load-media.ts';
import type { RelayBody } from '../protocols/protocol.ts';
import type { Upstream } from '../upstreams/upstream.ts';

export interface CallMedia {
  /** As the upstream last given to `load` is to get it. */
  canonical(): CanonicalRequest;
  /**
   * Fetches what this upstream does not read itself, when the operator allows it; a relayed body
   * goes through as it is. @throws GatewayError (invalid-request); or the signal's reason
   */
  load(upstream: Pick<Upstream, 'wire' | 'readsUri'>): Promise<void>;
}

export interface CallMediaOptions {
  readonly fetcher: MediaFetcher | undefined;
  readonly signal: AbortSignal;
}

export function createCallMedia(
  call: { readonly relay?: RelayBody | undefined; canonical(): CanonicalRequest },
  { fetcher, signal }: CallMediaOptions,
): CallMedia {
  const fetched = new Map<string, FetchedMedia>();
  let loaded: CanonicalRequest | undefined;
  return {
    canonical: () => loaded ?? call.canonical(),
    async load(upstream) {
      if (fetcher?.isEnabled() !== true || call.relay?.wire === upstream.wire) return;
      const isReadable = (uri: string): boolean => upstream.readsUri(uri);
      loaded = await loadMedia(call.canonical(), { fetcher, isReadable, signal, fetched });
    },
  };
}
