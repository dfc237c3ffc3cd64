// The roles of people in the console: what each may do at least.

import { clientError } from '../canonical/error.ts';
import { type Sentence, told } from '../lib/localized-message.ts';

/**
 * `viewer` reads, but no secret, and nothing of what people asked the models and were answered ·
 * `operator` runs the gateway as well: accounts, keys, routing, most settings ·
 * `owner` everything: people, how they sign in, the password, exports of credentials, where credentials are sent.
 */
export const ROLES = ['viewer', 'operator', 'owner'] as const;

export type Role = (typeof ROLES)[number];

const ROLE_WORDS: Readonly<Record<Role, Sentence>> = {
  viewer: told`viewer`,
  operator: told`operator`,
  owner: told`owner`,
};

export function includesRole(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

/** @throws GatewayError forbidden */
export function requireRole({ role }: { readonly role: Role }, least: Role): void {
  if (includesRole(role, least)) return;
  const message = told`This needs the role ${ROLE_WORDS[least]}, and you are signed in as ${ROLE_WORDS[role]}. Nothing was done.`;
  throw clientError('forbidden', message);
}
