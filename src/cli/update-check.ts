// Whether a newer version is published: asked of the package registry, at most once a day, and only where a person started it.

import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openProxyCredential } from '../compose/config-secrets.ts';
import { createOutboundChoice, type createOutboundFetch } from '../compose/outbound.ts';
import { configPath, resolveDataDir, resolveSettings } from '../config/effective.ts';
import type { Environment, Surroundings } from '../config/env.ts';
import { loadConfig } from '../config/file.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import { isJsonObject, parseObject } from '../lib/json.ts';
import type { ProxyChoice } from '../lib/outbound-proxy.ts';
import { createVault } from '../sealing/seal.ts';
import { loadSecretKey } from '../sealing/secret-key.ts';
import type { LocalContext } from './command.ts';
import { whyUnreached } from './exit-codes.ts';
import { isInstalledPackage, PUBLISHED, VERSION } from './package-name.ts';
import type { Said, Terminal } from './terminal.ts';

interface Release {
  readonly version: string;
  /** The versions of node it takes, as its package says. */
  readonly node: string | undefined;
}

export interface RegistryOptions {
  readonly fetch: ReturnType<typeof createOutboundFetch>;
  readonly published?: typeof PUBLISHED | undefined;
}

const TIMEOUT_MS = 10_000;
const MAX_ANSWER = 1_000_000;

async function findLatest({ fetch, published = PUBLISHED }: RegistryOptions): Promise<Release> {
  const { name, registry } = published;
  const url = `${registry}/${name.replace('/', '%2f')}/latest`;
  let text: string;
  let status: number;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { headers: { accept: 'application/json' }, signal });
    status = response.status;
    text = await response.text();
  } catch (error) {
    const why = whyUnreached(error);
    throw new Error(`The package registry ${registry} cannot be asked: ${why}`, { cause: error });
  }
  const version = status === 200 && text.length <= MAX_ANSWER ? readRelease(text) : undefined;
  if (version !== undefined) return version;
  const why = status === 404 ? `knows no ${name}` : `answered ${status} without a version`;
  throw new Error(`The package registry ${registry} ${why}.`);
}

function readRelease(text: string): Release | undefined {
  const body = parseObject(text);
  const { version, engines } = body;
  if (typeof version !== 'string' || readVersion(version) === undefined) return undefined;
  const node = isJsonObject(engines) && typeof engines.node === 'string' ? engines.node : undefined;
  return { version, node };
}

const VERSION_FORM = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

function readVersion(text: string): readonly number[] | undefined {
  const [, major, minor, patch, preview] = VERSION_FORM.exec(text) ?? [];
  if (major === undefined) return undefined;
  // A preview is before its release; the registry's `latest` is none.
  return [Number(major), Number(minor), Number(patch), preview === undefined ? 1 : 0];
}

function isNewer(version: string, than: string = VERSION): boolean {
  const [left, right] = [readVersion(version), readVersion(than)];
  if (left === undefined || right === undefined) return false;
  const at = left.findIndex((part, index) => part !== right[index]);
  return at !== -1 && (left[at] ?? 0) > (right[at] ?? 0);
}

/** The command that installs the newest version. */
export function sayUpdate(name: string = PUBLISHED.name): string {
  return `npm install --global ${name}@latest, or npx ${name}@latest`;
}

interface Situation extends Surroundings {
  readonly setting: 'auto' | 'off';
  readonly isTerminal: boolean;
  readonly isInstalled?: boolean | undefined;
}

/** Why the registry is not asked by itself; undefined when it may be. */
export function reasonNotToAsk({
  setting,
  isTerminal,
  isInstalled = isInstalledPackage(),
  ...surroundings
}: Situation): string | undefined {
  if (setting === 'off') return 'update_check is off';
  if (!isInstalled) return 'it was built from source';
  if (surroundings.isContainer) return 'it runs in a container';
  if (surroundings.isService) return 'it runs as a service';
  if (surroundings.isCi) return 'it runs in CI';
  return isTerminal ? undefined : 'nobody started it at a terminal';
}

