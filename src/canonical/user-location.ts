// Where the user is, for searches that depend on it.

/** What is said of a place, from the nearest word to the widest. */
export const PLACE_KEYS = ['city', 'region', 'country', 'timezone'] as const;

type PlaceWords = Partial<Record<(typeof PLACE_KEYS)[number], string>>;

/** At least one word of a place. */
export interface UserLocation extends Readonly<PlaceWords> {
  /** Where it stands in the client's own request. */
  readonly path?: string | undefined;
}
