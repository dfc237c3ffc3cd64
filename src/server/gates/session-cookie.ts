// The cookie of a signed-in browser: read strictly, written so that scripts and other sites never see it.

import type { HeaderMap } from '../headers.ts';

const PLAIN_NAME = 'isthmus_session';
/** Browsers take this prefix only with Secure, Path=/ and no Domain: no other host can set it. */
const SECURE_NAME = '__Host-isthmus_session';

/** The secret; undefined when there is none, or more than one of a name, of which one is somebody else's. */
export function readSessionCookie(headers: HeaderMap): string | undefined {
  const { cookie } = headers;
  if (cookie === undefined) return undefined;
  const pairs = cookie.split(';').map((pair) => pair.trim());
  for (const name of [SECURE_NAME, PLAIN_NAME]) {
    const values = pairs.filter((pair) => pair.startsWith(`${name}=`));
    if (values.length > 1) return undefined;
    const value = values[0]?.slice(name.length + 1);
    if (value !== undefined && /^[\w-]{43}$/.test(value)) return value;
  }
  return undefined;
}

/** The `Set-Cookie` of a session; without an end date, as the server ends it. */
export function writeSessionCookie(secret: string, isSecure: boolean): string {
  return isSecure
    ? `${SECURE_NAME}=${secret}; Path=/; HttpOnly; SameSite=Strict; Secure`
    : `${PLAIN_NAME}=${secret}; Path=/; HttpOnly; SameSite=Strict`;
}

export function clearSessionCookie(isSecure: boolean): string {
  return `${writeSessionCookie('', isSecure)}; Max-Age=0`;
}
