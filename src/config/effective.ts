// Merges flags, environment, file and defaults: the settings the gateway runs on.

import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ThinkingMode } from '../canonical/effort.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import type { OutboundProxies, OutboundProxy } from '../lib/outbound-proxy.ts';
import { DEFAULT_DIST_PATH, type Environment } from './env.ts';
import {
  type AlertChannels,
  type ConfigFile,
  type FamiliesSettings,
  findUnknownKeys,
  PROXY_SCHEMA,
  type PriceSettings,
  placesOf,
  readSection,
  type TargetsSettings,
} from './settings.ts';
import {
  ADDRESSLESS,
  readUpstreamSeeds,
  readUpstreams,
  refusedSeeds,
  type UpstreamDefinition,
  type UpstreamSeed,
} from './upstreams.ts';
import { AUTH_MODES, readWord } from './values.ts';

/** What the command line says; absent means nothing was said. */
export type Flags = Pick<Environment, 'host' | 'port' | 'authMode' | 'logLevel' | 'dataDir'>;

/** The values of `proxy`, and what the environment adds to them. */
export type Settings = Readonly<ReturnType<typeof resolveSettings>>;

interface SettingsSources {
  readonly flags?: Flags | undefined;
  readonly environment: Environment;
  readonly file: ConfigFile;
}

/** One object each, so that settings that say nothing of them never look changed. */
const NO_FAMILIES: FamiliesSettings = {};
const NO_TARGETS: TargetsSettings = {};
const NO_PRICES: PriceSettings = {};
const NO_CHANNELS: AlertChannels = {};

/** Flags win over environment, environment over file, file over defaults. @throws ConfigError */
export function resolveSettings({ flags = {}, environment, file }: SettingsSources) {
  const { proxy = {} } = file;
  const apiKey = environment.apiKey ?? file.api_key;
  const { webPassword } = environment;
  const ownKeys = [environment.apiKey, file.api_key, webPassword, file.admin_password].filter(
    (key) => key !== undefined,
  );
  const upstreamSeeds: readonly UpstreamSeed[] = readUpstreamSeeds(environment, ownKeys);
  const upstreams: readonly UpstreamDefinition[] = readUpstreams(
    file.upstreams ?? {},
    upstreamSeeds,
  );
  const values = readSection(PROXY_SCHEMA, proxy);
  const { mode, budget } = values.thinking;
  const thinking: ThinkingMode =
    mode === 'custom' ? { kind: mode, tokens: budget } : { kind: mode };
  const fromFile = {
    ...values,
    authMode: readWord(proxy.auth_mode ?? file.auth_mode ?? values.authMode, AUTH_MODES),
    /** The steps of models that mappings go to as `@name`. */
    targets: proxy.targets ?? NO_TARGETS,
    families: proxy.families ?? NO_FAMILIES,
    prices: proxy.prices ?? NO_PRICES,
    alertChannels: proxy.alerts?.channels ?? NO_CHANNELS,
    thinking,
  };
  const inForce = override(override(fromFile, environment), flags);
  return {
    ...inForce,
    /** The proxies that calls of the gateway go through. */
    outbound: readOutbound(environment, inForce),
    /** The key clients send; undefined when none is configured. */
    apiKey,
    /** Console login: `WEB_PASSWORD`, then `admin_password`, then the API key. */
    consolePassword: webPassword ?? file.admin_password ?? apiKey,
    distPath: environment.distPath ?? DEFAULT_DIST_PATH,
    dataDir: resolveDataDir(flags, environment),
    /** Of the config file and the environment; ids are unique. */
    upstreams,
    /** Accounts of the environment, by the profile's name as the id of their upstream. */
    upstreamSeeds,
    telemetry: readTelemetrySettings(environment),
    secretKey: environment.secretKey,
    drainDelayMs: 1000 * (environment.drainDelay ?? 0),
    /** What was set but does nothing, for the log and the overview. */
    warnings: [
      ...(environment.strays ?? []),
      ...refusedSeeds(environment, ownKeys),
      ...missingAddressWarnings(upstreams),
      ...unusedWarnings(file),
      ...misplacedWarnings(file),
    ],
  };
}

