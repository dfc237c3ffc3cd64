// The upstreams of the config file and the environment, put together with their defaults.

import { oauthEndpointsOf } from './oauth-endpoints.ts';
import type { ConfigFile } from './schema.ts';
import type { UpstreamSeed } from './upstream-seeds.ts';
import type { UpstreamProfile } from './values.ts';

export interface UpstreamDefinition {
  /** Chosen by the operator; the profile's name for upstreams of the environment. */
  readonly id: string;
  readonly profile: UpstreamProfile;
  /** Undefined for the profile's own address; for `sandbox` that is the embedded one. */
  readonly baseUrl: string | undefined;
  /** For the `generic` profile only. */
  readonly vocabulary: 'real' | 'neutral' | undefined;
  readonly auth: 'bearer' | 'header' | 'query' | undefined;
  readonly quotaPath: string | undefined;
  /** For the `vertex` profile only. */
  readonly location: string | undefined;
  readonly limits: readonly ModelLimit[];
  /** Undefined where neither the operator nor the profile says how accounts sign in. */
  readonly oauth: OAuthDefinition | undefined;
}

/** What one window allows one account, to estimate quotas from. */
interface ModelLimit {
  readonly modelId: string;
  readonly requests: number;
  readonly windowMs: number;
}

interface OAuthDefinition {
  /** Empty when the operator has named no client: service accounts need none. */
  readonly clientId: string;
  /** Perhaps sealed (`sealed:v1:…`). */
  readonly clientSecret: string | undefined;
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly revocationUrl: string | undefined;
  readonly userInfoUrl: string | undefined;
  readonly issuer: string | undefined;
  readonly scopes: readonly string[];
  readonly redirectUrl: string | undefined;
  readonly extraAuthorizationParameters: Readonly<Record<string, string>>;
}

type Section = NonNullable<ConfigFile['upstreams']>[string];
type OAuthSection = NonNullable<Section['oauth']>;

const MINUTE_MS = 60_000;

/** In the order of the file, those only the environment names last. The environment's words win. */
export function readUpstreams(
  sections: NonNullable<ConfigFile['upstreams']>,
  seeds: readonly UpstreamSeed[],
): UpstreamDefinition[] {
  const definitions = new Map<string, UpstreamDefinition>();
  for (const [id, section] of Object.entries(sections)) {
    definitions.set(id, readDefinition(id, section));
  }
  for (const seed of seeds) {
    const { profile, baseUrl, vocabulary, auth, location } = seed;
    const base = definitions.get(profile) ?? readDefinition(profile, { profile });
    definitions.set(profile, {
      ...base,
      baseUrl: baseUrl ?? base.baseUrl,
      vocabulary: vocabulary ?? base.vocabulary,
      auth: auth ?? base.auth,
      location: location ?? base.location,
    });
  }
  return [...definitions.values()];
}

function readDefinition(id: string, section: Section): UpstreamDefinition {
  const { profile } = section;
  const limits = Object.entries(section.limits ?? {});
  return {
    id,
    profile,
    baseUrl: section.base_url,
    vocabulary: section.vocabulary,
    auth: section.auth,
    quotaPath: section.quota_path,
    location: section.location?.trim().toLowerCase(),
    limits: limits.map(([modelId, { requests, window_minutes }]) => ({
      modelId,
      requests,
      windowMs: window_minutes * MINUTE_MS,
    })),
    oauth: readOAuth(profile, section.oauth),
  };
}

function readOAuth(
  profile: UpstreamProfile,
  section: OAuthSection | undefined,
): OAuthDefinition | undefined {
  const known = oauthEndpointsOf(profile);
  const authorizationUrl = section?.authorization_url ?? known?.authorizationUrl;
  const tokenUrl = section?.token_url ?? known?.tokenUrl;
  if (authorizationUrl === undefined || tokenUrl === undefined) return undefined;
  return {
    clientId: section?.client_id ?? '',
    clientSecret: section?.client_secret,
    authorizationUrl,
    tokenUrl,
    revocationUrl: section?.revocation_url ?? known?.revocationUrl,
    userInfoUrl: section?.userinfo_url ?? known?.userInfoUrl,
    issuer: section?.issuer,
    scopes: section?.scopes ?? known?.scopes ?? [],
    redirectUrl: section?.redirect_url,
    extraAuthorizationParameters: {
      ...known?.extraAuthorizationParameters,
      ...section?.extra_parameters,
    },
  };
}
