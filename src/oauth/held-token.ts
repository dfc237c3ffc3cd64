// An access token in hand, and how long it is good by the monotonic clock.

export interface HeldToken {
  readonly accessToken: string;
  /** All three in monotonic milliseconds. */
  readonly renewedAt: number;
  /** From here on it is renewed in the background while it is used. */
  readonly renewFrom: number;
  /** From here on it is renewed before it is used. */
  readonly staleFrom: number;
  readonly expiresAt: number;
}

/** With less left than this, a token is renewed before it is used. */
export const MARGIN_MS = 90_000;
const AHEAD_MS = 300_000;
const AHEAD_JITTER_MS = 60_000;

/**
 * @param monotonic when the token was asked for, so that the way here counts against it
 * @param random a number in [0, 1), which spreads the renewals of many accounts
 */
export function holdToken(
  accessToken: string,
  lifetimeMs: number,
  { monotonic, random }: { readonly monotonic: number; readonly random: number },
): HeldToken {
  const expiresAt = monotonic + lifetimeMs;
  // A token of a few minutes is used for half of its life at least.
  const half = lifetimeMs / 2;
  const aheadMs = AHEAD_MS + (2 * random - 1) * AHEAD_JITTER_MS;
  return {
    accessToken,
    renewedAt: monotonic,
    renewFrom: expiresAt - Math.min(aheadMs, half),
    staleFrom: expiresAt - Math.min(MARGIN_MS, half),
    expiresAt,
  };
}
