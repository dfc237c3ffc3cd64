// Imports run in one direction: the table of AGENTS.md, checked over every source file.

import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { parseAst } from 'vite';
import { expect, test } from 'vitest';
import {
  type Import,
  listFiles,
  readImports,
  SOURCE,
  TEST_ONLY,
} from './support/source-imports.ts';

const CONSOLE = resolve(import.meta.dirname, '../console/src');
const PACKAGES = resolve(import.meta.dirname, '../packages');

/**
 * Folder → what it may import, as prefixes below `src/`; its own folder is always allowed. `*` is each
 * folder there by itself: two protocols never meet.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  // Runs in the console too: without anything of node.
  clients: [],
  canonical: ['lib/'],
  wire: ['lib/'],
  'protocols/*': [
    'canonical/',
    'wire/',
    'lib/',
    'stream/',
    'stored-responses/',
    'protocols/protocol.ts',
    'protocols/relayed-request.ts',
    'protocols/writers.ts',
    'protocols/body-schema.ts',
  ],
  protocols: [
    'canonical/',
    'wire/',
    'lib/',
    'stream/',
    'stored-responses/',
    'surfaces/',
    'protocols/',
  ],
  // A rule that relayed bodies are under as well is the same one.
  'upstreams/*': [
    'canonical/',
    'wire/',
    'lib/',
    'schema/',
    'stream/',
    'transforms/',
    'upstreams/upstream.ts',
    'upstreams/errors.ts',
    'upstreams/wire-parts.ts',
    'upstreams/refusals.ts',
    'upstreams/refused-fields.ts',
    'upstreams/transport/',
  ],
  upstreams: ['canonical/', 'wire/', 'lib/', 'stream/', 'upstreams/'],
  transforms: ['canonical/', 'lib/', 'schema/'],
  media: ['canonical/', 'lib/'],
  pricing: ['canonical/', 'lib/', 'wire/vocabulary.ts'],
  monitor: ['canonical/', 'cluster/', 'lib/', 'pricing/'],
  alerts: ['cluster/', 'config/values.ts', 'lib/'],
  telemetry: ['canonical/', 'lib/', 'monitor/record.ts'],
  'stored-responses': ['cluster/', 'lib/'],
  stream: ['lib/'],
  schema: ['canonical/', 'lib/'],
  surfaces: ['canonical/', 'wire/', 'lib/', 'stream/', 'stored-responses/', 'protocols/'],
  'surfaces/*': ['canonical/', 'wire/', 'lib/', 'stream/', 'stored-responses/', 'protocols/'],
  signatures: ['canonical/', 'cluster/', 'lib/'],
  routing: ['canonical/', 'lib/', 'config/', 'wire/vocabulary.ts'],
  accounts: ['canonical/', 'cluster/', 'lib/', 'pricing/charges.ts', 'upstreams/upstream.ts'],
  sealing: ['lib/'],
  cluster: ['lib/'],
  access: ['accounts/account-store.ts', 'canonical/', 'cluster/', 'lib/', 'wire/vocabulary.ts'],
  stores: [
    'accounts/',
    'canonical/',
    'access/',
    'cluster/leases.ts',
    'config/stored.ts',
    'lib/',
    'monitor/',
    'pricing/',
    'sealing/',
    'stored-responses/',
    'signatures/',
  ],
  // What one database is does not meet the other; both carry out what the stores ask.
  'stores/sqlite': ['accounts/account-store.ts', 'lib/', 'sealing/', 'stores/'],
  'stores/postgres': ['accounts/account-store.ts', 'lib/', 'sealing/', 'stores/'],
  oauth: [
    'accounts/',
    'canonical/',
    'cluster/',
    'lib/',
    'pricing/charges.ts',
    'upstreams/upstream.ts',
  ],
  quota: ['accounts/', 'canonical/', 'cluster/', 'lib/', 'upstreams/upstream.ts'],
  pool: ['accounts/', 'canonical/', 'cluster/', 'lib/', 'upstreams/upstream.ts'],
  config: ['canonical/', 'cluster/', 'lib/', 'wire/vocabulary.ts'],
  dispatch: [
    'stream/',
    'accounts/account.ts',
    'canonical/',
    'lib/',
    'media/',
    'transforms/',
    'signatures/',
    'pool/create-pool.ts',
    'pool/pool.ts',
    'routing/',
    'protocols/protocol.ts',
    'protocols/relayed-request.ts',
    'protocols/writers.ts',
    'upstreams/upstream.ts',
  ],
  server: [
    'stream/',
    'canonical/',
    'access/',
    'config/settings.ts',
    'config/values.ts',
    'lib/',
    'monitor/record.ts',
    'stored-responses/',
    'wire/vocabulary.ts',
    'protocols/protocol.ts',
    'protocols/relayed-request.ts',
    'protocols/writers.ts',
    'protocols/index.ts',
    'dispatch/dispatcher.ts',
  ],
  mcp: [
    'canonical/',
    'config/effective.ts',
    'lib/',
    'media/',
    'server/service-route.ts',
    'upstreams/refusals.ts',
    'upstreams/transport/',
  ],
  admin: [
    'stream/',
    'accounts/',
    'alerts/',
    'canonical/',
    'config/',
    'access/',
    'lib/',
    'monitor/',
    'oauth/',
    'pool/',
    'pricing/',
    'quota/',
    'routing/',
    'dispatch/dispatcher.ts',
    'protocols/index.ts',
    'protocols/protocol.ts',
    'server/admin-route.ts',
  ],
};

/** The composition root, the command line and the library may import anything. */
const FREE = ['app.ts', 'embedded-gateway.ts', 'index.ts', 'main.ts', 'cli/', 'compose/'];

