// The packages of package-lock.json that the shipped workspaces are built from.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const SHIPPED_WORKSPACES = ['src', 'console', 'packages/sandbox'];

/**
 * With all they need in turn; what only their development needs is not among it.
 * @param {string} root of the project
 * @returns {{ path: string, name: string, version: string, license?: string }[]} by their paths
 */
export function lockedPackages(root, workspaces = SHIPPED_WORKSPACES) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const found = new Set();
  const visit = (path) => {
    const { dependencies = {}, optionalDependencies = {} } = packages[path] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const taken = resolve(packages, path, name);
      if (taken === undefined) continue;
      if (packages[taken].link) visit(packages[taken].resolved);
      else if (!found.has(taken)) {
        found.add(taken);
        visit(taken);
      }
    }
  };
  for (const workspace of workspaces) visit(workspace);
  return [...found].sort().map((path) => {
    const { version, license } = packages[path];
    return { path, name: path.slice(path.lastIndexOf('node_modules/') + 13), version, license };
  });
}

/** As node finds it: the nearest `node_modules` upwards. Undefined for an optional one that is not there. */
function resolve(packages, from, name) {
  for (
    let folder = from;
    folder !== '';
    folder = folder.replace(/(?:^|\/)(?:node_modules\/)?[^/]*$/, '')
  ) {
    const path = `${folder}/node_modules/${name}`;
    if (packages[path] !== undefined) return path;
  }
  return packages[`node_modules/${name}`] && `node_modules/${name}`;
}
