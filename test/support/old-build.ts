// The gateway of an earlier commit, built in a temporary folder from the history of the repository.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const OWN = '@isthmus';

export interface OldBuild {
  readonly commit: string;
  /** The program, for `startGateway`. */
  readonly main: string;
  remove(): void;
}

/** The first commit of the main line that has all of these files; undefined where there is no history. */
export function findFirstCommit(files: readonly string[]): string | undefined {
  try {
    const commits = git(['log', '--first-parent', '--reverse', '--format=%H', '--', ...files])
      .split('\n')
      .filter((line) => line !== '');
    const has = (commit: string): boolean =>
      git(['ls-tree', '-r', '--name-only', commit, '--', ...files])
        .trim()
        .split('\n').length === files.length;
    return commits.find(has);
  } catch {
    return undefined;
  }
}

/** Packages are those of today: the lists of both commits have to be alike. @throws Error when it cannot be built */
export function buildCommit(commit: string): OldBuild {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-old-'));
  const archive = execFileSync('git', ['archive', commit], {
    ...{ cwd: ROOT, maxBuffer: 1_000_000_000 },
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, OWN), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== OWN) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(modules, OWN, name));
  execFileSync(process.execPath, ['scripts/build.mjs', 'server'], { cwd: folder, stdio: 'ignore' });
  return {
    commit,
    main: join(folder, 'lib/main.js'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function git(args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });
}
