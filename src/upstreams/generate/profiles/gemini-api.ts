// Profile of the public Gemini API: real words, API key or OAuth token, project as a header.

import type { Optional } from '../../../lib/json.ts';
import type { AccountAccess } from '../../upstream.ts';
import { trimBaseUrl, userAgentOf } from '../../wire-parts.ts';
import type { GenericProfileOptions } from './generic.ts';
import {
  type GenerateProfile,
  isVideoPage,
  PUBLIC_EXTRA_FIELDS,
  plainPaths,
  spellingsIn,
  unlistedRealId,
} from './profile.ts';

const PUBLIC_BASE_URL = 'https://generativelanguage.googleapis.com';

export function createGeminiApiProfile({
  id = 'gemini-api',
  baseUrl = PUBLIC_BASE_URL,
  version,
}: Optional<GenericProfileOptions> = {}): GenerateProfile {
  const versionPath = '/v1beta';
  const trimmed = trimBaseUrl(baseUrl, versionPath);
  const fileHomes = [PUBLIC_BASE_URL, trimmed].map((home) => `${home}${versionPath}/files/`);
  return {
    id,
    vocabulary: 'real',
    baseUrl: trimmed,
    userAgent: userAgentOf(version),
    authHeaders,
    ...plainPaths(versionPath),
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

/** By file extension; the types that the public API fetches itself. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['bmp', 'image/bmp'],
  ['pdf', 'application/pdf'],
  ['mp4', 'video/mp4'],
  ['mpeg', 'video/mpeg'],
  ['webm', 'video/webm'],
]);

/**
 * Undefined for what is not fetched, and for addresses that do not tell their type, which the API wants to
 * be told. ai.google.dev, "File input methods", external URLs; `@ai-sdk/google`, `supportedUrls`: https
 * alone, and no models before generation 2.5.
 */
function webFileType(uri: string, modelId: string): string | undefined {
  if (!uri.startsWith('https://') || !/^gemini-(?!1\.|2\.0)/.test(modelId)) return undefined;
  const [, ending = ''] = /\.(\w+)$/.exec(URL.parse(uri)?.pathname ?? '') ?? [];
  return TYPES.get(ending.toLowerCase());
}
