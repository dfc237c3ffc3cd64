// Whose credential a request carries: a key of the start, or an access token.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { SandboxAccount } from '../accounts.ts';
import { SandboxError } from '../errors.ts';
import { authenticateToken, type BearerServices, isAccessToken } from '../oauth/bearer.ts';
import type { Member } from '../state/members.ts';
import { isPublisherPath } from './routes.ts';

export interface AuthenticationServices extends BearerServices {
  readonly accounts: readonly SandboxAccount[];
}

/**
 * The member a request's credential belongs to.
 * @throws SandboxError 401 when it has none or a bad one, 403 for a token without the models scope.
 */
export function authenticate(
  { headers }: IncomingMessage,
  url: URL,
  services: AuthenticationServices,
): Member {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined && isAccessToken(bearer)) {
    return authenticateToken(bearer, 'models', services);
  }
  const name = isPublisherPath(url) ? 'x-goog-api-key' : 'x-vendora-api-key';
  const header = headers[name];
  const key = typeof header === 'string' ? header : undefined;
  const credential = bearer ?? key ?? url.searchParams.get('key') ?? undefined;
  if (credential === undefined) {
    throw new SandboxError(
      401,
      `No credential: send Authorization: Bearer <key or access token>, ${name} or ?key=.`,
    );
  }
  const digest = hash(credential);
  const account = services.accounts.find((one) => timingSafeEqual(hash(one.key), digest));
  if (account === undefined) throw new SandboxError(401, 'The credential is not valid here.');
  return services.members.restore(account.email, account.tier);
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
