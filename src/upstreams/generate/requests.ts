// Builds the HTTP requests of the generate-content API for one account.

import type { ClientRequest } from '../transport/client.ts';
import type { AccountAccess, UpstreamCall } from '../upstream.ts';
import { postOf } from '../wire-parts.ts';
import type { GenerateProfile, ModelMethod } from './profiles.ts';

/** A POST to one method of one model, with the account's credential and project. */
export function modelRequest(
  profile: GenerateProfile,
  method: ModelMethod,
  call: Omit<UpstreamCall, 'stream'>,
): ClientRequest {
  const { access, body, modelId } = call;
  const path = profile.modelPath(access, modelId, method);
  const project = profile.hasProjectInBody === true ? access.projectId : undefined;
  return {
    ...requestOf(profile, call, path, method === 'streamGenerateContent' ? { alt: 'sse' } : {}),
    ...postOf(call),
    body: project ? { ...body, project } : body,
  };
}

/** A GET with the account's credential. */
export function requestOf(
  profile: GenerateProfile,
  { access, signal }: Pick<UpstreamCall, 'access' | 'signal'>,
  path: string,
  query: Readonly<Record<string, string>> = {},
): ClientRequest {
  const all = new URLSearchParams({ ...query, ...profile.authQuery?.(access) });
  return {
    method: 'GET',
    path: all.size === 0 ? path : `${path}?${all}`,
    headers: profile.authHeaders(access),
    proxyUrl: access.proxyUrl,
    secrets: secretsOf(access),
    signal,
  };
}

/** What an upstream was shown of the account. */
export function secretsOf({ credential, projectId }: AccountAccess): readonly string[] {
  return projectId === undefined ? [credential] : [credential, projectId];
}
