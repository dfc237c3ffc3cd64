// The settings in force: loaded once, then updated as the config file changes; and the secrets among them.

import type { Clock } from '../lib/clock.ts';
import { createMutex } from '../lib/concurrency.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import { type Flags, resolveSettings, type Settings } from './effective.ts';
import type { Environment } from './env.ts';
import {
  type ConfigRead,
  followFile,
  type GoodConfig,
  keepLastGood,
  type LoadedConfig,
  loadConfig,
  mergePatch,
  problemsOf,
  readConfig,
  requireGood,
  stampOf,
  type WatchFolder,
  watchFolder,
  writeConfig,
} from './file.ts';
import {
  listOverrides,
  listVariables,
  type SettingOverride,
  type VariableOrigin,
} from './origins.ts';
import { ConfigError, StaleConfigError, UnusableFileError } from './values.ts';

export interface LiveConfig {
  current(): Settings;
  /** The config file's JSON with every key, secrets included. */
  raw(): JsonObject;
  /** The places of the file that a flag or the environment wins over; no secrets. */
  overrides(): readonly SettingOverride[];
  /** Every variable of the environment with what is in force; no secrets. */
  variables(): readonly VariableOrigin[];
  /** What is wrong with the file while older settings stay in force; empty when nothing is. */
  problems(): readonly string[];
  /** Calls back after each change of the settings; the answer ends it. */
  subscribe(listener: (settings: Settings) => void): () => void;
  /** Reads the file again now. A bad or vanished file changes nothing. */
  reload(): Promise<void>;
  /** What would be in force after `update`; nothing is changed. @throws ConfigError as `update` */
  preview(patch: JsonObject): Promise<Settings>;
  /**
   * Merges a patch (RFC 7396) into the file and puts it in force; other keys stay.
   * @throws ConfigError when the result cannot be used, UnwritableFileError; nothing is changed then.
   */
  update(patch: ConfigPatch): Promise<Settings>;
  /** Stops following and waits for what is under way. */
  close(): Promise<void>;
}

/**
 * A function is given the file as it stands when its turn has come; undefined then changes nothing. It
 * is asked again when somebody else wrote the file meanwhile.
 */
type ConfigPatch = JsonObject | ((raw: JsonObject) => JsonObject | undefined);

export interface LiveConfigOptions {
  readonly path: string;
  readonly environment: Environment;
  readonly flags?: Flags | undefined;
  readonly clock: Clock;
  readonly log: ConfigLog;
  /** Calls back when something in the folder may have changed; undefined where that cannot be told. */
  readonly watch?: WatchFolder | undefined;
}

export interface ConfigLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Of a change, when the file is written by hand each time before it is in its place. */
const MAX_TRIES = 5;

/** @throws ConfigError when there is nothing safe to start with. */
export async function createLiveConfig(options: LiveConfigOptions): Promise<LiveConfig> {
  const { path, clock, log } = options;
  const since = await stampOf(path);
  const loaded = await loadConfig(path);
  const state = createState(options, loaded);
  const sources = { flags: options.flags ?? {}, environment: options.environment };
  const overrides = listOverrides(sources);
  const inTurn = createMutex();
  if (loaded.origin === 'last-good-copy') {
    const { problems } = loaded;
    log.warn({ path, problems }, 'The config file cannot be used; its last good copy is in force.');
  } else if (loaded.origin === 'file') {
    await keepCopy(path, log);
  } else if (loaded.raw.proxy !== undefined) {
    log.warn(
      { path },
      'The config file and its last good copy are gone. Authentication stays strict, as they had it; everything else is at its default. Put the file back, or set proxy.auth_mode anew.',
    );
  }
  const reload = (): Promise<void> => inTurn(async () => void (await reloadFile(options, state)));
  const follower = followFile({
    path,
    clock,
    watch: options.watch ?? watchFolder,
    since,
    onChange: () => void reload(),
  });
  return {
    current: () => state.settings,
    raw: () => state.good.raw,
    overrides: () => overrides,
    variables: () => listVariables(sources, state.settings, (at) => isInFile(state.good.raw, at)),
    problems: () => state.problems,
    subscribe(listener) {
      state.listeners.add(listener);
      return () => state.listeners.delete(listener);
    },
    reload,
    async preview(patch) {
      const raw = mergePatch(state.good.raw, patch);
      const { config } = await requireGood(path, raw);
      refuseEnabling(path, state.good.raw, raw);
      return resolveSettings({ ...sources, file: config });
    },
    update: (patch) => inTurn(() => updateFile(options, state, patch)),
    close() {
      follower.close();
      state.listeners.clear();
      return inTurn(() => Promise.resolve());
    },
  };
}

interface LiveState {
  good: GoodConfig;
  settings: Settings;
  problems: readonly string[];
  /** The file once stood there; when it vanishes later, that is no wish for the defaults. */
  hasFile: boolean;
  readonly listeners: Set<(settings: Settings) => void>;
}

function createState(options: LiveConfigOptions, loaded: LoadedConfig): LiveState {
  const { environment, flags } = options;
  return {
    good: loaded,
    settings: resolveSettings({ flags, environment, file: loaded.config }),
    problems: loaded.problems,
    hasFile: loaded.origin !== 'defaults',
    listeners: new Set(),
  };
}

