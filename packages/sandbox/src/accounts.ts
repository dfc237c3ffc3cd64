// The people and robots of the sandbox: who they are, which project is theirs, and how much they may call.

import { createHash, randomBytes } from 'node:crypto';

export type SandboxTier = 'ultra' | 'pro' | 'free';
export const SANDBOX_TIERS: readonly SandboxTier[] = ['ultra', 'pro', 'free'];

/** Who makes a call, whatever the credential. */
export interface SandboxCaller {
  /** Lower case. */
  readonly email: string;
  readonly tier: SandboxTier;
  /** The only value accepted in a body's `project`, and in a path. */
  readonly project: string;
  /** For every model; absent for the tier's own allowances. */
  readonly quota?: SandboxQuota;
}

/** An account that was given to the sandbox at its start, with a key. */
export interface SandboxAccount extends SandboxCaller {
  /** The credential: `Authorization: Bearer`, `x-vendora-api-key` or `?key=`. */
  readonly key: string;
}

export interface SandboxQuota {
  /** Generate calls per model and window. */
  readonly requests: number;
  /** Length of a window, which starts at a multiple of it. */
  readonly windowMs: number;
}

/** What a plan allows of each text model and of each model that draws. */
interface TierQuota {
  readonly text: SandboxQuota;
  readonly image: SandboxQuota;
}
export type TierQuotas = Readonly<Record<SandboxTier, TierQuota>>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const DEFAULT_TIER_QUOTAS: TierQuotas = {
  ultra: {
    text: { requests: 1_000_000, windowMs: 5 * HOUR_MS },
    image: { requests: 100_000, windowMs: DAY_MS },
  },
  pro: {
    text: { requests: 200_000, windowMs: 5 * HOUR_MS },
    image: { requests: 20_000, windowMs: DAY_MS },
  },
  free: {
    text: { requests: 20_000, windowMs: DAY_MS },
    image: { requests: 1_000, windowMs: DAY_MS },
  },
};

const PERSON = /^([a-z0-9](?:[a-z0-9._+-]{0,62}[a-z0-9])?)@sandbox\.example$/;
const SERVICE_ACCOUNT =
  /^[a-z](?:[a-z0-9-]{0,28}[a-z0-9])?@(sandbox-[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?)\.iam\.sandbox\.example$/;

/** Two accounts with fresh random keys. */
export function createDefaultAccounts(): SandboxAccount[] {
  return [
    createAccount('ada@sandbox.example', 'ultra'),
    createAccount('grace@sandbox.example', 'pro'),
  ];
}

/** The e-mail in lower case when it is one a person of the sandbox can have. */
export function readPersonEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase();
  return PERSON.test(email) ? email : undefined;
}

/** True for `<name>@sandbox-<project>.iam.sandbox.example`. */
export function isServiceAccountEmail(email: string): boolean {
  return SERVICE_ACCOUNT.test(email);
}

/** The one project of a person or service account. Names a project cannot have get a tail that keeps them apart. */
export function projectOf(email: string): string {
  const ofServiceAccount = SERVICE_ACCOUNT.exec(email)?.[1];
  if (ofServiceAccount !== undefined) return ofServiceAccount;
  const name = PERSON.exec(email)?.[1] ?? email;
  const plain = name.replace(/[^a-z0-9-]/g, '-').slice(0, 30);
  if (plain === name) return `sandbox-${name}`;
  return `sandbox-${plain}-${createHash('sha256').update(email).digest('hex').slice(0, 6)}`;
}

function createAccount(email: string, tier: SandboxTier): SandboxAccount {
  const key = `sandbox-${randomBytes(24).toString('base64url')}`;
  return { email, tier, key, project: projectOf(email) };
}
