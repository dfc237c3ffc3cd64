// Request headers as every reader of the edge takes them: lower-case names, one string a name.

import type { IncomingHttpHeaders } from 'node:http';

export type HeaderMap = Readonly<Record<string, string | undefined>>;

/** Node's own map; the only list in it, `set-cookie`, has no meaning in a request and is left out. */
export function readHeaderMap(headers: IncomingHttpHeaders): HeaderMap {
  if (headers['set-cookie'] === undefined) return asHeaderMap(headers);
  const { 'set-cookie': _ignored, ...rest } = headers;
  return asHeaderMap(rest);
}

function asHeaderMap(headers: Omit<IncomingHttpHeaders, 'set-cookie'>): HeaderMap {
  // Narrowing at the edge: without `set-cookie` every value is a string (node:http, message.headers).
  return headers as HeaderMap;
}

/** Whether an `Accept-Encoding` names the coding, and not with a weight of zero (RFC 9110 §12.5.3). */
export function acceptsCoding(header: string, coding: string): boolean {
  return header.split(',').some((entry) => {
    const [name = '', ...parameters] = entry.toLowerCase().split(';');
    const isRefused = parameters.some((parameter) => /^\s*q=0(?:\.0*)?\s*$/.test(parameter));
    return name.trim() === coding && !isRefused;
  });
}
