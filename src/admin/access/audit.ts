// `GET /api/audit`: who changed what of the gateway, when and from where.

import type { AccessControl } from '../../access/access.ts';
import { AUDIT_ACTORS, AUDIT_ENTRY_SCHEMA } from '../../access/audit-log.ts';
import { named, optional, partial, TEXT } from '../../lib/object-schema.ts';
import { type ApiRoute, answerJson, defineRoute } from '../route.ts';
import { DIGITS, UP_TO_500 } from '../schemas.ts';

export const AUDIT_LOG_SCHEMA = named('AuditLog', {
  entries: { type: 'array', items: AUDIT_ENTRY_SCHEMA },
  nextCursor: optional({ ...TEXT, description: 'Absent on the last page.' }),
});

const MOMENT = { type: 'string', pattern: DIGITS } as const;

const QUERY = partial({
  cursor: { ...MOMENT, description: '`nextCursor` of the last page.' },
  limit: {
    type: 'string',
    pattern: UP_TO_500,
    description: 'Entries on a page, from 1 to 500; 100 when absent.',
  },
  actor: { enum: AUDIT_ACTORS, description: 'How whoever changed it was let in.' },
  person: { type: 'string', maxLength: 128, description: 'The name of who signed in.' },
  about: {
    type: 'string',
    maxLength: 256,
    description: 'The beginning of the subject or of the action, such as `/api/keys`.',
  },
  from: { ...MOMENT, description: 'Milliseconds since the epoch: not before.' },
  to: { ...MOMENT, description: 'Milliseconds since the epoch: before.' },
});

/** There is none that changes or removes an entry. */
export function createAuditRoute({ audit }: AccessControl): ApiRoute {
  return defineRoute({
    at: 'GET /api/audit',
    access: 'viewer',
    title: 'lists the changes that were made, by whom and from where',
    query: QUERY,
    answers: { 200: { description: 'The latest first.', schema: AUDIT_LOG_SCHEMA } },
    async run({ query: { limit: asked, cursor, from, to, ...who } }) {
      const limit = Number(asked ?? 100);
      const [first, last, before] = [from, to, cursor].map(readNumber);
      const page = await audit.list({
        ...who,
        from: first,
        to: last,
        before,
        limit: limit + 1,
      });
      const entries = page.slice(0, limit);
      const next = page.length > limit ? entries.at(-1) : undefined;
      return answerJson({ entries, nextCursor: next && String(next.id) });
    },
  });
}

function readNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
