// Which model a path asks for, of a route whose path may hold `{model}`.

/** '' where the route has none; undefined for the path of another route. */
export function modelInPath(route: { readonly path: string }, path: string): string | undefined {
  const [prefix = '', suffix] = route.path.split('{model}');
  if (suffix === undefined) return route.path === path ? '' : undefined;
  if (!path.startsWith(prefix) || !path.endsWith(suffix)) return undefined;
  const model = path.slice(prefix.length, path.length - suffix.length);
  return model.replace(/^models\//, '') || undefined;
}
