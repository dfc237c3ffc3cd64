// The environment variables the gateway reads; the only place that touches process.env.

import { existsSync, readFileSync } from 'node:fs';
import { type Sentence, told } from '../lib/localized-message.ts';
import { nearestOf } from '../lib/names.ts';
import {
  CONFIG_SCHEMA,
  DEFAULTS,
  type PlainValue,
  PROXY_SCHEMA,
  type SettingSchema,
} from './settings.ts';
import {
  AUTH_MODES,
  ConfigError,
  readBaseUrl,
  readDirectHosts,
  readHeaders,
  readHost,
  readList,
  readLocation,
  readOneLine,
  readPairs,
  readPath,
  readProxy,
  readRatio,
  readReplicaName,
  readSecret,
  readSwitch,
  readUrl,
  readWord,
  readWorkers,
  TRACE_SAMPLERS,
  UPSTREAM_PROFILES,
  ValueError,
  wholeNumber,
} from './values.ts';

const OWN_PREFIX = /^(?:UPSTREAM|ISTHMUS|ABV)_/;
/** Kubernetes sets these for each service, also for one of these names; and `_PORT`, to an address. */
const SERVICE_LINK = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)$/;
const SERVICE_ADDRESS = /^\w+:\/\//;
/** Names as short as `PORT` are near to too many others. */
const MIN_LENGTH = 7;

