// Leaves out of an answer's citations what is not of the domains the client listed for its search.

import type { BlockOpening, CanonicalEvent } from '../../canonical/event.ts';
import type { GroundingEvent } from '../../canonical/grounding.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type { Tool } from '../../canonical/request.ts';
import { told } from '../../lib/localized-message.ts';

type EventRule = (events: readonly CanonicalEvent[]) => readonly CanonicalEvent[];

interface Domains {
  readonly allowed: readonly string[];
  readonly blocked: readonly string[];
}

/**
 * Undefined when the client listed no domains. A source is of the domain of its address or of the one its title names: some upstreams give
 * addresses of their own that lead on, and the page's domain as the title.
 */
export function createSourceFilter(tools: readonly Tool[]): EventRule | undefined {
  const searches = tools.filter((tool) => tool.kind === 'web-search');
  const allowed = searches.flatMap(({ allowedDomains = [] }) => allowedDomains.map(plainDomain));
  const blocked = searches.flatMap(({ blockedDomains = [] }) => blockedDomains.map(plainDomain));
  if (allowed.length === 0 && blocked.length === 0) return undefined;
  const domains = { allowed, blocked };
  return (events) =>
    events.map((event) => (event.kind === 'grounding' ? withSources(event, domains) : event));
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

/**
 * Leaves the code an upstream ran out of an answer whose text has a form of its own. Code and its output are
 * written as text, which no answer of a given form has room for: the client reads all its text as one value.
 */
export function leaveOutCode(receipt: Receipt): EventRule {
  let open: number | undefined;
  const isLeft = (event: CanonicalEvent): boolean => {
    if (event.kind === 'block-start' && isCode(event.block)) {
      receipt.add('dropped', 'answer', told`Code the upstream ran has no place in this form.`);
      open = event.index;
      return true;
    }
    return event.kind === 'block-end' && event.index === open;
  };
  return (events) => {
    const kept = events.filter((event) => !isLeft(event));
    return kept.length === events.length ? events : kept;
  };
}

function isCode({ kind }: BlockOpening): boolean {
  return kind === 'code' || kind === 'code-result';
}
