// Builds the HTTP requests of the generate-content API for one account.

import type { AccountAccess, UpstreamCall } from '../upstream.ts';
import type { ClientRequest } from './client.ts';
import { type GenerateProfile, type ModelMethod, placeProject } from './profiles/profile.ts';

export function generateRequest(
  profile: GenerateProfile,
  call: UpstreamCall,
  { drawsImages }: { readonly drawsImages: boolean },
): ClientRequest {
  const method = call.stream ? 'streamGenerateContent' : 'generateContent';
  return { ...modelRequest(profile, method, call), drawsImages };
}

/** A POST to one method of one model, with the account's credential and project. */
export function modelRequest(
  profile: GenerateProfile,
  method: ModelMethod,
  call: Omit<UpstreamCall, 'stream'>,
): ClientRequest {
  const { access, body, modelId, signal } = call;
  const query = method === 'streamGenerateContent' ? { alt: 'sse' } : {};
  return {
    method: 'POST',
    path: withQuery(profile.modelPath(access, modelId, method), {
      ...query,
      ...profile.authQuery(access),
    }),
    body: placeProject(body, profile, access),
    receipt: call.receipt,
    ...credentials(profile, access),
    signal,
    freshConnection: call.freshConnection,
  };
}

/** One page of the model list; '' is the first. */
export function listRequest(
  profile: GenerateProfile,
  access: AccountAccess,
  page: { readonly token: string; readonly signal: AbortSignal },
): ClientRequest {
  const query: Record<string, string> = { pageSize: String(profile.listPageSize) };
  if (page.token !== '') query.pageToken = page.token;
  return {
    method: 'GET',
    path: withQuery(profile.listPath, { ...query, ...profile.authQuery(access) }),
    ...credentials(profile, access),
    signal: page.signal,
  };
}

export function quotaRequest(
  profile: GenerateProfile & { readonly quotaPath: string },
  access: AccountAccess,
  signal: AbortSignal,
): ClientRequest {
  return {
    method: 'GET',
    path: withQuery(profile.quotaPath, profile.authQuery(access)),
    ...credentials(profile, access),
    signal,
  };
}

function credentials(profile: GenerateProfile, access: AccountAccess) {
  return {
    headers: profile.authHeaders(access),
    proxyUrl: access.proxyUrl,
    secrets: secretsOf(access),
  };
}

/** What an upstream was shown of the account. */
export function secretsOf({ credential, projectId }: AccountAccess): readonly string[] {
  return projectId === undefined ? [credential] : [credential, projectId];
}

function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  for (const _name in query) return `${path}?${new URLSearchParams(query)}`;
  return path;
}
