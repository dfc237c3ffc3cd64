// Leaves out of an answer's citations what is not of the domains the client listed for its search.

import type { GroundingEvent } from '../../canonical/event.ts';
import type { Tool } from '../../canonical/request.ts';

/** Undefined when the client listed no domains. */
export type SourceFilter = ((event: GroundingEvent) => GroundingEvent) | undefined;

interface Domains {
  readonly allowed: readonly string[];
  readonly blocked: readonly string[];
}

/**
 * A source is of the domain of its address or of the one its title names: some upstreams give
 * addresses of their own that lead on, and the page's domain as the title.
 */
export function createSourceFilter(tools: readonly Tool[]): SourceFilter {
  const searches = tools.filter((tool) => tool.kind === 'web-search');
  const allowed = searches.flatMap(({ allowedDomains = [] }) => allowedDomains.map(plainDomain));
  const blocked = searches.flatMap(({ blockedDomains = [] }) => blockedDomains.map(plainDomain));
  if (allowed.length === 0 && blocked.length === 0) return undefined;
  return (event) => withSources(event, { allowed, blocked });
}

function withSources(event: GroundingEvent, domains: Domains): GroundingEvent {
  const kept = event.sources.flatMap((source, index) =>
    isListed(placesOf(source), domains) ? [index] : [],
  );
  if (kept.length === event.sources.length) return event;
  const places = new Map(kept.map((from, to) => [from, to]));
  return {
    ...event,
    sources: event.sources.filter((_, index) => places.has(index)),
    citations: event.citations.flatMap((citation) => {
      const sources = citation.sources.flatMap((index) => places.get(index) ?? []);
      return sources.length === 0 ? [] : [{ ...citation, sources }];
    }),
  };
}

function isListed(places: readonly string[], { allowed, blocked }: Domains): boolean {
  const isIn = (list: readonly string[]): boolean =>
    places.some((place) => list.some((domain) => isBelow(place, domain)));
  return !isIn(blocked) && (allowed.length === 0 || isIn(allowed));
}

/** `docs.example.com/a` is below `example.com` and `docs.example.com/a`. */
function isBelow(place: string, domain: string): boolean {
  const [placeHost = ''] = place.split('/');
  const [host = '', ...path] = domain.split('/');
  if (placeHost !== host && !placeHost.endsWith(`.${host}`)) return false;
  return place.slice(placeHost.length + 1).startsWith(path.join('/'));
}

function placesOf({ url, title }: GroundingEvent['sources'][number]): readonly string[] {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const places = address === undefined ? [] : [`${address.hostname}${address.pathname}`];
  return [...places, ...(/^[\w-]+(\.[\w-]+)+$/.test(title) ? [title.toLowerCase()] : [])];
}

/** Without what some clients write around it. */
function plainDomain(domain: string): string {
  return domain
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^(\*\.|www\.)/, '')
    .replace(/\/$/, '');
}
