// Puts flags, environment, file and defaults together: the settings the gateway runs on.

import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ThinkingMode } from '../canonical/effort.ts';
import {
  type AddressFilterSettings,
  type ConsoleSettings,
  readAddressFilterSettings,
  readConsoleSettings,
} from './door-settings.ts';
import type { Environment } from './env.ts';
import { type ExternalProviderSettings, readExternalProvider } from './external-provider.ts';
import { type MonitorSettings, readMonitorSettings } from './monitor-settings.ts';
import {
  type PoolSettings,
  type QuotaSettings,
  readPoolSettings,
  readQuotaSettings,
} from './pool-settings.ts';
import { type ConfigFile, PROXY_DEFAULTS } from './schema.ts';
import { readTelemetrySettings, type TelemetrySettings } from './telemetry-settings.ts';
import { readUpstreamSeeds, type UpstreamSeed } from './upstream-seeds.ts';
import { readUpstreams, type UpstreamDefinition } from './upstreams.ts';
import { AUTH_MODES, type AuthMode, type LogLevel, readWord } from './values.ts';

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
}

export interface SettingsSources {
  readonly flags?: Flags | undefined;
  readonly environment: Environment;
  readonly file: ConfigFile;
}

const DEFAULT_DIST_PATH = 'dist';

/** Flags win over environment, environment over file, file over defaults. @throws ConfigError */
export function resolveSettings({ flags = {}, environment, file }: SettingsSources): Settings {
  const { proxy = {} } = file;
  const upstreamSeeds = readUpstreamSeeds(environment);
  const apiKey = environment.apiKey ?? file.api_key;
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
    upstreams: readUpstreams(file.upstreams ?? {}, upstreamSeeds),
    upstreamSeeds,
    databaseUrl: environment.databaseUrl,
    redisUrl: environment.redisUrl,
    telemetry: readTelemetrySettings(environment),
    secretKey: environment.secretKey,
  };
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
