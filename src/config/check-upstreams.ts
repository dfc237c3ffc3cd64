// Checks the values of `upstreams` that a schema cannot: addresses, ids, and what goes with which profile.

import { told } from '../lib/told.ts';
import { oauthEndpointsOf } from './oauth-endpoints.ts';
import type { ConfigFile } from './schema.ts';
import {
  readBaseUrl,
  readLocation,
  readSecret,
  readServiceUrl,
  readUrl,
  UPSTREAM_PROFILES,
  type UpstreamProfile,
  ValueError,
} from './values.ts';

type Section = NonNullable<ConfigFile['upstreams']>[string];
type OAuthSection = NonNullable<Section['oauth']>;
/** A value and what it must be. */
type Check = readonly [key: string, value: string | undefined, read: (text: string) => unknown];

/** One problem a line, each starting with the JSON path. Secrets are never repeated. */
export function upstreamProblems(sections: NonNullable<ConfigFile['upstreams']>): string[] {
  return Object.entries(sections).flatMap(([id, section]) => {
    const path = /^[A-Za-z_]\w*$/.test(id) ? `upstreams.${id}` : `upstreams[${JSON.stringify(id)}]`;
    return [
      ...idProblems(id, section).map((problem) => `${path}${problem}`),
      ...profileProblems(section).map((problem) => `${path}.${problem}`),
      ...(section.oauth === undefined ? [] : oauthProblems(section.oauth, section.profile)).map(
        (problem) => `${path}.oauth.${problem}`,
      ),
    ];
  });
}

function idProblems(id: string, { profile }: Section): string[] {
  if (!/^[a-z\d][a-z\d._-]{0,39}$/i.test(id)) {
    return [`: ${told`must have an id of up to 40 letters, digits, ".", "_" and "-"`}`];
  }
  const named = UPSTREAM_PROFILES.find((word) => word === id);
  if (named === undefined || named === profile) return [];
  return [
    `.profile: ${told`must be ${named}, because its id is that profile's name; choose another id`}`,
  ];
}

/** Settings that one profile alone has. */
const OWN_KEYS: Readonly<Record<string, UpstreamProfile>> = {
  vocabulary: 'generic',
  auth: 'generic',
  quota_path: 'generic',
  location: 'vertex',
};

function profileProblems(section: Section): string[] {
  const foreign = Object.entries(OWN_KEYS).filter(
    ([key, profile]) => Object.hasOwn(section, key) && section.profile !== profile,
  );
  const checks: readonly Check[] = [
    ['base_url', section.base_url, readBaseUrl],
    ['location', section.location, readLocation],
    ['quota_path', section.quota_path, readUrlPath],
  ];
  const problems = foreign.map(
    ([key, profile]) => `${key}: ${told`only the profile ${profile} has it`}`,
  );
  if (section.profile === 'generic' && section.base_url === undefined) {
    problems.push(told`base_url: must be set for the profile generic`);
  }
  return [...problems, ...tryAll(checks)];
}

/** Parameters the sign-in itself sets; another value would break it or its protection. */
const OWN_PARAMETERS = [
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
];

function oauthProblems(oauth: OAuthSection, profile: string): string[] {
  const known = UPSTREAM_PROFILES.find((word) => word === profile);
  const hasDefaults = known !== undefined && oauthEndpointsOf(known) !== undefined;
  const missing = (['authorization_url', 'token_url'] as const).filter(
    (key) => oauth[key] === undefined && !hasDefaults,
  );
  const taken = Object.keys(oauth.extra_parameters ?? {}).filter((key) =>
    OWN_PARAMETERS.includes(key.toLowerCase()),
  );
  const checks: readonly Check[] = [
    ['client_id', oauth.client_id, readSecret],
    ['client_secret', oauth.client_secret, readSecret],
    ['authorization_url', oauth.authorization_url, readServiceUrl],
    ['token_url', oauth.token_url, readServiceUrl],
    ['revocation_url', oauth.revocation_url, readServiceUrl],
    ['userinfo_url', oauth.userinfo_url, readServiceUrl],
    ['issuer', oauth.issuer, readServiceUrl],
    ['redirect_url', oauth.redirect_url, (text) => readUrl(text, ['http', 'https'])],
    ...(oauth.scopes ?? []).map((scope): Check => ['scopes', scope, readSecret]),
  ];
  return [
    ...missing.map((key) => `${key}: ${told`must be set for the profile ${profile}`}`),
    ...taken.map((key) => `extra_parameters.${key}: ${told`is set by the sign-in itself`}`),
    ...tryAll(checks),
  ];
}

function readUrlPath(text: string): string {
  if (!/^\/[^\s?#\p{Cc}]*$/u.test(text)) {
    throw new ValueError(told`must be a path that starts with "/", without query`);
  }
  return text;
}

function tryAll(checks: readonly Check[]): string[] {
  return checks.flatMap(([key, value, read]) => {
    try {
      if (value !== undefined) read(value);
      return [];
    } catch (error) {
      if (error instanceof ValueError) return [`${key}: ${error.message}`];
      throw error;
    }
  });
}
