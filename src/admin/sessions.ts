// `/api/sessions`: which account each session is bound to, and unbinding.

import { told } from '../lib/localized-message.ts';
import { list, named, object } from '../lib/object-schema.ts';
import { writeTime } from './account-view.ts';
import type { AdminOptions } from './options.ts';
import { type ApiRoute, answerJson, defineRoute, refuseUnknown } from './route.ts';

export const BOUND_SESSION_SCHEMA = named('BoundSession', {
  id: { type: 'string' },
  label: { type: 'string', description: "The beginning of the client's name for it." },
  clientKeyHash: { type: 'string', description: 'The same for sessions of one key.' },
  accountId: { type: 'string' },
  account: { type: ['string', 'null'], description: 'Its label; null when it is gone.' },
  detours: list(
    object({
      model: { type: 'string' },
      accountId: { type: 'string' },
      returns: { type: 'boolean', description: 'Whether it comes back by itself.' },
    }),
    'Models that go elsewhere, because the account is cooling down or cannot serve them.',
  ),
  expiresAt: { type: 'string', format: 'date-time' },
});

const SESSIONS_SCHEMA = named('Sessions', {
  sessions: list(BOUND_SESSION_SCHEMA),
});

const ENDED_SCHEMA = object({ ended: { type: 'integer' } });

export function createSessionRoutes({ book, pool }: AdminOptions): readonly ApiRoute[] {
  const { sessions } = pool;
  return [
    defineRoute({
      at: 'GET /api/sessions',
      access: 'viewer',
      title: 'lists the sessions that are bound to an account',
      answers: { 200: { description: 'The last used first.', schema: SESSIONS_SCHEMA } },
      async run() {
        const listed = sessions.sessions().map((session) => writeBoundSession(session, book));
        return answerJson({ sessions: listed.reverse() });
      },
    }),
    defineRoute({
      at: 'DELETE /api/sessions',
      access: 'operator',
      title: 'unbinds all sessions from their accounts',
      answers: { 200: { description: 'How many there were.', schema: ENDED_SCHEMA } },
      run: async () => answerJson({ ended: sessions.forgetAll() }),
    }),
    defineRoute({
      at: 'DELETE /api/sessions/{session}',
      access: 'operator',
      shows: '/api/sessions',
      title: 'unbinds one session from its account',
      parameter: 'Id of the session, as the list gives it.',
      answers: { 204: { description: 'It is ended.' } },
      run: async ({ parameter }) => {
        if (sessions.forget(parameter)) return { kind: 'empty' };
        return refuseUnknown(told`There is no session of this id. It may have ended by itself.`);
      },
    }),
  ];
}

type BoundSession = ReturnType<AdminOptions['pool']['sessions']['sessions']>[number];

export function writeBoundSession(session: BoundSession, book: Pick<AdminOptions['book'], 'find'>) {
  return {
    ...session,
    account: book.find(session.accountId)?.record.label ?? null,
    expiresAt: writeTime(session.expiresAt),
  };
}
