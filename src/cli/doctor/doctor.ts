// `isthmus doctor`: looks at machine, settings, gateway and clients, and says what is wrong with the way out.

import {
  configPath,
  resolveDataDir,
  resolveSettings,
  type Settings,
} from '../../config/effective.ts';
import type { Environment } from '../../config/env.ts';
import { loadConfig } from '../../config/file.ts';
import { messageOf } from '../../lib/localized-message.ts';
import {
  type AdminClient,
  type ConnectFlags,
  createGatewayFetch,
  findAddress,
  type GatewayFetch,
} from '../admin-client.ts';
import type { LocalContext } from '../command.ts';
import { claimFolder } from '../data-folder.ts';
import { CommandError } from '../exit-codes.ts';
import { VERSION } from '../package-name.ts';
import { plain, type Said } from '../terminal.ts';
import {
  checkAccounts,
  checkAddress,
  checkAttention,
  checkClients,
  checkClocks,
  checkDatabase,
  checkDataFolder,
  checkDisk,
  checkExposure,
  checkNames,
  checkNode,
  checkProxies,
  checkSettings,
  type Finding,
  type FoundClient,
  findingsOf,
  findListener,
  isServed,
  scoreOf,
} from './checks.ts';

export type DoctorFlags = Omit<ConnectFlags, 'local'> & Said<'generate', boolean>;

export interface DoctorOptions extends LocalContext {
  /** @throws ConfigError naming each variable whose value cannot be used */
  readonly readEnvironment: () => Environment;
  readonly fetch: typeof globalThis.fetch;
  readonly findClients: () => readonly FoundClient[];
}

export async function examine(options: DoctorOptions, flags: DoctorFlags): Promise<void> {
  const { terminal, answer } = options;
  const findings = await findAll(options, flags);
  const score = scoreOf(findings);
  if (findings.some(({ severity }) => severity === 'error')) terminal.setFailed();
  else if (findings.some(({ severity }) => severity === 'warning')) terminal.setAttention();
  answer({ score, findings: [...findings] }, () => {
    for (const finding of findings) terminal.print(sayFinding(finding));
    terminal.print(`\nScore: ${score} of 100`);
  });
}

const MARKS: Readonly<Record<Finding['severity'], string>> = {
  ok: 'ok     ',
  info: 'note   ',
  warning: 'warning',
  error: 'ERROR  ',
};

function sayFinding({ check, severity, message, wayOut }: Finding): string {
  const line = `${MARKS[severity]}  ${check}: ${plain(message)}`;
  return wayOut === undefined ? line : `${line}\n         → ${plain(wayOut)}`;
}

async function findAll(options: DoctorOptions, flags: DoctorFlags): Promise<readonly Finding[]> {
  const { clock, fetch } = options;
  const node = checkNode(process.version);
  const read = await readAll(options, flags);
  if ('failure' in read) return [node, read.failure];
  const { environment, settings, problems } = read;
  const { dataDir } = settings;
  const { url, trust } = findAddress(flags, settings);
  const ask = trust === undefined ? fetch : createGatewayFetch(trust);
  const listener = await findListener(url, ask);
  const isClaimed = flags.url === undefined && isFolderClaimed(dataDir);
  const isThere = listener.kind === 'isthmus';
  const isIdle = flags.url === undefined && !isClaimed && !isThere;
  const clients = options.findClients();
  const told = isThere ? await askGateway(options, flags, clients) : { findings: [], unserved: [] };
  return [
    node,
    ...checkDataFolder(dataDir, environment),
    ...(isIdle ? await checkDatabase(dataDir, environment, clock) : []),
    ...(await checkDisk(dataDir)),
    ...checkSettings(settings, problems),
    ...checkExposure(settings),
    ...checkProxies(settings, environment),
    ...(await checkClocks(settings, { fetch, now: () => clock.now() })),
    checkAddress({ url, listener, isClaimed, version: VERSION }),
    ...told.findings,
    ...(await checkClients(clients, {
      url,
      takesKey: isThere ? (key) => takesKey({ url, key, fetch: ask }) : undefined,
      unserved: new Set(told.unserved),
    })),
  ];
}

interface Read {
  readonly environment: Environment;
  readonly settings: Settings;
  readonly problems: readonly string[];
}

/** Settings that cannot be used keep the gateway from starting, and nothing else can be looked at. */
async function readAll(
  { readEnvironment }: DoctorOptions,
  { dataDir }: DoctorFlags,
): Promise<Read | { readonly failure: Finding }> {
  try {
    const environment = readEnvironment();
    const flags = { dataDir };
    const loaded = await loadConfig(configPath(resolveDataDir(flags, environment)));
    const settings = resolveSettings({ flags, environment, file: loaded.config });
    return { environment, settings, problems: loaded.problems.map(({ text }) => text) };
  } catch (error) {
    // A finding is one line, and each problem of a file is one of its own.
    const lines = messageOf(error).split('\n');
    const message = lines.map((line) => line.trim()).join(' ');
    return {
      failure: findingsOf('settings').error(
        message,
        'Correct it: the gateway does not start with it.',
      ),
    };
  }
}

function isFolderClaimed(dataDir: string): boolean {
  const claim = claimFolder(dataDir);
  claim.release();
  return !claim.isOurs;
}

interface Told {
  readonly findings: readonly Finding[];
  /** Models of clients that no account serves. */
  readonly unserved: readonly string[];
}

/** What the admin API tells; that it refuses the password is a finding too. */
async function askGateway(
  { connect }: DoctorOptions,
  { generate = false, ...flags }: DoctorFlags,
  clients: readonly FoundClient[],
): Promise<Told> {
  let client: AdminClient | undefined;
  try {
    client = await connect(flags);
    const findings = [
      ...checkAttention(await client.call('GET', '/api/overview')),
      ...(await checkAccounts(client, generate)),
      ...(await checkNames(client)),
    ];
    const unserved: string[] = [];
    for (const model of new Set(clients.map((one) => one.model))) {
      if (model !== undefined && !(await isServed(client, model))) unserved.push(model);
    }
    return { findings, unserved };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const [message = '', ...wayOut] = error.message.split('\n');
    const finding = findingsOf('gateway').error(message, wayOut.join(' ') || undefined);
    return { findings: [finding], unserved: [] };
  } finally {
    await client?.close();
  }
}

interface KeyQuestion {
  readonly url: string;
  readonly key: string;
  readonly fetch: GatewayFetch;
}

/** Asked as the client would: without a key of its own a gateway takes any from this machine. */
async function takesKey({ url, key, fetch }: KeyQuestion): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}` };
  const { status } = await fetch(`${url}/v1/models`, { headers, redirect: 'manual' });
  return status !== 401 && status !== 403;
}
