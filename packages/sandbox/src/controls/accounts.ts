// `/sandbox/accounts` and `/sandbox/service-accounts`: who there is, in what standing, and changing that.

import { isServiceAccountEmail } from '../accounts.ts';
import { badRequest } from '../errors.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { OAuthServices } from '../oauth/oauth-services.ts';
import { writeKeyFile } from '../oauth/service-account-keys.ts';
import type { Member } from '../state/members.ts';
import { FLAG, MODELS, readFields, readTier, TEXT, TIER } from './read-fields.ts';

export type AccountServices = Pick<
  OAuthServices,
  'members' | 'grants' | 'keys' | 'clock' | 'issuer'
>;

const CHANGES = {
  tier: TIER,
  verificationRequired: FLAG,
  forbidden: FLAG,
  forbiddenModels: MODELS,
};
const DEFAULT_SERVICE_ACCOUNT = 'worker@sandbox-workshop.iam.sandbox.example';

export function listAccounts({ members, grants }: AccountServices): JsonObject {
  return { accounts: members.list().map((member) => writeMember(member, grants)) };
}

/** @throws SandboxError 400 naming the fields, 404 for an unknown account. */
export function changeAccount(
  email: string,
  body: JsonValue,
  { members, grants }: AccountServices,
): JsonObject {
  const { tier: tierText, forbiddenModels, ...flags } = readFields(body, CHANGES);
  const tier = readTier(tierText);
  const models = Array.isArray(forbiddenModels) ? forbiddenModels.map(String) : undefined;
  const { verificationRequired, forbidden } = flags;
  const member = members.change(email, {
    ...(tier !== undefined && { tier }),
    ...(typeof verificationRequired === 'boolean' && { verificationRequired }),
    ...(typeof forbidden === 'boolean' && { forbidden }),
    ...(models !== undefined && { forbiddenModels: models }),
  });
  return writeMember(member, grants);
}

/** Ends all grants, also those of people the sandbox has not seen since its start. */
export function revokeAccount(email: string, { grants, clock }: AccountServices): JsonObject {
  return { account: email, revoked: grants.revokeAll(email, clock.now()) };
}

/** The key file; asking again gives the same one and makes a revoked key good again. */
export async function addServiceAccount(
  body: JsonValue,
  { members, grants, keys, issuer }: AccountServices,
): Promise<JsonObject> {
  const { email: given } = readFields(body, { email: TEXT });
  const email = typeof given === 'string' ? given.toLowerCase() : DEFAULT_SERVICE_ACCOUNT;
  if (!isServiceAccountEmail(email)) {
    const description = 'must be like worker@sandbox-workshop.iam.sandbox.example';
    throw badRequest([{ field: 'email', description }]);
  }
  members.restore(email, 'pro');
  grants.reopen(email);
  return writeKeyFile(email, await keys.keyOf(email), issuer());
}

function writeMember(
  { email, kind, tier, project, standing }: Member,
  grants: AccountServices['grants'],
): JsonObject {
  const { verificationRequired, forbidden, forbiddenModels } = standing;
  return {
    email,
    kind,
    tier,
    project,
    grants: grants.count(email),
    verificationRequired,
    forbidden,
    forbiddenModels: [...forbiddenModels],
  };
}
