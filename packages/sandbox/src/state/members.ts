// Everyone the sandbox knows by now, and in what standing: key accounts, people who signed in, service accounts.

import {
  isServiceAccountEmail,
  projectOf,
  type SandboxAccount,
  type SandboxCaller,
  type SandboxTier,
} from '../accounts.ts';
import { reasonDetail, SandboxError } from '../errors.ts';
import { ownIdOf } from '../models.ts';

type MemberKind = 'key' | 'person' | 'service-account';

/** Immutable: a change makes a new object. */
export interface Member extends SandboxCaller {
  readonly kind: MemberKind;
  readonly standing: Standing;
}

interface Standing {
  /** Every call is 403 until a person has verified the account. */
  readonly verificationRequired: boolean;
  /** Every call is 403. */
  readonly forbidden: boolean;
  /** Calls of these models, by the sandbox's own ids, are 403. */
  readonly forbiddenModels: readonly string[];
}

export interface Members {
  find(email: string): Member | undefined;
  list(): readonly Member[];
  /** Who just signed in, with the plan chosen there; it becomes the plan of all their credentials. */
  enter(email: string, tier: SandboxTier): Member;
  /** Who comes with a token: as known, or else with the plan the token was made for. */
  restore(email: string, tier: SandboxTier): Member;
  change(email: string, change: Partial<Standing> & { readonly tier?: SandboxTier }): Member;
}

const GOOD_STANDING: Standing = {
  verificationRequired: false,
  forbidden: false,
  forbiddenModels: [],
};

export function createMembers(accounts: readonly SandboxAccount[]): Members {
  const members = new Map<string, Member>(
    accounts.map(({ key: _key, ...caller }) => [
      caller.email,
      { ...caller, kind: 'key', standing: GOOD_STANDING },
    ]),
  );
  const put = (member: Member): Member => {
    members.set(member.email, member);
    return member;
  };
  const create = (email: string, tier: SandboxTier): Member => ({
    email,
    tier,
    project: projectOf(email),
    kind: isServiceAccountEmail(email) ? 'service-account' : 'person',
    standing: GOOD_STANDING,
  });
  return {
    find: (email) => members.get(email),
    list: () => [...members.values()],
    enter(email, tier) {
      const known = members.get(email);
      return put(known === undefined ? create(email, tier) : { ...known, tier });
    },
    restore: (email, tier) => members.get(email) ?? put(create(email, tier)),
    change(email, { tier, ...standing }) {
      const known = members.get(email);
      if (known === undefined) throw unknownMember(email);
      return put({
        ...known,
        tier: tier ?? known.tier,
        standing: { ...known.standing, ...standing },
      });
    },
  };
}

/** 404 for controls that name someone who has not been seen since the start. */
export function unknownMember(email: string): SandboxError {
  return new SandboxError(
    404,
    `${JSON.stringify(email)} has no key here and has not called since the sandbox was started; GET /sandbox/accounts lists who has.`,
  );
}

/**
 * Lets only members in good standing pass; `modelId` is the model of the call, where it has one.
 * @throws SandboxError 403 with the reason.
 */
export function requireStanding({ standing, email, project }: Member, modelId?: string): void {
  if (standing.verificationRequired) {
    throw new SandboxError(403, 'Verify your account to continue.', [
      reasonDetail('VALIDATION_REQUIRED', { account: email }),
    ]);
  }
  if (standing.forbidden) {
    throw new SandboxError(403, 'This account may not use the sandbox.', [
      reasonDetail('CONSUMER_SUSPENDED', { consumer: `projects/${project}` }),
    ]);
  }
  if (modelId !== undefined && standing.forbiddenModels.includes(ownIdOf(modelId))) {
    throw new SandboxError(403, `This account may not use models/${modelId}.`, [
      reasonDetail('MODEL_ACCESS_DENIED', { model: modelId }),
    ]);
  }
}
