// How the sign-ins go: each is known by its state until some time after it ended.

import type { Account } from '../accounts/account.ts';
import { asGatewayError, invalidRequest } from '../canonical/error.ts';
import { told } from '../lib/told.ts';
import type { AdminOptions } from './options.ts';

export interface SignInTracker {
  /** @throws GatewayError */
  start(request: StartRequest): ReturnType<AdminOptions['signIns']['start']>;
  /**
   * Ends a sign-in with what the provider put into the redirect: an address or query, or a code with
   * its state. @throws GatewayError, with the field `state` when no such sign-in is waiting
   */
  complete(answer: { readonly state?: string; readonly response: string }): Promise<Account>;
  /** Undefined for a state never given out or forgotten by now. */
  find(state: string): SignInProgress | undefined;
  /** False when there was none waiting. */
  cancel(state: string): boolean;
}

interface StartRequest {
  readonly upstreamId: string;
  readonly reauthenticate: string | undefined;
  readonly label: string | undefined;
}

export type SignInProgress =
  | { readonly kind: 'pending'; readonly expiresAt: number }
  | { readonly kind: 'done'; readonly accountId: string }
  | { readonly kind: 'failed'; readonly message: string };

export type TrackerOptions = Pick<AdminOptions, 'clock' | 'signIns' | 'callbackUrl'>;

interface Tracked {
  readonly progress: SignInProgress;
  readonly forgetAt: number;
}

/** The admin API has one credential, so all of its callers are one. */
const OWNER = 'console';
/** For whoever waits to see how it ended. */
const KEPT_AFTER_END_MS = 600_000;
const MOST_KEPT = 512;

export function createSignInTracker(options: TrackerOptions): SignInTracker {
  const { clock, signIns, callbackUrl } = options;
  const tracked = new Map<string, Tracked>();
  // A state counts once, also while its answer is on the way.
  const underWay = new Set<string>();
  const find = (state: string): SignInProgress | undefined => {
    const one = tracked.get(state);
    return one === undefined || one.forgetAt <= clock.now() ? undefined : one.progress;
  };
  const keep = (state: string, progress: SignInProgress, forgetAt: number): void => {
    for (const [known, { forgetAt: endsAt }] of tracked) {
      if (endsAt <= clock.now() || tracked.size >= MOST_KEPT) tracked.delete(known);
    }
    tracked.set(state, { progress, forgetAt });
  };
  const end = (state: string, progress: SignInProgress): void =>
    keep(state, progress, clock.now() + KEPT_AFTER_END_MS);
  return {
    find,
    async start(request) {
      const started = await signIns.start({ ...request, owner: OWNER, redirectUri: callbackUrl() });
      const { state, expiresAt } = started;
      keep(state, { kind: 'pending', expiresAt }, expiresAt);
      return started;
    },
    async complete({ state: given, response }) {
      const state = given ?? readState(response);
      if (state === undefined) return (await signIns.complete({ owner: OWNER, response })).account;
      if (find(state)?.kind !== 'pending' || underWay.has(state)) throw notWaiting();
      underWay.add(state);
      try {
        const { account } = await signIns.complete({ owner: OWNER, state, response });
        end(state, { kind: 'done', accountId: account.record.id });
        return account;
      } catch (error) {
        end(state, { kind: 'failed', message: asGatewayError(error).message });
        throw error;
      } finally {
        underWay.delete(state);
      }
    },
    cancel: (state) => find(state)?.kind === 'pending' && tracked.delete(state),
  };
}

/** The state an address or query holds; whether it is the right one is not decided here. */
function readState(response: string): string | undefined {
  const text = response.trim();
  return new URLSearchParams(text.slice(text.indexOf('?') + 1)).get('state') ?? undefined;
}

function notWaiting() {
  return invalidRequest(
    'state',
    told`No sign-in of this state is waiting: it was completed, cancelled, or is too old. Begin a new one.`,
  );
}
