// `GET /api/access-log`: who was turned away at the door, and who signed in.

import { ACCESS_VERDICTS } from '../../door/access-log.ts';
import type { Door } from '../../door/door.ts';
import { type ApiRoute, answerJson, defineRoute } from '../api-route.ts';
import { DIGITS, UP_TO_500 } from '../patterns.ts';
import { ACCESS_LOG_SCHEMA } from './schemas.ts';

const QUERY = {
  type: 'object',
  additionalProperties: false,
  properties: {
    cursor: {
      type: 'string',
      pattern: DIGITS,
      description: '`nextCursor` of the last page.',
    },
    limit: {
      type: 'string',
      pattern: UP_TO_500,
      description: 'Entries on a page, from 1 to 500; 100 when absent.',
    },
    verdict: { enum: ACCESS_VERDICTS },
  },
} as const;

export function createAccessLogRoute({ accessLog }: Pick<Door, 'accessLog'>): ApiRoute {
  return defineRoute({
    method: 'GET',
    path: '/api/access-log',
    title: 'lists who was turned away and who signed in',
    query: QUERY,
    answers: { 200: { description: 'The latest first.', schema: ACCESS_LOG_SCHEMA } },
    async run({ query }) {
      const limit = Number(query.limit ?? 100);
      const before = query.cursor === undefined ? undefined : Number(query.cursor);
      const page = await accessLog.list({ verdict: query.verdict, before, limit: limit + 1 });
      const entries = page.slice(0, limit);
      const last = page.length > limit ? entries.at(-1) : undefined;
      return answerJson({ entries, nextCursor: last && String(last.id) });
    },
  });
}