const STATE_FILE = 'isthmus-update-check.json';
const DAY_MS = 86_400_000;

interface UpdateCheckOptions extends RegistryOptions {
  readonly dataDir: string;
  readonly clock: Clock;
  /** Called with each version that is newer than this one, once. */
  readonly onNewer: (version: string) => void;
  readonly current?: string | undefined;
}

export type UpdateCheck = Awaited<ReturnType<typeof openUpdateCheck>>;

/** What was found before is known at once; `start` asks when a day has gone by, and every day from then on. */
export async function openUpdateCheck(options: UpdateCheckOptions) {
  const { dataDir, clock, onNewer, current = VERSION } = options;
  const path = join(dataDir, STATE_FILE);
  const isFirst = !existsSync(path);
  const state = await readState(path);
  let { askedAt } = state;
  let newer = isNewer(state.latest, current) ? state.latest : undefined;
  let timer: Timer | undefined;
  const ask = async (): Promise<void> => {
    askedAt = clock.now();
    let latest = state.latest;
    try {
      latest = (await findLatest(options)).version;
    } catch {
      // Tomorrow is soon enough, and `isthmus update` says what is wrong.
    }
    // Where nothing can be stored it is asked again at the next start.
    await writeFile(path, `${JSON.stringify({ askedAt, latest })}\n`, { mode: 0o600 }).catch(
      () => undefined,
    );
    if (!isNewer(latest, current) || latest === newer) return;
    newer = latest;
    onNewer(latest);
  };
  const plan = (): void => {
    // A clock that was set back does not keep it from asking.
    const waitMs = Math.min(Math.max(0, askedAt + DAY_MS - clock.now()), DAY_MS);
    timer = clock.startTimer(waitMs, () => void ask().then(plan));
  };
  return {
    /** True when it was never asked here: it is said then what is asked, and how to turn it off. */
    isFirst,
    newer: (): string | undefined => newer,
    start: plan,
    close: () => timer?.cancel(),
  };
}

async function readState(path: string): Promise<{ askedAt: number; latest: string }> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const { askedAt, latest } = parseObject(text);
  return {
    askedAt: typeof askedAt === 'number' ? askedAt : Number.NEGATIVE_INFINITY,
    latest: typeof latest === 'string' ? latest : '',
  };
}

/** The proxy that calls of the gateway go through. @throws ConfigError */
export async function readProxyChoice(
  flags: Said<'dataDir', string>,
  environment: Environment,
  terminal: Pick<Terminal, 'note'>,
): Promise<ProxyChoice> {
  const dataDir = resolveDataDir(flags, environment);
  const { config: file } = await loadConfig(configPath(dataDir));
  const settings = resolveSettings({ flags, environment, file });
  return createOutboundChoice({
    current: () => settings,
    openCredential: (text) =>
      openProxyCredential(
        text,
        createVault(loadSecretKey({ dataDir, environmentKey: settings.secretKey })),
      ),
    log: { warn: (_fields, message) => terminal.note(message) },
  });
}

export async function sayNewest(
  { terminal, answer }: Pick<LocalContext, 'terminal' | 'answer'>,
  options: RegistryOptions & { readonly current?: string },
): Promise<void> {
  const { current = VERSION, published = PUBLISHED } = options;
  const { version, node } = await findLatest(options);
  const isThere = isNewer(version, current);
  if (isThere) terminal.setAttention();
  const wayOut = isThere ? sayUpdate(published.name) : null;
  answer({ current, latest: version, isNewer: isThere, node: node ?? null, wayOut }, () => {
    if (!isThere) return terminal.print(`isthmus ${current} is the newest version.`);
    terminal.print(`isthmus ${version} is published; this is ${current}. Get it with ${wayOut}.`);
    if (node !== undefined) terminal.note(`It needs node ${node}.`);
  });
}
