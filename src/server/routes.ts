// The route table: every path of every protocol, its access, and which protocols share it; path patterns.

import type { ClientProtocol, ProtocolRoute } from '../protocols/protocol.ts';
import type { AdminAccess, AdminMethod, AdminRoute } from './admin-route.ts';
import type { ServiceRoute } from './service-route.ts';

type EdgeRoute = { readonly path: string } & (
  | {
      readonly kind: 'health';
      readonly method: 'GET';
      readonly access: 'public';
      readonly asks: HealthQuestion;
    }
  | {
      readonly kind: 'admin';
      readonly method: AdminMethod;
      readonly access: AdminAccess;
      readonly route: AdminRoute;
    }
  | {
      readonly kind: 'service';
      readonly method: ServiceRoute['method'];
      readonly access: 'client';
      readonly route: ServiceRoute;
    }
  | {
      readonly kind: 'protocol';
      readonly method: ProtocolRoute['method'];
      readonly access: 'client';
      /** In the order of the protocols; more than one where protocols share a path. */
      readonly offers: readonly [RouteOffer, ...RouteOffer[]];
    }
);

/** `live`: whether the process works; `ready`: whether it wants requests; `health`: as `ready`, but already while it starts. */
export type HealthQuestion = 'health' | 'live' | 'ready';

export interface RouteOffer {
  readonly protocol: ClientProtocol;
  readonly route: ProtocolRoute;
}

export type RouteMatch =
  /** `parameter` stands for the placeholder of the path; `deployment` is a model that a path names besides. */
  | {
      readonly kind: 'route';
      readonly route: EdgeRoute;
      readonly parameter: string;
      readonly deployment?: string | undefined;
    }
  | { readonly kind: 'wrong-method'; readonly allow: readonly string[] }
  /** `meant` is the path the client probably wanted. */
  | { readonly kind: 'unknown'; readonly meant: string | undefined };

export type RouteTable = ReturnType<typeof createRouteTable>;

type PathRoutes = Map<string, EdgeRoute>;

interface PatternRoutes {
  readonly pattern: PathPattern;
  readonly routes: PathRoutes;
}

export function createRouteTable(
  protocols: readonly ClientProtocol[],
  adminRoutes: readonly AdminRoute[] = [],
  services: readonly ServiceRoute[] = [],
) {
  const ofAdmin = adminRoutes.map((route): EdgeRoute => {
    const { method, path, access } = route;
    return { kind: 'admin', method, path, access, route };
  });
  const ofServices = services.map((route): EdgeRoute => {
    const { method, path } = route;
    return { kind: 'service', method, path, access: 'client', route };
  });
  const routes = [...mergeRoutes(protocols), ...ofAdmin, ...ofServices];
  const literals = new Map<string, PathRoutes>();
  const patterns = new Map<string, PatternRoutes>();
  for (const route of routes) {
    const pattern = readPathPattern(route.path);
    const byMethod =
      (pattern === undefined ? literals.get(route.path) : patterns.get(route.path)?.routes) ??
      new Map<string, EdgeRoute>();
    byMethod.set(route.method, route);
    if (pattern === undefined) literals.set(route.path, byMethod);
    else patterns.set(route.path, { pattern, routes: byMethod });
  }
  // The most specific first: a longer suffix, then a longer prefix.
  const ordered = [...patterns.values()].sort(
    ({ pattern: left }, { pattern: right }) =>
      right.suffix.length - left.suffix.length || right.prefix.length - left.prefix.length,
  );
  const find = (method: string, path: string): RouteMatch | undefined => {
    const literal = literals.get(path);
    const route = literal?.get(method);
    if (route !== undefined) return { kind: 'route', route, parameter: '' };
    if (literal !== undefined) return pickMethod(literal, method, '');
    for (const { pattern, routes: byMethod } of ordered) {
      const parameter = matchPathPattern(pattern, path);
      if (parameter === undefined) continue;
      // An unknown `:verb` is an unknown path, not a model whose name holds a colon.
      const isVerb = pattern.name === 'model' && pattern.suffix === '' && parameter.includes(':');
      return isVerb && method === 'POST' ? undefined : pickMethod(byMethod, method, parameter);
    }
    return undefined;
  };
  return {
    routes,
    /** @param path canonical and percent-decoded. A trailing slash is tolerated; HEAD stands for GET. */
    match(method: string, givenPath: string): RouteMatch {
      const path =
        givenPath.length > 1 && givenPath.endsWith('/') ? givenPath.slice(0, -1) : givenPath;
      const wanted = method === 'HEAD' ? 'GET' : method;
      const match = find(wanted, path) ?? find(wanted, path.replace(BARE_CALL, '$1/models/$2'));
      if (match !== undefined) return match;
      const [, deployment, below] = DEPLOYMENT.exec(path) ?? [];
      const own = below === undefined ? path.replace(SERVICE_BASE, '/v1') : `/v1${below}`;
      const served = own === path ? undefined : find(wanted, own);
      if (served !== undefined) return served.kind === 'route' ? { ...served, deployment } : served;
      const guesses = guessPaths(own, (head) => find(wanted, head) !== undefined);
      // A browser or a probe asks with the wrong method too.
      const meant =
        guesses.find((guess) => find(wanted, guess)?.kind === 'route') ??
        guesses.find((guess) => find(wanted, guess) !== undefined);
      return { kind: 'unknown', meant };
    },
  };
}

