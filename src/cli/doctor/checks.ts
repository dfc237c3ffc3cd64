// What `isthmus doctor` looks at and finds: this machine, its data folder and settings, and the gateway that runs there.

import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { CodingClient, SettingEntry } from '../../clients/client-settings.ts';
import { CODING_CLIENTS, SDK_VARIABLES, type SdkVariables } from '../../clients/coding-clients.ts';
import { configPath, type Settings } from '../../config/effective.ts';
import type { Environment } from '../../config/env.ts';
import type { Clock } from '../../lib/clock.ts';
import { type JsonObject, parseObject } from '../../lib/json.ts';
import { codeOf, messageOf } from '../../lib/localized-message.ts';
import { isLoopbackHost, withoutSlashes } from '../../lib/net.ts';
import { createProxyChoice, shownProxy } from '../../lib/outbound-proxy.ts';
import { isExposed } from '../../lib/private-file.ts';
import { createVault } from '../../sealing/seal.ts';
import { DATABASE_FILE, KEY_FILE, loadSecretKey } from '../../sealing/secret-key.ts';
import { inspectDatabase } from '../../stores/sqlite/backup.ts';
import {
  type AdminClient,
  encodePath,
  type GatewayFetch,
  UNKNOWN_AUTHORITY,
} from '../admin-client.ts';
import { findFile, findProgram, type Machine } from '../clients/place.ts';
import { readText } from '../clients/settings-file.ts';
import {
  isTree,
  readTree,
  SettingsError,
  type Tree,
  valueAt,
} from '../clients/settings-formats.ts';
import { whyUnreached } from '../exit-codes.ts';
import { objectOf, objectsOf, textOf, textsOf } from '../terminal.ts';

/** With the way out where something is wrong. */
export type Finding = {
  /** What was looked at, such as `port`. */
  readonly check: string;
  readonly severity: 'ok' | 'info' | 'warning' | 'error';
  readonly message: string;
  /** Absent where nothing is to be done. */
  readonly wayOut?: string;
};

type Problem = readonly [message: string, wayOut?: string];

export function findingsOf(check: string) {
  const make =
    (severity: Finding['severity']) =>
    (...[message, wayOut]: Problem): Finding => ({
      ...{ check, severity, message },
      ...(wayOut !== undefined && { wayOut }),
    });
  return { ok: make('ok'), info: make('info'), warning: make('warning'), error: make('error') };
}

const COSTS: Readonly<Record<Finding['severity'], number>> = {
  ok: 0,
  info: 0,
  warning: 10,
  error: 30,
};

/** 100 when nothing is wrong; less for each warning and error. */
export function scoreOf(findings: readonly Finding[]): number {
  const cost = findings.reduce((sum, { severity }) => sum + COSTS[severity], 0);
  return Math.max(0, 100 - cost);
}

const MIN_NODE = [24, 7] as const;

export function checkNode(version: string): Finding {
  const node = findingsOf('node');
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const isEnough = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);
  if (isEnough) return node.ok(`node ${version}`);
  return node.error(
    `node ${version} is too old: isthmus needs ${MIN_NODE.join('.')} or later.`,
    'Start it with "npx -p node@26", or install a newer node.',
  );
}

const PRIVATE_FILES = [DATABASE_FILE, KEY_FILE, 'gui_config.json'];

export function checkDataFolder(dataDir: string, environment: Environment): readonly Finding[] {
  const { ok, info, warning, error } = findingsOf('data folder');
  if (!existsSync(dataDir)) return [info(`${dataDir} is not there yet; the first start makes it.`)];
  const exposed = ['.', ...PRIVATE_FILES]
    .map((name) => join(dataDir, name))
    .filter((path) => existsSync(path) && isExposed(path));
  const findings = exposed.map((path) =>
    warning(
      `Other users of this machine can read ${path}.`,
      `Run "chmod go-rwx ${path}" as its owner.`,
    ),
  );
  const hasKey = environment.secretKey !== undefined || existsSync(join(dataDir, KEY_FILE));
  if (
    existsSync(join(dataDir, DATABASE_FILE)) &&
    !hasKey &&
    environment.databaseUrl === undefined
  ) {
    const message = `${join(dataDir, KEY_FILE)} is missing: what the database seals cannot be opened.`;
    findings.push(
      error(message, 'Put the file back, or set ISTHMUS_SECRET_KEY to the key in use.'),
    );
  }
  return findings.length === 0 ? [ok(`${dataDir} is private.`)] : findings;
}

