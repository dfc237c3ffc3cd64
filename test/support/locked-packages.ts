// The packages of package-lock.json, and which of them a workspace runs on.

import { readFileSync } from 'node:fs';

interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  /** A workspace stands under `node_modules` as a link to its folder. */
  readonly link?: boolean;
  readonly resolved?: string;
}

const { packages } = JSON.parse(
  readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
) as { readonly packages: Readonly<Record<string, LockedPackage>> };

/** Those of others by their paths, without the project and its workspaces. */
export const LOCKED: ReadonlyMap<string, LockedPackage> = new Map(
  Object.entries(packages).filter(([path, { link }]) => path.startsWith('node_modules/') && !link),
);

/** Paths of all that these workspaces run on; what they need for their own development is not among it. */
export function closureOf(...workspaces: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (path: string): void => {
    const { dependencies = {}, optionalDependencies = {} } = packages[path] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const taken = resolve(path, name);
      if (taken === undefined) continue;
      const { link, resolved } = packages[taken] ?? {};
      if (link && resolved !== undefined) visit(resolved);
      else if (!found.has(taken)) {
        found.add(taken);
        visit(taken);
      }
    }
  };
  for (const workspace of workspaces) visit(workspace);
  return found;
}

/** As node finds it: the nearest `node_modules` upwards. Undefined for an optional one that is not there. */
function resolve(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (!folder.includes('/node_modules/')) break;
  }
  const top = `node_modules/${name}`;
  return packages[top] === undefined ? undefined : top;
}
