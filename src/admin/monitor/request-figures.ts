// `/api/request-histogram`, `/api/request-errors`: what the records of a filter add up to.

import { COUNT, named, object, partial, TEXT } from '../../lib/object-schema.ts';
import { REQUEST_ROW_SCHEMA } from '../../monitor/record.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute } from '../route.ts';
import { TIME, UP_TO_200 } from '../schemas.ts';
import { FILTER_QUERY, readFilter } from './requests.ts';

export const HISTOGRAM_SCHEMA = named('RequestHistogram', {
  from: { ...TIME, description: 'What was asked for, else where the records begin.' },
  to: TIME,
  stepMs: { ...COUNT, description: 'The length of each part.' },
  parts: {
    type: 'array',
    description: 'All parts, oldest first; none where there are no records.',
    items: object({ at: TIME, ok: COUNT, error: COUNT, cancelled: COUNT }),
  },
  isWhole: {
    type: 'boolean',
    description: 'False when counting all would have taken too long; the oldest are left out then.',
  },
});

const NAMED_COUNTS = {
  type: 'array',
  description: 'The most frequent ones, among the latest thousand.',
  items: object({ name: TEXT, count: COUNT }),
} as const;

export const ERROR_GROUPS_SCHEMA = named('RequestErrors', {
  groups: {
    type: 'array',
    description: 'The most frequent first, up to 100.',
    items: object({
      group: { ...TEXT, description: 'What they have in common; the filter `error` takes it.' },
      count: COUNT,
      firstAt: TIME,
      lastAt: TIME,
      models: NAMED_COUNTS,
      accounts: NAMED_COUNTS,
      latest: REQUEST_ROW_SCHEMA,
    }),
  },
});

const USUAL_PARTS = 60;
const MAX_GROUPS = 100;

export function createRequestFigureRoutes({
  requestFigures,
  clock,
}: Pick<MonitorRouteOptions, 'requestFigures' | 'clock'>): readonly ApiRoute[] {
  return [
    defineRoute({
      at: 'GET /api/request-histogram',
      access: 'viewer',
      title: 'counts model requests over time by how they ended',
      query: partial({
        parts: {
          type: 'string',
          pattern: UP_TO_200,
          description: 'At most so many; 60. They begin at round times.',
        },
        ...FILTER_QUERY,
      }),
      answers: { 200: { description: 'The counts.', schema: HISTOGRAM_SCHEMA } },
      async run({ query: { parts = USUAL_PARTS, ...filter }, caller }) {
        const wanted = readFilter(filter, caller);
        const found = await requestFigures.histogram(wanted, Number(parts));
        const { from = clock.now(), to = clock.now() } = found?.span ?? wanted;
        return answerJson({
          ...{ from, to, stepMs: found?.stepMs ?? 0 },
          ...{ parts: found?.parts ?? [], isWhole: found?.isWhole ?? true },
        });
      },
    }),
    defineRoute({
      at: 'GET /api/request-errors',
      access: 'viewer',
      title: 'lists the errors of model requests, equal ones as one',
      query: partial(FILTER_QUERY),
      answers: { 200: { description: 'The groups.', schema: ERROR_GROUPS_SCHEMA } },
      async run({ query, caller }) {
        const groups = await requestFigures.errorGroups(readFilter(query, caller), MAX_GROUPS);
        return answerJson({ groups });
      },
    }),
  ];
}
