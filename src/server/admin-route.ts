// The interface of an admin route as the edge runs it, and the session cookie of the console.

import type { Role } from '../access/people.ts';
import type { ListInParts } from '../lib/chunked-json.ts';
import type { JsonObject } from '../lib/json.ts';
import type { EdgeSettings, HeaderMap } from './settings.ts';

export type AdminMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The least role that may use a route. Changes by a `public` route must come from the console's own page. */
export type AdminAccess = Role | 'public';

export interface AdminRoute {
  readonly method: AdminMethod;
  /** May hold one `{parameter}`; `{id}` also stands for ids with slashes. */
  readonly path: string;
  readonly access: AdminAccess;
  /** Needs no credential from this machine, for tools that read figures. */
  readonly isOpenLocally?: boolean | undefined;
  /** True for a public route that takes a body, too. */
  readonly takesBody?: boolean | undefined;
  readonly title: string;
  /** Whether the audit log is told when it ran; when absent, of all methods but GET. */
  readonly changes?: boolean | undefined;
  /** The GET route that shows what this one changes; its own path when absent, `nothing` where there is none. */
  readonly shows?: `/api/${string}` | 'nothing' | undefined;
  /** @throws GatewayError to answer with its status. */
  run(input: AdminInput): Promise<AdminAnswer>;
}

export interface AdminInput {
  readonly body: JsonObject | undefined;
  readonly query: URLSearchParams;
  /** What stands in the path for `{…}`, percent-decoded; '' when the path has none. */
  readonly parameter: string;
  readonly ifMatch: string | undefined;
  readonly lastEventId?: string | undefined;
  /** True for a request that only asks whether there is something. */
  readonly isHead: boolean;
  readonly requestId: string;
  readonly caller: AdminCaller;
  /** Who calls, in a word or two, for what others read of it. */
  readonly author: string;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
}

/** The languages of the pages that are no part of the console. */
export type PageLanguage = 'en' | 'ja' | 'zh';
export interface AdminCaller {
  /** As the limits count it; `unknown` when nobody can say. */
  readonly address: string;
  /** A program or page of this machine that nobody else can steer. */
  readonly isLocal: boolean;
  /** The browser speaks https, here or to a proxy of ours. */
  readonly isSecure: boolean;
  readonly cookie: string | undefined;
  /** The secret of the cookie of a browser that went to sign in at the provider. */
  readonly signInCookie: string | undefined;
  /** What they may do; of a public route, which asks nobody, the least. */
  readonly role: Role;
  /** Who signed in; undefined of the console password and of programs of this machine. */
  readonly person: SignedInPerson | undefined;
  /** The request itself shows the password, not only that somebody showed it once. */
  readonly hasShownPassword: boolean;
  /** What a signed-in browser shows of it once more, in `x-isthmus-password`. */
  readonly passwordAgain: string | undefined;
  /** The first of ours that the browser's user reads. */
  readonly language: PageLanguage;
  readonly isPrefetch: boolean;
  /** How the same request would be seen under other settings. */
  under(settings: CallerSettings): CallerView;
}

interface SignedInPerson {
  readonly id: string;
  readonly name: string;
  /** When this browser signed in. */
  readonly since: number;
}

type CallerSettings = Pick<EdgeSettings, 'host' | 'trustedProxies' | 'allowedHosts'>;

interface CallerView extends Pick<AdminCaller, 'address' | 'isLocal'> {
  readonly isOwnPage: boolean;
  /** False when a gateway that begins to listen there does not hear it. */
  readonly isHeard: boolean;
}

export type AdminAnswer =
  | {
      readonly kind: 'json';
      readonly status: number;
      readonly body: JsonObject;
      /** A long field behind those of the body, read while it is written. */
      readonly list?: ListInParts | undefined;
      /** Becomes the ETag. */
      readonly revision?: string | undefined;
      /** A whole `Set-Cookie`. */
      readonly cookie?: string | undefined;
    }
  /** 204. */
  | { readonly kind: 'empty'; readonly cookie?: string | undefined }
  | { readonly kind: 'text'; readonly contentType: string; readonly text: string }
  /** Server-sent events, each framed already; `return` is called when nobody reads on. */
  | { readonly kind: 'events'; readonly frames: AsyncIterableIterator<string> }
  /** A file, sent while it is read; `return` is called when nobody reads on. */
  | {
      readonly kind: 'download';
      readonly contentType: string;
      readonly fileName: string;
      readonly chunks: AsyncIterableIterator<string>;
    }
  /** A page without scripts; `styleHash` is the SHA-256 in base64 of the one style it holds. */
  | { readonly kind: 'page'; readonly html: string; readonly styleHash: string }
  /** 303. */
  | {
      readonly kind: 'redirect';
      readonly location: string;
      readonly cookie?: string | undefined;
    };

const PLAIN_NAME = 'isthmus_session';
/** Browsers take this prefix only with Secure, Path=/ and no Domain: no other host can set it. */
const SECURE_PREFIX = '__Host-';

/** The name over http. Cookies know no ports, so that gateways of one host name are told apart by their tags. */
export function plainCookieName(tag: string): string {
  return `${PLAIN_NAME}_${tag}`;
}

/** The secret; undefined when there is none, or more than one of a name, of which one is somebody else's. */
export function readSessionCookie(headers: HeaderMap, tag: string): string | undefined {
  return readCookie(headers, plainCookieName(tag));
}

/** As `readSessionCookie`, of a browser that went to sign in at the provider. */
export function readSignInCookie(headers: HeaderMap, tag: string): string | undefined {
  return readCookie(headers, signInCookieName(tag));
}

function signInCookieName(tag: string): string {
  return `isthmus_sign_in_${tag}`;
}

/** `Lax`: the browser comes back from a page of the provider, and brings it only so. */
export function writeSignInCookie(tag: string, secret: string, isSecure: boolean): string {
  const pair = `${signInCookieName(tag)}=${secret}; Path=/; HttpOnly; SameSite=Lax; Max-Age=600`;
  return isSecure ? `${SECURE_PREFIX}${pair}; Secure` : pair;
}

function readCookie({ cookie }: HeaderMap, plainName: string): string | undefined {
  if (cookie === undefined) return undefined;
  const pairs = cookie.split(';').map((pair) => pair.trim());
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
