// Puts flags, environment, file and defaults together: the settings the gateway runs on.

import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ThinkingMode } from '../canonical/effort.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import type { Environment } from './env.ts';
import {
  type AddressFilterSettings,
  type ConfigFile,
  type ConsoleSettings,
  type ExternalProviderSettings,
  type FamiliesSettings,
  type MonitorSettings,
  type PoolSettings,
  PROXY_DEFAULTS,
  type QuotaSettings,
  readAddressFilterSettings,
  readConsoleSettings,
  readExternalProvider,
  readMonitorSettings,
  readPoolSettings,
  readQuotaSettings,
} from './settings.ts';
import {
  readUpstreamSeeds,
  readUpstreams,
  refusedSeeds,
  type UpstreamDefinition,
  type UpstreamSeed,
} from './upstreams.ts';
import { AUTH_MODES, type AuthMode, type LogLevel, readWord, type TraceSampler } from './values.ts';

/** What the command line says; absent means nothing was said. */
export interface Flags {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly authMode?: AuthMode | undefined;
  readonly logLevel?: LogLevel | undefined;
  readonly dataDir?: string | undefined;
}

export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly authMode: AuthMode;
  /** The key clients send; undefined when none is configured. */
  readonly apiKey: string | undefined;
  /** Console login: `WEB_PASSWORD`, then `admin_password`, then the API key. */
  readonly consolePassword: string | undefined;
  readonly maxBodyBytes: number;
  readonly distPath: string;
  readonly customMapping: Readonly<Record<string, string>>;
  readonly families: FamiliesSettings;
  readonly externalProvider: ExternalProviderSettings;
  readonly trustedProxies: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly corsOrigins: readonly string[];
  /** Whether media that requests name by address are fetched. */
  readonly fetchRemoteMedia: boolean;
  readonly thinking: ThinkingMode;
  readonly logLevel: LogLevel;
  readonly dataDir: string;
  readonly pool: PoolSettings;
  readonly quota: QuotaSettings;
  readonly addressFilter: AddressFilterSettings;
  readonly console: ConsoleSettings;
  readonly monitor: MonitorSettings;
  /** Of the config file and the environment; ids are unique. */
  readonly upstreams: readonly UpstreamDefinition[];
  /** Accounts of the environment, by the profile's name as the id of their upstream. */
  readonly upstreamSeeds: readonly UpstreamSeed[];
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  /** Where traces and metrics go; undefined when nowhere. */
  readonly telemetry: TelemetrySettings | undefined;
  readonly secretKey: string | undefined;
  /** What was set but does nothing, for the log and the overview. */
  readonly warnings: readonly Sentence[];
}

export interface SettingsSources {
  readonly flags?: Flags | undefined;
  readonly environment: Environment;
  readonly file: ConfigFile;
}

const DEFAULT_DIST_PATH = 'dist';
/** One object, so that settings that say nothing of them never look changed. */
const NO_FAMILIES: FamiliesSettings = {};