/** As a start would open it, while no gateway has: it ends a start that cannot. */
export async function checkDatabase(
  dataDir: string,
  { secretKey: environmentKey, databaseUrl }: Environment,
  clock: Clock,
): Promise<readonly Finding[]> {
  const { ok, error } = findingsOf('database');
  const path = join(dataDir, DATABASE_FILE);
  const hasKey = environmentKey !== undefined || existsSync(join(dataDir, KEY_FILE));
  if (databaseUrl !== undefined || !hasKey || !existsSync(path)) return [];
  try {
    const vault = createVault(loadSecretKey({ dataDir, environmentKey }));
    await inspectDatabase({ path, name: path, vault, clock });
    return [ok(`${path} is whole and opens with the secret key.`)];
  } catch (failure) {
    return [error(messageOf(failure))];
  }
}

const MEBIBYTE = 1024 * 1024;
const LITTLE = 1024 * MEBIBYTE;
const VERY_LITTLE = 100 * MEBIBYTE;

export async function checkDisk(
  dataDir: string,
  readFree: (path: string) => Promise<number> = freeBytes,
): Promise<readonly Finding[]> {
  const { ok, warning, error } = findingsOf('disk');
  if (!existsSync(dataDir)) return [];
  const free = await readFree(dataDir);
  const words = `${Math.floor(free / MEBIBYTE)} MB are free for ${dataDir}.`;
  const wayOut = 'Free disk space, or lower proxy.monitor.max_bytes, which limits request logs.';
  if (free < VERY_LITTLE) return [error(words, wayOut)];
  return [free < LITTLE ? warning(words, wayOut) : ok(words)];
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** @param problems of the config file, whose last good copy is in force then */
export function checkSettings(settings: Settings, problems: readonly string[]): readonly Finding[] {
  const { ok, warning, error } = findingsOf('settings');
  const path = configPath(settings.dataDir);
  const findings = [
    ...problems.map((problem) =>
      error(`${path}: ${problem}. The last good copy is in force.`, 'Correct the file.'),
    ),
    ...settings.warnings.map(({ text }) =>
      warning(text, 'Correct or remove it where the gateway is started or in gui_config.json.'),
    ),
  ];
  return findings.length === 0
    ? [ok(`${existsSync(path) ? path : 'The defaults'} can be used.`)]
    : findings;
}

const SHORT_KEY = 16;

export function checkExposure(settings: Settings): readonly Finding[] {
  const { ok, info, warning, error } = findingsOf('exposure');
  const { host, authMode, apiKey, consolePassword } = settings;
  const isLocal = isLoopbackHost(host);
  const findings: Finding[] = [];
  if (authMode === 'off') {
    const words = 'AUTH_MODE is off: nobody needs a key';
    const wayOut = 'Set AUTH_MODE to auto or strict.';
    findings.push(
      isLocal ? warning(`${words}.`, wayOut) : error(`${words}, also from other machines.`, wayOut),
    );
  }
  if (authMode === 'strict' && apiKey === undefined) {
    findings.push(
      info('AUTH_MODE is strict and API_KEY is not set: only per-user keys are accepted.'),
    );
  }
  if (!isLocal && apiKey !== undefined && apiKey.length < SHORT_KEY) {
    findings.push(
      warning('API_KEY is short, and other machines can reach it.', 'Set a longer one.'),
    );
  }
  if (!isLocal && consolePassword !== undefined && consolePassword === apiKey) {
    const message = 'The key of the clients opens the console too.';
    findings.push(warning(message, 'Set WEB_PASSWORD or admin_password.'));
  }
  const where = isLocal ? 'this machine alone' : `the network, at ${host}`;
  return findings.length === 0
    ? [ok(`It listens for ${where}; AUTH_MODE is ${authMode}.`)]
    : findings;
}

/** Programs of this machine that obey a proxy send what they ask of the gateway there too, unless told otherwise. */
export function checkProxies(settings: Settings, environment: Environment): readonly Finding[] {
  const { ok, info, warning } = findingsOf('proxies');
  const { all, http, https } = settings.outbound;
  const named = new Map([all, http, https].flatMap((one) => (one ? [[one.source, one.url]] : [])));
  const findings = Array.from(named, ([source, url]) =>
    info(`Calls to other machines go through ${shownProxy(url)} (${source}).`),
  );
  const { httpProxy, allProxy, noProxy = [] } = environment;
  const covered = ['localhost', '127.0.0.1', '*'].some((name) => noProxy.includes(name));
  if ((httpProxy ?? allProxy) !== undefined && !covered) {
    const message =
      'HTTP_PROXY is set without this machine in NO_PROXY: clients may send what they ask of the gateway to the proxy.';
    findings.push(warning(message, 'Set NO_PROXY=localhost,127.0.0.1 for the clients.'));
  }
  return findings.length === 0 ? [ok('No proxy is set.')] : findings;
}

interface ClockOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
}

