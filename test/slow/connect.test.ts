// Every coding CLI from its registry: connected by `isthmus connect`, started by `isthmus launch`, and taken back.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLIENT_ROWS, type ClientRow } from './client-rows.ts';

/** Folder with the kit's run scripts; without it the suite says so and runs nothing. */
const KIT = resolve(
  process.env.CLIENT_KIT ?? join(import.meta.dirname, '../../../shared/clients/run'),
);
const CACHE = process.env.CLIENTS_DIR ?? join(tmpdir(), 'isthmus-clients');
const DRIVER = join(import.meta.dirname, 'connect-driver.ts');
const MINUTES = 60_000;
const WIRES = ['generate', 'messages', 'chat'] as const;

const isKitThere = existsSync(join(KIT, 'netns.sh'));
if (!isKitThere) {
  console.warn(`SKIPPED: no client kit at ${KIT}; set CLIENT_KIT to its run folder.`);
}

const LIMIT = { timeout: 40 * MINUTES };

describe.runIf(isKitThere).each(WIRES)('with an upstream of the wire %s', (wire) => {
  test.each(CLIENT_ROWS)('$id is answered, and has its settings back byte for byte', LIMIT, (row) =>
    tryClient(row, wire),
  );
});

test.runIf(isKitThere).each(CLIENT_ROWS)(
  '$id is answered where it had no settings, and has none again',
  LIMIT,
  (row) => tryClient({ ...row, before: {} }, 'generate'),
);

async function tryClient(row: ClientRow, wire: string): Promise<void> {
  const programs = install(row);
  if (programs === undefined) {
    console.warn(`NOT TRIED: ${row.id} cannot be installed from its registry here.`);
    return;
  }
  const tried = await drive(row, wire, programs);
  const { connected, again, ran, undone, launched, isRestored, leftAlone } = tried;
  expect(connected.code, connected.output).toBe(0);
  expect(again.output).toContain('is already connected');
  expect(ran.isAnswered, ran.output).toBe(true);
  expect(undone.code, undone.output).toBe(0);
  expect(isRestored, undone.output).toBe(true);
  expect(launched.isAnswered, launched.output).toBe(true);
  if (row.editsItself !== true) expect(leftAlone).toBe(true);
}

/** The folder of its command; undefined when the registry does not give it. */
function install({ id, source }: ClientRow): string | undefined {
  const folder = join(CACHE, `connect-${id}`);
  const stamp = join(folder, '.stamp');
  const wanted = 'npm' in source ? source.npm : source.pip;
  const programs = 'npm' in source ? join(folder, 'node_modules/.bin') : join(folder, 'bin');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return programs;
  mkdirSync(folder, { recursive: true });
  const isDone = 'npm' in source ? installNpm(folder, wanted) : installPip(folder, wanted);
  if (isDone) writeFileSync(stamp, wanted);
  return isDone ? programs : undefined;
}

function installNpm(folder: string, wanted: string): boolean {
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  const npm = (...words: readonly string[]): boolean =>
    spawnSync('npm', words, { cwd: folder, stdio: 'ignore' }).status === 0;
  if (!npm('install', '--no-fund', '--no-audit', wanted)) return false;
  // Some put their program in its place by a script, which newer versions of npm hold back.
  npm('install-scripts', 'approve', '--all');
  npm('rebuild');
  return true;
}

function installPip(folder: string, wanted: string): boolean {
  if (spawnSync('python3', ['-m', 'venv', folder], { stdio: 'ignore' }).status !== 0) return false;
  return (
    spawnSync(join(folder, 'bin/pip'), ['install', '-q', wanted], { stdio: 'ignore' }).status === 0
  );
}

interface Tried {
  readonly connected: Ran;
  readonly again: Ran;
  readonly ran: Ran & { readonly isAnswered: boolean };
  readonly undone: Ran;
  readonly launched: Ran & { readonly isAnswered: boolean };
  readonly isRestored: boolean;
  readonly leftAlone: boolean;
}

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** In a network of its own, where no name has an address. */
function drive({ id, before }: ClientRow, wire: string, programs: string): Promise<Tried> {
  const settings = Object.keys(before).length === 0 ? 'none' : 'some';
  const given = [id, wire, KIT, programs, settings];
  const words = [join(KIT, 'netns.sh'), process.execPath, DRIVER, ...given];
  const names = join(tmpdir(), `isthmus-names-${id}.log`);
  const child = spawn('bash', words, {
    env: { ...process.env, DNSLOG: names },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [answer, errors] = ['', ''];
  child.stdout.on('data', (data: Buffer) => {
    answer += data;
  });
  child.stderr.on('data', (data: Buffer) => {
    errors += data;
  });
  return new Promise((done, reject) => {
    child.once('exit', () => {
      const last = answer.trim().split('\n').at(-1) ?? '';
      if (!last.startsWith('{')) return reject(new Error(`${id}: ${answer}${errors}`));
      done(JSON.parse(last));
    });
  });
}
