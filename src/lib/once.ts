// Builds a value on first use and keeps it.

/** A failed build is not kept: the next call tries again. */
export function once<Value>(build: () => Value): () => Value {
  let built: { readonly value: Value } | undefined;
  return () => {
    built ??= { value: build() };
    return built.value;
  };
}
