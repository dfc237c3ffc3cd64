// Tokens that prove themselves: what they say, sealed with a code made from the seed, so that they outlive a restart.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SandboxTier } from '../accounts.ts';
import { parseJson } from '../json.ts';

/** What a person allowed a client, or a service account took for itself. */
export interface Grant {
  /** The same for every token that comes of one consent. */
  readonly familyId: string;
  readonly email: string;
  readonly tier: SandboxTier;
  /** Undefined for service accounts, which need no client. */
  readonly clientId?: string;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch. */
  readonly grantedAt: number;
}

interface AccessToken {
  readonly grant: Grant;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface RefreshToken {
  readonly grant: Grant;
  /** Rises with every rotation; only one of them is good. */
  readonly generation: number;
}

export interface Tokens {
  mintAccess(token: AccessToken): string;
  mintRefresh(token: RefreshToken): string;
  /** Undefined for anything this sandbox did not make. Says nothing of expiry or revocation. */
  readAccess(text: string): AccessToken | undefined;
  readRefresh(text: string): RefreshToken | undefined;
  /** The consent page's proof that it was this sandbox that showed it. */
  mintTicket(ticket: Ticket): string;
  readTicket(text: string): Ticket | undefined;
}

interface Ticket {
  /** The query of the authorization request. */
  readonly query: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

type Kind = 'access' | 'refresh' | 'ticket';

export function createTokens(seed: string): Tokens {
  const codeOf = (kind: Kind, payload: string): Buffer =>
    createHmac('sha256', seed).update(`oauth\n${kind}\n${payload}`).digest();
  const mint = (kind: Kind, content: AccessToken | RefreshToken | Ticket): string => {
    const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `sandbox-${kind}.${payload}.${codeOf(kind, payload).toString('base64url')}`;
  };
  /** The payload's JSON once its code is right. */
  const open = (kind: Kind, text: string): unknown => {
    const [head, payload = '', code = '', ...rest] = text.split('.');
    if (head !== `sandbox-${kind}` || rest.length > 0) return undefined;
    const expected = codeOf(kind, payload);
    const given = Buffer.from(code, 'base64url');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return parseJson(Buffer.from(payload, 'base64url').toString('utf8'));
  };
  // The narrowings: whoever made the code made the payload, and only the functions above do.
  return {
    mintAccess: (token) => mint('access', token),
    mintRefresh: (token) => mint('refresh', token),
    mintTicket: (ticket) => mint('ticket', ticket),
    readAccess: (text) => open('access', text) as AccessToken | undefined,
    readRefresh: (text) => open('refresh', text) as RefreshToken | undefined,
    readTicket: (text) => open('ticket', text) as Ticket | undefined,
  };
}
