// Sets the project up on any machine with node >= 20 and npm, then runs the asked command on the
// pinned node. Plain JavaScript without dependencies: it runs before anything is installed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildStale } from './build.mjs';
import { NODE_ENVIRONMENT, NODE_FLAGS } from './node-flags.mjs';
import { oneAtATime } from './one-at-a-time.mjs';
import { watchParents } from './parents.mjs';
import { makeRunnable } from './pinned-node.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MODULES = join(ROOT, 'node_modules');
const STAMP = join(MODULES, '.isthmus-lock-hash');
/** Installed apart: npm puts every program of `node_modules/.bin` before those of the system, also a node that cannot run there. */
const NODE_FOLDER = join(ROOT, 'scripts', 'node');
const NODE = pathOfNode(join(NODE_FOLDER, 'node_modules'));

/** What each command runs, on the pinned node; arguments given after `--` are appended. */
const COMMANDS = {
  start: [...NODE_FLAGS, 'lib/main.js', 'serve'],
  isthmus: [...NODE_FLAGS, join(ROOT, 'lib', 'main.js')],
  prepack: ['scripts/prepack.mjs'],
  archive: ['scripts/archive.mjs'],
  test: ['scripts/test.mjs', 'all'],
  check: ['scripts/test.mjs', 'check'],
  'test:clients': ['scripts/test.mjs', 'clients'],
  'test:cluster': ['scripts/test.mjs', 'cluster'],
  'test:faults': ['scripts/test.mjs', 'faults'],
  bench: ['test/bench/main.ts'],
  soak: ['test/soak/main.ts'],
  screenshots: ['test/console/screenshots.ts'],
};

/** Commands that run what was built. */
const builds = ['start', 'isthmus', 'bench', 'soak', 'screenshots'];

const [command, ...rest] = process.argv.slice(2);
const target = COMMANDS[command];
if (target === undefined) {
  console.error(`Usage: node scripts/bootstrap.mjs ${Object.keys(COMMANDS).join('|')}`);
  process.exit(2);
}
if (!isInstalled()) oneAtATime(install);
if (builds.includes(command)) build();
run(NODE, [...target, ...rest]);

function isInstalled() {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wantedStamp() && existsSync(NODE);
}

/** Of what is locked. */
function wantedStamp() {
  const locks = [ROOT, NODE_FOLDER].map((folder) =>
    readFileSync(join(folder, 'package-lock.json')),
  );
  return createHash('sha256').update(Buffer.concat(locks)).digest('hex');
}

function install() {
  // Another process may have done it, while this one waited.
  if (isInstalled()) return;
  console.error('Installing dependencies (npm ci) …');
  installPackages(NODE_FOLDER);
  if (!existsSync(NODE)) {
    console.error(whyWithoutNode());
    process.exit(1);
  }
  // Before all that takes minutes.
  if (!makeRunnable(NODE)) process.exit(1);
  installPackages(ROOT);
  linkNode();
  writeFileSync(STAMP, wantedStamp());
}

/** npm ends well without a package that is optional, also when it could not be downloaded. */
function whyWithoutNode() {
  const { packages } = JSON.parse(readFileSync(join(NODE_FOLDER, 'package-lock.json'), 'utf8'));
  const name = relative(join(NODE_FOLDER, 'node_modules'), dirname(dirname(NODE)));
  if (packages[`node_modules/${name}`] === undefined) {
    return `There is no build of node for ${process.platform} on ${process.arch} that the project could bring along.`;
  }
  return `npm could not download ${name}, and did not say why. "npm view ${name} version" tells whether the npm registry is reachable; behind a proxy or a certificate of your own see npm's settings https-proxy and cafile. Then run this again.`;
}

/** Nothing that a package wants to run is run. */
function installPackages(folder) {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const result = spawnSync(npm, words, {
    cwd: folder,
    // What it says is no answer of the command that is run.
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (result.status === 0) return;
  console.error('npm ci failed. Its messages above say why; isthmus needs the npm registry once.');
  process.exit(1);
}

/** So that `npx` and the programs of `node_modules/.bin` run on it too. Links take rights on Windows: there they do not. */
function linkNode() {
  if (process.platform === 'win32') return;
  const link = join(MODULES, '.bin', 'node');
  rmSync(link, { force: true });
  symlinkSync(relative(dirname(link), NODE), link);
}

/** Where npm installs the build of nodejs.org for this system. */
function pathOfNode(modules) {
  const { platform, arch } = process;
  if (platform === 'win32') return join(modules, `node-win-${arch}`, 'bin', 'node.exe');
  const prefix = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node';
  return join(modules, `${prefix}-${platform}-${arch}`, 'bin', 'node');
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
    // The files that a command names are where it is called (`npm link`), and so is the project of a client that it launches.
    cwd: command === 'isthmus' ? process.cwd() : ROOT,
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
