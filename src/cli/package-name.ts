// Under which name this program is published, where, and which version this is: what package.json says of it.

import manifest from '../../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;

export const PUBLISHED: { readonly name: string; readonly registry: string } = manifest.published;

/** True for a copy that a package manager installed: a build from source, an image or an archive lies elsewhere. */
export function isInstalledPackage(folder: string = import.meta.dirname): boolean {
  return /[\\/]node_modules[\\/]/.test(`${folder}/`);
}
