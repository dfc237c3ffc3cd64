// The cookie of a signed-in browser: read strictly, written so that scripts and other sites never see it.

import type { HeaderMap } from '../headers.ts';

const PLAIN_NAME = 'isthmus_session';
/** Browsers take this prefix only with Secure, Path=/ and no Domain: no other host can set it. */
const SECURE_PREFIX = '__Host-';

/** The name over http. Cookies know no ports, so that gateways of one host name are told apart by their tags. */
export function plainCookieName(tag: string): string {
  return `${PLAIN_NAME}_${tag}`;
}

/** The secret; undefined when there is none, or more than one of a name, of which one is somebody else's. */
export function readSessionCookie(headers: HeaderMap, tag: string): string | undefined {
  const { cookie } = headers;
  if (cookie === undefined) return undefined;
  const pairs = cookie.split(';').map((pair) => pair.trim());
  const plainName = plainCookieName(tag);
  for (const name of [SECURE_PREFIX + plainName, plainName]) {
    const values = pairs.filter((pair) => pair.startsWith(`${name}=`));
    if (values.length > 1) return undefined;
    const value = values[0]?.slice(name.length + 1);
    if (value !== undefined && /^[\w-]{43}$/.test(value)) return value;
  }
  return undefined;
}

/** The `Set-Cookie` of a session; without an end date, as the server ends it. */
export function writeSessionCookie(tag: string, secret: string, isSecure: boolean): string {
  const pair = `${plainCookieName(tag)}=${secret}; Path=/; HttpOnly; SameSite=Strict`;
  return isSecure ? `${SECURE_PREFIX}${pair}; Secure` : pair;
}

export function clearSessionCookie(tag: string, isSecure: boolean): string {
  return `${writeSessionCookie(tag, '', isSecure)}; Max-Age=0`;
}
