// Runs the suites and closes with one line: `N passed, N failed` (each check counts as one test).
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { findChromium } from '../test/browser/find-chromium.ts';
import { buildStale } from './build.mjs';

/** By itself the compiler checks in four threads, and each works out anew what the others know of types. */
const THREADS = availableParallelism() > 2 ? [] : ['--singleThreaded'];

/** The compiler notes what it found, and looks again at what a change can have touched. */
const noting = (name) => [
  '--incremental',
  '--tsBuildInfoFile',
  `node_modules/.cache/${name}.tsbuildinfo`,
];

/** Of packages and of the source as programs of the tests load it: reading them as JavaScript is a good part of a start. */
const COMPILED = resolve('node_modules/.cache/compiled');

/** Two lists, each one after the other: the compiler takes a gigabyte or two. */
const CHECKS = [
  [
    ['types', 'tsc', ['-p', '.', ...noting('types'), ...THREADS]],
    [
      'types of the console',
      'tsc',
      ['-p', 'console', '--noEmit', ...noting('console'), ...THREADS],
    ],
  ],
  [
    ['format and lint', 'biome', ['check', '--error-on-warnings', '.']],
    ['unused files, exports and dependencies', 'knip', ['--cache']],
    ['build of the server', 'node', ['scripts/build.mjs', 'server']],
  ],
];

/** They try a part of it every day and all in the slow suite: the callers of `countOf`. */
const WITH_FULL_COUNTS = [
  'src/cli/clients/',
  'test/security',
  'test/fuzz',
  'test/sessions',
  'test/simulator',
  'test/durability',
  'test/faults',
  'test/e2e/faults.test.ts',
  'test/pool/oauth.test.ts',
  'test/pool/quota.test.ts',
  'test/pool/sessions.test.ts',
  'src/schema/schema-properties.test.ts',
];

const inSlow = (name) => `test/slow/${name}.test.ts`;
/** Of these two suites; the slow suite has every other file of test/slow. */
const CLIENTS = ['clients', 'connect', 'langchain'].map(inSlow);
const CLUSTER = ['cluster', 'chaos', 'balancers'].map(inSlow);

const suite = process.argv[2] ?? 'all';
let passed = 0;
let failed = 0;
if (suite === 'clients') {
  if (!buildStale('server')) failed += 1;
  runVitest(['run', ...CLIENTS], {
    ISTHMUS_SLOW: '1',
    ISTHMUS_BUILT: '1',
  });
} else if (suite === 'faults') {
  const files = ['test/slow/fault-wall.test.ts', 'test/faults', 'test/e2e/faults.test.ts'];
  runVitest(['run', ...files], { ISTHMUS_SLOW: '1' });
} else if (suite === 'cluster') {
  if (!buildStale('server')) failed += 1;
  const more = ['contracts/lost-valkey', 'e2e/unheard-changes', 'e2e/workers', 'e2e/postgres'];
  const files = [...CLUSTER, ...more.map((name) => `test/${name}.test.ts`)];
  // One file after the other: each has several gateways.
  runVitest(['run', '--no-file-parallelism', ...files], {
    ISTHMUS_SLOW: '1',
    ISTHMUS_BUILT: '1',
  });
} else if (suite === 'slow') {
  const ofOthers = [...CLIENTS, ...CLUSTER];
  const files = readdirSync('test/slow')
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/slow/${name}`)
    .filter((file) => !ofOthers.includes(file));
  // One file after the other: what each measures is its own.
  const paths = [...files, ...WITH_FULL_COUNTS];
  runVitest(['run', '--no-file-parallelism', ...paths], { ISTHMUS_SLOW: '1' });
} else {
  await Promise.all(CHECKS.map(runChecks));
  // The everyday run leaves the browser out; `npm test` has everything.
  const isWhole = suite !== 'check';
  if (isWhole) installChromium();
  // On a busy machine a test is at times too slow, in the browser above all: it has a second try, named at the end.
  const args = isWhole ? ['run', '--retry=1'] : ['run', '--project', 'isthmus'];
  runVitest(args, { ISTHMUS_BUILT: '1' });
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

/** The browser tests want one; without it they are skipped, and say so. */
function installChromium() {
  if (findChromium() !== undefined) return;
  if (process.platform === 'linux' && process.getuid?.() === 0 && isThere('apt-get')) {
    console.log('Installing Chromium for the browser tests (apt-get) …');
    const install = ['install', '-y', '--no-install-recommends', 'chromium'];
    if (runQuietly('apt-get', ['update']) && runQuietly('apt-get', install)) return;
  }
  console.log(
    '*** SKIPPED: test/browser, as there is no Chromium and it could not be installed. ***',
  );
}

function isThere(program) {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}

/** Its messages are shown when it fails. */
function runQuietly(program, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const result = spawnSync(program, args, { encoding: 'utf8', env, timeout: 600_000 });
  if (result.status === 0) return true;
  console.error(result.stderr || String(result.error ?? `${program} ended with ${result.status}`));
  return false;
}

async function runChecks(checks) {
  for (const check of checks) await runCheck(check);
}

/** Beside another: what it says comes in one piece when it ends. */
async function runCheck([label, binary, args]) {
  const { stdout, stderr, code } = await promisify(execFile)(binary, args, {
    shell: process.platform === 'win32',
    maxBuffer: 1e8,
    // As it comes, the compiler collects garbage so often that it is a quarter of its work.
    env: { ...process.env, GOGC: '400' },
  }).catch((error) => error);
  const isGood = code === undefined;
  console.log(`${stdout}${stderr}${isGood ? 'ok  ' : 'FAIL'} ${label}`);
  if (isGood) passed += 1;
  else failed += 1;
}

function runVitest(args, environment) {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-test-'));
  const report = join(folder, 'report.json');
  const result = spawnSync(
    'vitest',
    [...args, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    {
      stdio: 'inherit',
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...environment },
      shell: process.platform === 'win32',
    },
  );
  try {
    const counts = JSON.parse(readFileSync(report, 'utf8'));
    passed += counts.numPassedTests;
    failed += counts.numFailedTests + counts.testResults.filter(hasFailedAlone).length;
    nameSecondTries(counts.testResults);
  } catch (error) {
    console.error(`vitest wrote no report: ${error.message}`);
    failed += 1;
  }
  // A crash or an unhandled rejection ends vitest badly even when every test passed.
  if (result.status !== 0 && failed === 0) failed += 1;
  rmSync(folder, { recursive: true, force: true });
}

/** A file that failed outside of its tests. */
function hasFailedAlone({ status, assertionResults }) {
  return status === 'failed' && !assertionResults.some((test) => test.status === 'failed');
}

function nameSecondTries(files) {
  for (const { name, assertionResults } of files) {
    for (const { status, fullName, failureMessages } of assertionResults) {
      if (status !== 'passed' || failureMessages.length === 0) continue;
      console.log(`passed on its second try: ${name}: ${fullName}\n  ${failureMessages[0]}`);
    }
  }
}
