// Reads, writes and follows `gui_config.json`: whole or not at all, with the last good copy beside it; or what a program gives in its place.

import { randomBytes } from 'node:crypto';
import { watch as watchPath } from 'node:fs';
import {
  copyFile,
  mkdir,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ParseError } from 'jsonc-parser';
import type { Clock, Timer } from '../lib/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue, tryParse } from '../lib/json.ts';
import { codeOf, type Sentence, told } from '../lib/localized-message.ts';
import type { CheckedConfig } from './check-config.ts';
import type { ConfigFile } from './settings.ts';
import { ConfigError, StaleConfigError, UnwritableFileError } from './values.ts';

/** A config that passed every check. */
export interface GoodConfig {
  readonly config: ConfigFile;
  /** The file's JSON with every key, also those we do not know. */
  readonly raw: JsonObject;
}

export type ConfigRead =
  | ({ readonly kind: 'good'; readonly text: string } & GoodConfig)
  | { readonly kind: 'missing' }
  | { readonly kind: 'bad'; readonly problems: readonly Sentence[] };

export interface LoadedConfig extends GoodConfig {
  readonly origin: 'file' | 'last-good-copy' | 'defaults';
  /** What is wrong with the file, when its last good copy is used. */
  readonly problems: readonly Sentence[];
}

function lastGoodPath(path: string): string {
  return `${path}.bak`;
}

/** Where the settings are kept as one JSON document. */
export interface ConfigSource {
  /** What messages call it. */
  readonly path: string;
  /** As `loadConfig`. */
  load(): Promise<LoadedConfig>;
  /** As `readConfig`. */
  read(): Promise<ConfigRead>;
  /** @param over what was there before. @throws ConfigError, StaleConfigError, UnwritableFileError: nothing changes */
  write(raw: JsonObject, over: ConfigRead): Promise<GoodConfig>;
  /** Remembers what stands there as good, where that may become bad. @returns what was so before, where it differs */
  keepLastGood(): Promise<JsonObject | undefined>;
  /** Calls back when it was changed, also by others, since it was loaded. */
  follow(onChange: () => void): { close(): void };
}

export interface FileSourceOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Calls back when something in the folder may have changed; undefined where that cannot be told. */
  readonly watch?: WatchFolder | undefined;
}

/** The config file, with its last good copy beside it. */
export function fileSource({ path, clock, watch = watchFolder }: FileSourceOptions): ConfigSource {
  let since = 'missing';
  return {
    path,
    async load() {
      since = await stampOf(path);
      return loadConfig(path);
    },
    read: () => readConfig(path),
    write: (raw, over) => writeConfig(path, raw, over),
    keepLastGood: () => keepLastGood(path),
    follow: (onChange) => followFile({ path, clock, watch, since, onChange }),
  };
}

const FIXED = 'The settings';

/** Settings that a program gives in place of a config file. `load` tells what cannot be used. */
export function fixedSource(settings: object): ConfigSource {
  let text = JSON.stringify(settings);
  return {
    path: FIXED,
    load: async () => requireLoaded(FIXED, await checkText(text)),
    read: () => checkText(text),
    async write(raw: JsonObject) {
      const good = await requireGood(FIXED, raw);
      text = textOfConfig(raw);
      return good;
    },
    keepLastGood: async () => undefined,
    follow: () => ({ close: () => undefined }),
  };
}

/** What a source that keeps no copy has to start with. @throws ConfigError */
export function requireLoaded(path: string, read: ConfigRead): LoadedConfig {
  if (read.kind === 'bad') throw new ConfigError(path, read.problems);
  if (read.kind === 'good') return { ...read, origin: 'file', problems: [] };
  return { config: {}, raw: {}, origin: 'defaults', problems: [] };
}

/** Reads and checks the file; never throws for its content. */
export async function readConfig(path: string): Promise<ConfigRead> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = codeOf(error) ?? 'unknown error';
    if (code === 'ENOENT') return { kind: 'missing' };
    return { kind: 'bad', problems: [told`the file cannot be read (${code})`] };
  }
  return checkText(text);
}

