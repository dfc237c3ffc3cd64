// Kills writers of one database, again and again, and looks each time at what is left.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createVault } from '../../src/sealing/seal.ts';
import { DATABASE_FILE, loadSecretKey } from '../../src/sealing/secret-key.ts';
import { openDatabase } from '../../src/stores/sqlite/open-database.ts';
import { createExpected, type Expected, hearAll } from './expected.ts';

export interface KillReport {
  readonly acknowledged: number;
  readonly wrong: readonly string[];
  /** Files in which a secret stood in clear, in any of its forms. */
  readonly leaks: readonly string[];
  /** Files that others may read. */
  readonly exposed: readonly string[];
  /** Each kind of file that was looked at. */
  readonly inspected: readonly string[];
}

type Writer = ChildProcessByStdio<Writable, Readable, null>;

const WRITER = join(import.meta.dirname, 'writer.ts');
/** Its base64 and URL forms differ from it in most characters. */
const CANARY = 'refresh+canary/4711=?&secret';
const FORMS = [CANARY, encodeURIComponent(CANARY), ...base64Forms(CANARY)];

/** Run `n` is killed when its writer has said `linesBefore(n)` lines; it goes on until it is hit. */
export async function runKills(
  kills: number,
  linesBefore: (run: number) => number,
): Promise<KillReport> {
  const dataDir = mkdtempSync(join(tmpdir(), 'isthmus-kills-'));
  const expected = createExpected();
  const wrong: string[] = [];
  const found = {
    leaks: new Set<string>(),
    exposed: new Set<string>(),
    inspected: new Set<string>(),
  };
  let next: Writer | undefined = startWriter(dataDir, 0);
  try {
    for (let run = 0; run < kills; run += 1) {
      const writer: Writer = next ?? startWriter(dataDir, run);
      next = run + 1 < kills ? startWriter(dataDir, run + 1) : undefined;
      await writeAndKill(writer, linesBefore(run), expected);
      for (const name of readdirSync(dataDir)) {
        const path = join(dataDir, name);
        found.inspected.add(name);
        if ((statSync(path).mode & 0o077) !== 0) found.exposed.add(name);
        const content = readFileSync(path);
        if (FORMS.some((form) => content.includes(form))) found.leaks.add(name);
      }
      wrong.push(...(await reopen(dataDir, expected)).map((what) => `run ${run}: ${what}`));
    }
  } finally {
    next?.kill('SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  }
  return {
    acknowledged: expected.acknowledged,
    wrong,
    leaks: [...found.leaks],
    exposed: [...found.exposed],
    inspected: [...found.inspected].sort(),
  };
}

function startWriter(dataDir: string, run: number): Writer {
  return spawn(process.execPath, [WRITER, dataDir, `r${run}`, CANARY], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

async function writeAndKill(writer: Writer, lines: number, expected: Expected): Promise<void> {
  const ended = once(writer, 'exit');
  let left = lines;
  writer.stdin.on('error', () => undefined);
  writer.stdin.write('go\n');
  await hearAll(writer.stdout, (line) => {
    expected.hear(line);
    left -= 1;
    if (left === 0) writer.kill('SIGKILL');
  });
  const [, signal] = await ended;
  if (signal !== 'SIGKILL') throw new Error('The writer ended before it was killed.');
}

async function reopen(dataDir: string, expected: Expected): Promise<readonly string[]> {
  const stores = await openDatabase({
    path: join(dataDir, DATABASE_FILE),
    vault: createVault(loadSecretKey({ dataDir })),
    clock: createSystemClock(),
  });
  try {
    return await expected.check(stores);
  } finally {
    await stores.close();
  }
}

/** What of a text is the same in base64 wherever it begins within the three bytes of a group. */
function base64Forms(text: string): readonly string[] {
  return [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.from(`${' '.repeat(shift)}${text}`).toString('base64');
    const inner = encoded.slice(4, -4);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
