// Values that are worked out when they are first asked for, and kept: one, the latest argument's, or some by text.

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

/** What is made of the settings in force: worked out once for each of them, as they are replaced as a whole. */
export function derived<Settings extends object, Result>(
  current: () => Settings,
  derive: (settings: Settings) => Result,
): () => Result {
  const resultOf = memoize(derive);
  return () => resultOf(current());
}

/** Keeps results by text. Others choose the texts, so all are forgotten when there are `most`. */
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
