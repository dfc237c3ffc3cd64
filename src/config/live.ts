// The settings in force: loaded once, then updated as the config file changes; and the secrets among them.

import { createMutex } from '../lib/concurrency.ts';
import type { JsonObject } from '../lib/json.ts';
import { createListeners } from '../lib/listeners.ts';
import { type Sentence, textOf, told } from '../lib/localized-message.ts';
import type { LineLog } from '../lib/log.ts';
import { proxySecrets } from '../lib/outbound-proxy.ts';
import { type Flags, resolveSettings, type Settings } from './effective.ts';
import type { Environment } from './env.ts';
import {
  type ConfigRead,
  type ConfigSource,
  type FileSourceOptions,
  fileSource,
  type GoodConfig,
  type LoadedConfig,
  mergePatch,
  problemsOf,
  requireGood,
  valueAt,
} from './file.ts';
import { listOverrides, listVariables } from './origins.ts';
import { StaleConfigError, UnusableFileError } from './values.ts';

export type LiveConfig = Awaited<ReturnType<typeof createLiveConfig>>;

/** A function gets the file when its turn comes, and again if somebody else wrote it; undefined changes nothing. */
type ConfigPatch = JsonObject | ((raw: JsonObject) => JsonObject | undefined);

interface LiveConfigOptions extends FileSourceOptions {
  /** Where the settings are kept instead of the file at `path`. */
  readonly source?: ConfigSource | undefined;
  readonly environment: Environment;
  readonly flags?: Flags | undefined;
  readonly log: LineLog;
}

/** The file before and after an edit that this process did not make; secrets included. */
interface ConfigEdit {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

const UNANSWERED = 'The settings cannot be read again now; those in force stay.';

/** Of a change, when the file is written by hand each time before it is in its place. */
const MAX_TRIES = 5;

/** @throws ConfigError when there is nothing safe to start with. */
export async function createLiveConfig(options: LiveConfigOptions) {
  const { environment, flags = {}, log, source = fileSource(options) } = options;
  const { path } = source;
  const loaded = await source.load();
  const sources = { flags, environment };
  const overrides = listOverrides(sources);
  const inTurn = createMutex();
  const listeners = createListeners<Settings>((error) => {
    log.warn({ error }, 'A part of the gateway could not take the changed settings.');
  });
  const edits = createListeners<ConfigEdit>((error) => {
    log.warn({ error }, 'An edit of the config file could not be told of.');
  });
  let good: GoodConfig = loaded;
  let settings = resolveSettings({ ...sources, file: loaded.config });
  /** What is wrong with the file while older settings stay in force. */
  let { problems } = loaded;
  /** The file once stood there; when it vanishes later, that is no wish for the defaults. */
  let hasFile = loaded.origin !== 'defaults';
  let isClosed = false;
  let beforeWrite = async (_raw: JsonObject): Promise<void> => undefined;

  /** A folder that cannot be written keeps the gateway from keeping the copy, not from running. */
  const keepCopy = async (): Promise<JsonObject | undefined> => {
    try {
      return await source.keepLastGood();
    } catch (error) {
      log.warn({ path, error }, 'The last good copy of the config file cannot be written.');
      return undefined;
    }
  };
  const putInForce = async (next: GoodConfig): Promise<void> => {
    const before = settings;
    settings = resolveSettings({ ...sources, file: next.config });
    good = next;
    problems = [];
    hasFile = true;
    if (JSON.stringify(before) !== JSON.stringify(settings)) {
      if (isWeaker(settings, before)) {
        const [from, to] = [before.authMode, settings.authMode];
        log.warn({ from, to }, 'Authentication became weaker by a change of the config file.');
      }
      if (!isClosed) listeners.tell(settings);
    }
    await keepCopy();
  };
  /** Whatever is wrong with the file, the settings in force stay. @throws what the source does when it cannot be asked */
  const reloadFile = async (): Promise<ConfigRead> => {
    const read = await source.read();
    if (read.kind === 'missing' && !hasFile) return read;
    if (read.kind !== 'good') {
      problems = problemsOf(read, path);
      log.warn(
        { path, problems: problems.map(textOf) },
        'The config file was refused; the settings in force stay.',
      );
      return read;
    }
    hasFile = true;
    const isSame = JSON.stringify(read.raw) === JSON.stringify(good.raw);
    if (isSame && problems.length === 0) return read;
    const before = good.raw;
    await putInForce(read);
    if (!isSame && !isClosed) edits.tell({ before, after: read.raw });
    log.info({ path }, 'The settings were read again.');
    return read;
  };
  /** An edit by hand that was not seen yet is taken along; one that is bad is not overwritten. */
  const updateFile = async (patch: ConfigPatch): Promise<Settings> => {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const read = await reloadFile();
      if (problems.length > 0) throw new UnusableFileError(path, problems);
      const wanted = typeof patch === 'function' ? patch(good.raw) : patch;
      if (wanted === undefined) return settings;
      const next = mergePatch(good.raw, wanted);
      await beforeWrite(next);
      try {
        await putInForce(await source.write(next, read));
        return settings;
      } catch (error) {
        if (!(error instanceof StaleConfigError)) throw error;
      }
    }
    throw new UnusableFileError(path, [told`another program keeps writing it`]);
  };

