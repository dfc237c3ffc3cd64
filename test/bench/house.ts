// How large the code is: files and lines of the server, how many files serve one other file only, exports nobody
// imports. What serves tests alone is left out.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  type Import,
  listFiles,
  readImports,
  SOURCE,
  TEST_ONLY,
} from '../support/source-imports.ts';
import { atMost, type Row } from './report.ts';
import type { Walk } from './walk.ts';

/** What the code shall become; the walk is the one of a Messages stream. */
const GOALS = { files: 420, lines: 59_000, singleImporterShare: 0.35, unimported: 0 };
const WALK_GOALS = { functions: 400, files: 100 };

/** Members of ordered lists, and files that are entered by name: each is a subject whoever imports it. */
const LISTED =
  /^(transforms|pool\/selection|cli|stores\/\w+\/migrations|upstreams\/\w+\/profiles|compose|admin)\/|^(main|app)\.ts$/;

export function measureHouse(): readonly Row[] {
  const isCounted = (file: string): boolean => !TEST_ONLY.test(file) && !file.endsWith('.d.ts');
  const paths = listFiles(SOURCE, /\.ts$/).filter((path) => isCounted(relative(SOURCE, path)));
  const files = paths.map((path) => relative(SOURCE, path));
  const lines = paths.reduce((sum, path) => sum + countLines(path), 0);
  const fromConsole = listFiles(join(SOURCE, '../console/src'), /\.tsx?$/).flatMap(readImports);
  const imports = [...paths.flatMap(readImports), ...fromConsole];
  return [
    row('files of the server', { value: files.length, most: GOALS.files }),
    row('lines of the server', { value: lines, most: GOALS.lines }),
    atMost('files with a single importer', {
      value: singleImporterShare(files, imports),
      most: GOALS.singleImporterShare,
      show: (value) => `${(100 * value).toFixed(0)} %`,
    }),
    row('exports without importer', {
      value: countUnimported(paths, imports),
      most: GOALS.unimported,
    }),
  ];
}

/** Functions and files of our own that one warm stream runs through, measured in a program of its own. */
export function measureWalks(): readonly Row[] {
  const { stdout, status, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'walk.ts')],
    { encoding: 'utf8', timeout: 60_000 },
  );
  if (status !== 0) throw new Error(`The walk could not be measured:\n${stderr}`);
  const walks: readonly Walk[] = JSON.parse(stdout);
  return walks.flatMap(({ protocol, functions, files }) => [
    row(`functions of a ${protocol} stream`, { value: functions, most: WALK_GOALS.functions }),
    row(`files of a ${protocol} stream`, { value: files, most: WALK_GOALS.files }),
  ]);
}

function row(name: string, { value, most }: { value: number; most: number }): Row {
  return atMost(name, { value, most, show: String });
}

function countLines(path: string): number {
  return readFileSync(path, 'utf8').split('\n').length - 1;
}

/** Of all files but members of lists: those one other file imports, and no more. */
function singleImporterShare(files: readonly string[], imports: readonly Import[]): number {
  const importers = new Map<string, Set<string>>();
  for (const { file, target } of imports)
    importers.set(target, (importers.get(target) ?? new Set()).add(file));
  const subjects = files.filter((file) => !LISTED.test(file));
  const single = subjects.filter((file) => importers.get(file)?.size === 1);
  return single.length / subjects.length;
}

function countUnimported(paths: readonly string[], imports: readonly Import[]): number {
  const taken = new Set(
    imports.flatMap(({ target, names }) => names.map((name) => `${target} ${name}`)),
  );
  const whole = new Set(
    imports.filter(({ names }) => names.length === 0).map(({ target }) => target),
  );
  return paths.reduce((sum, path) => {
    const file = relative(SOURCE, path);
    // Published: who embeds a gateway imports it.
    if (whole.has(file) || file === 'index.ts') return sum;
    const names = [
      ...readFileSync(path, 'utf8').matchAll(
        /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type) (\w+)/gm,
      ),
    ].map(([, name = '']) => name);
    return sum + names.filter((name) => !taken.has(`${file} ${name}`)).length;
  }, 0);
}
