// Profile of Vertex AI: real words, project and location in the path, Bearer tokens or API keys.

import { type GatewayError, gatewayError } from '../../../canonical/error.ts';
import { told } from '../../../lib/localized-message.ts';
import type { AccountAccess } from '../../upstream.ts';
import { trimBaseUrl, userAgentOf } from '../../wire-parts.ts';
import {
  type EmbedFormName,
  type GenerateProfile,
  isVideoPage,
  spellingsIn,
  unlistedRealId,
  VERTEX_EXTRA_FIELDS,
} from './profile.ts';

export interface VertexProfileOptions {
  readonly id?: string | undefined;
  /** Undefined for the address of the location. */
  readonly baseUrl?: string | undefined;
  /** A region, a multi-region (`us`, `eu`) or `global`, which is the default. */
  readonly location?: string | undefined;
  readonly version?: string | undefined;
}

/** Locations of several regions, whose addresses look different. */
const MULTI_REGIONS = ['us', 'eu'];

/**
 * Sources: Vertex AI, "Method: endpoints.generateContent", "Locations" and "Express mode REST API
 * reference"; the official SDK for JavaScript for the model list and the multi-regions.
 */
export function createVertexProfile(options: VertexProfileOptions = {}): GenerateProfile {
  const { location = 'global' } = options;
  const versionPath = '/v1';
  return {
    id: options.id ?? 'vertex',
    vocabulary: 'real',
    baseUrl: trimBaseUrl(options.baseUrl ?? addressOf(location), versionPath),
    userAgent: userAgentOf(options.version),
    authHeaders: (access) =>
      access.credentialKind === 'api-key'
        ? { 'x-goog-api-key': access.credential }
        : { authorization: `Bearer ${access.credential}` },
    modelPath: (access, modelId, method) =>
      `${versionPath}/${parentOf(access, location)}publishers/google/models/` +
      `${encodeURIComponent(modelId)}:${method}`,
    // The list stands at this version only, and takes no project.
    listPath: '/v1beta1/publishers/google/models',
    listPageSize: 100,
    mayRefuseList: true,
    modelIds: (name) => spellingsIn('real', name),
    unlistedId: unlistedRealId,
    capabilityOverrides: { takesJsonSchema: true },
    extraFields: VERTEX_EXTRA_FIELDS,
    isVertex: true,
    countForm: 'request-fields',
    embedForm,
    // Cloud Storage and public videos: Vertex AI, "Content", `fileData.fileUri`.
    readsUri: (uri) => isVideoPage(uri) || uri.startsWith('gs://'),
  };
}

/**
 * Text models of the first generation answer `:predict` only, the others `:embedContent` only; the
 * line is drawn as the official SDK for JavaScript draws it (`models.embedContent`).
 */
function embedForm(modelId: string): EmbedFormName {
  const isContent =
    (modelId.includes('gemini') && modelId !== 'gemini-embedding-001') || modelId.includes('maas');
  return isContent ? 'configured-content' : 'prediction';
}

function addressOf(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com';
  return MULTI_REGIONS.includes(location)
    ? `https://aiplatform.${location}.rep.googleapis.com`
    : `https://${location}-aiplatform.googleapis.com`;
}

/** Express mode: API keys without a project are served, by the global address only. */
function parentOf(
  { accountId, credentialKind, projectId }: AccountAccess,
  location: string,
): string {
  if (projectId) {
    const [project, place] = [projectId, location].map(encodeURIComponent);
    return `projects/${project}/locations/${place}/`;
  }
  if (credentialKind === 'api-key' && location === 'global') return '';
  throw missingProject(accountId, credentialKind);
}

/** Nothing is wrong with the credential; the account is only left out for a while, until it has one. */
function missingProject(
  accountId: string,
  credentialKind: AccountAccess['credentialKind'],
): GatewayError {
  const message =
    credentialKind === 'api-key'
      ? told`Account ${accountId} has no project, which Vertex AI needs. Set the project of the account (ISTHMUS_UPSTREAM_PROJECT for accounts of the environment), or use the location global.`
      : told`Account ${accountId} has no project, which Vertex AI needs. Set the project of the account (ISTHMUS_UPSTREAM_PROJECT for accounts of the environment).`;
  return gatewayError('upstream-auth', message, {
    failure: { kind: 'unauthenticated', detail: message },
  });
}
