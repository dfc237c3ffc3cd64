// `/api/people` and `/api/invitations`: who signs in to the console and as what, and links for new people and keys.

import type { AccessControl } from '../../access/access.ts';
import { TIME } from '../../access/access-log.ts';
import { REVISION } from '../../access/api-key.ts';
import { checkKey } from '../../access/api-keys.ts';
import {
  checkOwnPassword,
  type Invitation,
  nameTaken,
  PERSON_FIELDS,
  type Person,
  ROLES,
  requireRole,
} from '../../access/people.ts';
import { REFUSALS } from '../../access/provider-sign-in.ts';
import { StoreError } from '../../accounts/account-store.ts';
import { clientError, invalidRequest } from '../../canonical/error.ts';
import { told } from '../../lib/localized-message.ts';
import { list, NAME, named, object, optional, partial, TEXT } from '../../lib/object-schema.ts';
import { type AdminCaller, writeSessionCookie } from '../../server/admin-route.ts';
import {
  type ApiRoute,
  answerJson,
  answerWith,
  defineRoute,
  readNumber,
  refuseMissing,
} from '../route.ts';
import { CREATED_KEY_SCHEMA, NEW_KEY_FIELDS, writeKey } from './keys.ts';
import { requireReauthentication, signedIn } from './session.ts';

const ROLE = { enum: ROLES } as const;

export const PERSON_SCHEMA = named('Person', {
  ...PERSON_FIELDS,
  sessions: list(
    object({
      name: { ...TEXT, description: 'As in the audit log.' },
      createdAt: TIME,
      lastSeenAt: TIME,
    }),
    'The browsers they are signed in with.',
  ),
  revision: REVISION,
});

export const PEOPLE_SCHEMA = named('People', { people: list(PERSON_SCHEMA) });

export const INVITATION_SCHEMA = named('Invitation', {
  id: TEXT,
  kind: { enum: ['person', 'key'] },
  name: { ...TEXT, description: 'Of the person, or of the key.' },
  role: optional({ ...ROLE, description: 'Of the person.' }),
  createdAt: TIME,
  expiresAt: TIME,
  createdBy: optional({ ...TEXT, description: 'Absent of the console password.' }),
});

export const INVITATIONS_SCHEMA = named('Invitations', {
  invitations: list(INVITATION_SCHEMA),
});

export const CREATED_INVITATION_SCHEMA = named('CreatedInvitation', {
  invitation: INVITATION_SCHEMA,
  path: { ...TEXT, description: 'Of the link, at any address of the gateway. Shown this once.' },
});

const LIFETIME = {
  type: 'integer',
  minimum: 1,
  maximum: 720,
  description: 'Hours until the link expires; 72 when absent.',
} as const;

const DEFAULT_HOURS = 72;
const HOUR_MS = 3_600_000;

const PERSON = 'Id of the person.';
const ONE_PERSON = {
  200: { description: 'The person.', schema: PERSON_SCHEMA, hasRevision: true },
} as const;