export async function checkText(text: string): Promise<ConfigRead> {
  const raw = tryParse(text.replace(/^\uFEFF/, ''));
  if (raw === undefined) {
    return { kind: 'bad', problems: [await sayFault(text)] };
  }
  const checked = await checkLazily(raw);
  if (checked.kind === 'bad') return checked;
  return { kind: 'good', text, config: checked.config, raw: isJsonObject(raw) ? raw : {} };
}

/** Without a word of the text, which may be a secret. */
async function sayFault(text: string): Promise<Sentence> {
  const { parse } = await import('jsonc-parser');
  const errors: ParseError[] = [];
  parse(text.replace(/^\uFEFF/, ''), errors, { disallowComments: true });
  const before = text.slice(0, errors[0]?.offset ?? text.length);
  if (before.trimEnd() === text.trimEnd()) return told`the file is not complete JSON`;
  const lines = before.split('\n');
  return told`the file is no JSON at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}

/**
 * The config to start with. A file that cannot be used, or has vanished, is never replaced by defaults
 * while there is its last good copy. Without one a missing file means the defaults, but never weaker
 * authentication than the file had, and a bad one no start.
 * @throws ConfigError naming each problem by its JSON path.
 */
export async function loadConfig(path: string): Promise<LoadedConfig> {
  const read = await readConfig(path);
  if (read.kind === 'good') return { ...read, origin: 'file', problems: [] };
  const problems = problemsOf(read, path);
  const copy = await readConfig(lastGoodPath(path));
  if (copy.kind === 'good') return { ...copy, origin: 'last-good-copy', problems };
  if (read.kind === 'bad') throw new ConfigError(path, problems);
  const strict = { proxy: { auth_mode: 'strict' as const } };
  const remembered = (await exists(strictPath(path))) ? strict : {};
  return { config: remembered, raw: remembered, origin: 'defaults', problems: [] };
}

/** What is wrong with a file that is bad, or that vanished after it was in force. */
export function problemsOf(
  read: Exclude<ConfigRead, { kind: 'good' }>,
  path: string,
): readonly Sentence[] {
  if (read.kind === 'bad') return read.problems;
  const copy = basename(lastGoodPath(path));
  return [
    told`the file is gone: put ${copy} in its place, or remove that too and restart with the defaults`,
  ];
}

async function writeConfig(path: string, raw: JsonObject, over: ConfigRead) {
  const good = await requireGood(path, raw);
  const text = textOfConfig(raw);
  try {
    await replaceFile(path, text, () => requireSame(path, over));
  } catch (error) {
    throw error instanceof StaleConfigError ? error : new UnwritableFileError(path, error);
  }
  return good;
}

/** As it is stored. */
export function textOfConfig(raw: JsonObject): string {
  return `${JSON.stringify(raw, null, 2)}\n`;
}

/** @throws ConfigError when it cannot be used */
export async function requireGood(path: string, raw: JsonObject): Promise<GoodConfig> {
  const checked = await checkLazily(raw);
  if (checked.kind === 'bad') throw new ConfigError(path, checked.problems);
  return { config: checked.config, raw };
}

/** The schema checker is a tenth of the start; without a file nothing needs it. */
async function checkLazily(raw: JsonValue): Promise<CheckedConfig> {
  const { checkConfig } = await import('./check-config.ts');
  return checkConfig(raw);
}

/** Keeps a file's text as the last good copy, unless it already is. @returns the copy that this one replaced */
async function keepLastGood(path: string): Promise<JsonObject | undefined> {
  const read = await readConfig(path);
  if (read.kind !== 'good') return undefined;
  await rememberStrictness(path, read.config);
  const copy = await readConfig(lastGoodPath(path));
  if (copy.kind === 'good' && copy.text === read.text) return undefined;
  await replaceFile(lastGoodPath(path), read.text);
  return copy.kind === 'good' ? copy.raw : undefined;
}

/** Marks that the file asked for strict authentication; stays even when the file and its copies are gone. */
function strictPath(path: string): string {
  return join(dirname(path), 'auth-is-strict');
}

async function rememberStrictness(path: string, { proxy, auth_mode }: ConfigFile): Promise<void> {
  const isStrict = (proxy?.auth_mode ?? auth_mode)?.toLowerCase() === 'strict';
  const marker = strictPath(path);
  if (isStrict === (await exists(marker))) return;
  if (isStrict) await replaceFile(marker, 'The config file asks for strict authentication.\n');
  else await rm(marker, { force: true });
}

async function exists(path: string): Promise<boolean> {
  return (await readConfig(path)).kind !== 'missing';
}

/** A merge patch (RFC 7396): objects merge, null removes, everything else replaces. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    const known = merged.get(key);
    if (value === null) merged.delete(key);
    else if (!isJsonObject(value)) merged.set(key, value);
    else merged.set(key, mergePatch(isJsonObject(known) ? known : {}, value));
  }
  return Object.fromEntries(merged);
}

/** What stands there; undefined where nothing does. */
export function valueAt(raw: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = raw;
  for (const step of path) {
    value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/** An object that holds the value at the path and nothing else. */
export function wrap(path: readonly string[], value: JsonValue): JsonObject {
  const [first = '', ...rest] = path;
  return { [first]: rest.length === 0 ? value : wrap(rest, value) };
}

async function requireSame(path: string, over: ConfigRead): Promise<void> {
  const latest = await readConfig(path);
  const textOf = (read: ConfigRead) => (read.kind === 'good' ? read.text : read.kind);
  if (textOf(latest) !== textOf(over)) throw new StaleConfigError(path);
}

/** Writes beside the file, flushes and renames: readers see the old text or the new one. A link stays one. */
async function replaceFile(
  linked: string,
  text: string,
  /** Asked when all but the renaming is done: what it throws keeps the old text. */
  mayReplace?: () => Promise<void>,
): Promise<void> {
  const path = await realpath(linked).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return linked;
    throw error;
  });
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx', mode: 0o600, flush: true });
    await mayReplace?.();
    await rename(temporary, path).catch(async (error: unknown) => {
      // A file that is mounted by itself, as into a container, can only be written in place.
      if (codeOf(error) !== 'EBUSY') throw error;
      await copyFile(temporary, path);
      await rm(temporary);
    });
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await using handle = await open(folder, 'r');
  await handle.sync();
}

type WatchFolder = typeof watchFolder;

/** Editors write in several steps; the file is read when they are done. */
const DEBOUNCE_MS = 100;
/** For file systems that report no changes: network shares, some container mounts. */
const POLL_MS = 2000;

interface FollowOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly watch: WatchFolder;
  /** The stamp of the file that its reader knows, taken before it was read. */
  readonly since: string;
  onChange(): void;
}

/** Watches the folder, since editors replace files; calls `onChange` once after a burst of changes. */
function followFile(options: FollowOptions): { close(): void } {
  const { path, clock, watch, onChange } = options;
  let isClosed = false;
  let stamp = options.since;
  let debounce: Timer | undefined;
  const later = (): void => {
    if (isClosed) return;
    debounce?.cancel();
    debounce = clock.startTimer(DEBOUNCE_MS, onChange);
  };
  const watcher = watch(dirname(path), (fileName) => {
    if (fileName === null || fileName === basename(path)) later();
  });
  const look = async (): Promise<void> => {
    const latest = await stampOf(path);
    if (latest !== stamp) later();
    stamp = latest;
    if (!isClosed) poll = clock.startTimer(POLL_MS, () => void look());
  };
  let poll = clock.startTimer(0, () => void look());
  return {
    close() {
      isClosed = true;
      watcher?.close();
      debounce?.cancel();
      poll.cancel();
    },
  };
}

/** Another one than before when the file was written, replaced or removed since. */
async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return 'missing';
  }
}

/** Undefined where the folder cannot be watched; looking at the file is enough then. */
function watchFolder(
  folder: string,
  onChange: (fileName: string | null) => void,
): { close(): void } | undefined {
  try {
    const watcher = watchPath(folder, { persistent: false }, (_event, name) => onChange(name));
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
