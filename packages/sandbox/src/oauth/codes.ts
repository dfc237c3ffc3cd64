// Authorization codes: for one use within a minute, by whoever knows the verifier.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { SandboxClock } from '../clock.ts';
import { createId, setLast } from '../clock.ts';
import type { Grant } from './tokens.ts';

interface CodeRequest {
  readonly grant: Grant;
  readonly redirectUrl: string;
  /** PKCE, method S256 (RFC 7636, 4.2). */
  readonly challenge: string;
}

interface Redemption {
  readonly clientId: string;
  readonly redirectUrl: string | undefined;
  readonly verifier: string;
}

type RedeemedCode =
  | { readonly kind: 'granted'; readonly grant: Grant }
  /** A code that was used before: whoever got tokens for it must lose them (RFC 6749, 4.1.2). */
  | { readonly kind: 'reused'; readonly grant: Grant }
  | { readonly kind: 'refused'; readonly because: string };

export interface Codes {
  issue(request: CodeRequest): string;
  /** Whose code it is, without using it; undefined for unknown codes. */
  emailOf(code: string): string | undefined;
  /** Any try uses the code up, also one that is refused. */
  redeem(code: string, redemption: Redemption): RedeemedCode;
}

interface Entry extends CodeRequest {
  readonly expiresAt: number;
  readonly isUsed: boolean;
}

const LIFETIME_MS = 60_000;
/** Used and expired ones are remembered too; the oldest go first. */
const MAX_CODES = 10_000;

export function createCodes(clock: SandboxClock): Codes {
  const codes = new Map<string, Entry>();
  return {
    issue(request) {
      const code = createId('sandbox-code-');
      const entry = { ...request, expiresAt: clock.now() + LIFETIME_MS, isUsed: false };
      setLast(codes, [code, entry], MAX_CODES);
      return code;
    },
    emailOf: (code) => codes.get(code)?.grant.email,
    redeem(code, redemption) {
      const entry = codes.get(code);
      if (entry === undefined) return { kind: 'refused', because: 'The code is unknown.' };
      if (entry.isUsed) return { kind: 'reused', grant: entry.grant };
      codes.set(code, { ...entry, isUsed: true });
      const because = complain(entry, redemption, clock.now());
      return because === undefined
        ? { kind: 'granted', grant: entry.grant }
        : { kind: 'refused', because };
    },
  };
}

function complain(entry: Entry, redemption: Redemption, now: number): string | undefined {
  if (now >= entry.expiresAt) return 'The code has expired.';
  if (entry.grant.clientId !== redemption.clientId) return 'The code belongs to another client.';
  if (entry.redirectUrl !== redemption.redirectUrl) {
    return 'redirect_uri is not the one of the authorization request.';
  }
  const challenge = createHash('sha256').update(redemption.verifier).digest();
  const expected = Buffer.from(entry.challenge, 'base64url');
  const isRight = challenge.length === expected.length && timingSafeEqual(challenge, expected);
  return isRight ? undefined : 'code_verifier does not match the code_challenge.';
}
