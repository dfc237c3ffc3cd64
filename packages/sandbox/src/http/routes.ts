// The sandbox's route table: method and path to an operation. Nothing else decides what a path means.

import { notFound } from '../errors.ts';
import type { OAuthOperation } from '../oauth/answer-oauth.ts';
import type { Words } from '../proto/descriptors.ts';

export type Route =
  | { readonly kind: 'generate'; readonly address: ModelAddress; readonly delivery: Delivery }
  | { readonly kind: 'count-tokens'; readonly address: ModelAddress }
  | { readonly kind: 'embed'; readonly address: ModelAddress; readonly isBatch: boolean }
  | { readonly kind: 'get-model'; readonly modelId: string }
  | { readonly kind: 'list-models' | 'list-publisher-models' | 'quota' }
  | { readonly kind: 'oauth'; readonly operation: OAuthOperation }
  | { readonly kind: 'list-faults' | 'add-fault' | 'clear-faults' | 'list-requests' }
  | { readonly kind: 'list-accounts' | 'read-quota' | 'set-quota' | 'add-service-account' }
  | { readonly kind: 'change-account' | 'revoke-account'; readonly email: string };

/** `sse` for `alt=sse`; without it a stream is one JSON array. */
export type Delivery = 'whole' | 'sse' | 'array';

export interface ModelAddress {
  readonly modelId: string;
  /** Set on publisher paths, as Vertex AI has them; undefined on plain ones. */
  readonly place: PublisherPlace | undefined;
}

interface PublisherPlace {
  /** Undefined for the short paths of express mode. */
  readonly project: string | undefined;
  /** The full name of the model, from `projects/` or `publishers/` on. */
  readonly model: string;
}

/** The words a call at this address is written in. */
export function wordsOf({ place }: ModelAddress): Words {
  return place === undefined ? 'neutral' : 'real';
}

interface Entry {
  readonly method: string;
  readonly path: RegExp;
  readonly route: (parts: PathParts, url: URL) => Route;
}

/** The named groups of the path, decoded. */
type PathParts = Readonly<Record<string, string | undefined>>;

const PLAIN = '^/v1(?:beta)?/models/(?<model>[^/:]+)';
const PLACE = '(?:projects/(?<project>[^/]+)/locations/(?<location>[a-z0-9-]+)/)?';
const PUBLISHER = `^/v1(?:beta1)?/${PLACE}(?<name>publishers/google/models/(?<model>[^/:]+))`;

const MODEL_TABLE: readonly Entry[] = [PLAIN, PUBLISHER].flatMap((model) => [
  {
    method: 'POST',
    path: new RegExp(`${model}:generateContent$`),
    route: (parts) => ({ kind: 'generate', address: addressOf(parts), delivery: 'whole' }),
  },
  {
    method: 'POST',
    path: new RegExp(`${model}:streamGenerateContent$`),
    route: (parts, url) => ({
      kind: 'generate',
      address: addressOf(parts),
      delivery: url.searchParams.get('alt') === 'sse' ? 'sse' : 'array',
    }),
  },
  {
    method: 'POST',
    path: new RegExp(`${model}${model === PLAIN ? '[:/]' : ':'}countTokens$`),
    route: (parts) => ({ kind: 'count-tokens', address: addressOf(parts) }),
  },
]);

const ACCOUNT = '^/sandbox/accounts/(?<email>[^/]+)';

const TABLE: readonly Entry[] = [
  ...MODEL_TABLE,
  {
    method: 'POST',
    path: new RegExp(`${PLAIN}:(?<verb>embedContent|batchEmbedContents)$`),
    route: (parts) => {
      const isBatch = parts.verb === 'batchEmbedContents';
      return { kind: 'embed', address: addressOf(parts), isBatch };
    },
  },
  {
    method: 'GET',
    path: new RegExp(`${PLAIN}$`),
    route: ({ model = '' }) => ({ kind: 'get-model', modelId: model }),
  },
  fixed('GET', '/v1(?:beta)?/models', { kind: 'list-models' }),
  fixed('GET', '/v1(?:beta1)?/publishers/google/models', { kind: 'list-publisher-models' }),
  fixed('GET', '/v1(?:beta)?/quota', { kind: 'quota' }),
  oauth('GET', '/\\.well-known/oauth-authorization-server', 'metadata'),
  oauth('GET', '/oauth/authorize', 'ask-for-consent'),
  oauth('POST', '/oauth/authorize', 'decide'),
  oauth('POST', '/oauth/token', 'token'),
  oauth('POST', '/oauth/revoke', 'revoke'),
  oauth('GET', '/oauth/userinfo', 'user-info'),
  oauth('POST', '/oauth/userinfo', 'user-info'),
  fixed('GET', '/sandbox/faults', { kind: 'list-faults' }),
  fixed('POST', '/sandbox/faults', { kind: 'add-fault' }),
  fixed('DELETE', '/sandbox/faults', { kind: 'clear-faults' }),
  fixed('GET', '/sandbox/requests', { kind: 'list-requests' }),
  fixed('GET', '/sandbox/accounts', { kind: 'list-accounts' }),
  fixed('GET', '/sandbox/quota', { kind: 'read-quota' }),
  fixed('POST', '/sandbox/quota', { kind: 'set-quota' }),
  fixed('POST', '/sandbox/service-accounts', { kind: 'add-service-account' }),
  {
    method: 'POST',
    path: new RegExp(`${ACCOUNT}$`),
    route: ({ email = '' }) => ({ kind: 'change-account', email: email.toLowerCase() }),
  },
  {
    method: 'POST',
    path: new RegExp(`${ACCOUNT}/revoke$`),
    route: ({ email = '' }) => ({ kind: 'revoke-account', email: email.toLowerCase() }),
  },
];

/** @throws SandboxError 404 when nothing stands at this path. */
export function matchRoute(method: string, url: URL): Route {
  for (const entry of TABLE) {
    const match = entry.method === method ? entry.path.exec(url.pathname) : null;
    if (match !== null) return entry.route(decodeParts(match.groups ?? {}), url);
  }
  const verb = new RegExp(`${PLAIN}:(?<verb>\\w+)$`).exec(url.pathname)?.groups?.verb;
  throw notFound(
    verb === undefined
      ? `There is no ${method} ${url.pathname} here.`
      : `The sandbox does not offer ${method} ${verb}; see supportedGenerationMethods in the model list.`,
  );
}

/** True for paths in the words of Vertex AI, where an API key has its real header too. */
export function isPublisherPath({ pathname }: URL): boolean {
  return pathname.includes('/publishers/google/models');
}

function fixed(method: string, path: string, route: Route): Entry {
  return { method, path: new RegExp(`^${path}$`), route: () => route };
}

function oauth(method: string, path: string, operation: OAuthOperation): Entry {
  return fixed(method, path, { kind: 'oauth', operation });
}

function addressOf({ model = '', name, project, location }: PathParts): ModelAddress {
  if (name === undefined) return { modelId: model, place: undefined };
  const parent = project === undefined ? '' : `projects/${project}/locations/${location}/`;
  return { modelId: model, place: { project, model: parent + name } };
}

function decodeParts(groups: PathParts): PathParts {
  const entries = Object.entries(groups);
  return Object.fromEntries(entries.map(([name, text]) => [name, text && decode(text)]));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
