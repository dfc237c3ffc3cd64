// The sandbox's route table: method and path to an operation. Nothing else decides what a path means.

import { notFound } from '../errors.ts';

export type Route =
  | { readonly kind: 'generate'; readonly modelId: string; readonly delivery: Delivery }
  | { readonly kind: 'count-tokens'; readonly modelId: string }
  | { readonly kind: 'get-model'; readonly modelId: string }
  | { readonly kind: 'list-models' }
  | { readonly kind: 'quota' }
  | { readonly kind: 'list-faults' }
  | { readonly kind: 'add-fault' }
  | { readonly kind: 'clear-faults' }
  | { readonly kind: 'list-requests' };

/** `sse` for `alt=sse`; without it a stream is one JSON array. */
export type Delivery = 'whole' | 'sse' | 'array';

interface Entry {
  readonly method: string;
  readonly path: RegExp;
  readonly route: (modelId: string, url: URL) => Route;
}

const MODEL = `^/v1(?:beta)?/models/([^/:]+)`;

const TABLE: readonly Entry[] = [
  {
    method: 'POST',
    path: new RegExp(`${MODEL}:generateContent$`),
    route: (modelId) => ({ kind: 'generate', modelId, delivery: 'whole' }),
  },
  {
    method: 'POST',
    path: new RegExp(`${MODEL}:streamGenerateContent$`),
    route: (modelId, url) => ({
      kind: 'generate',
      modelId,
      delivery: url.searchParams.get('alt') === 'sse' ? 'sse' : 'array',
    }),
  },
  {
    method: 'POST',
    path: new RegExp(`${MODEL}[:/]countTokens$`),
    route: (modelId) => ({ kind: 'count-tokens', modelId }),
  },
  {
    method: 'GET',
    path: new RegExp(`${MODEL}$`),
    route: (modelId) => ({ kind: 'get-model', modelId }),
  },
  { method: 'GET', path: /^\/v1(?:beta)?\/models$/, route: () => ({ kind: 'list-models' }) },
  { method: 'GET', path: /^\/v1(?:beta)?\/quota$/, route: () => ({ kind: 'quota' }) },
  { method: 'GET', path: /^\/sandbox\/faults$/, route: () => ({ kind: 'list-faults' }) },
  { method: 'POST', path: /^\/sandbox\/faults$/, route: () => ({ kind: 'add-fault' }) },
  { method: 'DELETE', path: /^\/sandbox\/faults$/, route: () => ({ kind: 'clear-faults' }) },
  { method: 'GET', path: /^\/sandbox\/requests$/, route: () => ({ kind: 'list-requests' }) },
];

/** @throws SandboxError 404 when nothing stands at this path. */
export function matchRoute(method: string, url: URL): Route {
  for (const entry of TABLE) {
    const match = entry.method === method ? entry.path.exec(url.pathname) : null;
    if (match !== null) return entry.route(decode(match[1] ?? ''), url);
  }
  const verb = new RegExp(`${MODEL}:(\\w+)$`).exec(url.pathname)?.[2];
  throw notFound(
    verb === undefined
      ? `There is no ${method} ${url.pathname} here.`
      : `The sandbox does not offer ${method} ${verb}; see supportedGenerationMethods in the model list.`,
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
