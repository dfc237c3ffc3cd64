// How the server is built into lib/: all code in a few files. Hundreds of small ones, ours and those of
// the dependencies, cost a start as much as all the rest of it.
import http from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { notePackages } from './shipped-packages.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Of package.json, the program knows what `src/cli/package-name.ts` reads; lists of packages are nothing to ship. */
const leanManifest = {
  name: 'lean-manifest',
  transform: {
    filter: { id: /\/package\.json$/ },
    handler(code, id) {
      if (id !== join(ROOT, 'package.json')) return undefined;
      const { version, published } = JSON.parse(code);
      return { code: JSON.stringify({ version, published }), map: null };
    },
  },
  enforce: 'pre',
};

/**
 * Whoever imports `node:http` as a module asks for all that it exports, also for what node then loads its own `fetch` for:
 * a tenth of a start, and 5 MB.
 */
const httpWithoutFetch = {
  name: 'http-without-fetch',
  resolveId: {
    filter: { id: /^node:http$/ },
    handler: (id, _importer, { kind }) => (kind === 'import-statement' ? `\0${id}` : undefined),
  },
  load: {
    filter: { id: /^\0node:http$/ },
    handler() {
      const names = Object.entries(Object.getOwnPropertyDescriptors(http))
        .filter(([, { get }]) => get === undefined)
        .map(([name]) => name);
      return `export const { ${names.join(', ')} } = process.getBuiltinModule('node:http');`;
    },
  },
  enforce: 'pre',
};

/** Of undici, what the program uses: what it loads beside its clients, from `fetch` to mocks, is a good part of a start. */
const leanUndici = {
  name: 'lean-undici',
  resolveId: {
    filter: { id: /^undici$/ },
    handler: () => join(ROOT, 'scripts/lean-undici.mjs'),
  },
  transform: {
    filter: { id: /\/undici\/lib\/dispatcher\/client-h2\.js$/ },
    handler(code) {
      const without = code.replace("http2 = require('node:http2')", 'throw undefined');
      if (without === code) throw new Error('undici loads HTTP/2 elsewhere now.');
      return { code: without, map: null };
    },
  },
  enforce: 'pre',
};

/**
 * undici puts its dispatcher where node's own `fetch` looks for one: a program that embeds a gateway would send all its
 * requests through it. Symbols that are nobody else's keep it here.
 */
const ownDispatcher = {
  name: 'own-dispatcher',
  transform: {
    filter: { id: /\/undici\/lib\/global\.js$/ },
    handler(code) {
      const own = code.replaceAll(
        "Symbol.for('undici.globalDispatcher",
        "Symbol('undici.globalDispatcher",
      );
      if (own === code) throw new Error('undici has its dispatcher elsewhere now.');
      return { code: own, map: null };
    },
  },
};

/** What loads much of the code at once, by the files where each begins. */
const PARTS = {
  commands: ['cli/program.ts', 'cli/exit-codes.ts'],
  outbound: ['compose/outbound.ts'],
  data: ['cli/backup.ts', 'cli/rotate-secret.ts', 'cli/migrate-store.ts', 'cli/workers.ts'],
  server: [
    'cli/serve.ts',
    'cli/open-gateway.ts',
    'embedded-gateway.ts',
    'config/check-config.ts',
    'stores/sqlite/open-database.ts',
  ],
};

/**
 * A chunk holds what the same parts need. By itself the bundler cuts them by every import that waits, into 70 files for a
 * start, and to find, read and check those is a sixth of it.
 */
function nameChunks() {
  let parts;
  return (id, context) => {
    parts ??= Object.entries(PARTS).map(([name, files]) => [name, reachedFrom(files, context)]);
    const names = parts.filter(([, reached]) => reached.has(id)).map(([name]) => name);
    return names.length === 0 ? null : names.join('-');
  };
}

function reachedFrom(files, context) {
  const reached = new Set(files.map((file) => join(ROOT, 'src', file)));
  for (const id of reached) {
    for (const imported of context.getModuleInfo(id)?.importedIds ?? []) reached.add(imported);
  }
  return reached;
}

export default {
  plugins: [
    ...[leanManifest, httpWithoutFetch, leanUndici, ownDispatcher],
    notePackages({ root: ROOT, output: 'lib' }),
  ],
  logLevel: 'warn',
  publicDir: false,
  // Nothing is left to be installed. What loads files of its own by name would break so; of the logger that is its
  // transports alone, which are not used.
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: 'lib',
    emptyOutDir: true,
    target: 'node26',
    // For whoever works on it: the files do not name their maps, and the package has none.
    sourcemap: 'hidden',
    rolldownOptions: {
      // What one part waits for may be at hand in another.
      checks: { ineffectiveDynamicImport: false },
      input: { main: 'src/main.ts', index: 'src/index.ts' },
      output: {
        // All beside one another: the program finds its own package.json one folder up.
        codeSplitting: {
          groups: [{ name: nameChunks(), debugName: 'parts' }],
          includeDependenciesRecursively: false,
        },
        chunkFileNames: '[name]-[hash].js',
        // V8 keeps the text of the program: without blanks, in one byte a character, and with short names of what is
        // local to a function. Functions and classes keep theirs, for stacks.
        minify: {
          compress: false,
          mangle: { toplevel: false, keepNames: { function: true, class: true } },
          codegen: { removeWhitespace: true },
        },
        comments: { legal: true, annotation: false, jsdoc: false },
        charset: 'ascii',
      },
    },
  },
};
