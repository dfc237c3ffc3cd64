// Sets the project up on any machine with node >= 20 and npm, then runs the asked command on the
// pinned node. Plain JavaScript without dependencies: it runs before anything is installed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildStale } from './build.mjs';
import { NODE_ENVIRONMENT, NODE_FLAGS } from './node-flags.mjs';
import { watchParents } from './parents.mjs';
import { makeRunnable } from './pinned-node.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MODULES = join(ROOT, 'node_modules');
const STAMP = join(MODULES, '.isthmus-lock-hash');
const NODE = join(MODULES, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

/** What each command runs, on the pinned node; arguments given after `--` are appended. */
const COMMANDS = {
  start: [...NODE_FLAGS, 'lib/main.js', 'serve'],
  isthmus: [...NODE_FLAGS, 'lib/main.js'],
  prepack: ['scripts/prepack.mjs'],
  test: ['scripts/test.mjs', 'all'],
  check: ['scripts/test.mjs', 'check'],
  'test:clients': ['scripts/test.mjs', 'clients'],
  'test:cluster': ['scripts/test.mjs', 'cluster'],
  'test:faults': ['scripts/test.mjs', 'faults'],
  bench: ['test/bench/main.ts'],
  soak: ['test/soak/main.ts'],
};

/** Commands that run what was built. */
const builds = ['start', 'isthmus', 'bench', 'soak'];

const [command, ...rest] = process.argv.slice(2);
const target = COMMANDS[command];
if (target === undefined) {
  console.error(`Usage: node scripts/bootstrap.mjs ${Object.keys(COMMANDS).join('|')}`);
  process.exit(2);
}
installIfStale();
if (builds.includes(command)) build();
run(NODE, [...target, ...rest]);

function installIfStale() {
  const lock = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
  const isFresh = existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lock && existsSync(NODE);
  if (isFresh) return;
  console.error('Installing dependencies (npm ci) …');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const result = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (result.status !== 0 || !existsSync(NODE)) {
    console.error(
      'npm ci failed. Its messages above say why; isthmus needs the npm registry once.',
    );
    process.exit(1);
  }
  if (!makeRunnable(NODE)) process.exit(1);
  writeFileSync(STAMP, lock);
}

/** A console that cannot be built is no reason not to serve; a server that cannot be built is. */
function build() {
  const serves = command === 'start' || (command === 'isthmus' && rest[0] === 'serve');
  const wanted = serves ? ['server', 'console'] : ['server'];
  for (const name of wanted) {
    if (buildStale(name, { node: NODE })) continue;
    console.error(`The ${name} could not be built; the messages above say why.`);
    if (name === 'server') process.exit(1);
  }
}

/** Runs a child that gets our signals and hears of npm's end, and ends as it ended. */
function run(file, args) {
  const path = `${join(MODULES, '.bin')}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH ?? ''}`;
  const child = spawn(file, args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...NODE_ENVIRONMENT, ...process.env, PATH: path },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  watchParents({
    event: process.env.npm_lifecycle_event,
    onGone: () => child.kill('SIGTERM'),
  });
  child.on('error', (error) => {
    console.error(`Could not start ${file}: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}
