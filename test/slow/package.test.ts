// The package as a stranger gets it: packed, installed into an empty folder, served, embedded, and the same from every clone.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAllowedLicense, readParts } from '../../scripts/parts.mjs';
import { readCodeBlocks } from '../docs/code-blocks.ts';

const ROOT = join(import.meta.dirname, '../..');
const MEGABYTE = 1_000_000;
const PACK_MS = 600_000;

let folder: string;
let tarball: string;
const started: ChildProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'isthmus-package-'));
  tarball = pack(ROOT, folder);
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], folder);
}, PACK_MS);
afterAll(async () => {
  for (const child of started) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  }
  rmSync(folder, { recursive: true, force: true });
});

test('S23: it is at most 3 MB, 12 MB installed, and nothing is installed beside it', () => {
  expect(statSync(tarball).size).toBeLessThan(3 * MEGABYTE);
  const modules = join(folder, 'node_modules');
  expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['isthmus']);
  expect(sizeOf(modules)).toBeLessThan(12 * MEGABYTE);
});

test('S23: its list of parts has what is in the builds, of known content and an allowed licence', () => {
  const installed = join(folder, 'node_modules/isthmus');
  const bom = JSON.parse(readFileSync(join(installed, 'SBOM.cdx.json'), 'utf8'));
  const notices = readFileSync(join(installed, 'NOTICES.txt'), 'utf8');
  const parts = readParts(ROOT);
  const purls = bom.components.map(({ purl }: { purl: string }) => purl);
  expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
  expect(parts.length).toBeLessThanOrEqual(110);
  for (const { name, version, license, integrity } of parts) {
    expect(purls).toContain(`pkg:npm/${name.replace('@', '%40')}@${version}`);
    expect(notices).toContain(`${name} ${version} (${license})`);
    expect([isAllowedLicense(license), integrity?.startsWith('sha512-')]).toEqual([true, true]);
  }
  expect(purls.length).toBe(parts.length);
});

test('the command serves, with the console, on what npm start would give it', async () => {
  const url = await serve('node_modules/.bin/isthmus', ['serve', '--port', '0']);
  const body = JSON.stringify({
    model: 'alpha-3-flash',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  expect(answer.status).toBe(200);
  expect(await (await fetch(url)).text()).toContain('<script type="module"');
  const { pid } = started.at(-1) ?? {};
  if (process.platform === 'linux') {
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain('--max-semi-space-size=');
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toContain('MALLOC_TRIM_THRESHOLD_=');
  }
});

test('it is embedded as its page shows', () => {
  symlinkSync(join(ROOT, 'node_modules/openai'), join(folder, 'node_modules/openai'));
  const [block] = readCodeBlocks().filter(
    ({ place, language }) => place.startsWith('docs/embed.md') && language === 'js',
  );
  writeFileSync(join(folder, 'program.js'), block?.code ?? '');
  expect(run(process.execPath, ['program.js'], folder)).toContain('Hello');
});

test('what is published is the same under a name of its own, without what only the repository has', () => {
  run(process.execPath, ['scripts/published-tarball.mjs', tarball, folder], ROOT);
  const words = ['-xzOf', 'published.tgz', 'package/package.json'];
  const manifest = JSON.parse(run('tar', words, folder));
  expect(manifest.name).toMatch(/^@/);
  expect(manifest).toMatchObject({ bin: expect.anything(), exports: expect.anything() });
  expect(Object.keys(manifest)).not.toContain('scripts');
  expect(Object.keys(manifest)).not.toContain('devDependencies');
});

test('its types need no other file of it', () => {
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'));
  symlinkSync(join(ROOT, 'node_modules/undici-types'), join(folder, 'node_modules/undici-types'));
  const program = `import { createGateway, type Gateway } from 'isthmus';
const gateway: Gateway = await createGateway({ port: 0, authMode: 'strict' });
const handler: (request: Request) => Promise<Response> = gateway.fetch;
const { url }: { url: string } = await gateway.listen();
// @ts-expect-error no such option
await createGateway({ prot: 1 });
console.log(handler, url);
`;
  writeFileSync(join(folder, 'typed.ts'), program);
  const words = ['--strict', '--noEmit', '--target', 'esnext', '--module', 'nodenext'];
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  run(process.execPath, [tsc, ...words, '--types', 'node', 'typed.ts'], folder);
});

test(
  'two clones at different places make the same package, byte for byte',
  () => {
    const digests = ['a', 'another-place/b'].map((name) => {
      const clone = join(folder, 'clones', name);
      run('git', ['clone', '--quiet', ROOT, clone], folder);
      linkModules(clone);
      mkdirSync(join(clone, 'packed'));
      return createHash('sha256')
        .update(readFileSync(pack(clone, join(clone, 'packed'))))
        .digest('hex');
    });
    expect(digests[0]).toBe(digests[1]);
  },
  2 * PACK_MS,
);

/** The same files under another path: copies would take minutes, and links to folders lead back to the first path. */
function linkModules(clone: string): void {
  const visit = (from: string, to: string): void => {
    mkdirSync(to);
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      const [source, target] = [join(from, entry.name), join(to, entry.name)];
      if (entry.name === '.cache') continue;
      if (entry.isDirectory()) visit(source, target);
      else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
      else linkSync(source, target);
    }
  };
  visit(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  visit(join(ROOT, 'scripts/node/node_modules'), join(clone, 'scripts/node/node_modules'));
}

/** @returns path of the package */
function pack(project: string, to: string): string {
  run('npm', ['pack', '--pack-destination', to], project);
  const [name = ''] = readdirSync(to).filter((file) => file.endsWith('.tgz'));
  return join(to, name);
}

function run(program: string, words: readonly string[], cwd: string): string {
  const options = { cwd, encoding: 'utf8', shell: process.platform === 'win32' } as const;
  const { status, stdout, stderr } = spawnSync(program, words, options);
  if (status !== 0) throw new Error(`${program} ${words.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** @returns its address */
async function serve(program: string, words: readonly string[]): Promise<string> {
  const environment = { ...process.env, ISTHMUS_DATA_DIR: join(folder, 'data') };
  const child = spawn(program, words, { cwd: folder, env: environment });
  started.push(child);
  let output = '';
  for await (const piece of child.stdout) {
    output += piece;
    const url = /listens on (\S+)/.exec(output)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`It did not start: ${output}`);
}

function sizeOf(path: string): number {
  const found = statSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
