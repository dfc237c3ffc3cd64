import type { Plugin } from 'vite';

/** A package that a build holds parts of, and the folder it was taken from. */
export interface ShippedPackage {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
}

/** A plugin that notes the packages of a build; `output` is its folder below `root`. */
export function notePackages(folders: { readonly root: string; readonly output: string }): Plugin;

/** What the builds of the project hold, each package once, by name. @throws Error before they were built */
export function listShippedPackages(root: string, outputs?: readonly string[]): ShippedPackage[];
