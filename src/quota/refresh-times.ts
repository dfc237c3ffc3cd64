// When the quota of an account is read again: at its own phase of the interval, and after a reset.

import { hash } from 'node:crypto';

interface RefreshMoment {
  readonly now: number;
  readonly intervalMs: number;
  /** A random number in [0, 1). */
  readonly jitter: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Behind a reset, so that the upstream's own clock is surely past it. */
const AFTER_RESET_MS = 2000;

/** Milliseconds until the account's first turn: its fixed phase of the interval. */
export function untilFirstTurn(
  accountId: string,
  { now, intervalMs }: Omit<RefreshMoment, 'jitter'>,
): number {
  const interval = boundInterval(intervalMs);
  const phase = Math.floor(phaseOf(accountId) * interval);
  return (((phase - now) % interval) + interval) % interval;
}

/** Milliseconds from one turn to the next: back on the phase, give or take a tenth of the interval. */
export function untilNextTurn(accountId: string, moment: RefreshMoment): number {
  const interval = boundInterval(moment.intervalMs);
  const untilPhase = untilFirstTurn(accountId, moment);
  // What is nearly now was just had, a little early or late.
  const turn = untilPhase < interval / 2 ? untilPhase + interval : untilPhase;
  return Math.round(turn + (moment.jitter - 0.5) * 0.2 * interval);
}

/** Milliseconds until the first of the windows is over; undefined when none ends before `withinMs`. */
export function untilReset(
  resets: readonly number[],
  { now, withinMs }: { readonly now: number; readonly withinMs: number },
): number | undefined {
  const next = Math.min(...resets.filter((at) => at > now));
  const waitMs = next - now + AFTER_RESET_MS;
  return waitMs < withinMs ? waitMs : undefined;
}

/** Timers take no more than 24.8 days, and a pool must not be asked all the time. */
function boundInterval(intervalMs: number): number {
  return Math.min(Math.max(intervalMs, MINUTE_MS), DAY_MS);
}

/** 0 to 1, the same for an account in every run. */
function phaseOf(accountId: string): number {
  return Number.parseInt(hash('sha256', accountId, 'hex').slice(0, 8), 16) / 2 ** 32;
}
