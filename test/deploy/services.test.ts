// The files for systemd and launchd: read by their own programs where these are there, and held to the gateway.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { VARIABLES } from '../../src/config/env.ts';
import { isJsonObject, parseJson } from '../../src/lib/json.ts';
import { DEFAULT_EDGE_SETTINGS } from '../../src/server/settings.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const unit = read('deploy/isthmus.service');
/** What the last words of cut streams and saving may take. */
const SAVING_SECONDS = 5;
const GRACE_SECONDS = DEFAULT_EDGE_SETTINGS.shutdownGraceMs / 1000 + SAVING_SECONDS;
const PROGRAM = '/usr/local/bin/isthmus';
const MAX_EXPOSURE = 2;

const folder = mkdtempSync(join(tmpdir(), 'isthmus-services-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isThere = (program: string): boolean =>
  spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
const hasSystemd = isThere('systemd-analyze');
if (!hasSystemd) console.warn('SKIPPED: systemd-analyze is not there, so no unit is read by it.');
const hasPython = isThere('python3');
if (!hasPython) console.warn('SKIPPED: python3 is not there, so no property list is parsed.');

test.runIf(hasSystemd)('systemd finds nothing wrong with the unit, and little exposed', () => {
  const path = join(folder, 'isthmus.service');
  // Programs and man pages that are named have to be there.
  writeFileSync(path, unit.replace(PROGRAM, '/bin/true').replace(/^Documentation=.*\n/m, ''));
  const verified = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
  expect([verified.status, verified.stderr]).toEqual([0, '']);
  const words = ['security', '--offline=true', '--no-pager', path];
  const told = execFileSync('systemd-analyze', words, { encoding: 'utf8' });
  const [, level = '10'] = /exposure level for isthmus\.service: ([\d.]+)/.exec(told) ?? [];
  expect(Number(level)).toBeLessThanOrEqual(MAX_EXPOSURE);
  expect(read('docs/install.md')).toContain(`(\`systemd-analyze security\`: ${level})`);
});

test('the unit starts what there is, waits for responses, and leaves V8 its compiler', () => {
  const settingOf = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
  expect(settingOf('ExecStart')).toBe(`${PROGRAM} serve`);
  expect(settingOf('ExecReload')).toBe('/bin/kill -HUP $MAINPID');
  // A core has every token of the process in it.
  expect(settingOf('LimitCORE')).toBe('0');
  expect(Number(settingOf('TimeoutStopSec'))).toBeGreaterThanOrEqual(GRACE_SECONDS);
  expect(settingOf('Environment')).toContain(`${VARIABLES.dataDir.name}=%S/isthmus`);
  expect(settingOf('StateDirectory')).toBe('isthmus');
  expect(unit).not.toMatch(/^MemoryDenyWriteExecute=/m);
  expect(namesOfCommands()).toContain('serve');
});

test.runIf(hasPython)(
  'the agent of launchd has keys that launchd knows, with values of their types',
  () => {
    const script =
      'import json, plistlib, sys; json.dump(plistlib.load(open(sys.argv[1], "rb")), sys.stdout)';
    const path = join(ROOT, 'deploy/isthmus.plist');
    const agent = parseJson(execFileSync('python3', ['-c', script, path], { encoding: 'utf8' }));
    if (!isJsonObject(agent)) throw new Error('It is no dictionary.');
    expect(agent).toEqual({
      Label: 'isthmus',
      ProgramArguments: [PROGRAM, 'serve'],
      EnvironmentVariables: { PATH: expect.stringContaining('/usr/local/bin') },
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ExitTimeOut: expect.any(Number),
      SoftResourceLimits: { NumberOfFiles: expect.any(Number) },
      HardResourceLimits: { NumberOfFiles: expect.any(Number) },
      ProcessType: 'Interactive',
      Umask: 0o077,
      StandardOutPath: expect.any(String),
      StandardErrorPath: expect.any(String),
    });
    expect(agent.ExitTimeOut).toBeGreaterThanOrEqual(GRACE_SECONDS);
  },
);

test('what the docs replace in the agent is in it', () => {
  const agent = read('deploy/isthmus.plist');
  const patterns = [...read('docs/install.md').matchAll(/s\|([^|]+)\|\$/g)].map(([, text]) => text);
  expect(patterns).toEqual([PROGRAM, '/Users/me']);
  for (const pattern of patterns) expect(agent).toContain(pattern);
});

function namesOfCommands(): readonly string[] {
  const nothing = () => undefined;
  return createProgram(nothing, nothing).commands.map((command) => command.name());
}
