// `/sandbox/quota`: what is left of an account's quotas, to the call, and setting it.

import { badRequest } from '../errors.ts';
import { type JsonObject, type JsonValue, readNumber } from '../json.ts';
import { SANDBOX_MODELS } from '../models.ts';
import { type Member, type Members, unknownMember } from '../state/members.ts';
import type { QuotaChange, QuotaCounters } from '../state/quota-counters.ts';
import { fraction, MODEL, readFields, TEXT, wholeNumber } from './read-fields.ts';

export interface QuotaServices {
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
  return writeQuotas(requireMember(query.get('account') ?? '', services.members), services);
}

/**
 * `POST /sandbox/quota`. Without `model`, every model is set.
 * @throws SandboxError 400 naming the fields, 404 for an unknown account.
 */
export function setQuotas(body: JsonValue, services: QuotaServices): JsonObject {
  const { account = '', model, ...figures } = readFields(body, FIELDS);
  const change = readChange(figures);
  const member = requireMember(String(account), services.members);
  const models = SANDBOX_MODELS.filter(
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

function requireMember(email: string, members: Members): Member {
  const member = members.find(email.toLowerCase());
  if (member === undefined) throw unknownMember(email);
  return member;
}

function writeQuotas(member: Member, { quotas }: QuotaServices): JsonObject {
  const models = SANDBOX_MODELS.map(({ id, drawsImages }) => {
    const { resetsAt, ...figures } = quotas.read(member, id);
    const kind = drawsImages === true ? 'image' : 'text';
    return { name: id, kind, ...figures, resetTime: new Date(resetsAt).toISOString() };
  });
  return { account: member.email, tier: member.tier, project: member.project, models };
}
