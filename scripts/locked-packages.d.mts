export interface LockedPackage {
  /** Below the project, such as `node_modules/ws`. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** What these workspaces are built from, with all that needs in turn. */
export function lockedPackages(root: string, workspaces?: readonly string[]): LockedPackage[];
