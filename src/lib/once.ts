// Builds a value on first use and keeps it.

/** A failed build is not kept: the next call tries again. */
export function once<Value>(build: () => Value): () => Value {
  let built: { readonly value: Value } | undefined;
  return () => {
    built ??= { value: build() };
    return built.value;
  };
}

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
