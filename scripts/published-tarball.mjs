// Makes of the package the one that is published: the same files under the scoped name of package.json, for the repository
// whose workflow runs. Usage: published-tarball.mjs <package.tgz> <folder>; the folder then has published.tgz.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [tarball = '', to = ''] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'isthmus-published-'));
run('tar', ['-xzf', resolve(tarball), '-C', folder]);
const path = join(folder, 'package', 'package.json');
const { published, ...manifest } = JSON.parse(readFileSync(path, 'utf8'));
manifest.name = published.name;
manifest.published = published;
const { GITHUB_REPOSITORY: repository } = process.env;
if (repository !== undefined) {
  // Provenance is refused where the package names another repository, or none.
  manifest.repository = { type: 'git', url: `git+https://github.com/${repository}.git` };
}
// Nothing that only the repository has.
for (const key of ['scripts', 'workspaces', 'devDependencies', 'overrides']) delete manifest[key];
writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
const words = ['pack', join(folder, 'package'), '--ignore-scripts', '--json'];
const [{ filename }] = JSON.parse(run('npm', [...words, '--pack-destination', folder]));
copyFileSync(join(folder, filename), join(resolve(to), 'published.tgz'));
rmSync(folder, { recursive: true });

function run(program, words) {
  const { status, stdout } = spawnSync(program, words, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) process.exit(1);
  return stdout;
}