export function createPeopleRoutes(access: AccessControl): readonly ApiRoute[] {
  const { people, login } = access;
  const write = (person: Person): object => ({
    ...{ id: person.id, name: person.name, role: person.role },
    signsInBy: person.subject === undefined ? 'password' : 'provider',
    roleFrom: person.isRoleClaimed ? 'provider' : 'owner',
    ...{ createdAt: person.createdAt, lastSignInAt: person.lastSignInAt },
    ...{ sessions: login.sessionsOf(person.id), revision: person.revision },
  });
  const answerOne = (person: Person) => answerJson(write(person), person.revision);
  return [
    defineRoute({
      at: 'GET /api/people',
      access: 'operator',
      title: 'lists the people of the console with their sessions',
      answers: { 200: { description: 'Oldest first.', schema: PEOPLE_SCHEMA } },
      run: async () => answerJson({ people: people.list().map(write) }),
    }),
    defineRoute({
      at: 'GET /api/people/{id}',
      access: 'operator',
      title: 'shows a person of the console',
      parameter: PERSON,
      answers: ONE_PERSON,
      run: async ({ parameter }) => answerOne(await people.find(parameter)),
    }),
    defineRoute({
      at: 'PATCH /api/people/{id}',
      access: 'owner',
      title: 'changes the role of a person',
      parameter: PERSON,
      body: object({ role: ROLE }),
      takesRevision: true,
      asksAgain: true,
      answers: ONE_PERSON,
      async run({ parameter, body, revision, caller }) {
        const known = people.get(parameter);
        if (known?.isRoleClaimed) {
          const message = told`role: the provider decides about the role of ${known.name} at each sign-in. Change it there.`;
          throw invalidRequest('role', message);
        }
        await requireReauthentication(access, caller);
        return answerOne(await people.change(parameter, body, readNumber(revision)));
      },
    }),
    defineRoute({
      at: 'DELETE /api/people/{id}',
      access: 'owner',
      title: 'removes a person and ends their sessions',
      parameter: PERSON,
      answers: { 204: { description: 'They cannot sign in any more.' } },
      async run({ parameter }) {
        await people.remove(parameter);
        await login.endSessionsOf(parameter);
        return { kind: 'empty' };
      },
    }),
    defineRoute({
      at: 'DELETE /api/people/{id}/sessions',
      access: 'owner',
      shows: '/api/people/{id}',
      title: 'signs a person out, everywhere or in one browser',
      parameter: PERSON,
      query: partial({
        session: { ...TEXT, maxLength: 64, description: 'Its name; all when absent.' },
      }),
      answers: { 204: { description: 'They have to sign in again.' } },
      async run({ parameter, query: { session } }) {
        await login.endSessionsOf(parameter, session);
        return { kind: 'empty' };
      },
    }),
  ];
}

const CREATED = {
  201: { description: 'The link, which is shown this once.', schema: CREATED_INVITATION_SCHEMA },
} as const;

export function createInvitationRoutes(access: AccessControl): readonly ApiRoute[] {
  const { invitations, people } = access;
  const create = async (
    caller: AdminCaller,
    given: Pick<Invitation, 'name' | 'gift'>,
    hours = DEFAULT_HOURS,
  ) => {
    const made = { ...given, createdBy: caller.person?.name, lifetimeMs: hours * HOUR_MS };
    const { invitation, secret } = await invitations.create(made);
    // After the `#`: browsers do not send it, so it is in no log.
    return answerWith(201, { invitation: writeInvitation(invitation), path: `/join#${secret}` });
  };
  return [
    defineRoute({
      at: 'GET /api/invitations',
      access: 'operator',
      title: 'lists the open invitations',
      answers: { 200: { description: 'Oldest first.', schema: INVITATIONS_SCHEMA } },
      run: async () => answerJson({ invitations: (await invitations.list()).map(writeInvitation) }),
    }),
    defineRoute({
      at: 'POST /api/invitations/person',
      access: 'owner',
      shows: '/api/invitations',
      title: 'creates a one-time link that lets its holder sign in to the console',
      body: named('NewPerson', { name: NAME, role: ROLE, hours: optional(LIFETIME) }),
      asksAgain: true,
      answers: CREATED,
      async run({ body: { name, role, hours }, caller }) {
        if (people.findByName(name) !== undefined)
          throw new StoreError('conflict', nameTaken(name));
        await requireReauthentication(access, caller);
        return create(caller, { name, gift: { kind: 'person', role } }, hours);
      },
    }),
    defineRoute({
      at: 'POST /api/invitations/key',
      access: 'operator',
      shows: '/api/invitations',
      title: 'creates a one-time link that gives its holder a key',
      body: named('KeyInvitation', { ...NEW_KEY_FIELDS, hours: optional(LIFETIME) }),
      answers: CREATED,
      run: async ({ body: { name, hours, ...key }, caller }) =>
        create(caller, { name, gift: { kind: 'key', key: checkKey(key) } }, hours),
    }),
    defineRoute({
      at: 'DELETE /api/invitations/{id}',
      access: 'operator',
      shows: '/api/invitations',
      title: 'revokes an invitation: its link stops working',
      parameter: 'Id of the invitation.',
      answers: { 204: { description: 'It is gone.' } },
      async run({ parameter, caller }) {
        const all = await invitations.list();
        if (all.find(({ id }) => id === parameter)?.gift.kind === 'person') {
          requireRole(caller, 'owner');
        }
        await invitations.revoke(parameter);
        return { kind: 'empty' };
      },
    }),
  ];
}

