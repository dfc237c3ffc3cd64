// Remembers what the latest argument gave, for values derived from settings that seldom change.

/** Compares by identity: settings are replaced as a whole, never changed in place. */
export function memoize<Argument extends object, Result>(
  derive: (argument: Argument) => Result,
): (argument: Argument) => Result {
  let latest: { readonly argument: Argument; readonly result: Result } | undefined;
  return (argument) => {
    if (latest?.argument !== argument) latest = { argument, result: derive(argument) };
    return latest.result;
  };
}