/** Flags win over environment, environment over file, file over defaults. @throws ConfigError */
export function resolveSettings({ flags = {}, environment, file }: SettingsSources): Settings {
  const { proxy = {} } = file;
  const apiKey = environment.apiKey ?? file.api_key;
  const ownKeys = [environment.apiKey, file.api_key].filter((key) => key !== undefined);
  const upstreamSeeds = readUpstreamSeeds(environment, ownKeys);
  const upstreams = readUpstreams(file.upstreams ?? {}, upstreamSeeds);
  return {
    host: flags.host ?? environment.host ?? proxy.host ?? PROXY_DEFAULTS.host.default,
    port: flags.port ?? environment.port ?? proxy.port ?? PROXY_DEFAULTS.port.default,
    authMode:
      flags.authMode ??
      environment.authMode ??
      readWord(proxy.auth_mode ?? file.auth_mode ?? PROXY_DEFAULTS.auth_mode.default, AUTH_MODES),
    apiKey,
    consolePassword: environment.webPassword ?? file.admin_password ?? apiKey,
    maxBodyBytes:
      environment.maxBodyBytes ?? proxy.max_body_size ?? PROXY_DEFAULTS.max_body_size.default,
    distPath: environment.distPath ?? DEFAULT_DIST_PATH,
    customMapping: proxy.custom_mapping ?? {},
    families: proxy.families ?? NO_FAMILIES,
    externalProvider: readExternalProvider(proxy.extprov),
    trustedProxies: environment.trustedProxies ?? proxy.trusted_proxies ?? [],
    allowedHosts: environment.allowedHosts ?? proxy.allowed_hosts ?? [],
    corsOrigins: environment.corsOrigins ?? proxy.cors_origins ?? [],
    fetchRemoteMedia:
      environment.fetchRemoteMedia ??
      proxy.fetch_remote_media ??
      PROXY_DEFAULTS.fetch_remote_media.default,
    thinking: readThinkingMode(proxy.thinking),
    logLevel:
      flags.logLevel ?? environment.logLevel ?? proxy.log_level ?? PROXY_DEFAULTS.log_level.default,
    dataDir: resolveDataDir(flags, environment),
    pool: readPoolSettings(proxy.pool),
    quota: readQuotaSettings(proxy.quota),
    addressFilter: readAddressFilterSettings(proxy.ip_filter),
    console: readConsoleSettings(proxy.console),
    monitor: readMonitorSettings(proxy.monitor),
    upstreams,
    upstreamSeeds,
    databaseUrl: environment.databaseUrl,
    redisUrl: environment.redisUrl,
    telemetry: readTelemetrySettings(environment),
    secretKey: environment.secretKey,
    warnings: [
      ...(environment.strays ?? []),
      ...refusedSeeds(environment, ownKeys),
      ...sayUnaddressed(upstreams),
      ...sayUnused(environment, file),
    ],
  };
}

/** Requests are answered with what is missing, so that the console can be opened all the same. */
function sayUnaddressed(upstreams: Settings['upstreams']): Sentence[] {
  const isMute = upstreams.some(({ profile, baseUrl }) => profile === 'generic' && !baseUrl);
  if (!isMute) return [];
  return [told`UPSTREAM_PROFILE=generic needs an address: set UPSTREAM_BASE_URL.`];
}

/** Settings of later parts: whoever sets one should know that it does nothing yet. */
function sayUnused({ databaseUrl, redisUrl }: Environment, { proxy }: ConfigFile): Sentence[] {
  const unused = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  const sentences = Object.entries(unused).flatMap(([name, value]) =>
    value === undefined ? [] : [told`${name} is set, but nothing uses it yet.`],
  );
  if (proxy?.extprov?.enabled === true) {
    sentences.push(
      told`proxy.extprov.enabled is true in the config file, but the external provider does not work yet: it is treated as off.`,
    );
  }
  return sentences;
}

type ThinkingSection = NonNullable<NonNullable<ConfigFile['proxy']>['thinking']>;

function readThinkingMode(section: ThinkingSection = {}): ThinkingMode {
  const { mode, budget } = PROXY_DEFAULTS.thinking.properties;
  const kind = section.mode ?? mode.default;
  return kind === 'custom' ? { kind, tokens: section.budget ?? budget.default } : { kind };
}

/** The data folder; it must be known before the config file can be read. */
export function resolveDataDir(flags: Flags, environment: Environment): string {
  return flags.dataDir ?? environment.dataDir ?? join(homedir(), '.isthmus');
}

export function configPath(dataDir: string): string {
  return join(dataDir, 'gui_config.json');
}

// Where traces and metrics of the gateway go, with the defaults filled in.

export interface TelemetrySettings {
  /** The address below which `/v1/traces` and `/v1/metrics` are. */
  readonly endpoint: string;
  /** May hold credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly sampler: TraceSampler;
  /** The part of all traces that a sampler by ratio keeps, 0 to 1. */
  readonly samplerRatio: number;
}

/** Undefined without an endpoint: the other variables then say nothing. */
export function readTelemetrySettings(environment: Environment): TelemetrySettings | undefined {
  const { otlpEndpoint, otelResourceAttributes: resourceAttributes = {} } = environment;
  if (otlpEndpoint === undefined) return undefined;
  return {
    endpoint: otlpEndpoint,
    headers: environment.otlpHeaders ?? {},
    serviceName: environment.otelServiceName ?? resourceAttributes['service.name'] ?? 'isthmus',
    resourceAttributes,
    sampler: environment.otelTracesSampler ?? 'parentbased_always_on',
    samplerRatio: environment.otelTracesSamplerArg ?? 1,
  };
}