function writeInvitation({ gift, ...invitation }: Invitation): object {
  const role = gift.kind === 'person' ? gift.role : undefined;
  return { ...invitation, kind: gift.kind, role };
}

const SECRET = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  description: 'Of the link.',
} as const;

export const OPENED_INVITATION_SCHEMA = named('OpenedInvitation', {
  kind: { enum: ['person', 'key'] },
  name: TEXT,
  role: optional(ROLE),
  expiresAt: TIME,
});

export const ACCEPTED_INVITATION_SCHEMA = named('AcceptedInvitation', {
  key: optional(CREATED_KEY_SCHEMA),
});

/** For who holds the link, which is all they show. */
export function createJoinRoutes(access: AccessControl): readonly ApiRoute[] {
  const { invitations, people, login, keys, hasher, accessLog } = access;
  return [
    defineRoute({
      at: 'POST /api/invitations/open',
      access: 'public',
      changes: false,
      title: 'shows what an invitation gives, without using it',
      body: object({ secret: SECRET }),
      answers: { 200: { description: 'What it gives.', schema: OPENED_INVITATION_SCHEMA } },
      async run({ body: { secret } }) {
        const { gift, name, expiresAt } = (await invitations.find(secret)) ?? refuseInvitation();
        const role = gift.kind === 'person' ? gift.role : undefined;
        return answerJson({ kind: gift.kind, name, role, expiresAt });
      },
    }),
    defineRoute({
      at: 'POST /api/invitations/accept',
      access: 'public',
      shows: '/api/invitations',
      title: 'accepts an invitation: creates the key, or the person with their own password',
      body: object({
        secret: SECRET,
        password: optional({ type: 'string', minLength: 1, maxLength: 1024 }),
      }),
      answers: {
        200: { description: 'A person is signed in.', schema: ACCEPTED_INVITATION_SCHEMA },
      },
      async run({ body: { secret, password }, caller }) {
        // Before the invitation is used up.
        if (password !== undefined) checkOwnPassword(password);
        const passwordHash = password === undefined ? undefined : await hasher.hash(password);
        const given = await invitations.use(secret, async ({ name, gift }) => {
          if (gift.kind === 'key') {
            const { listed, secret: ofKey } = await keys.create({ ...gift.key, name });
            return { kind: 'key', key: { key: writeKey(listed), secret: ofKey } } as const;
          }
          const person = await people.add({
            name,
            role: gift.role,
            passwordHash: passwordHash ?? refuseMissing('password'),
          });
          return { kind: 'person', person } as const;
        });
        if (given === undefined) refuseInvitation();
        if (given.kind === 'key') return answerJson({ key: given.key });
        const { person } = given;
        const session = await login.beginFor(person, caller);
        accessLog.add({
          ...signedIn(caller, '/api/invitations/accept'),
          reason: told`As ${person.name}, with an invitation.`,
        });
        const cookie = writeSessionCookie(login.cookieTag, session.secret, caller.isSecure);
        return { kind: 'json', status: 200, body: {}, cookie };
      },
    }),
  ];
}

function refuseInvitation(): never {
  throw clientError('not-found', REFUSALS.invitation);
}
