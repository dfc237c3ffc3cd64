// Tells the model what upstream searches take no setting for: their domains, and where the user is.

import { told } from '../canonical/receipt.ts';
import type { TextPart, Tool } from '../canonical/request.ts';
import type { UserLocation } from '../canonical/user-location.ts';
import type { Transform, TransformContext } from './transform.ts';

type SearchTool = Extract<Tool, { kind: 'web-search' }>;

/** `answer/filter-sources.ts` keeps sources of other domains out of the answer. */
export const steerSearch: Transform = (request, context) => {
  const texts = request.tools.flatMap((tool) =>
    tool.kind === 'web-search' ? tellSearch(tool, context) : [],
  );
  if (texts.length === 0) return request;
  const asked = texts.map((text): TextPart => ({ kind: 'text', text }));
  return { ...request, system: [...request.system, ...asked] };
};

function tellSearch(
  tool: SearchTool,
  { receipt }: Pick<TransformContext, 'receipt'>,
): readonly string[] {
  const { path = 'tools', userLocation } = tool;
  const domains = tellDomains(tool);
  const place = userLocation && tellPlace(userLocation);
  if (domains !== '') {
    const reason = told`The model is told the domains, and other sources are left out of the answer.`;
    receipt.add('approximated', path, reason);
  }
  if (place !== undefined) {
    receipt.add(
      'approximated',
      userLocation?.path ?? path,
      told`The model is told where the user is.`,
    );
  }
  return [...(domains === '' ? [] : [domains]), ...(place === undefined ? [] : [place])];
}

function tellDomains({ allowedDomains = [], blockedDomains = [] }: SearchTool): string {
  const only = `When you search the web, use only pages of these domains: ${allowedDomains.join(', ')}.`;
  const never = `When you search the web, use no pages of these domains: ${blockedDomains.join(', ')}.`;
  return [
    ...(allowedDomains.length === 0 ? [] : [only]),
    ...(blockedDomains.length === 0 ? [] : [never]),
  ].join('\n');
}

function tellPlace({ city, region, country, timezone }: UserLocation): string {
  const land = country && nameCountry(country);
  const place = [city, region, land].filter((word) => word !== undefined).join(', ');
  const facts = [
    ...(place === '' ? [] : [`is roughly in ${place}`]),
    ...(timezone === undefined ? [] : [`has the time zone ${timezone}`]),
  ];
  return `When you search the web, take it that the user ${facts.join(' and ')}.`;
}

/**
 * Countries come as codes of two letters, and Norway's is a word of its own. The names are loaded where they are
 * used first: that takes some 10 ms, which no start has to wait for.
 */
function nameCountry(country: string): string {
  if (!/^[a-z]{2}$/i.test(country)) return country;
  const names = new Intl.DisplayNames(['en'], { type: 'region' });
  return names.of(country.toUpperCase()) ?? country;
}