  sayOrigin(loaded, path, log);
  /** As the file was when a gateway last had it, where somebody edited it since. */
  let earlier = loaded.origin === 'file' ? await keepCopy() : undefined;
  let isUnanswered = false;
  /** Reads the file again now. A bad or vanished file changes nothing, nor does a source that cannot be asked. */
  const reload = (): Promise<void> =>
    inTurn(async () => {
      try {
        await reloadFile();
        isUnanswered = false;
      } catch (error) {
        if (!isUnanswered) log.warn({ path, error }, UNANSWERED);
        isUnanswered = true;
      }
    });
  const follower = source.follow(() => void reload());
  return {
    current: (): Settings => settings,
    /** The config file's JSON with every key, secrets included. */
    raw: (): JsonObject => good.raw,
    /** The places of the file that a flag or the environment wins over; no secrets. */
    overrides: () => overrides,
    /** Every variable of the environment with what is in force; no secrets. */
    variables: () => listVariables(sources, settings, (at) => valueAt(good.raw, at) !== undefined),
    /** Empty when nothing is wrong. */
    problems: (): readonly Sentence[] => problems,
    /** Calls back after each change of the settings; the answer ends it. */
    subscribe: (listener: (settings: Settings) => void) => listeners.add(listener),
    /** Calls back after each edit of the file that this process did not make, with one before its start first; the returned function ends it. */
    followEdits(listener: (edit: ConfigEdit) => void) {
      if (earlier !== undefined) listener({ before: earlier, after: loaded.raw });
      earlier = undefined;
      return edits.add(listener);
    },
    /** Calls back before this process writes, and waits for it. */
    announceWrites(announce: (raw: JsonObject) => Promise<void>) {
      beforeWrite = announce;
    },
    reload,
    /** What would be in force after `update`; nothing is changed. @throws ConfigError as `update` */
    async preview(patch: JsonObject): Promise<Settings> {
      const raw = mergePatch(good.raw, patch);
      const { config } = await requireGood(path, raw);
      return resolveSettings({ ...sources, file: config });
    },
    /** Merges a patch (RFC 7396) into the file, to be in force. @throws ConfigError, UnwritableFileError */
    update: (patch: ConfigPatch): Promise<Settings> => inTurn(() => updateFile(patch)),
    /** Stops following and waits for what is under way. */
    close(): Promise<void> {
      isClosed = true;
      follower.close();
      return inTurn(() => Promise.resolve());
    },
  };
}

function sayOrigin({ origin, problems, raw }: LoadedConfig, path: string, log: LineLog): void {
  if (origin === 'last-good-copy') {
    log.warn(
      { path, problems: problems.map(textOf) },
      'The config file cannot be used; its last good copy is in force.',
    );
  } else if (origin === 'defaults' && raw.proxy !== undefined) {
    log.warn(
      { path },
      'The config file and its last good copy are gone. Authentication stays strict, as they had it; everything else is at its default. Put the file back, or set proxy.auth_mode anew.',
    );
  }
}

function isWeaker(next: Settings, before: Settings): boolean {
  const strength = { off: 0, auto: 1, strict: 2 } as const;
  const lostKey = before.apiKey !== undefined && next.apiKey === undefined;
  return lostKey || strength[next.authMode] < strength[before.authMode];
}

/** Keys of stored accounts are not among them: they are sealed, and never come near the log. */
export function gatewaySecrets(settings: Settings): readonly string[] {
  const { apiKey, consolePassword, externalProvider, secretKey, signIn, upstreamSeeds } = settings;
  const own = [apiKey, consolePassword, secretKey];
  const single = [...own, externalProvider.apiKey, signIn.clientSecret];
  const headers = Object.values(settings.telemetry?.headers ?? {});
  const keys = upstreamSeeds.flatMap(({ apiKeys }) => apiKeys);
  const { all, http, https, credential } = settings.outbound;
  const proxies = [all, http, https].flatMap((proxy) => (proxy ? proxySecrets(proxy.url) : []));
  const given = [...single, ...headers, ...keys, ...proxies, credential].filter(
    (secret) => secret !== undefined,
  );
  return [...new Set(given.filter((secret) => secret !== ''))];
}
