// Builds the HTTP requests of the generate-content API for one account.

import type { AccountAccess, UpstreamCall } from '../upstream.ts';
import type { ClientRequest } from './client.ts';
import { createIdleLimit, IDLE_MS } from './idle-limit.ts';
import { type GenerateProfile, placeProject } from './profiles/profile.ts';

export type ModelMethod = 'generateContent' | 'streamGenerateContent' | 'countTokens';

export function generateRequest(
  profile: GenerateProfile,
  call: UpstreamCall,
  { drawsImages }: { readonly drawsImages: boolean },
): ClientRequest {
  const method = call.stream ? 'streamGenerateContent' : 'generateContent';
  return {
    ...modelRequest(profile, method, call),
    idleMsAfter: createIdleLimit({ drawsImages }),
  };
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
    path: pathOf(profile, access, {
      below: `models/${encodeURIComponent(modelId)}:${method}`,
      query,
    }),
    body: placeProject(body, profile, access),
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
  const query: Record<string, string> = { pageSize: '1000' };
  if (page.token !== '') query.pageToken = page.token;
  return {
    method: 'GET',
    path: pathOf(profile, access, { below: 'models', query }),
    ...credentials(profile, access),
    signal: page.signal,
  };
}

function credentials(profile: GenerateProfile, access: AccountAccess) {
  const { credential, projectId } = access;
  return {
    headers: profile.authHeaders(access),
    secrets: projectId === undefined ? [credential] : [credential, projectId],
    idleMsAfter: () => IDLE_MS,
  };
}

function pathOf(
  profile: GenerateProfile,
  access: AccountAccess,
  { below, query }: { readonly below: string; readonly query: Record<string, string> },
): string {
  const search = new URLSearchParams({ ...query, ...profile.authQuery(access) }).toString();
  return `${profile.versionPath}/${below}${search === '' ? '' : `?${search}`}`;
}
