// What a client is told that asks for a path there is not.

import { FOREIGN_API } from '../wire/vocabulary.ts';

/** A path with the version all surfaces of the protocols stand under: the base URL is right. */
const VERSIONED = /^(?:(?:\/upload)?\/v1(?:beta|alpha)?|\/openai)\//;

/** What the protocols have and clients look for, and the gateway does not. */
const NOT_OFFERED: readonly (readonly [RegExp, string])[] = [
  [
    /\/batches(?:\/|$)|:(?:asyncB|b)atch\w+$/,
    'Batches are not offered; send each request by itself.',
  ],
  [/\/(?:files|uploads)(?:\/|$)/, 'Files are not stored; send their content in the request.'],
  [
    /\/cachedContents(?:\/|$)/,
    'Caches are not kept; the upstream finds repeated prompts by itself.',
  ],
];

/** The second sentence of a 404: `path` is asked for without its query. */
export function sayWayOut(path: string, meant: string | undefined): string {
  if (meant !== undefined) {
    return `The right path is ${meant}: check the base URL this client is configured with.`;
  }
  if (FOREIGN_API.test(path)) {
    return 'This protocol is not offered: configure the client as OpenAI-compatible, with the base URL that ends in /v1.';
  }
  if (!VERSIONED.test(path)) {
    return 'Check the base URL and the path this client is configured with.';
  }
  const known = NOT_OFFERED.find(([pattern]) => pattern.test(path));
  return known?.[1] ?? 'This part of the protocol is not offered, or the path is misspelt.';
}
