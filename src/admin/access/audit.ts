// `GET /api/access-log` and `GET /api/audit`: who was turned away and who signed in; who changed what, when and from where.

import type { AccessControl } from '../../access/access.ts';
import { ACCESS_ENTRY_SCHEMA, ACCESS_VERDICTS } from '../../access/access-log.ts';
import { AUDIT_ACTORS, AUDIT_ENTRY_SCHEMA } from '../../access/audit-log.ts';
import { list, named, optional, partial, TEXT } from '../../lib/object-schema.ts';
import { type ApiRoute, answerJson, defineRoute, queryNumber } from '../route.ts';
import { QUERY_TIME, UP_TO_500 } from '../schemas.ts';

const NEXT_CURSOR = optional({ ...TEXT, description: 'Absent on the last page.' });

export const ACCESS_LOG_SCHEMA = named('AccessLog', {
  entries: list(ACCESS_ENTRY_SCHEMA),
  nextCursor: NEXT_CURSOR,
});

export const AUDIT_LOG_SCHEMA = named('AuditLog', {
  entries: list(AUDIT_ENTRY_SCHEMA),
  nextCursor: NEXT_CURSOR,
});

const PAGE_QUERY = {
  cursor: { ...QUERY_TIME, description: '`nextCursor` of the last page.' },
  limit: {
    type: 'string',
    pattern: UP_TO_500,
    description: 'Entries on a page, from 1 to 500; 100 when absent.',
  },
} as const;

/** There is none that changes or removes an entry. */
export function createLogRoutes({ accessLog, audit }: AccessControl): readonly ApiRoute[] {
  return [
    defineRoute({
      at: 'GET /api/access-log',
      access: 'viewer',
      title: 'lists blocked requests and sign-ins',
      query: partial({ ...PAGE_QUERY, verdict: { enum: ACCESS_VERDICTS } }),
      answers: { 200: { description: 'The latest first.', schema: ACCESS_LOG_SCHEMA } },
      run: ({ query: { verdict, ...page } }) =>
        answerPage(page, (asked) => accessLog.list({ verdict, ...asked })),
    }),
    defineRoute({
      at: 'GET /api/audit',
      access: 'viewer',
      title: 'lists the audit log: changes, by whom and from where',
      query: partial({
        ...PAGE_QUERY,
        actor: { enum: AUDIT_ACTORS, description: 'How whoever changed it was let in.' },
        person: { type: 'string', maxLength: 128, description: 'The name of who signed in.' },
        about: {
          type: 'string',
          maxLength: 256,
          description: 'The beginning of the subject or of the action, such as `/api/keys`.',
        },
        from: { ...QUERY_TIME, description: 'Milliseconds since the epoch: not before.' },
        to: { ...QUERY_TIME, description: 'Milliseconds since the epoch: before.' },
      }),
      answers: { 200: { description: 'The latest first.', schema: AUDIT_LOG_SCHEMA } },
      run: ({ query: { cursor, limit, from, to, ...who } }) =>
        answerPage({ cursor, limit }, (asked) =>
          audit.list({ ...who, from: queryNumber(from), to: queryNumber(to), ...asked }),
        ),
    }),
  ];
}

interface AskedPage {
  readonly cursor?: string | undefined;
  readonly limit?: string | undefined;
}

/** @param list gives the latest first; one entry more than a page has tells that there is another */
async function answerPage(
  { cursor, limit: asked }: AskedPage,
  list: (page: {
    readonly before: number | undefined;
    readonly limit: number;
  }) => Promise<readonly { readonly id: number }[]>,
) {
  const limit = Number(asked ?? 100);
  const found = await list({ before: queryNumber(cursor), limit: limit + 1 });
  const entries = found.slice(0, limit);
  const last = found.length > limit ? entries.at(-1) : undefined;
  return answerJson({ entries, nextCursor: last && String(last.id) });
}
