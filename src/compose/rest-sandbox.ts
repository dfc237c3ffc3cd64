// Lets the accounts of the built-in sandbox rest as soon as anything real is configured: nobody wants a made-up answer beside real ones.

import type { Account } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import { type Sentence, told } from '../lib/told.ts';

export interface SandboxRestOptions {
  readonly book: AccountBook;
  readonly isBuiltIn: (upstreamId: string) => boolean;
  /** The upstreams that the settings name, without the built-in sandbox. */
  readonly namedUpstreams: () => readonly string[];
  /** Those of them that have no address to be asked at. */
  readonly unaddressed: () => readonly string[];
  /** Calls back after each change of the settings. */
  readonly subscribe: (listener: () => void) => unknown;
}

export interface SandboxRest {
  /**
   * What keeps requests from an answer: an upstream is named, and has no account or no address. Who asks
   * for an account that stands by is answered by that.
   */
  missing(account?: string): Sentence | undefined;
  close(): void;
}

export function restSandboxAccounts(options: SandboxRestOptions): SandboxRest {
  const { book, isBuiltIn, namedUpstreams, unaddressed } = options;
  const isMadeUp = ({ record }: Account): boolean => isBuiltIn(record.upstreamId);
  const isReal = (): boolean =>
    namedUpstreams().length > 0 || book.list().some((account) => !isMadeUp(account));
  let missing: Sentence | undefined;
  const settle = (): void => {
    const hasReal = isReal();
    const madeUp = book.list().filter(isMadeUp);
    const hasSignedIn = madeUp.some(({ origin }) => origin === 'stored');
    for (const account of madeUp) {
      const rests = hasReal || (hasSignedIn && account.origin === 'sandbox');
      const isActive = account.health.status.kind !== 'disabled';
      if (rests && isActive) book.apply(account.record.id, { kind: 'stand-by' });
      if (!rests && isStandingBy(account)) book.apply(account.record.id, { kind: 'enable' });
    }
    findMissing();
  };
  const findMissing = (): void => {
    const mute = unaddressed();
    const serves = book
      .list()
      .some((account) =>
        isMadeUp(account)
          ? account.health.status.kind !== 'disabled'
          : !mute.includes(account.record.upstreamId),
      );
    missing = serves ? undefined : sayMissing(namedUpstreams(), mute);
  };
  settle();
  options.subscribe(settle);
  const unsubscribe = book.subscribe(({ kind }) => {
    if (kind === 'added' || kind === 'removed') settle();
    if (kind === 'health') findMissing();
  });
  const isOnCall = (name: string): boolean =>
    book
      .list()
      .some((account) => isStandingBy(account) && account.record.label.toLowerCase() === name);
  return {
    missing: (account) =>
      account !== undefined && isOnCall(account.toLowerCase()) ? undefined : missing,
    close: unsubscribe,
  };
}

function isStandingBy({ health: { status } }: Account): boolean {
  return status.kind === 'disabled' && status.reason === 'standing-by';
}

function sayMissing(
  upstreams: readonly string[],
  unaddressed: readonly string[],
): Sentence | undefined {
  if (upstreams.length === 0) return undefined;
  if (unaddressed.length > 0) {
    return told`The upstream ${unaddressed.join(', ')} has no address: set UPSTREAM_BASE_URL where UPSTREAM_PROFILE is set.`;
  }
  return told`No account is configured for the upstream ${upstreams.join(', ')}: set UPSTREAM_API_KEYS where the environment names it, or add an account in the console or with isthmus accounts add.`;
}
