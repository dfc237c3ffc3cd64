// Where the values in force come from, for people to see: a flag, the environment, the config file or a
// default. No secret leaves this file, only whether it is set.

import type { JsonValue } from '../lib/json.ts';
import type { Flags, Settings } from './effective.ts';
import { type Environment, VARIABLES } from './env.ts';
import { readUpstreamSeeds } from './upstreams.ts';

type VariableKey = keyof typeof VARIABLES;

/** A place of the config file that a flag or the environment wins over. */
export interface SettingOverride {
  /** Where it stands in the config file, such as `['proxy', 'port']`. */
  readonly path: readonly string[];
  readonly origin: 'flag' | 'environment';
  /** `--port` or `PORT`. */
  readonly name: string;
  /** What holds instead; absent for secrets. */
  readonly value?: JsonValue;
}

/** One variable of the environment with what is in force in its place. */
export interface VariableOrigin {
  /** `PORT`; a file may hold the value too: `PORT_FILE`. */
  readonly name: string;
  readonly summary: string;
  /** What holds when it is set nowhere, in words. */
  readonly fallback: string;
  readonly flag: string | undefined;
  readonly origin: 'flag' | 'environment' | 'file' | 'default';
  readonly isSecret: boolean;
  /** What is in force, as one would write it; undefined for secrets, and where nothing is. */
  readonly value: string | undefined;
  readonly isSet: boolean;
  /** Where it may stand in the config file instead, such as `proxy.port`. */
  readonly settingKey: string | undefined;
  /** Why a change needs a new start; undefined where the console changes it at once. */
  readonly restart: RestartReason | undefined;
}

/** `socket`: opened once; `path`: read from once; `process`: an environment never changes while it runs. */
type RestartReason = 'socket' | 'path' | 'process';

export interface OriginSources {
  readonly flags: Flags;
  readonly environment: Environment;
}

interface Fact {
  /** Where the config file says the same. */
  readonly at?: readonly string[];
  readonly flag?: keyof Flags;
  readonly shows?: 'secret' | 'host' | 'address';
  /** What is in force; the variable's own value where the settings do not tell. */
  readonly inForce?: (settings: Settings) => unknown;
  readonly restart?: RestartReason;
}

const FACTS: { readonly [Key in VariableKey]: Fact } = {
  apiKey: { at: ['api_key'], shows: 'secret', inForce: ({ apiKey }) => apiKey },
  webPassword: {
    at: ['admin_password'],
    shows: 'secret',
    inForce: ({ consolePassword }) => consolePassword,
  },
  maxBodyBytes: { at: ['proxy', 'max_body_size'], inForce: ({ maxBodyBytes }) => maxBodyBytes },
  distPath: { inForce: ({ distPath }) => distPath, restart: 'path' },
  port: { at: ['proxy', 'port'], flag: 'port', inForce: ({ port }) => port, restart: 'socket' },
  host: { at: ['proxy', 'host'], flag: 'host', inForce: ({ host }) => host, restart: 'socket' },
  authMode: {
    at: ['proxy', 'auth_mode'],
    flag: 'authMode',
    inForce: ({ authMode }) => authMode,
  },
  upstreamProfile: {},
  upstreamBaseUrl: { shows: 'address' },
  upstreamApiKeys: { shows: 'secret' },
  upstreamVocabulary: {},
  upstreamAuth: {},
  upstreamLocation: {},
  upstreamProject: {},
  geminiApiKey: { shows: 'secret' },
  databaseUrl: { shows: 'host' },
  redisUrl: { shows: 'host' },
  trustedProxies: {
    at: ['proxy', 'trusted_proxies'],
    inForce: ({ trustedProxies }) => trustedProxies,
  },
  allowedHosts: { at: ['proxy', 'allowed_hosts'], inForce: ({ allowedHosts }) => allowedHosts },
  corsOrigins: { at: ['proxy', 'cors_origins'], inForce: ({ corsOrigins }) => corsOrigins },
  fetchRemoteMedia: {
    at: ['proxy', 'fetch_remote_media'],
    inForce: ({ fetchRemoteMedia }) => fetchRemoteMedia,
  },
  logLevel: { at: ['proxy', 'log_level'], flag: 'logLevel', inForce: ({ logLevel }) => logLevel },
  otlpEndpoint: { shows: 'address' },
  otlpHeaders: { shows: 'secret' },
  otelServiceName: { inForce: ({ telemetry }) => telemetry?.serviceName },
  otelResourceAttributes: {},
  otelTracesSampler: { inForce: ({ telemetry }) => telemetry?.sampler },
  otelTracesSamplerArg: { inForce: ({ telemetry }) => telemetry?.samplerRatio },
  dataDir: { flag: 'dataDir', inForce: ({ dataDir }) => dataDir, restart: 'path' },
  secretKey: { shows: 'secret' },
};

const FLAG_NAMES: { readonly [Key in keyof Required<Flags>]: string } = {
  host: '--host',
  port: '--port',
  authMode: '--auth-mode',
  logLevel: '--log-level',
  dataDir: '--data-dir',
};

