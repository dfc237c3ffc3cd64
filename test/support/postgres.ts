// A PostgreSQL server of its own for a test file: on loopback, in a temporary folder, gone with the tests.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { type Clock, createSystemClock } from '../../src/lib/clock.ts';
import type { Vault } from '../../src/sealing/seal.ts';
import { runScript } from '../../src/stores/database.ts';
import {
  type OpenPostgresOptions,
  openPostgres,
  PostgresDatabase,
  type PostgresOptions,
  type PostgresStores,
} from '../../src/stores/postgres/session.ts';
import { createTestVault } from './database.ts';
import { isInstalled } from './debian-packages.ts';
import { freePort } from './free-port.ts';

const DEBIAN = '/usr/lib/postgresql';
const USER = 'postgres';

/** The folder of the server's programs; undefined, and said loudly, where there is none. */
export const POSTGRES_BIN = findPrograms();

function findPrograms(): string | undefined {
  if (!isInstalled(() => newestPrograms() !== undefined, ['postgresql'])) {
    console.warn(
      'PostgreSQL IS NOT INSTALLED: nothing of it is tested. Run apt-get install postgresql.',
    );
  }
  return newestPrograms();
}

function newestPrograms(): string | undefined {
  try {
    const [newest] = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a));
    return newest === undefined ? undefined : join(DEBIAN, newest, 'bin');
  } catch {
    return undefined;
  }
}

export interface TestServer {
  /** Of the server; its connections have processes of their own, which are its children. */
  readonly pid: number;
  /** The address of a new database: empty, or with what the one at another address has. */
  createDatabase(model?: string): Promise<string>;
  /** Ends it as a crash would: nothing is said to anybody. */
  kill(): Promise<void>;
  /** Starts it again at the same address with what it had. */
  start(): Promise<void>;
  /** Lets all its processes stand still: connections stay open and nobody answers. */
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

/** Nothing is flushed to the disk: a test outlives no power cut. */
const FAST = ['fsync=off', 'full_page_writes=off', 'shared_buffers=64MB', 'jit=off'];

export async function startPostgres(settings: readonly string[] = FAST): Promise<TestServer> {
  if (POSTGRES_BIN === undefined) throw new Error('PostgreSQL is not installed.');
  const bin = POSTGRES_BIN;
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-postgres-'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    const [user, group] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, USER])));
    chownSync(folder, user ?? 0, group ?? 0);
  }
  chmodSync(folder, 0o700);
  // The server refuses to run as root.
  const become = isRoot ? ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'] : [];
  const [command = '', ...args] = [...become, join(bin, 'initdb')];
  const data = join(folder, 'data');
  const initial = ['-D', data, '-U', USER, '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C'];
  execFileSync(command, [...args, ...initial], { stdio: 'ignore' });
  const port = await freePort();
  let server: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    server = await run(
      [...become, join(bin, 'postgres')],
      [
        ...['-D', data, '-p', String(port), '-k', folder, '-h', '127.0.0.1'],
        ...settings.flatMap((setting) => ['-c', setting]),
      ],
    );
  };
  const end = (signal: NodeJS.Signals): Promise<void> => stop(server, signal);
  await start();
  process.once('exit', () => server?.kill('SIGQUIT'));
  const address = (name: string): string => `postgres://${USER}@127.0.0.1:${port}/${name}`;
  let made = 0;
  return {
    get pid() {
      return server?.pid ?? 0;
    },
    async createDatabase(model) {
      made += 1;
      const client = new pg.Client(address('postgres'));
      await client.connect();
      const like = model === undefined ? '' : ` template ${new URL(model).pathname.slice(1)}`;
      await client.query(`create database test_${made}${like}`);
      await client.end();
      return address(`test_${made}`);
    },
    kill: () => end('SIGQUIT'),
    start,
    freeze: () => signalAll(server, 'SIGSTOP'),
    thaw: () => signalAll(server, 'SIGCONT'),
    async close() {
      await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function run(program: readonly string[], args: readonly string[]): Promise<ChildProcess> {
  const [command = '', ...rest] = program;
  // A group of its own, so that all of it can be stopped and let go on.
  const child = spawn(command, [...rest, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    child.once('exit', (code) =>
      reject(new Error(`PostgreSQL ended (${code}): ${lines.join('\n')}`)),
    );
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (line.includes('ready to accept connections')) resolve(child);
    });
  });
}

function stop(server: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) {
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    server.once('exit', () => resolve());
    server.kill(signal);
  });
}

/** The server and the processes of its connections, each of which has a group of its own. */
function signalAll(server: ChildProcess | undefined, signal: NodeJS.Signals): void {
  const { pid } = server ?? {};
  if (pid === undefined) return;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  for (const one of [pid, ...children.split(' ').map(Number)]) process.kill(one, signal);
}

/** One server for all tests of a file, and what is opened on it, to be closed at their end. */
export interface TestPostgres {
  readonly url: string;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly database: PostgresDatabase;
  readonly stores: PostgresStores;
  /** Closes what is open and opens the same database again. */
  open(change?: Partial<OpenPostgresOptions>): Promise<PostgresStores>;
  /** Takes out all rows, which is faster than a new database. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

type Server = Pick<TestServer, 'createDatabase'>;

const clock = createSystemClock();

/** The address of a database that has its shape and nothing else: to give it that takes longer than to copy it. */
const models = new WeakMap<Server, Promise<string>>();

async function makeModel(server: Server): Promise<string> {
  const url = await server.createDatabase();
  const database = connectTo(url);
  await openPostgres({ database, vault: createTestVault(), clock });
  await database.close();
  return url;
}

function connectTo(url: string, change: Partial<PostgresOptions> = {}): PostgresDatabase {
  return new PostgresDatabase({
    ...{ url, clock, random: Math.random, poolSize: 4 },
    ...{ connectTimeoutMs: 5_000, statementTimeoutMs: 10_000 },
    ...change,
  });
}

/** A new database on a server. */
export async function createTestPostgres(
  server: Server,
  change: Partial<PostgresOptions> = {},
): Promise<TestPostgres> {
  const model = models.get(server) ?? makeModel(server);
  models.set(server, model);
  const url = await server.createDatabase(await model);
  const vault = createTestVault();
  let database: PostgresDatabase | undefined;
  let stores: PostgresStores | undefined;
  const open = async (options: Partial<OpenPostgresOptions> = {}): Promise<PostgresStores> => {
    await database?.close();
    database = connectTo(url, change);
    stores = await openPostgres({ database, vault, clock, ...options });
    return stores;
  };
  await open();
  return {
    ...{ url, clock, vault, open },
    get database() {
      if (database === undefined) throw new Error('The database is closed.');
      return database;
    },
    get stores() {
      if (stores === undefined) throw new Error('The database is closed.');
      return stores;
    },
    async empty() {
      await database?.write('crash', () => runScript(EMPTY));
    },
    async close() {
      await database?.close();
    },
  };
}

/** Whatever hangs at accounts, keys, records and answers goes with them. */
const EMPTY = [
  ...['accounts', 'signatures', 'call_traces', 'session_bindings', 'client_keys', 'requests'],
  ...['address_rules', 'access_log', 'audit_log', 'console_sessions', 'usage_sums', 'kept_answers'],
  ...['leases', 'settings', 'people', 'invitations', 'budgets'],
  ...['usage_rollups', 'usage_rolled', 'attempt_sums', 'removed_requests'],
]
  .map((table) => `delete from ${table};`)
  .join('\n');
