// `/sandbox/accounts`, `/sandbox/service-accounts` and `/sandbox/quota`: what there is, and changing it.

import { badRequest, type Violation } from './errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from './json.ts';
import { SANDBOX_MODELS } from './models.ts';
import type { OAuthServices } from './oauth.ts';
import { writeKeyFile } from './oauth-tokens.ts';
import {
  isServiceAccountEmail,
  type Member,
  type Members,
  type QuotaChange,
  type QuotaCounters,
  SANDBOX_TIERS,
  type SandboxTier,
} from './state.ts';
import { ALL_MODELS } from './wire-models.ts';

/** Says what a field must be when its value is not that. */
interface FieldRule {
  readonly mustBe: string;
  readonly accepts: (value: JsonValue) => boolean;
}

const TEXT: FieldRule = { mustBe: 'a text', accepts: (value) => typeof value === 'string' };
const FLAG: FieldRule = {
  mustBe: 'true or false',
  accepts: (value) => typeof value === 'boolean',
};
const TIER: FieldRule = {
  mustBe: `one of ${SANDBOX_TIERS.join(', ')}`,
  accepts: (value) => readTier(value) !== undefined,
};
const MODEL: FieldRule = {
  mustBe: 'the id of a model',
  accepts: (value) => ALL_MODELS.some(({ id }) => id === value),
};
const MODELS: FieldRule = {
  mustBe: 'a list of ids of models',
  accepts: (value) => Array.isArray(value) && value.every(MODEL.accepts),
};

function wholeNumber(from: number, to: number): FieldRule {
  return {
    mustBe: `a whole number from ${from} to ${to}`,
    accepts: (value) => isWithin(value, from, to) && Number.isInteger(readNumber(value)),
  };
}

function fraction(): FieldRule {
  return { mustBe: 'a number from 0 to 1', accepts: (value) => isWithin(value, 0, 1) };
}

type AccountServices = Pick<OAuthServices, 'members' | 'grants' | 'keys' | 'clock' | 'issuer'>;

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

interface QuotaServices {
  readonly members: Members;
  readonly quotas: QuotaCounters;
}

const MAX_REQUESTS = 1_000_000_000;
const MAX_WINDOW_MS = 366 * 86_400_000;
const FIELDS = {
  account: TEXT,
  model: MODEL,
  remaining: wholeNumber(0, MAX_REQUESTS),
  remainingFraction: fraction(),
  requests: wholeNumber(0, MAX_REQUESTS),
  windowMs: wholeNumber(1, MAX_WINDOW_MS),
};

/** `GET /sandbox/quota?account=`. @throws SandboxError 404 for an unknown account. */
export function readQuotas(query: URLSearchParams, services: QuotaServices): JsonObject {
  return writeQuotas(services.members.require(query.get('account') ?? ''), services);
}

/**
 * `POST /sandbox/quota`. Without `model`, every model is set.
 * @throws SandboxError 400 naming the fields, 404 for an unknown account.
 */
export function setQuotas(body: JsonValue, services: QuotaServices): JsonObject {
  const { account = '', model, ...figures } = readFields(body, FIELDS);
  const change = readChange(figures);
  const member = services.members.require(String(account));
  const models = ALL_MODELS.filter(
    ({ id }) => model === undefined || model === null || id === model,
  );
  const requests =
    change.requests ??
    Math.min(...models.map(({ id }) => services.quotas.read(member, id).requests));
  if (change.left?.unit === 'calls' && change.left.calls > requests) {
    const description = `is more than the ${requests} requests of a window`;
    throw badRequest([{ field: 'remaining', description }]);
  }
  for (const { id } of models) services.quotas.set(member, id, change);
  return writeQuotas(member, services);
}

function readChange(figures: JsonObject): QuotaChange {
  const [calls, part] = [readNumber(figures.remaining), readNumber(figures.remainingFraction)];
  const [requests, windowMs] = [readNumber(figures.requests), readNumber(figures.windowMs)];
  if (calls !== undefined && part !== undefined) {
    throw badRequest([{ field: 'remaining', description: 'excludes remainingFraction' }]);
  }
  if ([calls, part, requests, windowMs].every((figure) => figure === undefined)) {
    const description = 'needs remaining, remainingFraction, requests or windowMs';
    throw badRequest([{ field: '', description }]);
  }
  return {
    ...(requests !== undefined && { requests }),
    ...(windowMs !== undefined && { windowMs }),
    ...(calls !== undefined && { left: { unit: 'calls', calls } }),
    ...(part !== undefined && { left: { unit: 'fraction', fraction: part } }),
  };
}

/** Of the models whose quota an account can ask for itself. */
function writeQuotas(member: Member, { quotas }: QuotaServices): JsonObject {
  const models = SANDBOX_MODELS.map(({ id, drawsImages }) => {
    const { resetsAt, ...figures } = quotas.read(member, id);
    const kind = drawsImages === true ? 'image' : 'text';
    return { name: id, kind, ...figures, resetTime: new Date(resetsAt).toISOString() };
  });
  return { account: member.email, tier: member.tier, project: member.project, models };
}

/** @throws SandboxError 400 naming every field that is unknown or of another kind. */
function readFields(body: JsonValue, rules: Readonly<Record<string, FieldRule>>): JsonObject {
  if (!isJsonObject(body)) throw badRequest([{ field: '', description: 'must be a JSON object' }]);
  const ruleOf = new Map(Object.entries(rules));
  const violations = Object.entries(body).flatMap(([field, value]): Violation[] => {
    const rule = ruleOf.get(field);
    if (rule?.accepts(value)) return [];
    const known = [...ruleOf.keys()].join(', ');
    const description = rule ? `must be ${rule.mustBe}` : `is unknown; there are ${known}`;
    return [{ field, description }];
  });
  if (violations.length > 0) throw badRequest(violations);
  return body;
}

function readTier(value: JsonValue | undefined): SandboxTier | undefined {
  return SANDBOX_TIERS.find((tier) => tier === value);
}

function isWithin(value: JsonValue, from: number, to: number): boolean {
  const number = readNumber(value);
  return number !== undefined && number >= from && number <= to;
}
