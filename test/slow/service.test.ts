// The unit of deploy/ under a real systemd, which runs in namespaces of its own: what it shuts off, and that the
// gateway works behind it.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { freePort } from '../support/free-port.ts';
import { PROTOCOL_CALLS, send } from '../support/protocol-calls.ts';
import { runProgram } from '../support/run-program.ts';

const ROOT = join(import.meta.dirname, '../..');
const SYSTEMD = '/lib/systemd/systemd';
/** What every service wants of a machine that starts. */
const TARGETS = ['sysinit', 'basic', 'shutdown', 'network-online', 'multi-user', 'umount'];

const obstacle = findObstacle();
if (obstacle !== undefined)
  console.error(`*** SKIPPED: the unit is not run by systemd, as ${obstacle}. ***`);

function findObstacle(): string | undefined {
  if (process.env.ISTHMUS_SLOW !== '1') return 'it was not asked for';
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it takes root on Linux';
  if (spawnSync(SYSTEMD, ['--version']).status !== 0) return 'there is no systemd';
  const words = ['--pid', '--fork', '--mount', '--cgroup', 'true'];
  return spawnSync('unshare', words).status === 0 ? undefined : 'no namespaces may be made';
}

describe.runIf(obstacle === undefined)('the service', { timeout: 600_000 }, () => {
  let folder: string;
  let url: string;
  let output = '';
  let pid: number;
  let end: () => Promise<unknown>;

  beforeAll(async () => {
    folder = mkdtempSync('/var/tmp/isthmus-service-');
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    await makeMachine(folder, port);
    const words = ['--pid', '--fork', '--mount', '--mount-proc', '--uts', '--ipc', '--cgroup'];
    const child = spawn('unshare', [...words, '--kill-child', 'sh', '-ec', SCRIPT], {
      env: {
        PATH: process.env.PATH,
        FOLDER: folder,
        SYSTEMD,
        SYSTEMD_UNIT_PATH: join(folder, 'units'),
      },
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => (output += data));
    const ended = new Promise((resolve) => child.once('exit', resolve));
    end = () => {
      child.kill('SIGKILL');
      return ended;
    };
    await vi.waitUntil(isHealthy, { timeout: 120_000, interval: 200 });
    const [systemd = ''] = execFileSync('pgrep', ['-P', String(child.pid)], {
      encoding: 'utf8',
    }).split('\n');
    pid = Number(systemd);
  }, 900_000);
  afterAll(async () => {
    await end?.();
    rmSync(folder, { recursive: true, force: true });
  });

  const isHealthy = (): Promise<boolean> =>
    fetch(`${url}/health`).then(
      (answer) => answer.ok,
      () => false,
    );
  const systemctl = (...words: readonly string[]): Promise<string> =>
    runProgram('nsenter', ['--target', String(pid), '--mount', '--pid', 'systemctl', ...words]);

  test('serves every protocol with no rights, as a user of its own', async () => {
    for (const call of PROTOCOL_CALLS) {
      expect([call.name, (await send(url, call)).status]).toEqual([call.name, 200]);
    }
    const [main = ''] = execFileSync('pgrep', ['-P', String(pid)], {
      encoding: 'utf8',
    }).split('\n');
    const status = readFileSync(`/proc/${main}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\s+6\d{4}\s/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
  });

  test('lets a running stream end when it is stopped', async () => {
    const [chat] = PROTOCOL_CALLS;
    if (chat === undefined) throw new Error('There is no protocol.');
    const text = 'UPSTREAM-SLOW 200 UPSTREAM-WORDS 20 Hello';
    const answer = send(url, chat, { stream: true, text });
    const readFigures = async () => (await fetch(`${url}/metrics`)).text();
    await expect.poll(readFigures).toMatch(/^isthmus_requests_in_flight(?:\{.*\})? 1$/m);
    await systemctl('stop', 'isthmus');
    expect(chat.isComplete((await answer).text)).toBe(true);
    const properties = await systemctl('show', 'isthmus', '--property=Result,ExecMainStatus');
    expect(properties.trim().split('\n').sort()).toEqual(['ExecMainStatus=0', 'Result=success']);
    expect(output).not.toMatch(/Failed to|unknown/i);
  });
});

/** A machine whose only service this one is. */
async function makeMachine(folder: string, port: number): Promise<void> {
  const units = join(folder, 'units');
  mkdirSync(join(units, 'isthmus.service.d'), { recursive: true });
  mkdirSync(join(folder, 'bin'));
  cpSync(join(ROOT, 'deploy/isthmus.service'), join(units, 'isthmus.service'));
  writeFileSync(
    join(units, 'isthmus.service.d/test.conf'),
    `[Service]\nEnvironment=PORT=${port}\nStandardOutput=null\nStandardError=null\n`,
  );
  for (const name of TARGETS) {
    writeFileSync(
      join(units, `${name}.target`),
      `[Unit]\nDescription=${name}\nDefaultDependencies=no\n`,
    );
  }
  writeFileSync(join(units, 'test.target'), '[Unit]\nRequires=isthmus.service\n');
  await runProgram(process.execPath, ['scripts/archive.mjs']);
  const name = `isthmus-${manifest.version}-${process.platform}-${process.arch}`;
  const archive = join(ROOT, 'archives', `${name}.tar.gz`);
  const words = ['--extract', '--gzip', '--strip-components=1', '--file', archive];
  execFileSync('tar', [...words, '--directory', join(folder, 'bin'), `${name}/isthmus`]);
}

/** What systemd writes to, and what tells it of the machine, is its own. */
const SCRIPT = `
mount --make-rprivate /
for path in /run /var/lib; do mount -t tmpfs tmpfs $path; done
umount --recursive /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount --bind $FOLDER/bin /usr/local/bin
export container=yes SYSTEMD_LOG_TARGET=console
exec $SYSTEMD --system --unit=test.target
`;
