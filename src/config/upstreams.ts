// The upstreams of config file and environment with their defaults, and the checks of their values.

import { distinct, type Sentence, told } from '../lib/localized-message.ts';
import { looksLikeKeySecret } from '../lib/redact.ts';
import type { Environment } from './env.ts';
import {
  type ConfigFile,
  type EffectiveSection,
  OAUTH_SCHEMA,
  readSection,
  UPSTREAM_SCHEMA,
} from './settings.ts';
import {
  ConfigError,
  headerFaults,
  UPSTREAM_PROFILES,
  type UpstreamProfile,
  whyUncarried,
} from './values.ts';

export interface UpstreamDefinition
  extends Omit<
    EffectiveSection<typeof UPSTREAM_SCHEMA.properties>,
    'profile' | 'limits' | 'oauth'
  > {
  /** Chosen by the operator; the profile's name for upstreams of the environment. */
  readonly id: string;
  readonly profile: UpstreamProfile;
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

/** The client id is empty when the operator has named no client: service accounts need none. */
type OAuthDefinition = EffectiveSection<typeof OAUTH_SCHEMA.properties> &
  Pick<typeof GOOGLE, 'authorizationUrl' | 'tokenUrl'> & {
    readonly clientId: string;
    readonly scopes: readonly string[];
  };

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
  for (const { profile, apiKeys: _keys, projectId: _project, ...seed } of seeds) {
    const base = definitions.get(profile) ?? readDefinition(profile, { profile });
    const given = Object.entries(seed).filter(([, value]) => value !== undefined);
    definitions.set(profile, { ...base, ...Object.fromEntries(given) });
  }
  return [...definitions.values()];
}

function readDefinition(id: string, section: Section): UpstreamDefinition {
  const { profile, limits = {} } = section;
  const { oauth: _, ...values } = readSection(UPSTREAM_SCHEMA, section);
  return {
    ...values,
    id,
    profile,
    location: values.location?.trim().toLowerCase(),
    limits: Object.entries(limits).map(([modelId, { requests, window_minutes }]) => ({
      modelId,
      requests,
      windowMs: window_minutes * MINUTE_MS,
    })),
    oauth: readOAuth(profile, section.oauth),
  };
}

function readOAuth(profile: UpstreamProfile, section: OAuthSection | undefined) {
  const known = oauthEndpointsOf(profile);
  const given = readSection(OAUTH_SCHEMA, section ?? {});
  const authorizationUrl = given.authorizationUrl ?? known?.authorizationUrl;
  const tokenUrl = given.tokenUrl ?? known?.tokenUrl;
  if (authorizationUrl === undefined || tokenUrl === undefined) return undefined;
  return {
    ...given,
    authorizationUrl,
    tokenUrl,
    clientId: given.clientId ?? '',
    revocationUrl: given.revocationUrl ?? known?.revocationUrl,
    userInfoUrl: given.userInfoUrl ?? known?.userInfoUrl,
    scopes: given.scopes ?? known?.scopes ?? [],
    extraAuthorizationParameters: {
      ...known?.extraAuthorizationParameters,
      ...given.extraAuthorizationParameters,
    },
  };
}

/** An upstream with accounts from the environment; its profile is its id. */
export interface UpstreamSeed
  extends Pick<UpstreamDefinition, 'profile' | 'baseUrl' | 'vocabulary' | 'auth' | 'location'> {
  /** One account a key: `key-1@env`, `key-2@env`, …; empty when accounts come from elsewhere. */
  readonly apiKeys: readonly string[];
  /** Of every account here. */
  readonly projectId: string | undefined;
}

/** `GEMINI_API_KEY` gives its key to the upstream of `UPSTREAM_*`, or makes one. @throws ConfigError */
export function readUpstreamSeeds(
  environment: Environment,
  ownKeys: readonly string[],
): UpstreamSeed[] {
  const { geminiApiKey: key } = environment;
  const main = readMainSeed(environment, ownKeys);
  const seeds = main === undefined ? [] : [main];
  if (key === undefined || refusedKey(key, { ownKeys, isPublic: true }) !== undefined) return seeds;
  if (main?.profile !== 'gemini-api') return [...seeds, { ...PUBLIC_API, apiKeys: [key] }];
  return main.apiKeys.length === 0 ? [{ ...main, apiKeys: [key] }] : seeds;
}