/** Every place of the config file whose own value does not count now. */
export function listOverrides(sources: OriginSources): readonly SettingOverride[] {
  return [
    ...Object.entries(FACTS).flatMap(([key, fact]) => overrideOf(key, fact, sources)),
    ...listUpstreamOverrides(sources.environment),
  ];
}

/** Every variable, in the order of the table. */
export function listVariables(
  sources: OriginSources,
  settings: Settings,
  isInFile: (path: readonly string[]) => boolean,
): readonly VariableOrigin[] {
  return Object.entries(VARIABLES).map(([key, { name, summary, fallback }]) => {
    const fact = factOf(key);
    const origin = originOf(key, fact, { sources, isInFile });
    const value = fact.inForce === undefined ? given(key, fact, sources) : fact.inForce(settings);
    const isSecret = fact.shows === 'secret';
    return {
      name,
      summary,
      fallback,
      flag: fact.flag === undefined ? undefined : FLAG_NAMES[fact.flag],
      origin,
      isSecret,
      value: isSecret ? undefined : writeValue(value, fact),
      isSet: value !== undefined,
      settingKey: fact.at?.join('.'),
      restart: restartOf(fact, origin),
    };
  });
}

function overrideOf(key: string, fact: Fact, sources: OriginSources): SettingOverride[] {
  const { at: path } = fact;
  const value = given(key, fact, sources);
  if (path === undefined || value === undefined) return [];
  const { flag } = fact;
  const origin = flag !== undefined && sources.flags[flag] !== undefined ? 'flag' : 'environment';
  const name = origin === 'flag' && flag !== undefined ? FLAG_NAMES[flag] : variableOf(key).name;
  return [{ path, origin, name, ...(fact.shows === 'secret' ? {} : { value: toJson(value) }) }];
}

/** What the environment says of an upstream wins over the entry of the same id. */
function listUpstreamOverrides(environment: Environment): SettingOverride[] {
  // A key that is the gateway's own changes nothing that is shown here.
  return readUpstreamSeeds(environment, []).flatMap((seed, index) => {
    const { profile, baseUrl, vocabulary, auth, location } = seed;
    const of = (key: string, name: string, value: string | undefined): SettingOverride[] =>
      value === undefined
        ? []
        : [{ path: ['upstreams', profile, key], origin: 'environment', name, value }];
    return [
      ...of('profile', index === 0 ? namingVariable(environment) : 'GEMINI_API_KEY', profile),
      ...of('base_url', 'UPSTREAM_BASE_URL', baseUrl && withoutQuery(baseUrl)),
      ...of('vocabulary', 'ISTHMUS_UPSTREAM_VOCABULARY', vocabulary),
      ...of('auth', 'ISTHMUS_UPSTREAM_AUTH', auth),
      ...of('location', 'ISTHMUS_UPSTREAM_LOCATION', location),
    ];
  });
}

/** The variable by which there is an upstream of the environment at all. */
function namingVariable(environment: Environment): string {
  const keys = ['upstreamProfile', 'upstreamBaseUrl', 'upstreamApiKeys'] as const;
  const key = keys.find((one) => environment[one] !== undefined);
  return VARIABLES[key ?? 'geminiApiKey'].name;
}

function originOf(
  key: string,
  { at, flag }: Fact,
  { sources, isInFile }: { sources: OriginSources; isInFile: (path: readonly string[]) => boolean },
): VariableOrigin['origin'] {
  if (flag !== undefined && sources.flags[flag] !== undefined) return 'flag';
  if (readOf(sources.environment, key) !== undefined) return 'environment';
  return at !== undefined && isInFile(at) ? 'file' : 'default';
}

function restartOf(
  { at, restart }: Fact,
  origin: VariableOrigin['origin'],
): RestartReason | undefined {
  if (restart !== undefined) return restart;
  return at === undefined || origin === 'environment' || origin === 'flag' ? 'process' : undefined;
}

/** What a flag or the variable says. */
function given(key: string, { flag }: Fact, { flags, environment }: OriginSources): unknown {
  return (flag === undefined ? undefined : flags[flag]) ?? readOf(environment, key);
}

function factOf(key: string): Fact {
  return Object.entries(FACTS).find(([name]) => name === key)?.[1] ?? {};
}

function variableOf(key: string): { readonly name: string } {
  return Object.entries(VARIABLES).find(([name]) => name === key)?.[1] ?? { name: key };
}

function readOf(environment: Environment, key: string): unknown {
  return Object.entries(environment).find(([name]) => name === key)?.[1];
}

function writeValue(value: unknown, { shows }: Fact): string | undefined {
  if (value === undefined) return undefined;
  if (shows === 'host') return new URL(String(value)).host;
  if (shows === 'address') return withoutQuery(String(value));
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, each]) => `${name}=${each}`)
    .join(', ');
}

/** What stands behind the path of an address may be a credential. */
function withoutQuery(address: string): string {
  return address.replace(/[?#].*$/s, '');
}

function toJson(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'number' || typeof value === 'boolean' ? value : String(value);
}
