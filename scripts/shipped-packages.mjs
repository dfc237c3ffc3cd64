// Which packages a build holds parts of: noted beside the build, for the list of parts and the licence notices.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Beside the files of a build; no dotfile is packed or served. */
const LIST = '.packages.json';

const IN_PACKAGE = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//;
/** What the builder itself puts in: helpers that load chunks and bind modules. */
const OF_BUILDER = [
  [/^\0vite\//, 'vite'],
  [/^\0(?:rolldown\/|@oxc-project)/, 'rolldown'],
];

/**
 * A plugin of Vite that notes them.
 * @param {{ root: string, output: string }} folders of the project and, below it, of the build
 */
export function notePackages({ root, output }) {
  let source = root;
  return {
    name: 'note-packages',
    configResolved(config) {
      source = config.root;
    },
    writeBundle(_options, bundle) {
      const folders = new Set();
      for (const part of Object.values(bundle)) {
        // Of files such as fonts the builder says where they were, seen from its own folder.
        const files = (part.originalFileNames ?? []).map((name) => resolve(source, name));
        for (const id of [...(part.moduleIds ?? []), ...files]) {
          const folder = folderOf(id.replaceAll('\\', '/'), root);
          if (folder !== undefined) folders.add(folder);
        }
      }
      const list = [...folders].map(describe).sort((a, b) => (a.key < b.key ? -1 : 1));
      mkdirSync(join(root, output), { recursive: true });
      writeFileSync(
        join(root, output, LIST),
        `${JSON.stringify(list.map(({ entry }) => entry))}\n`,
      );
    },
  };
}

function folderOf(id, root) {
  const inPackage = IN_PACKAGE.exec(id);
  if (inPackage !== null) return inPackage[1].replace(/^\0/, '');
  const builder = OF_BUILDER.find(([pattern]) => pattern.test(id));
  return builder && join(root, 'node_modules', builder[1]);
}

function describe(folder) {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return { key: `${name}@${version}`, entry: { name, version, folder } };
}

/**
 * What the builds of the project hold, each package once, by name.
 * @param {string} root of the project
 * @returns {{ name: string, version: string, folder: string }[]}
 */
export function listShippedPackages(root, outputs = ['lib', 'dist']) {
  const all = new Map();
  for (const output of outputs) {
    const path = join(root, output, LIST);
    if (!existsSync(path)) throw new Error(`${output} was not built: ${path} is missing.`);
    for (const entry of JSON.parse(readFileSync(path, 'utf8'))) {
      all.set(`${entry.name}@${entry.version}`, entry);
    }
  }
  return [...all.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}