const imports = sourceFiles(SOURCE).flatMap(readImports);

test('every import follows the allowed-imports table', () => {
  expect(imports.filter((one) => !isAllowed(one))).toEqual([]);
});

test('the SDK of MCP is imported by the server for pictures alone, which is loaded when it is first asked', () => {
  const filesWith = (text: RegExp): string[] =>
    sourceFiles(SOURCE)
      .filter((file) => text.test(readFileSync(file, 'utf8')))
      .map((file) => relative(SOURCE, file));
  expect(filesWith(/@modelcontextprotocol/)).toEqual(['mcp/vision.ts']);
  expect(filesWith(/'\.\/vision\.ts'/)).toEqual(['mcp/services.ts']);
  const services = readFileSync(resolve(SOURCE, 'mcp/services.ts'), 'utf8');
  expect(services.match(/.*vision\.ts.*/g)).toEqual([expect.stringContaining("() => import('./")]);
});

test('a command loads the gateway only when it serves or works on the data folder itself', () => {
  const loaded = new Set(['cli/program.ts', 'cli/admin-client.ts', 'cli/health.ts']);
  for (const file of loaded) {
    const text = readFileSync(resolve(SOURCE, file), 'utf8');
    // Types are not loaded, and what `import()` names is loaded later.
    const loads = text.matchAll(/^(?:import|export) (?!type )[^;']*'(\.[^']+\.ts)'/gm);
    for (const [, name = ''] of loads) {
      loaded.add(relative(SOURCE, resolve(SOURCE, dirname(file), name)));
    }
  }
  const gateway =
    /^(?:app\.ts$|(?:admin|compose|dispatch|pool|protocols|server|stores|upstreams)\/)/;
  expect([...loaded].filter((file) => gateway.test(file))).toEqual([]);
});

test('nothing that is built imports what serves tests only', () => {
  expect(imports.filter(({ target }) => TEST_ONLY.test(target))).toEqual([]);
});

test('the sandbox imports nothing of the server, which loads it in one place, when it serves', () => {
  const own = sourceFiles(PACKAGES).flatMap(readImports);
  expect(own.length).toBeGreaterThan(30);
  expect(own.filter(({ target }) => !target.startsWith('../packages/sandbox/src/'))).toEqual([]);
  expect(own.filter(({ target }) => TEST_ONLY.test(target))).toEqual([]);
  const naming = sourceFiles(SOURCE)
    .filter((file) => /packages\/sandbox|@isthmus/.test(readFileSync(file, 'utf8')))
    .map((file) => relative(SOURCE, file));
  expect(naming).toEqual(['compose/backend.ts']);
  const backend = readFileSync(resolve(SOURCE, 'compose/backend.ts'), 'utf8');
  expect(backend.match(/.*@isthmus.*/g)).toEqual([
    expect.stringContaining("await import('@isthmus/sandbox')"),
  ]);
});

test.each([
  ['the server', imports],
  ['the console', listFiles(CONSOLE, /\.tsx?$/).flatMap(readImports)],
  ['the sandbox', sourceFiles(PACKAGES).flatMap(readImports)],
])('no import cycles in %s', (_name, all) => {
  const graph = new Map<string, string[]>();
  for (const { file, target } of all) graph.set(file, [...(graph.get(file) ?? []), target]);
  expect(graph.size).toBeGreaterThan(10);
  expect(findCycle(graph)).toBeUndefined();
});

test('only config/env.ts reads process.env', () => {
  const readers = sourceFiles(SOURCE).filter((file) =>
    /process\.env/.test(readFileSync(file, 'utf8')),
  );
  expect(readers.map((file) => relative(SOURCE, file))).toEqual(['config/env.ts']);
});

test('only main.ts ends the process', () => {
  const enders = sourceFiles(SOURCE).filter((file) =>
    /process\.exit\(/.test(readFileSync(file, 'utf8')),
  );
  expect(enders.map((file) => relative(SOURCE, file)).filter((file) => file !== 'main.ts')).toEqual(
    [],
  );
});

test('sentences are spelt so that the bundle is one byte a character (decision 009)', () => {
  const wide = sourceFiles(SOURCE).flatMap((file) => {
    const sentences = readFileSync(file, 'utf8').match(/\btold`[^`]*`/g) ?? [];
    return sentences.filter((sentence) => /[\u0100-\uffff]/.test(sentence));
  });
  expect(wide).toEqual([]);
});

/** Read what this program wrote itself; all other JSON goes through `lib/json.ts`, which bounds what it costs. */
const OWN_JSON = ['cluster/sealed-values.ts', 'stored-responses/response-store.ts', 'stores/'];

test('JSON that others wrote is parsed within limits alone', () => {
  const files = (statement: RegExp): string[] =>
    sourceFiles(SOURCE)
      .filter((file) => statement.test(readFileSync(file, 'utf8')))
      .map((file) => relative(SOURCE, file));
  // A copy of a value that is there already is no text of others.
  const bare = files(/JSON\.parse(?!\(JSON\.stringify\()/).filter(
    (file) => !OWN_JSON.some((own) => file.startsWith(own)),
  );
  expect(bare).toEqual(['lib/json.ts']);
  const surveyed = [
    'lib/chunked-json.ts',
    'lib/json.ts',
    'lib/shared-json.ts',
    'server/gates/body.ts',
  ];
  expect(files(/parseSurveyed\(/).sort()).toEqual(surveyed);
});

test('every file but the tests beside their source says in its first line what it owns', () => {
  const files = [
    ...sourceFiles(SOURCE),
    ...sourceFiles(PACKAGES),
    ...listFiles(CONSOLE, /\.tsx?$/),
    ...listFiles(import.meta.dirname, /\.tsx?$/),
  ];
  const silent = files.filter(
    (file) => !/^(\/\/|\/\*\*) ?\S.{15,}/.test(readFileSync(file, 'utf8')),
  );
  expect(silent.map((file) => relative(SOURCE, file))).toEqual([]);
});

test('no function has more than 60 lines of its own', () => {
  const long = [...sourceFiles(SOURCE), ...sourceFiles(PACKAGES)].flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    return ownLines(parseAst(text, { lang: 'ts' }).body, text)
      .filter((lines) => lines > 60)
      .map(() => relative(SOURCE, file));
  });
  expect(long).toEqual([]);
});

test('the console takes types from admin/contract.ts, what clients need from clients/, and nothing else of the server', () => {
  const statement = /import( type)?[^;']*'((?:\.\.\/)+src\/[^']+)'/g;
  const taken = listFiles(CONSOLE, /\.tsx?$/).flatMap((name) =>
    [...readFileSync(name, 'utf8').matchAll(statement)].map(([, type, path = '']) => ({
      name,
      isType: type !== undefined,
      path,
    })),
  );
  expect(taken.length).toBeGreaterThan(10);
  const wrong = taken.filter(
    ({ isType, path }) =>
      !path.includes('/src/clients/') && (!isType || !path.endsWith('src/admin/contract.ts')),
  );
  expect(wrong).toEqual([]);
});

/** The lines of each function within, less those of the functions inside it. */
function ownLines(node: unknown, text: string): readonly number[] {
  const found: number[] = [];
  const visit = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0;
    let inner = 0;
    for (const child of Object.values(value)) inner += visit(child);
    if (!isFunction(value)) return inner;
    const lines = text.slice(value.start, value.end).split('\n').length;
    found.push(lines - inner);
    return lines - 1;
  };
  visit(node);
  return found;
}

function isFunction(value: object): value is { readonly start: number; readonly end: number } {
  return (
    'type' in value && /^(?:Arrow)?Function(?:Expression|Declaration)?$/.test(String(value.type))
  );
}

function sourceFiles(folder: string): string[] {
  return listFiles(folder, /\.ts$/).filter((file) => !TEST_ONLY.test(file));
}

function isAllowed({ file, target }: Import): boolean {
  if (FREE.some((free) => file === free || file.startsWith(free))) return true;
  const sibling = /^(protocols|upstreams)\/[^/]+(?=\/)/.exec(file);
  const folder = sibling?.[0] ?? longestRow(file);
  if (folder === undefined) return false;
  if (target.startsWith(`${folder}/`)) return true;
  const row = ALLOWED[sibling === null ? folder : `${sibling[1]}/*`] ?? [];
  return row.some((prefix) => target.startsWith(prefix));
}

function longestRow(file: string): string | undefined {
  const rows = Object.keys(ALLOWED).filter((name) => file.startsWith(`${name}/`));
  return rows.sort((a, b) => b.length - a.length)[0];
}

function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    done.add(file);
    for (const target of graph.get(file) ?? []) {
      const cycle = visit(target, [...path, file]);
      if (cycle !== undefined) return cycle;
    }
    return undefined;
  };
  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
