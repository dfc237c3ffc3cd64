// Builds what `npm start` runs: the server as a few files in lib/, the console in dist/. A build that
// is newer than everything it was made from is left alone; `--force` makes it anew.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { oneAtATime } from './one-at-a-time.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const VITE = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
const STAMP = '.built-from';

const BUILDS = {
  server: {
    output: 'lib',
    sources: [
      'src',
      'packages',
      'scripts/server.vite.config.mjs',
      'scripts/lean-undici.mjs',
      'scripts/node-flags.mjs',
      'package.json',
      'package-lock.json',
    ],
    config: 'scripts/server.vite.config.mjs',
    // What V8 compiled of the files that were built before (`src/main.ts`).
    cache: 'node_modules/.cache/isthmus',
  },
  console: {
    output: 'dist',
    sources: ['console', 'src/admin', 'src/clients', 'package-lock.json'],
    config: 'console/vite.config.ts',
  },
};

/** Builds what is stale; false for a build that failed, whose messages went to stderr. */
export function buildStale(name, { isForced = false, node = process.execPath } = {}) {
  const { output, sources } = BUILDS[name];
  const stampPath = join(ROOT, output, STAMP);
  const stamp = describeSources(sources);
  const isBuilt = () =>
    !isForced && existsSync(stampPath) && readFileSync(stampPath, 'utf8') === stamp;
  let isGood = isBuilt();
  if (isGood) return true;
  oneAtATime(() => {
    // Another process may have built it, while this one waited.
    isGood = isBuilt() || build(name, node);
    if (isGood) writeFileSync(stampPath, stamp);
  });
  return isGood;
}

function build(name, node) {
  const { output, config, cache } = BUILDS[name];
  console.error(`Building the ${name} …`);
  const result = spawnSync(node, [VITE, 'build', '--config', config], {
    cwd: ROOT,
    // Whatever the shell says: a development build is larger, slower, and names the folder it was made in.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  mkdirSync(join(ROOT, output), { recursive: true });
  if (cache !== undefined) rmSync(join(ROOT, cache), { recursive: true, force: true });
  return result.status === 0;
}

/** Names, sizes and times of everything below: what an edit or a checkout changes. */
function describeSources(sources) {
  const lines = [];
  const visit = (path) => {
    const found = statSync(join(ROOT, path), { throwIfNoEntry: false });
    if (found === undefined) return;
    if (!found.isDirectory()) {
      lines.push(`${path} ${found.size} ${found.mtimeMs}`);
      return;
    }
    for (const name of readdirSync(join(ROOT, path)).sort()) visit(`${path}/${name}`);
  };
  for (const source of sources) visit(source);
  return `${lines.join('\n')}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isForced = process.argv.includes('--force');
  const names = process.argv.slice(2).filter((word) => word in BUILDS);
  const wanted = names.length === 0 ? Object.keys(BUILDS) : names;
  const isGood = wanted.map((name) => buildStale(name, { isForced })).every(Boolean);
  process.exit(isGood ? 0 : 1);
}
