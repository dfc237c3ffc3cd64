// Known weaknesses of what is shipped, as the registry told them last; `npm run advisories` asks it again.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const DAY_MS = 86_400_000;

interface Advisories {
  /** The day; null before the registry was asked for the first time. */
  readonly fetched: string | null;
  readonly asked: number;
  readonly found: readonly { readonly name: string; readonly severity: string }[];
}

const { fetched, asked, found } = read(join(ROOT, 'advisories.json'));
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

// The title alone tells the age: the test must not begin to fail on a day when nothing changed.
test.skipIf(fetched === null)(
  `S23: nothing shipped has an advisory that is high or critical, as of ${sayAge(fetched)}`,
  () => {
    expect(asked).toBeGreaterThan(50);
    expect(found.filter(({ severity }) => /^(?:high|critical)$/.test(severity))).toEqual([]);
  },
);

test('what the registry knows of the shipped packages is written down, by severity', async () => {
  const { url, bodies } = await startRegistry(200, {
    undici: [{ severity: 'high', title: 'A hole', url: 'u', vulnerable_versions: '<9' }],
  });
  const { code, path } = await ask(url);
  expect(code).toBe(0);
  const written = read(path);
  expect(written.found).toEqual([
    { name: 'undici', versions: '<9', severity: 'high', title: 'A hole', url: 'u' },
  ]);
  const [body = ''] = bodies;
  const sent = JSON.parse(body);
  expect(sent).toMatchObject({ undici: [expect.any(String)], react: [expect.any(String)] });
  expect(sent).not.toHaveProperty('vitest');
  expect(Object.keys(sent).length).toBe(written.asked);
});

test('a registry that cannot be asked leaves the file as it is, and is an error', async () => {
  const { url } = await startRegistry(405, {});
  const { code, path, errors } = await ask(url);
  expect(code).toBe(1);
  expect(errors).toContain('405');
  expect(() => read(path)).toThrow('ENOENT');
});

function sayAge(day: string | null): string {
  if (day === null) return 'never: the registry was not asked yet';
  return `${day}, ${Math.floor((Date.now() - Date.parse(day)) / DAY_MS)} days ago`;
}

async function startRegistry(status: number, answer: object) {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await text(request));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  closers.push(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, bodies };
}

async function ask(registry: string) {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-advisories-'));
  closers.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'advisories.json');
  const child = spawn(process.execPath, ['scripts/advisories.mjs', path], {
    cwd: ROOT,
    env: { ...process.env, npm_config_registry: registry },
  });
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { code, path, errors };
}

function read(path: string): Advisories {
  return JSON.parse(readFileSync(path, 'utf8'));
}
