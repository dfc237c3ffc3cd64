// What a profile says: how to reach one upstream that speaks the generate-content wire.

import type { ModelCapabilities } from '../../../canonical/model.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { Vocabulary } from '../../../wire/vocabulary.ts';
import type { AccountAccess } from '../../upstream.ts';

export interface GenerateProfile {
  readonly id: string;
  /** The words this upstream has for tool keys and headers. */
  readonly vocabulary: Vocabulary;
  /** Without a slash or a version at the end. */
  readonly baseUrl: string;
  /** The version segment of every path, such as `/v1beta`. */
  readonly versionPath: string;
  readonly userAgent: string;
  /** Headers that carry the credential, and the project where it is a header. */
  authHeaders(access: AccountAccess): Record<string, string>;
  /** Query parameters that carry the credential; empty for most profiles. */
  authQuery(access: AccountAccess): Record<string, string>;
  readonly projectPlacement: 'body' | 'header' | 'none';
  /** The ids under which the upstream may know a model, best first; never empty. */
  modelIds(name: string): readonly string[];
  /** What this upstream does differently from the built-in model data. */
  readonly capabilityOverrides: Partial<ModelCapabilities>;
  /** The top-level request fields beyond the common ones that this upstream documents. */
  readonly extraFields: readonly ExtraField[];
  /** True when token counting takes a whole request and not only its contents. */
  readonly countTakesFullRequest: boolean;
  /** Path below the base URL that answers with quota figures; absent when there is none. */
  readonly quotaPath?: string | undefined;
  /** True for file addresses the upstream itself can read. */
  readsUri(uri: string): boolean;
}

/** Top-level request fields that not every upstream takes. */
export const EXTRA_FIELDS = ['labels', 'serviceTier', 'store', 'continuationToken'] as const;
export type ExtraField = (typeof EXTRA_FIELDS)[number];

/** Those of the public API (ai.google.dev, "GenerateContent API reference"); it has no `labels`. */
export const PUBLIC_EXTRA_FIELDS: readonly ExtraField[] = [
  'serviceTier',
  'store',
  'continuationToken',
];

/** The body with the account's project, where this profile puts it there; else the same object. */
export function placeProject(
  body: JsonObject,
  profile: GenerateProfile,
  access: AccountAccess,
): JsonObject {
  if (profile.projectPlacement !== 'body' || !access.projectId) return body;
  return { ...body, project: access.projectId };
}

/** Who we say we are: our own name and version, never another client's. */
export function userAgentOf(version: string | undefined): string {
  return version === undefined ? 'isthmus' : `isthmus/${version}`;
}

/** A configured address without what callers add themselves: trailing slashes and the version. */
export function trimBaseUrl(baseUrl: string, versionPath: string): string {
  const url = baseUrl.replace(/\/+$/, '');
  return url.endsWith(versionPath) ? url.slice(0, -versionPath.length) : url;
}
