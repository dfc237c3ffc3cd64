// Paths of routes with a placeholder, and what a path that fits holds for it.

/** A path with at most one placeholder; `{model}` and `{id}` match slashes too. */
export interface PathPattern {
  readonly prefix: string;
  readonly suffix: string;
  /** The word between the braces. */
  readonly name: string;
}

const PLACEHOLDER = /\{(\w+)\}/;
const SLASHED_NAMES: readonly string[] = ['model', 'id'];

/** The pattern of a route path; undefined when the path is literal. */
export function readPathPattern(path: string): PathPattern | undefined {
  const match = PLACEHOLDER.exec(path);
  if (match === null) return undefined;
  const [placeholder, name = ''] = match;
  return {
    prefix: path.slice(0, match.index),
    suffix: path.slice(match.index + placeholder.length),
    name,
  };
}

/**
 * What a percent-decoded path holds for the placeholder, a model without a leading `models/`;
 * undefined when the path does not fit or the name is empty.
 */
export function matchPathPattern(pattern: PathPattern, path: string): string | undefined {
  const { prefix, suffix, name } = pattern;
  if (path.length <= prefix.length + suffix.length) return undefined;
  if (!path.startsWith(prefix) || !path.endsWith(suffix)) return undefined;
  const found = path.slice(prefix.length, path.length - suffix.length);
  if (!SLASHED_NAMES.includes(name) && found.includes('/')) return undefined;
  if (name !== 'model' || !found.startsWith('models/')) return found;
  return found.slice('models/'.length) || undefined;
}
