// The accounts of the sandbox: who may call, with which key, for which project, and how much.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SandboxError } from './errors.ts';

export type SandboxTier = 'ultra' | 'pro' | 'free';

export interface SandboxAccount {
  readonly email: string;
  readonly tier: SandboxTier;
  /** The credential: `Authorization: Bearer`, `x-vendora-api-key` or `?key=`. */
  readonly key: string;
  /** The only value accepted in a body's `project`. */
  readonly project: string;
  /** Absent for the tier's own allowance. */
  readonly quota?: SandboxQuota;
}

export interface SandboxQuota {
  /** Generate calls per model and window. */
  readonly requests: number;
  /** Length of a window, which starts at a multiple of it. */
  readonly windowMs: number;
}

const HOUR_MS = 3_600_000;
const QUOTAS: Readonly<Record<SandboxTier, SandboxQuota>> = {
  ultra: { requests: 1_000_000, windowMs: 5 * HOUR_MS },
  pro: { requests: 200_000, windowMs: 5 * HOUR_MS },
  free: { requests: 20_000, windowMs: 24 * HOUR_MS },
};

/** Two accounts with fresh random keys. */
export function createDefaultAccounts(): SandboxAccount[] {
  return [
    createAccount('ada@sandbox.example', 'ultra'),
    createAccount('grace@sandbox.example', 'pro'),
  ];
}

export function quotaOf(account: SandboxAccount): SandboxQuota {
  return account.quota ?? QUOTAS[account.tier];
}

/**
 * The account a request's credential belongs to.
 * @throws SandboxError 401 when it has none or an unknown one.
 */
export function authenticate(
  accounts: readonly SandboxAccount[],
  headers: IncomingHttpHeaders,
  url: URL,
): SandboxAccount {
  const credential = readCredential(headers, url);
  if (credential === undefined) {
    throw new SandboxError(
      401,
      'No credential: send Authorization: Bearer <key>, x-vendora-api-key or ?key=.',
    );
  }
  const digest = hash(credential);
  const account = accounts.find(({ key }) => timingSafeEqual(hash(key), digest));
  if (account === undefined) throw new SandboxError(401, 'The credential is not valid here.');
  return account;
}

function readCredential(headers: IncomingHttpHeaders, url: URL): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const header = headers['x-vendora-api-key'];
  const key = typeof header === 'string' ? header : undefined;
  return bearer ?? key ?? url.searchParams.get('key') ?? undefined;
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function createAccount(email: string, tier: SandboxTier): SandboxAccount {
  const name = email.slice(0, email.indexOf('@'));
  return {
    email,
    tier,
    key: `sandbox-${randomBytes(24).toString('base64url')}`,
    project: `sandbox-${name}`,
  };
}
