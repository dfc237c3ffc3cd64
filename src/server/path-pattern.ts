// Path patterns with one `{model}` that also stands for names with slashes.

export interface PathPattern {
  readonly prefix: string;
  readonly suffix: string;
}

const PLACEHOLDER = '{model}';

/** The pattern of a route path; undefined when the path is literal. */
export function readPathPattern(path: string): PathPattern | undefined {
  const at = path.indexOf(PLACEHOLDER);
  if (at === -1) return undefined;
  return { prefix: path.slice(0, at), suffix: path.slice(at + PLACEHOLDER.length) };
}

/**
 * The model name a percent-decoded path holds, without a leading `models/`; undefined when the
 * path does not fit or the name is empty.
 */
export function matchPathPattern(pattern: PathPattern, path: string): string | undefined {
  const { prefix, suffix } = pattern;
  if (path.length <= prefix.length + suffix.length) return undefined;
  if (!path.startsWith(prefix) || !path.endsWith(suffix)) return undefined;
  const model = path.slice(prefix.length, path.length - suffix.length);
  const name = model.startsWith('models/') ? model.slice('models/'.length) : model;
  return name === '' ? undefined : name;
}

/** Sorts the most specific pattern first: longer suffix, then longer prefix. */
export function bySpecificity(left: PathPattern, right: PathPattern): number {
  return right.suffix.length - left.suffix.length || right.prefix.length - left.prefix.length;
}