const HEALTH_PATHS: readonly (readonly [path: string, asks: HealthQuestion])[] = [
  ['/health', 'health'],
  ['/healthz', 'health'],
  ['/livez', 'live'],
  ['/readyz', 'ready'],
];

function mergeRoutes(protocols: readonly ClientProtocol[]): readonly EdgeRoute[] {
  const merged = new Map<string, EdgeRoute>();
  for (const [path, asks] of HEALTH_PATHS) {
    merged.set(`GET ${path}`, { kind: 'health', method: 'GET', path, access: 'public', asks });
  }
  for (const protocol of protocols) {
    for (const route of protocol.routes) {
      const { method, path } = route;
      const known = merged.get(`${method} ${path}`);
      if (known !== undefined && known.kind !== 'protocol')
        throw new Error(`${path} is taken by the gateway itself.`);
      const offer: RouteOffer = { protocol, route };
      merged.set(`${method} ${path}`, {
        kind: 'protocol',
        method,
        path,
        access: 'client',
        offers: known === undefined ? [offer] : [...known.offers, offer],
      });
    }
  }
  return [...merged.values()];
}

function pickMethod(routes: PathRoutes, method: string, parameter: string): RouteMatch {
  const route = routes.get(method);
  if (route !== undefined) return { kind: 'route', route, parameter };
  const allow = [...routes.keys()].flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
  return { kind: 'wrong-method', allow: [...allow, 'OPTIONS'] };
}

/**
 * A call of a model without `models/` before its name: `@google/generative-ai`, which LangChain uses, takes a name with
 * a slash, such as `upstream/model`, for a whole path.
 */
const BARE_CALL = /^(\/v1(?:alpha|beta)?)\/((?!.*models\/)[^/]+\/.+:\w+)$/;

/**
 * What services put before the paths of Chat Completions: Groq and Azure (`/openai/v1`, and `/openai` with a parameter
 * for the version), and the vendor of Generate Content.
 */
const SERVICE_BASE = /^(?:\/openai(?:\/v1)?|\/v1beta\/openai)(?=\/)/;

/** `AzureOpenAI` of the official SDK names the model here: `openai` azure.ts. */
const DEPLOYMENT = /^\/openai\/deployments\/(.+?)((?:\/(?:chat|audio|images))?\/\w+)$/;

/** No base URL has more segments; longer paths are not looked through. */
const MAX_GUESSES = 24;

/** Paths that were meant, likeliest first: a prefix doubled, left out or foreign, or a whole path as base URL. */
function guessPaths(path: string, isKnown: (path: string) => boolean): readonly string[] {
  const guesses: string[] = [];
  for (let at = 0; at !== -1 && guesses.length < MAX_GUESSES; at = path.indexOf('/', at + 1)) {
    const head = path.slice(0, at);
    const rest = path.slice(at);
    if (head !== '' && /^\/v1(?:alpha|beta)?\//.test(rest)) guesses.push(rest);
    // What stands below a path of ours is a resource of its own, however its end is called.
    const isForeign = !head.startsWith('/v1/') || isKnown(head);
    if (isForeign) guesses.push(`/v1${rest}`, `/v1beta${rest}`);
  }
  return guesses;
}

/** A path with at most one placeholder; `{model}` and `{id}` match slashes too. */
interface PathPattern {
  readonly prefix: string;
  readonly suffix: string;
  /** The word between the braces. */
  readonly name: string;
}

const PLACEHOLDER = /\{(\w+)\}/;
const SLASHED_NAMES: readonly string[] = ['model', 'id'];

function readPathPattern(path: string): PathPattern | undefined {
  const match = PLACEHOLDER.exec(path);
  if (match === null) return undefined;
  const [placeholder, name = ''] = match;
  return {
    prefix: path.slice(0, match.index),
    suffix: path.slice(match.index + placeholder.length),
    name,
  };
}

/** The placeholder's value in a decoded path, a model without `models/`; undefined when it does not fit. */
function matchPathPattern(pattern: PathPattern, path: string): string | undefined {
  const { prefix, suffix, name } = pattern;
  if (path.length <= prefix.length + suffix.length) return undefined;
  if (!path.startsWith(prefix) || !path.endsWith(suffix)) return undefined;
  const found = path.slice(prefix.length, path.length - suffix.length);
  if (!SLASHED_NAMES.includes(name) && found.includes('/')) return undefined;
  if (name !== 'model' || !found.startsWith('models/')) return found;
  return found.slice('models/'.length) || undefined;
}
