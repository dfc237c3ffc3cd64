// A route of the admin API as the edge sees it: JSON in, JSON out, behind the console credential.

import type { JsonObject } from '../lib/json.ts';

export type AdminMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * `public` is for pages that a browser is sent to, and for signing in; what changes something by it
 * must come from a page of ours.
 * `console-or-local` needs no credential from this machine, for tools that read figures.
 */
export type AdminAccess = 'console' | 'console-or-local' | 'public';

export interface AdminRoute {
  readonly method: AdminMethod;
  /** May hold one `{parameter}`; `{id}` also stands for ids with slashes. */
  readonly path: string;
  readonly access: AdminAccess;
  /** True for a public route that takes a body, too. */
  readonly takesBody?: boolean | undefined;
  /** What it does, in a few words. */
  readonly title: string;
  /** @throws GatewayError to answer with its status. */
  run(input: AdminInput): Promise<AdminAnswer>;
}

export interface AdminInput {
  /** Undefined when none was sent. */
  readonly body: JsonObject | undefined;
  readonly query: URLSearchParams;
  /** What stands in the path for `{…}`, percent-decoded; '' when the path has none. */
  readonly parameter: string;
  /** The `If-Match` header. */
  readonly ifMatch: string | undefined;
  /** The `Last-Event-ID` header. */
  readonly lastEventId?: string | undefined;
  /** True for a request that only asks whether there is something. */
  readonly isHead: boolean;
  readonly requestId: string;
  readonly caller: AdminCaller;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
}

/** The languages of the pages that are no part of the console. */
export type PageLanguage = 'en' | 'zh';

/** Who calls. */
export interface AdminCaller {
  /** As the limits count it; `unknown` when nobody can say. */
  readonly address: string;
  /** A program or page of this machine that nobody else can steer. */
  readonly isLocal: boolean;
  /** The browser speaks https, here or to a proxy of ours. */
  readonly isSecure: boolean;
  /** The secret of the session cookie. */
  readonly cookie: string | undefined;
  /** The request itself shows the password, not only that somebody showed it once. */
  readonly hasShownPassword: boolean;
  /** What a signed-in browser shows of it once more, in `x-isthmus-password`. */
  readonly passwordAgain: string | undefined;
  /** The first of ours that the browser's user reads. */
  readonly language: PageLanguage;
  /** The browser fetches ahead of its user. */
  readonly isPrefetch: boolean;
  /** How the same request would be seen under other settings. */
  under(settings: CallerSettings): CallerView;
}

/** The settings that say who a caller is. */
interface CallerSettings {
  readonly host: string;
  readonly trustedProxies: readonly string[];
  readonly allowedHosts: readonly string[];
}

interface CallerView extends Pick<AdminCaller, 'address' | 'isLocal'> {
  /** False for a web page from elsewhere. */
  readonly isOwnPage: boolean;
  /** False when a gateway that begins to listen there does not hear it. */
  readonly isHeard: boolean;
}

export type AdminAnswer =
  | {
      readonly kind: 'json';
      readonly status: number;
      readonly body: JsonObject;
      /** Becomes the ETag. */
      readonly revision?: string | undefined;
      /** A whole `Set-Cookie`. */
      readonly cookie?: string | undefined;
    }
  /** 204. */
  | { readonly kind: 'empty'; readonly cookie?: string | undefined }
  /** Plain text of whatever type. */
  | { readonly kind: 'text'; readonly contentType: string; readonly text: string }
  /** Server-sent events, each framed already; `return` is called when nobody reads on. */
  | { readonly kind: 'events'; readonly frames: AsyncIterableIterator<string> }
  /** A page without scripts; `styleHash` is the SHA-256 in base64 of the one style it holds. */
  | { readonly kind: 'page'; readonly html: string; readonly styleHash: string }
  /** 303. */
  | {
      readonly kind: 'redirect';
      readonly location: string;
      readonly cookie?: string | undefined;
    };