/** Of other programs, and near to ours. */
const OTHERS = ['FTP_PROXY', 'ftp_proxy', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'];

/** One sentence each; values are never repeated. */
function findStrayVariables(
  variables: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): readonly Sentence[] {
  const known = new Set(names.flatMap((name) => [name, `${name}_FILE`]));
  const isServiceLink = (name: string): boolean =>
    SERVICE_LINK.test(name) ||
    (name.endsWith('_PORT') && SERVICE_ADDRESS.test(variables[name] ?? ''));
  const findMeant = nearestOf(
    [...known].filter((name) => name.length >= MIN_LENGTH && !variables[name]),
  );
  return Object.keys(variables)
    .filter((name) => (variables[name] ?? '') !== '' && !known.has(name))
    .filter((name) => !OTHERS.includes(name) && !isServiceLink(name))
    .sort()
    .flatMap((name) => {
      const isOurs = OWN_PREFIX.test(name);
      const meant = findMeant(name) ?? (isOurs ? otherPrefix(name, known) : undefined);
      if (meant !== undefined) {
        return [told`The variable ${name} is not known and does nothing. Did you mean ${meant}?`];
      }
      return isOurs ? [told`The variable ${name} is not known and does nothing.`] : [];
    });
}

/** The variable of the same name with another prefix or none, such as `PORT` for `ISTHMUS_PORT`. */
function otherPrefix(name: string, known: Iterable<string>): string | undefined {
  const bare = (one: string): string => one.replace(OWN_PREFIX, '');
  return [...known].find((one) => bare(one) === bare(name));
}

export interface Variable<Value> extends VariableFacts {
  readonly name: string;
  /** What holds when the variable is not set, in words. */
  readonly fallback: string;
  /** @throws ValueError saying what the value must be. */
  read(text: string): Value;
}

interface VariableFacts {
  readonly summary: string;
  readonly fallback?: string;
  /** The flag of the command line that wins over it. */
  readonly flag?: `--${string}` | undefined;
  /** What of its value people may see; all of it when absent. */
  readonly shows?: 'secret' | 'host' | 'address' | undefined;
  /** Why a change needs a new start wherever it was said. */
  readonly restart?: RestartReason | undefined;
  /** True for variables of all programs, which are usual in lower case as well; that spelling wins, as for curl. */
  readonly isLowerToo?: boolean | undefined;
}

/** `socket`: opened once; `path`: read from once; `process`: an environment never changes while it runs. */
export type RestartReason = 'socket' | 'path' | 'process';

export const DEFAULT_DIST_PATH = 'dist';

/** Longer than any balancer takes to notice. */
const MAX_DRAIN_DELAY_SECONDS = 600;

const PROXY = PROXY_SCHEMA.properties;

/** Every variable, by its name in the code. Each may also be given as `NAME_FILE`: a file that holds the value. */
export const VARIABLES = {
  apiKey: ofSetting('API_KEY', CONFIG_SCHEMA.properties.api_key, { shows: 'secret' }),
  webPassword: ofSetting('WEB_PASSWORD', CONFIG_SCHEMA.properties.admin_password, {
    fallback: '`admin_password` of the config file, else `API_KEY`',
    shows: 'secret',
  }),
  maxBodyBytes: variable('ABV_MAX_BODY_SIZE', wholeNumber(1, PROXY.max_body_size.maximum), {
    summary: 'Largest request body, in bytes.',
    fallback: code(DEFAULTS.maxBodyBytes),
  }),
  distPath: variable('ABV_DIST_PATH', readPath, {
    summary: 'Folder of the web console files.',
    fallback: code(DEFAULT_DIST_PATH),
    restart: 'path',
  }),
  port: ofSetting('PORT', PROXY.port, { flag: '--port', restart: 'socket' }),
  host: variable('HOST', readHost, {
    summary: 'Address to listen on; `0.0.0.0` serves the network.',
    fallback: code(DEFAULTS.host),
    flag: '--host',
    restart: 'socket',
  }),
  tlsCert: ofSetting('ISTHMUS_TLS_CERT', PROXY.tls_cert, { restart: 'socket' }),
  tlsKey: ofSetting('ISTHMUS_TLS_KEY', PROXY.tls_key, { restart: 'socket' }),
  authMode: variable('AUTH_MODE', oneOf(AUTH_MODES), {
    summary: PROXY.auth_mode.description,
    fallback: code(DEFAULTS.authMode),
    flag: '--auth-mode',
  }),
  upstreamProfile: variable('UPSTREAM_PROFILE', oneOf(UPSTREAM_PROFILES), {
    summary: `How the upstream is reached: ${UPSTREAM_PROFILES.join(', ')}.`,
    fallback: '`generic` with `UPSTREAM_BASE_URL`, else `gemini-api`',
  }),
  upstreamBaseUrl: variable('UPSTREAM_BASE_URL', readBaseUrl, {
    summary: 'Address of the upstream.',
    fallback: "the profile's own",
    shows: 'address',
  }),
  upstreamApiKeys: variable('UPSTREAM_API_KEYS', (text) => readList(text, readSecret), {
    summary: 'Keys of the upstream, comma list; each becomes an account `key-1@env`, ….',
    shows: 'secret',
  }),
  upstreamVocabulary: variable('ISTHMUS_UPSTREAM_VOCABULARY', oneOf(['real', 'neutral']), {
    summary: 'Model and field names that a `generic` upstream takes: `real` or `neutral`.',
    fallback: '`neutral`',
  }),
  upstreamAuth: variable('ISTHMUS_UPSTREAM_AUTH', oneOf(['bearer', 'header', 'query']), {
    summary: 'How a key is sent to a `generic` upstream: `bearer`, `header` or `query`.',
    fallback: '`bearer`',
  }),
  upstreamLocation: variable('ISTHMUS_UPSTREAM_LOCATION', readLocation, {
    summary: 'Region of a `vertex` upstream, such as `us-central1`.',
    fallback: '`global`',
  }),
  upstreamProject: variable('ISTHMUS_UPSTREAM_PROJECT', readSecret, {
    summary:
      'Project of the accounts of `UPSTREAM_API_KEYS`; a `vertex` upstream needs one except with `global`.',
  }),
  geminiApiKey: variable('GEMINI_API_KEY', readSecret, {
    summary: 'A key of the public Gemini API; enough by itself for one account.',
    shows: 'secret',
  }),
  databaseUrl: variable('DATABASE_URL', addressOf('postgres', 'postgresql'), {
    summary:
      'PostgreSQL database that stores everything in place of the data folder, for several replicas; `ISTHMUS_SECRET_KEY` must be set too.',
    fallback: '`isthmus.db` in the data folder',
    shows: 'host',
  }),
  databasePoolSize: variable('DATABASE_POOL_SIZE', wholeNumber(1, 1000), {
    summary: 'Maximum number of connections to PostgreSQL.',
    fallback: code(10),
  }),
  databaseConnectTimeout: variable('DATABASE_CONNECT_TIMEOUT', wholeNumber(1, 600), {
    summary: 'Time limit for a connection to PostgreSQL, in seconds.',
    fallback: code(5),
  }),
  databaseStatementTimeout: variable('DATABASE_STATEMENT_TIMEOUT', wholeNumber(1, 3600), {
    summary: 'Time limit for one PostgreSQL statement, in seconds.',
    fallback: code(10),
  }),
  redisUrl: variable('REDIS_URL', readValkeyUrl, {
    summary:
      'Valkey, or Redis from 6.2 on, through which several replicas share their state at run time.',
    shows: 'host',
  }),
  trustedProxies: ofSetting('TRUSTED_PROXIES', PROXY.trusted_proxies),
  allowedHosts: ofSetting('ISTHMUS_ALLOWED_HOSTS', PROXY.allowed_hosts),
  corsOrigins: ofSetting('ISTHMUS_CORS_ORIGINS', PROXY.cors_origins),
  fetchRemoteMedia: ofSetting('ISTHMUS_FETCH_REMOTE_MEDIA', PROXY.fetch_remote_media),
  outboundProxy: variable('ISTHMUS_OUTBOUND_PROXY', readProxy, {
    summary:
      'Proxy for all calls of the gateway to other machines: `http://`, `https://` or `socks5://`, optionally with user and password; the proxy of an account takes precedence.',
    fallback: 'the next three',
    shows: 'host',
  }),
  httpsProxy: variable('HTTPS_PROXY', readProxy, {
    summary: 'Proxy for calls to `https://` addresses; also in lower case.',
    fallback: '`ALL_PROXY`',
    shows: 'host',
    isLowerToo: true,
  }),
  httpProxy: variable('HTTP_PROXY', readProxy, {
    summary: 'Proxy for calls to `http://` addresses; also in lower case.',
    fallback: '`ALL_PROXY`',
    shows: 'host',
    isLowerToo: true,
  }),
  allProxy: variable('ALL_PROXY', readProxy, {
    summary: 'Proxy for calls of either kind; also in lower case.',
    shows: 'host',
    isLowerToo: true,
  }),
  noProxy: variable('NO_PROXY', readDirectHosts, {
    summary:
      'Hosts that are called without a proxy, with their subdomains: names, addresses and CIDR ranges, optionally with a port, comma list; `*` is every host. Also in lower case. This machine is never called through a proxy.',
    isLowerToo: true,
  }),
  logLevel: ofSetting('LOG_LEVEL', PROXY.log_level, { flag: '--log-level' }),
  updateCheck: ofSetting('ISTHMUS_UPDATE_CHECK', PROXY.update_check),
  otlpEndpoint: variable('OTEL_EXPORTER_OTLP_ENDPOINT', addressOf('http', 'https'), {
    summary:
      'Where OpenTelemetry traces and metrics go, as OTLP over HTTP: `/v1/traces` and `/v1/metrics` below this address.',
    shows: 'address',
  }),
  otlpHeaders: variable('OTEL_EXPORTER_OTLP_HEADERS', readHeaders, {
    summary: 'Headers of these requests, such as `authorization=Bearer%20…`, comma list.',
    shows: 'secret',
  }),
  otelServiceName: variable('OTEL_SERVICE_NAME', readOneLine, {
    summary: 'Service name in traces and metrics.',
    fallback: '`service.name` of `OTEL_RESOURCE_ATTRIBUTES`, else `isthmus`',
  }),
  otelResourceAttributes: variable('OTEL_RESOURCE_ATTRIBUTES', readPairs, {
    summary:
      'More attributes of the service, such as `deployment.environment.name=test`, comma list.',
  }),
  otelTracesSampler: variable('OTEL_TRACES_SAMPLER', oneOf(TRACE_SAMPLERS), {
    summary: `Which traces are sampled: ${TRACE_SAMPLERS.join(', ')}.`,
    fallback: '`parentbased_always_on`',
  }),
  otelTracesSamplerArg: variable('OTEL_TRACES_SAMPLER_ARG', readRatio, {
    summary: 'Share of traces for the samplers `…traceidratio`, from 0 to 1.',
    fallback: '`1`',
  }),
  replicaName: variable('ISTHMUS_REPLICA_NAME', readReplicaName, {
    summary:
      'Name of this gateway in request logs and log lines when several serve together; workers add `/1`, `/2`, ….',
    fallback: 'the name of the machine',
    restart: 'process',
  }),
  workers: variable('WORKERS', readWorkers, {
    summary:
      'Number of processes that serve on the one port, up to 64, or `auto` for one per core.',
    fallback: '`1`',
    restart: 'process',
  }),
  dataDir: variable('ISTHMUS_DATA_DIR', readPath, {
    summary: 'Folder of all data that the gateway stores.',
    fallback: '`~/.isthmus`',
    flag: '--data-dir',
    restart: 'path',
  }),
  drainDelay: variable('ISTHMUS_DRAIN_DELAY', wholeNumber(0, MAX_DRAIN_DELAY_SECONDS), {
    summary:
      'Seconds for which the gateway still accepts requests after a signal to stop, while `/readyz` returns 503.',
    fallback: code(0),
  }),
  secretKey: variable('ISTHMUS_SECRET_KEY', readSecret, {
    summary: 'Key that seals stored credentials.',
    fallback: '`secret.key` in the data folder',
    shows: 'secret',
  }),
  secretKeyOld: variable('ISTHMUS_SECRET_KEY_OLD', readSecret, {
    summary: 'The previous `ISTHMUS_SECRET_KEY`, used by `isthmus secret rotate` only.',
    shows: 'secret',
  }),
};

/** The variables that are set, read and checked; the others are absent. */
export type Environment = {
  readonly [Key in keyof typeof VARIABLES]?:
    | ReturnType<(typeof VARIABLES)[Key]['read']>
    | undefined;
} & {
  /** Sentences on variables that nothing reads, yet look as if they were meant for the gateway. */
  readonly strays?: readonly Sentence[] | undefined;
};

interface EnvironmentSource {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readText(path: string): string;
}

const PROCESS_ENVIRONMENT: EnvironmentSource = {
  variables: process.env,
  readText: (path) => readFileSync(path, 'utf8'),
};

/** Reads every variable; an empty one is not set. @throws ConfigError naming each bad one, without its value */
export function readEnvironment(source: EnvironmentSource = PROCESS_ENVIRONMENT): Environment {
  const problems: string[] = [];
  const entries = Object.entries(VARIABLES).map(([key, { name, read, isLowerToo }]) => {
    try {
      const lower = isLowerToo === true ? source.variables[name.toLowerCase()] : undefined;
      const text = lower || readVariable(source, name);
      return [key, text === undefined ? undefined : read(text)] as const;
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      problems.push(`${name} ${error.message}`);
      return [key, undefined] as const;
    }
  });
  if (problems.length > 0) throw new ConfigError('The environment', problems);
  // The one narrowing of this file: the entries are those of the table, key by key.
  const environment = Object.fromEntries(entries) as Environment;
  const names = Object.values(VARIABLES).map(({ name }) => name);
  return { ...environment, strays: findStrayVariables(source.variables, names) };
}

function readVariable({ variables, readText }: EnvironmentSource, name: string) {
  const direct = variables[name] || undefined;
  const path = variables[`${name}_FILE`] || undefined;
  if (path === undefined) return direct;
  if (direct !== undefined)
    throw new ValueError(told`and ${name}_FILE are both set; set one of them`);
  let text: string;
  try {
    text = readText(path)
      .replace(/^\uFEFF/, '')
      .trimEnd();
  } catch {
    throw new ValueError(told`cannot be read: ${name}_FILE must name a readable file`);
  }
  if (text === '') throw new ValueError(told`is empty in the file that ${name}_FILE names`);
  return text;
}

function variable<Value>(
  name: string,
  read: (text: string) => Value,
  { fallback = 'not set', ...facts }: VariableFacts,
): Variable<Value> {
  return { name, fallback, read, ...facts };
}

/** A variable for a row of the settings table: what that says of the value holds for both. */
function ofSetting<Row extends SettingSchema & { readonly description: string }>(
  name: string,
  row: Row,
  facts: Partial<VariableFacts> = {},
): Variable<PlainValue<Row>> {
  const [forms, read] = readerOf(row);
  const summary = row.description.replace(/\.$/, `${forms}.`);
  const hasUsual = row.default !== undefined && !Array.isArray(row.default);
  const usual = hasUsual ? { fallback: code(row.default) } : {};
  // What the row describes, its reader gives.
  return variable(name, read as (text: string) => PlainValue<Row>, { summary, ...usual, ...facts });
}

/** How a value is written in one line, for the summary, and its reader. */
function readerOf(row: SettingSchema): readonly [forms: string, read: (text: string) => unknown] {
  const { type, enum: words, check = readOneLine, minimum: least = 0, maximum: most = 0 } = row;
  if (words !== undefined) return [`: ${words.join(', ')}`, oneOf(words)];
  if (type === 'array') return [', comma list', (text) => readList(text, check)];
  if (type === 'boolean') return [': `true` or `false`', readSwitch];
  if (type === 'integer') return ['', wholeNumber(least, most)];
  return ['', check];
}

function oneOf<const Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => readWord(text, words);
}

