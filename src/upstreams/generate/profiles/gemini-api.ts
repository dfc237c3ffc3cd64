// Profile of the public Gemini API: real words, API key or OAuth token, project as a header.

import type { AccountAccess } from '../../upstream.ts';
import { spellingsIn, unlistedRealId } from './model-ids.ts';
import {
  type GenerateProfile,
  isVideoPage,
  PUBLIC_EXTRA_FIELDS,
  plainPaths,
  trimBaseUrl,
  userAgentOf,
} from './profile.ts';
import { webFileType } from './web-file-type.ts';

const PUBLIC_BASE_URL = 'https://generativelanguage.googleapis.com';

export interface GeminiApiProfileOptions {
  readonly id?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly version?: string | undefined;
}

export function createGeminiApiProfile({
  id = 'gemini-api',
  baseUrl = PUBLIC_BASE_URL,
  version,
}: GeminiApiProfileOptions = {}): GenerateProfile {
  const versionPath = '/v1beta';
  const trimmed = trimBaseUrl(baseUrl, versionPath);
  const fileHomes = [PUBLIC_BASE_URL, trimmed].map((home) => `${home}${versionPath}/files/`);
  return {
    id,
    vocabulary: 'real',
    baseUrl: trimmed,
    userAgent: userAgentOf(version),
    authHeaders,
    authQuery: () => ({}),
    ...plainPaths(versionPath),
    projectPlacement: 'header',
    modelIds: (name) => spellingsIn('real', name),
    unlistedId: unlistedRealId,
    capabilityOverrides: { takesJsonSchema: true },
    extraFields: PUBLIC_EXTRA_FIELDS,
    countForm: 'whole-request',
    // Uploaded files and public videos: ai.google.dev, "Files API" and "Video understanding".
    readsUri: (uri) => isVideoPage(uri) || fileHomes.some((home) => uri.startsWith(home)),
    webFileType,
  };
}

function authHeaders(access: AccountAccess): Record<string, string> {
  if (access.credentialKind === 'api-key') return { 'x-goog-api-key': access.credential };
  const authorization = `Bearer ${access.credential}`;
  if (!access.projectId) return { authorization };
  return { authorization, 'x-goog-user-project': access.projectId };
}
