// Builds a value on first use and keeps it.

/** A failed build is not kept: the next call tries again. */
export function once<Value>(build: () => Value): () => Value {
  let built: { readonly value: Value } | undefined;
  return () => {
    built ??= { value: build() };
    return built.value;
  };
}

/** Remembers the last result, for values derived from settings. Compares by identity: settings are replaced as a whole, never changed in place. */
export function memoize<Argument extends object, Result>(
  derive: (argument: Argument) => Result,
): (argument: Argument) => Result {
  let latest: { readonly argument: Argument; readonly result: Result } | undefined;
  return (argument) => {
    if (latest?.argument !== argument) latest = { argument, result: derive(argument) };
    return latest.result;
  };
}

/** Remembers results by text, for what a few texts are asked for again and again; all are forgotten at `most`. */
export function remember<Result>(
  most: number,
  derive: (text: string) => Result,
): (text: string) => Result {
  const known = new Map<string, { readonly result: Result }>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found.result;
    if (known.size === most) known.clear();
    const result = derive(text);
    known.set(text, { result });
    return result;
  };
}