function addressOf(...schemes: readonly string[]): (text: string) => string {
  return (text) => readUrl(text, schemes);
}

const VALKEY_SCHEMES = ['redis', 'rediss', 'valkey', 'valkeys'];

function readValkeyUrl(text: string): string {
  const url = readUrl(text, VALKEY_SCHEMES);
  if (/^\/?\d*$/.test(new URL(url).pathname)) return url;
  throw new ValueError(told`must name a database by its number, as in redis://localhost:6379/1`);
}

function code(value: unknown): string {
  return `\`${value}\``;
}

/** All variables, for what starts or sets up another program. */
export function processVariables(): NodeJS.ProcessEnv {
  return process.env;
}

/** Where a process runs, as far as its environment tells. */
export interface Surroundings {
  readonly isService: boolean;
  readonly isContainer: boolean;
  readonly isCi: boolean;
}

/** Files that container runtimes put into the root of a container: Docker, Podman. */
const CONTAINER_FILES = ['/.dockerenv', '/run/.containerenv'];

/** `INVOCATION_ID` is set by systemd, `XPC_SERVICE_NAME` by launchd (which says `0` in a terminal), `CI` by every CI service. */
export function readSurroundings(
  variables: Readonly<Record<string, string | undefined>> = process.env,
  exists: (path: string) => boolean = existsSync,
): Surroundings {
  const isSet = (name: string): boolean => !['', '0', 'false', undefined].includes(variables[name]);
  return {
    isService: isSet('INVOCATION_ID') || isSet('XPC_SERVICE_NAME'),
    isContainer:
      isSet('KUBERNETES_SERVICE_HOST') || isSet('container') || CONTAINER_FILES.some(exists),
    isCi: isSet('CI'),
  };
}
