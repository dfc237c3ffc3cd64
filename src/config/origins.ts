// Where values in force come from: a flag, the environment, the file or a default. It shows no secret.

import type { JsonValue } from '../lib/json.ts';
import type { Flags, Settings } from './effective.ts';
import { type Environment, type RestartReason, VARIABLES, type Variable } from './env.ts';
import { SETTING_PLACES } from './settings.ts';
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
export interface VariableOrigin
  extends Pick<Variable<unknown>, 'name' | 'summary' | 'fallback' | 'flag'> {
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

interface OriginSources {
  readonly flags: Flags;
  readonly environment: Environment;
}

/** What is in force, where the settings have it under another name. */
const IN_FORCE: { readonly [Key in VariableKey]?: (settings: Settings) => unknown } = {
  webPassword: ({ consolePassword }) => consolePassword,
  otelServiceName: ({ telemetry }) => telemetry?.serviceName,
  otelTracesSampler: ({ telemetry }) => telemetry?.sampler,
  otelTracesSamplerArg: ({ telemetry }) => telemetry?.samplerRatio,
};

interface Row extends Omit<Variable<unknown>, 'read'> {
  readonly key: VariableKey;
  /** Where the config file says the same. */
  readonly at: readonly string[] | undefined;
}

// The keys of an object that was written out are those of its type.
const KEYS = Object.keys(VARIABLES) as readonly VariableKey[];

const ROWS: readonly Row[] = KEYS.map((key) => ({
  ...VARIABLES[key],
  key,
  at: SETTING_PLACES.findLast(({ name }) => name === key)?.path,
}));

/** Every place of the config file whose own value does not count now. */
export function listOverrides(sources: OriginSources): readonly SettingOverride[] {
  return [
    ...ROWS.flatMap((row) => overrideOf(row, sources)),
    ...listUpstreamOverrides(sources.environment),
  ];
}

/** Every variable, in the order of the table. */
export function listVariables(
  sources: OriginSources,
  settings: Settings,
  isInFile: (path: readonly string[]) => boolean,
): readonly VariableOrigin[] {
  return ROWS.map((row) => {
    const { key, name, summary, fallback, flag, shows, at, restart } = row;
    const said = originOf(key, sources);
    const inFile = at !== undefined && isInFile(at) ? 'file' : 'default';
    const value = valueInForce(key, { sources, settings });
    const isSecret = shows === 'secret';
    return {
      ...{ name, summary, fallback, flag, isSecret },
      origin: said ?? inFile,
      value: isSecret ? undefined : writeValue(value, row),
      isSet: value !== undefined,
      settingKey: at?.join('.'),
      restart: restart ?? (at === undefined || said !== undefined ? 'process' : undefined),
    };
  });
}

function overrideOf(row: Row, sources: OriginSources): SettingOverride[] {
  const { key, at: path, flag, name, shows } = row;
  const origin = originOf(key, sources);
  if (path === undefined || origin === undefined) return [];
  const said = given(key, sources);
  const shown = shows === undefined ? toJson(said) : writeValue(said, row);
  const value = shows === 'secret' || shown === undefined ? {} : { value: shown };
  return [{ path, origin, name: origin === 'flag' && flag !== undefined ? flag : name, ...value }];
}

/** The variable's own value where the settings have none. */
function valueInForce(
  key: VariableKey,
  { sources, settings }: { sources: OriginSources; settings: Settings },
): unknown {
  const inForce = IN_FORCE[key];
  if (inForce !== undefined) return inForce(settings);
  const own = new Map<string, unknown>(Object.entries(settings));
  return own.has(key) ? own.get(key) : given(key, sources);
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

/** Who says something of it before the config file. */
function originOf(key: VariableKey, { flags, environment }: OriginSources) {
  const said: Environment = flags;
  if (said[key] !== undefined) return 'flag';
  return environment[key] === undefined ? undefined : 'environment';
}

function given(key: VariableKey, { flags, environment }: OriginSources): unknown {
  const said: Environment = flags;
  return said[key] ?? environment[key];
}

function writeValue(value: unknown, { shows }: Row): string | undefined {
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
