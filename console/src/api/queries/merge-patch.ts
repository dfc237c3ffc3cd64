// Merge patches, as sections of the settings are changed with.

export type SectionPatch = Readonly<Record<string, unknown>>;

/** RFC 7396: null removes, objects merge, the rest replaces. */
export function mergePatch(values: object, patch: SectionPatch): Record<string, unknown> {
  const merged = new Map<string, unknown>(Object.entries(values));
  for (const [key, value] of Object.entries(patch)) {
    const known = merged.get(key);
    if (value === null) merged.delete(key);
    else if (isPlain(value)) merged.set(key, mergePatch(isPlain(known) ? known : {}, value));
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}

/** What a patch set, as it is now: the same patch again changes nothing while it stays so. */
export function patchNow(values: object, patch: SectionPatch): SectionPatch {
  const known = new Map<string, unknown>(Object.entries(values));
  return Object.fromEntries(
    Object.entries(patch).map(([key, asked]) => {
      const value = known.get(key);
      if (isPlain(asked) && isPlain(value)) return [key, patchNow(value, asked)];
      return [key, value ?? null];
    }),
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