/** Why keys of the environment make no account, a sentence each. */
export function refusedSeeds(
  { geminiApiKey, upstreamApiKeys = [], upstreamBaseUrl }: Environment,
  ownKeys: readonly string[],
): Sentence[] {
  const say = (name: string, keys: readonly string[], isPublic: boolean): Sentence[] => {
    const reasons = distinct(keys.flatMap((key) => refusedKey(key, { ownKeys, isPublic }) ?? []));
    return reasons.map((reason) => told`A key of ${name} makes no account: it ${reason}.`);
  };
  return [
    ...say('GEMINI_API_KEY', [geminiApiKey ?? []].flat(), true),
    ...say('UPSTREAM_API_KEYS', upstreamApiKeys, upstreamBaseUrl === undefined),
  ];
}

function readMainSeed(
  environment: Environment,
  ownKeys: readonly string[],
): UpstreamSeed | undefined {
  const { upstreamProfile, upstreamBaseUrl: baseUrl, upstreamApiKeys } = environment;
  const { upstreamLocation: location, upstreamProject: projectId } = environment;
  if (location !== undefined && upstreamProfile !== 'vertex') {
    throw new ConfigError('The environment', [
      'ISTHMUS_UPSTREAM_LOCATION is for UPSTREAM_PROFILE=vertex only',
    ]);
  }
  if (upstreamProfile === undefined && baseUrl === undefined && upstreamApiKeys === undefined) {
    return undefined;
  }
  const profile = upstreamProfile ?? (baseUrl === undefined ? 'gemini-api' : 'generic');
  return {
    profile,
    baseUrl,
    apiKeys: [...new Set(upstreamApiKeys)].filter(
      (key) => refusedKey(key, { ownKeys, isPublic: baseUrl === undefined }) === undefined,
    ),
    vocabulary: environment.upstreamVocabulary,
    auth: environment.upstreamAuth,
    location,
    projectId,
  };
}

const PUBLIC_API: Omit<UpstreamSeed, 'apiKeys'> = {
  ...{ profile: 'gemini-api', baseUrl: undefined, vocabulary: undefined },
  ...{ auth: undefined, location: undefined, projectId: undefined },
};

/** One problem a line, each starting with the JSON path. Secrets are never repeated. */
export function upstreamProblems(sections: NonNullable<ConfigFile['upstreams']>): Sentence[] {
  return Object.entries(sections).flatMap(([id, section]) => {
    const path = /^[A-Za-z_]\w*$/.test(id) ? `upstreams.${id}` : `upstreams[${JSON.stringify(id)}]`;
    const { oauth, profile } = section;
    return [
      ...idProblems(id, section).map(placedIn(path)),
      ...profileProblems(section).map(placedIn(`${path}.`)),
      ...(oauth === undefined ? [] : oauthProblems(oauth, profile)).map(placedIn(`${path}.oauth.`)),
    ];
  });
}

/** What is wrong, and the rest of the path to it. */
type Problem = readonly [place: string, why: Sentence];

function placedIn(path: string): (problem: Problem) => Sentence {
  return ([place, why]) => told`${path + place}: ${why}`;
}

function idProblems(id: string, { profile }: Section): Problem[] {
  if (!/^[a-z\d][a-z\d._-]{0,39}$/i.test(id)) {
    return [['', told`must have an id of up to 40 letters, digits, ".", "_" and "-"`]];
  }
  if (id === PROVIDER_ID) return [['', told`is the id of the external provider; choose another`]];
  const named = UPSTREAM_PROFILES.find((word) => word === id);
  if (named === undefined || named === profile) return [];
  const why = told`must be ${named}, because its id is that profile's name; choose another id`;
  return [['.profile', why]];
}

/** Settings that one profile alone has. */
const OWN_KEYS: Readonly<Record<string, readonly UpstreamProfile[]>> = {
  vocabulary: ['generic'],
  auth: ['generic', 'messages', 'openai-compatible'],
  quota_path: ['generic'],
  location: ['vertex'],
  key_header: ['openai-compatible'],
  headers: ['openai', 'openai-compatible'],
  query: ['openai-compatible'],
  paths: ['openai-compatible'],
  endpoints: ['openai', 'openai-compatible'],
  quirks: ['openai-compatible'],
  ends_with: ['openai-compatible'],
  extra_body: ['openai-compatible'],
};

export const ADDRESSLESS: readonly UpstreamProfile[] = ['generic', 'messages', 'openai-compatible'];

/** The id of the external provider, which is an upstream of its own. */
export const PROVIDER_ID = 'extprov';

