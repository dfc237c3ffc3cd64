// Values that are worked out when they are first asked for, and kept: one, that of the settings in force, or some by text.

/** A failed build is not kept: the next call tries again. */
export function once<Value>(build: () => Value): () => Value {
  let built: { readonly value: Value } | undefined;
  return () => {
    built ??= { value: build() };
    return built.value;
  };
}

/**
 * What is made of the settings in force, or of what else is replaced as a whole and never changed in place: worked out
 * once for each of them.
 */
export function derived<Settings extends object, Result>(
  current: () => Settings,
  derive: (settings: Settings) => Result,
): () => Result {
  let latest: { readonly settings: Settings; readonly result: Result } | undefined;
  return () => {
    const settings = current();
    if (latest?.settings !== settings) latest = { settings, result: derive(settings) };
    return latest.result;
  };
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
