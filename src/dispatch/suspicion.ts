// Whose fault a refusal is: that of the account, unless a second account refuses the same request alike.

import type { UpstreamFailure } from '../canonical/failure.ts';
import type { Lease } from '../pool/pool.ts';
import { isAccountDoubt, mayBeOfRequest } from './retry.ts';

/** Keeps the lease of the first account that refused until the next ones have told. */
export class Suspicion {
  #suspect: { readonly lease: Lease; readonly failure: UpstreamFailure } | undefined;

  /** Takes the lease over. True when the refusal is the request's own. */
  add(lease: Lease, failure: UpstreamFailure): boolean {
    const suspect = this.#suspect;
    if (suspect === undefined) {
      this.#suspect = { lease, failure };
      return false;
    }
    // One request holds a refusal against one account alone.
    const { kind, status, reason } = failure;
    const isSame =
      suspect.lease.account.upstreamId === lease.account.upstreamId &&
      suspect.failure.kind === kind &&
      suspect.failure.status === status &&
      suspect.failure.reason === reason;
    const isOfRequest = mayBeOfRequest(kind) && isSame;
    const end = isOfRequest && isAccountDoubt(kind) ? 'doubted' : 'neutral';
    lease.release({ kind: end });
    if (isOfRequest) this.end(end);
    return isOfRequest;
  }

  /** `held`: the refusal counts against its account; else how that is given back. Nothing once it ended. */
  end(how: 'held' | 'neutral' | 'doubted'): void {
    const suspect = this.#suspect;
    if (suspect === undefined) return;
    this.#suspect = undefined;
    const { lease, failure } = suspect;
    lease.release(how === 'held' ? { kind: 'failure', failure } : { kind: how });
  }
}