function profileProblems(section: Section): Problem[] {
  const foreign = Object.entries(OWN_KEYS).filter(
    ([key, profiles]) => Object.hasOwn(section, key) && !profiles.includes(section.profile),
  );
  const problems = foreign.map(
    ([key, profiles]): Problem => [key, told`only the profile ${profiles.join(', ')} has it`],
  );
  const { headers = {}, key_header: keyHeader = 'api-key' } = section;
  problems.push(
    ...headerFaults(headers).map((why): Problem => ['headers', why]),
    ...headerFaults({ [keyHeader]: '' }).map((why): Problem => ['key_header', why]),
  );
  if (section.profile === 'messages' && section.auth === 'query') {
    problems.push(['auth', told`must be one of ${'bearer, header'}`]);
  }
  if (ADDRESSLESS.includes(section.profile) && section.base_url === undefined) {
    problems.push(['base_url', told`must be set for the profile ${section.profile}`]);
  }
  return problems;
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

function oauthProblems(oauth: OAuthSection, profile: string): Problem[] {
  const known = UPSTREAM_PROFILES.find((word) => word === profile);
  const hasDefaults = known !== undefined && oauthEndpointsOf(known) !== undefined;
  const missing = (['authorization_url', 'token_url'] as const).filter(
    (key) => oauth[key] === undefined && !hasDefaults,
  );
  const taken = Object.keys(oauth.extra_parameters ?? {}).filter((key) =>
    OWN_PARAMETERS.includes(key.toLowerCase()),
  );
  return [
    ...missing.map((key): Problem => [key, told`must be set for the profile ${profile}`]),
    ...taken.map((key): Problem => [`extra_parameters.${key}`, told`is set by the sign-in itself`]),
  ];
}

/**
 * `access_type=offline` asks for a refresh token, `prompt=consent` for one at every sign-in.
 * Sources: "Using OAuth 2.0 for Web Server Applications" and the OpenID Connect discovery document
 * of the provider; Vertex AI and Gemini API, "Authentication".
 */
const GOOGLE = {
  authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  revocationUrl: 'https://oauth2.googleapis.com/revoke',
  userInfoUrl: 'https://openidconnect.googleapis.com/v1/userinfo',
  scopes: ['openid', 'email', 'https://www.googleapis.com/auth/cloud-platform'],
  extraAuthorizationParameters: { access_type: 'offline', prompt: 'consent' },
};

/** Undefined for profiles whose provider is not known beforehand. */
function oauthEndpointsOf(profile: UpstreamProfile): typeof GOOGLE | undefined {
  return profile === 'gemini-api' || profile === 'vertex' ? GOOGLE : undefined;
}

/** What documentation, examples and tests put where a key belongs: it is made of these words alone. */
const EXAMPLE_WORDS = [
  'a actual add ai an any anything api change dummy empty enter example fake from gemini goes google',
  'here ignored insert is isthmus key local me my n/a needed no none not null openai own password paste',
  'placeholder put real replace required sample secret sk some studio test the this todo token',
  'undefined unused upstream value with x your',
].flatMap((line) => line.split(' '));

const EXAMPLE = new RegExp(`^(?:\\d+|(?:${EXAMPLE_WORDS.join('|')})*|[*.]+)$`);

/** A name whose value was not put in, and a key that was shortened for the eye. */
const UNFILLED = /^(?:\$\{?\w+\}?|%\w+%|<.*>|\{\{.*\}\})$|\.{3}|…|\*{3}|x{6}/i;

/** Why a key is refused, without it. `isPublic`: of a public API; other services may take any word. */
export function refusedKey(
  key: string,
  {
    ownKeys,
    isPublic,
  }: { readonly ownKeys: readonly (string | undefined)[]; readonly isPublic: boolean },
): Sentence | undefined {
  const plain = key
    .trim()
    .toLowerCase()
    .replaceAll(/[<>[\]{}$%"']/g, '');
  const words = plain.split(/[-_\s]+/);
  const isPlaceholder = UNFILLED.test(key.trim()) || words.every((word) => EXAMPLE.test(word));
  if (plain === '' || (isPublic && isPlaceholder)) {
    return told`is a placeholder, not a key: put the key that the upstream gave you`;
  }
  if (ownKeys.includes(key) || looksLikeKeySecret(key)) {
    return told`is a key or the password of this gateway, not a key of an upstream: put the key that the upstream gave you`;
  }
  return whyUncarried(key);
}
