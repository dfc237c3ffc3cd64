// Where the user is, for searches that depend on it.

/** What is said of a place, from the nearest word to the widest. */
export const PLACE_KEYS = ['city', 'region', 'country', 'timezone'] as const;

/** Where the user is, for searches that depend on it: at least one word. */
export type UserLocation = {
  /** Where the client says it. */
  readonly path?: string | undefined;
} & {
  readonly [Key in (typeof PLACE_KEYS)[number]]?: string | undefined;
};

type SaidPlace = { readonly [Key in (typeof PLACE_KEYS)[number]]?: string | null };

/** Undefined where nothing is said of it. */
export function locationOf(said: SaidPlace, path: string): UserLocation | undefined {
  const words = PLACE_KEYS.flatMap((key): [string, string][] => {
    const word = said[key]?.trim() ?? '';
    return word === '' ? [] : [[key, word]];
  });
  return words.length === 0 ? undefined : { path, ...Object.fromEntries(words) };
}
