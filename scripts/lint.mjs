// Format and lint. What biome says of a file follows from that file, the rules and biome alone: one that was good, and is
// as it was, is not looked at again.
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const NOTES = 'node_modules/.cache/lint.json';
/** Of the packages some switch rules on, and one is biome. */
const RULES = /(?:^|\/)(?:biome\.json|package\.json|package-lock\.json|\.gitignore)$/;
/** More do not fit on every system's command line. */
const MOST_NAMED = 200;

const files = listFiles();
const good = new Set(existsSync(NOTES) ? JSON.parse(readFileSync(NOTES, 'utf8')) : []);
const changed = files.filter(({ key }) => !good.has(key)).map(({ name }) => name);
if (files.length === 0 || changed.length > MOST_NAMED) check(['.']);
else if (changed.length > 0) check(['--no-errors-on-unmatched', ...changed]);
mkdirSync(dirname(NOTES), { recursive: true });
writeFileSync(NOTES, JSON.stringify(files.map(({ key }) => key)));

function check(words) {
  const { status } = spawnSync('biome', ['check', '--error-on-warnings', ...words], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(1);
}

/** Those that git has or would take, each with a key of all its findings depend on; none without git. */
function listFiles() {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { status, stdout } = spawnSync('git', words, { encoding: 'utf8', maxBuffer: 1e8 });
  if (status !== 0) return [];
  const names = stdout.split('\0').filter((name) => name !== '' && existsSync(name));
  const rules = names.filter((name) => RULES.test(name)).map((name) => readFileSync(name, 'utf8'));
  const common = hash('sha256', rules.join('\0'));
  return names.map((name) => {
    const content = readFileSync(name, 'base64');
    return { name, key: hash('sha256', `${common}\0${name}\0${content}`) };
  });
}