interface OutboundSettings extends OutboundProxies {
  /** `user:password` for the proxy of the config file, plain or sealed. */
  readonly credential: string | undefined;
}

/** A setting of our own wins over the variables of all programs. */
function readOutbound(
  environment: Environment,
  settings: Pick<
    ReturnType<typeof readSection<typeof PROXY_SCHEMA>>,
    'outboundProxy' | 'outboundProxyCredential' | 'noProxy'
  >,
): OutboundSettings {
  const { outboundProxy, outboundProxyCredential, noProxy } = settings;
  const isFromFile = environment.outboundProxy === undefined;
  const named = (source: string, url: string | undefined): OutboundProxy | undefined =>
    url === undefined ? undefined : { source, url };
  const any = named('ALL_PROXY', environment.allProxy);
  return {
    all: named(isFromFile ? 'proxy.outbound_proxy' : 'ISTHMUS_OUTBOUND_PROXY', outboundProxy),
    http: named('HTTP_PROXY', environment.httpProxy) ?? any,
    https: named('HTTPS_PROXY', environment.httpsProxy) ?? any,
    direct: noProxy,
    credential: isFromFile ? outboundProxyCredential : undefined,
  };
}

/** Requests are answered with what is missing, so that the console can be opened all the same. */
function missingAddressWarnings(upstreams: readonly UpstreamDefinition[]): Sentence[] {
  const mute = upstreams.find(({ profile, baseUrl }) => ADDRESSLESS.includes(profile) && !baseUrl);
  if (mute === undefined) return [];
  return [told`UPSTREAM_PROFILE=${mute.profile} needs an address: set UPSTREAM_BASE_URL.`];
}

function unusedWarnings({ proxy }: ConfigFile): Sentence[] {
  const { enabled, base_url: address, api_key: key } = proxy?.extprov ?? {};
  const missing = address === undefined ? 'proxy.extprov.base_url' : 'proxy.extprov.api_key';
  if (enabled !== true || (address && key)) return [];
  return [told`The external provider is enabled, but serves nothing: set ${missing}.`];
}

/** Of settings that stand at another level than their own. */
function misplacedWarnings(file: ConfigFile): Sentence[] {
  return findUnknownKeys(file).flatMap(({ path }) => {
    const meant = placesOf(path.at(-1) ?? '').join(' or ');
    if (meant === '') return [];
    const key = path.join('.');
    return [told`The setting ${key} is not known and does nothing. Did you mean ${meant}?`];
  });
}

/** What `over` says of the same names wins. */
function override<Values extends object>(
  values: Values,
  over: { readonly [Name in keyof Values]?: Values[Name] | undefined },
): Values {
  const given = Object.entries(over).filter(
    ([name, value]) => value !== undefined && Object.hasOwn(values, name),
  );
  return { ...values, ...Object.fromEntries(given) };
}

/** The data folder; it must be known before the config file can be read. */
export function resolveDataDir(flags: Flags, environment: Environment): string {
  return flags.dataDir ?? environment.dataDir ?? join(homedir(), '.isthmus');
}

export function configPath(dataDir: string): string {
  return join(dataDir, 'gui_config.json');
}

/** Where traces and metrics go. Undefined without an endpoint: the other variables then say nothing. */
function readTelemetrySettings(environment: Environment) {
  const { otlpEndpoint, otelResourceAttributes: resourceAttributes = {} } = environment;
  if (otlpEndpoint === undefined) return undefined;
  return {
    /** The address below which `/v1/traces` and `/v1/metrics` are. */
    endpoint: otlpEndpoint,
    /** May hold credentials. */
    headers: environment.otlpHeaders ?? {},
    serviceName: environment.otelServiceName ?? resourceAttributes['service.name'] ?? 'isthmus',
    resourceAttributes,
    sampler: environment.otelTracesSampler ?? 'parentbased_always_on',
    /** The part of all traces that a sampler by ratio keeps, 0 to 1. */
    samplerRatio: environment.otelTracesSamplerArg ?? 1,
  };
}