const PATIENCE_MS = 5_000;
const NOTABLE_SKEW_MS = 30_000;
const GRAVE_SKEW_MS = 300_000;

/** Asks for nothing but the time that each upstream says it is; no credential goes along. */
export function checkClocks(
  { upstreams, outbound }: Pick<Settings, 'upstreams' | 'outbound'>,
  options: ClockOptions,
): Promise<readonly Finding[]> {
  const { info } = findingsOf('clock');
  const addresses = upstreams.flatMap(({ baseUrl }) => (baseUrl ? [new URL(baseUrl).origin] : []));
  const proxyOf = createProxyChoice(outbound);
  return Promise.all(
    [...new Set(addresses)].map(async (origin) =>
      proxyOf(origin) === undefined
        ? compareClock(origin, options)
        : info(`${origin} is reached through a proxy; its clock was not compared.`),
    ),
  );
}

async function compareClock(origin: string, { fetch, now }: ClockOptions): Promise<Finding> {
  const { ok, info, warning, error } = findingsOf('clock');
  let date: string | null;
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(`${origin}/`, { method: 'HEAD', redirect: 'manual', signal });
    date = response.headers.get('date');
  } catch (failure) {
    const cause = failure instanceof Error ? (failure.cause ?? failure) : failure;
    return error(
      `${origin} cannot be reached: ${messageOf(cause)}`,
      'Check the network, the address of the upstream, and proxies.',
    );
  }
  const upstreamTime = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(upstreamTime)) return info(`${origin} does not say what time it is.`);
  const skewMs = now() - upstreamTime;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const words = `The clock of this machine is ${seconds} s ${skewMs < 0 ? 'behind' : 'ahead of'} that of ${origin}.`;
  const wayOut =
    'Set the clock, or let the system keep it with NTP: sign-ins fail when it is wrong.';
  if (Math.abs(skewMs) > GRAVE_SKEW_MS) return error(words, wayOut);
  if (Math.abs(skewMs) > NOTABLE_SKEW_MS) return warning(words, wayOut);
  return ok(`The clock agrees with that of ${origin}.`);
}

const LISTENER_PATIENCE_MS = 3_000;

type Listener = 'nobody' | 'isthmus' | 'untrusted' | 'other';