/** An edit by hand that was not seen yet is taken along; one that is bad is not overwritten. */
async function updateFile(
  options: LiveConfigOptions,
  state: LiveState,
  patch: ConfigPatch,
): Promise<Settings> {
  const { path, log } = options;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const read = await reloadFile(options, state);
    if (state.problems.length > 0) throw new UnusableFileError(path, state.problems);
    const { raw } = state.good;
    const wanted = typeof patch === 'function' ? patch(raw) : patch;
    if (wanted === undefined) return state.settings;
    const next = mergePatch(raw, wanted);
    refuseEnabling(path, raw, next);
    try {
      putInForce(options, state, await writeConfig(path, next, read));
      await keepCopy(path, log);
      return state.settings;
    } catch (error) {
      if (!(error instanceof StaleConfigError)) throw error;
    }
  }
  throw new UnusableFileError(path, [told`something else writes it all the time`]);
}

/** Never throws: whatever is wrong with the file, the settings in force stay. */
async function reloadFile(options: LiveConfigOptions, state: LiveState): Promise<ConfigRead> {
  const { path, log } = options;
  const read = await readConfig(path);
  if (read.kind === 'missing' && !state.hasFile) return read;
  const enabling = read.kind === 'good' ? enablingProblems(state.good.raw, read.raw) : [];
  if (read.kind !== 'good' || enabling.length > 0) {
    const problems = read.kind === 'good' ? enabling : problemsOf(read, path);
    state.problems = problems;
    log.warn({ path, problems }, 'The config file was refused; the settings in force stay.');
    return read;
  }
  state.hasFile = true;
  const isSame = JSON.stringify(read.raw) === JSON.stringify(state.good.raw);
  if (isSame && state.problems.length === 0) return read;
  putInForce(options, state, read);
  await keepCopy(path, log);
  log.info({ path }, 'The config file was read again.');
  return read;
}

/** @throws ConfigError when a change switches on what does not work yet. */
function refuseEnabling(path: string, before: JsonObject, after: JsonObject): void {
  const problems = enablingProblems(before, after);
  if (problems.length > 0) throw new ConfigError(path, problems);
}

/** A file that holds it from before is served as it is, with a warning. */
function enablingProblems(before: JsonObject, after: JsonObject): readonly string[] {
  if (isProviderEnabled(before) || !isProviderEnabled(after)) return [];
  return [
    `proxy.extprov.enabled: ${told`must stay false: the external provider does not work yet`}`,
  ];
}

function isProviderEnabled(raw: JsonObject): boolean {
  const { proxy } = raw;
  const extprov = isJsonObject(proxy) ? proxy.extprov : undefined;
  return isJsonObject(extprov) && extprov.enabled === true;
}

function putInForce(options: LiveConfigOptions, state: LiveState, next: GoodConfig): void {
  const { environment, flags, log } = options;
  const before = state.settings;
  state.settings = resolveSettings({ flags, environment, file: next.config });
  state.good = next;
  state.problems = [];
  state.hasFile = true;
  if (JSON.stringify(before) === JSON.stringify(state.settings)) return;
  if (isWeaker(state.settings, before)) {
    const [from, to] = [before.authMode, state.settings.authMode];
    log.warn({ from, to }, 'Authentication became weaker by a change of the config file.');
  }
  for (const listener of [...state.listeners]) notify(listener, state.settings, log);
}

function isInFile(raw: JsonObject, path: readonly string[]): boolean {
  let value: JsonValue | undefined = raw;
  for (const step of path) {
    value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value !== undefined;
}

/** One listener's failure is not another's. */
function notify(listener: (settings: Settings) => void, settings: Settings, log: ConfigLog): void {
  try {
    listener(settings);
  } catch (error) {
    log.warn({ error }, 'A part of the gateway could not take the changed settings.');
  }
}

/** A folder that cannot be written keeps the gateway from keeping the copy, not from running. */
async function keepCopy(path: string, log: ConfigLog): Promise<void> {
  try {
    await keepLastGood(path);
  } catch (error) {
    log.warn({ path, error }, 'The last good copy of the config file cannot be written.');
  }
}

function isWeaker(next: Settings, before: Settings): boolean {
  const strength = { off: 0, auto: 1, strict: 2 } as const;
  const lostKey = before.apiKey !== undefined && next.apiKey === undefined;
  return lostKey || strength[next.authMode] < strength[before.authMode];
}

/** Keys of stored accounts are not among them: they are sealed, and never come near the log. */
export function gatewaySecrets(settings: Settings): readonly string[] {
  const { apiKey, consolePassword, externalProvider, secretKey, upstreamSeeds } = settings;
  const single = [apiKey, consolePassword, externalProvider.apiKey, secretKey];
  const headers = Object.values(settings.telemetry?.headers ?? {});
  const keys = upstreamSeeds.flatMap(({ apiKeys }) => apiKeys);
  const given = [...single, ...headers, ...keys].filter((secret) => secret !== undefined);
  return [...new Set(given.filter((secret) => secret !== ''))];
}