export async function findListener(
  url: string,
  fetch: GatewayFetch,
): Promise<{ readonly kind: Listener; readonly version?: string }> {
  try {
    const signal = AbortSignal.timeout(LISTENER_PATIENCE_MS);
    const response = await fetch(`${url}/health`, { redirect: 'manual', signal });
    const { status, version } = parseObject(await response.text());
    const isOurs = typeof status === 'string' && typeof version === 'string';
    return isOurs && response.headers.has('x-request-id')
      ? { kind: 'isthmus', version }
      : { kind: 'other' };
  } catch (error) {
    if (UNKNOWN_AUTHORITY.test(whyUnreached(error))) return { kind: 'untrusted' };
    const code = codeOf(error instanceof Error ? error.cause : undefined) ?? '';
    // Something listens there, but speaks no HTTP.
    const isRefused = /^(?:ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(
      code,
    );
    return { kind: isRefused ? 'nobody' : 'other' };
  }
}

interface AddressOptions {
  readonly url: string;
  readonly listener: Awaited<ReturnType<typeof findListener>>;
  /** Whether a gateway runs on the data folder. */
  readonly isClaimed: boolean;
  readonly version: string;
}

export function checkAddress({ url, listener, isClaimed, version }: AddressOptions): Finding {
  const { ok, info, warning, error } = findingsOf('address');
  const { port } = new URL(url);
  switch (listener.kind) {
    case 'isthmus':
      if (listener.version === version) return ok(`isthmus ${version} answers at ${url}.`);
      return info(`isthmus ${listener.version} answers at ${url}; this command is of ${version}.`);
    case 'untrusted':
      return error(
        `The certificate at ${url} is of no known authority.`,
        'Name a file with that of the authority with --ca.',
      );
    case 'other':
      return error(
        `Another program than isthmus listens at ${url}.`,
        `Stop it, or start the gateway with another --port; "ss -ltnp" or "lsof -i :${port}" shows which it is.`,
      );
    case 'nobody':
      return isClaimed
        ? warning(
            `A gateway runs on the data folder, but not at ${url}.`,
            'It was started with another --port or --host: name its address with --url.',
          )
        : info(`No gateway runs at ${url}.`, 'Start it with "isthmus serve".');
    default:
      return listener.kind satisfies never;
  }
}

export function checkAttention(overview: JsonObject): readonly Finding[] {
  const { ok, ...make } = findingsOf('gateway');
  const entries = objectsOf(overview, 'attention').map((entry) => {
    const severity = textOf(entry, 'severity');
    const kind = severity === 'error' || severity === 'warning' ? severity : 'info';
    return make[kind](textOf(entry, 'message'), textOf(entry, 'wayOut'));
  });
  return entries.length === 0 ? [ok('Nothing needs attention.')] : entries;
}

const ACCOUNT_WAY_OUT =
  'If its key is refused, give it a new one, or sign it in again; if nothing answers, see the network, the address of the upstream and proxies.';

/** @param generate asks each for one token, which costs that; else credential, model list and quota alone are tried */
export async function checkAccounts(
  client: AdminClient,
  generate: boolean,
): Promise<readonly Finding[]> {
  const { ok, info, error } = findingsOf('accounts');
  const accounts = objectsOf(await client.call('GET', '/api/accounts'), 'accounts').filter(
    (account) => textOf(objectOf(account, 'status'), 'kind') !== 'disabled',
  );
  const findings: Finding[] = [];
  // One after the other: an upstream that is asked by all at once may refuse for that alone.
  for (const account of accounts) {
    const name = textOf(account, 'name');
    const path = `/api/accounts/${encodePath(textOf(account, 'id'))}/test`;
    const result = await client.call('POST', path, { generate });
    const steps = objectsOf(result, 'steps');
    const bad = steps.find(({ isGood }) => isGood !== true);
    if (result.isUsable === true && generate && !steps.some((step) => step.name === 'answer')) {
      const message = `Whether ${name} answers was not tried: no model to ask is known.`;
      findings.push(info(message, 'Send it a request.'));
    } else if (result.isUsable === true) {
      findings.push(ok(`${name} ${generate ? 'answers' : 'is accepted by its upstream'}.`));
    } else {
      const why = bad === undefined ? '' : `: ${textOf(bad, 'message')}`;
      const wayOut = textOf(objectOf(account, 'status'), 'wayOut');
      findings.push(error(`${name} cannot be used${why}`, wayOut || ACCOUNT_WAY_OUT));
    }
  }
  if (!generate && accounts.length > 0) {
    findings.push(
      info(
        'Whether they answer was not tried.',
        'Add --generate, which requests a one-token response of each and uses quota.',
      ),
    );
  }
  return findings;
}

/** Names that a mapping, or a key, leads nowhere. */
export async function checkNames(client: AdminClient): Promise<readonly Finding[]> {
  const { ok, warning } = findingsOf('models');
  const mapping = objectOf(await client.call('GET', '/api/config/mapping'), 'values');
  const findings: Finding[] = [];
  for (const [name, target] of Object.entries(mapping)) {
    const asked = name.includes('*') ? String(target) : name;
    if (asked.startsWith('@') || (await isServed(client, asked))) continue;
    findings.push(
      warning(
        `The mapping of ${name} leads to ${String(target)}, which nobody serves.`,
        'Correct it with the page Routing, or add an account that offers it.',
      ),
    );
  }
  for (const key of objectsOf(await client.call('GET', '/api/keys'), 'keys')) {
    for (const model of textsOf(key, 'allowedModels')) {
      if (model.includes('*') || (await isServed(client, model))) continue;
      const name = textOf(key, 'name');
      findings.push(
        warning(
          `The key ${name} allows ${model}, which nobody serves.`,
          `isthmus keys edit ${name} --allowed-models …`,
        ),
      );
    }
  }
  return findings.length === 0 ? [ok('Every name that is mapped or allowed is served.')] : findings;
}

/** Whether an account answers requests for a name. */
export async function isServed(client: AdminClient, name: string): Promise<boolean> {
  const route = await client.call('GET', `/api/route?model=${encodeURIComponent(name)}`);
  return route.servedAs !== null && textOf(route, 'error') === '';
}

// The clients of this machine: the address, key and model in their settings, and what `isthmus doctor` finds wrong with them.

/** A client that is installed, or has settings. */
export interface FoundClient {
  readonly id: string;
  readonly name: string;
  readonly isInstalled: boolean;
  /** Where its settings are: a file, or a variable of this shell. */
  readonly place: { readonly kind: 'file' | 'variable'; readonly name: string };
  /** The address in its settings; undefined where they name none. */
  readonly address: string | undefined;
  /** What has to stand behind the address of the gateway, such as `/v1`. */
  readonly basePath: string;
  readonly key: string | undefined;
  readonly model: string | undefined;
  /** A setting that leads it elsewhere, whatever its address is. */
  readonly other?: string;
  /** Why its settings cannot be read. */
  readonly problem?: string;
}

interface ClientOptions {
  readonly url: string;
  /** Whether the gateway takes a key; undefined where none runs. */
  readonly takesKey: ((key: string) => Promise<boolean>) | undefined;
  /** Models that no account serves, as far as the gateway tells. */
  readonly unserved: ReadonlySet<string>;
}

export async function checkClients(
  clients: readonly FoundClient[],
  options: ClientOptions,
): Promise<readonly Finding[]> {
  const found = clients.filter(
    ({ isInstalled, address, problem }) => isInstalled || (address ?? problem) !== undefined,
  );
  if (found.length === 0)
    return [findingsOf('clients').info('No client was found on this machine.')];
  return Promise.all(found.map((client) => checkClient(client, options)));
}

async function checkClient(
  { id, name, place, address, basePath, key, model, other, problem }: FoundClient,
  { url, takesKey, unserved }: ClientOptions,
): Promise<Finding> {
  const { ok, info, warning, error } = findingsOf('clients');
  const expected = url + basePath;
  const isVariable = place.kind === 'variable';
  const connect = isVariable ? `export ${place.name}=${expected}` : `isthmus connect ${id}`;
  if (problem !== undefined) {
    return warning(`The settings of ${name} cannot be read (${place.name}): ${problem}`);
  }
  if (address === undefined || !URL.canParse(address)) {
    return info(`${name} is not connected.`, connect);
  }
  const [given, own] = [new URL(address), new URL(url)];
  if (!isSameGateway(given, own)) {
    // Another server is a choice; another port of this machine was that of a gateway.
    const say = isSameMachine(given, own) ? warning : info;
    return say(`${name} points to ${given.origin}, not to this gateway (${place.name}).`, connect);
  }
  // Loopback has several names: the host cannot be wrong here.
  const isProtocol = given.protocol !== own.protocol;
  if (isProtocol || withoutSlashes(given.pathname) !== basePath) {
    const what = isProtocol ? 'protocol' : 'base path';
    return error(
      `${name} has the wrong ${what}: ${address} in ${place.name}; it must be ${expected}.`,
      connect,
    );
  }
  if (other !== undefined) {
    return warning(
      `${name} has the address of this gateway, but ${other} leads it elsewhere.`,
      connect,
    );
  }
  if (key !== undefined && takesKey !== undefined && !(await takesKey(key))) {
    return error(
      `The gateway does not accept the key of ${name} (${place.name}).`,
      isVariable ? 'Give it one that "isthmus keys add" makes.' : connect,
    );
  }
  if (model !== undefined && unserved.has(model)) {
    return error(
      `${name} asks for the model ${model}, which nobody serves (${place.name}).`,
      `isthmus connect ${id} --model …; "isthmus models" lists those there are.`,
    );
  }
  return ok(`${name} is connected.`);
}

function isSameGateway(left: URL, right: URL): boolean {
  return portOf(left) === portOf(right) && isSameMachine(left, right);
}

/** Loopback has several names. */
function isSameMachine(left: URL, right: URL): boolean {
  const isLoopback = [left, right].every(({ hostname }) => isLoopbackHost(hostname));
  return isLoopback || left.hostname === right.hostname;
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}

/** Stand for what settings are filled with: where they come out is where a client's own values are. */
const PROBE = {
  address: 'http://probe-address.invalid',
  key: 'probe-key-0123456789',
  model: 'probe-model-0123456789',
} as const;

/** Coding CLIs by their settings, and SDKs by the variables of this shell. */
export function findClients(machine: Machine): readonly FoundClient[] {
  return [
    ...CODING_CLIENTS.map((client) => findClient(client, machine)),
    ...SDK_VARIABLES.map((sdk) => findSdk(sdk, machine)),
  ];
}

function findClient(client: CodingClient, machine: Machine): FoundClient {
  const { id, name, program } = client;
  const found = { id, name, isInstalled: findProgram(program, machine) !== undefined };
  let values: Values = { basePath: '', address: undefined, key: undefined, model: undefined };
  let place: FoundClient['place'] = { kind: 'file', name: '' };
  let other: string | undefined;
  for (const file of client.files) {
    const { path, format } = findFile(file, machine);
    const entries = file.write(PROBE);
    try {
      const text = readText(path) ?? '';
      // What is set for every shell may as well stand in this one only.
      const isShell = file.format === 'posix';
      const tree = { ...(isShell ? machine.variables : {}), ...readTree(format, text) };
      const read = readValues(entries, tree);
      other ??= findOther(entries, tree);
      if (read.basePath !== undefined) place = { kind: 'file', name: path };
      values = { ...values, ...read };
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      return {
        ...{ ...found, ...values, place: { kind: 'file', name: path } },
        problem: error.message,
      };
    }
  }
  return { ...found, ...values, place, ...(other === undefined ? {} : { other }) };
}

function findSdk({ id, name, write, otherKeys }: SdkVariables, machine: Machine): FoundClient {
  const entries = write(PROBE).map(([name, value]) => ({ path: [name], value }));
  const values = readValues(entries, machine.variables);
  const others = otherKeys.map((one) => machine.variables[one]);
  return {
    ...{ id, name, isInstalled: false, basePath: '', address: undefined, model: undefined },
    ...values,
    key: [...others, values.key].find((value) => value),
    place: { kind: 'variable', name: write(PROBE)[0]?.[0] ?? '' },
  };
}

type Values = Pick<FoundClient, 'basePath' | 'address' | 'key' | 'model'>;

function readValues(entries: readonly SettingEntry[], tree: Tree): Partial<Values> {
  const values: { -readonly [Name in keyof Values]?: Values[Name] } = {};
  for (const { path, value } of entries) {
    for (const { below, text } of leavesOf(value)) {
      const given = valueAt(valueAt(tree, path), below);
      const current = typeof given === 'string' && given !== '' ? given : undefined;
      if (text.startsWith(PROBE.address)) {
        values.basePath = withoutSlashes(text.slice(PROBE.address.length));
        values.address = current;
      } else if (text === PROBE.key) {
        values.key = current;
      } else if (text.endsWith(PROBE.model)) {
        const prefix = text.slice(0, -PROBE.model.length);
        values.model ??= current?.startsWith(prefix) ? current.slice(prefix.length) : undefined;
      }
    }
  }
  return values;
}

/** A setting by which it does not use the provider that is set up, in words. */
function findOther(entries: readonly SettingEntry[], tree: Tree): string | undefined {
  for (const { path, value, onlyIfMissing } of entries) {
    // What is only emptied chooses nothing, and may be a key.
    if (onlyIfMissing || typeof value !== 'string' || value === '') continue;
    const current = valueAt(tree, path);
    // A model of another provider has its name before it.
    const prefix = value.endsWith(PROBE.model) ? value.slice(0, -PROBE.model.length) : undefined;
    const isProbe = Object.values(PROBE).some((text) => value.includes(text));
    if (prefix === '' || (isProbe && prefix === undefined)) continue;
    const isOurs =
      prefix === undefined ? current === value : String(current ?? '').startsWith(prefix);
    if (!isOurs) return `${path.join('.')} = ${JSON.stringify(current) ?? 'nothing'}`;
  }
  return undefined;
}

interface Leaf {
  readonly below: readonly string[];
  readonly text: string;
}

function leavesOf(value: unknown, below: readonly string[] = []): readonly Leaf[] {
  if (typeof value === 'string') return [{ below, text: value }];
  if (!isTree(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...below, name]));
}
