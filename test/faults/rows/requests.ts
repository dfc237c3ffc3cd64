// Faults of the request itself: the client's to know, nobody is asked again.

import { errorBody } from '../../support/scripted-upstream.ts';
import { type Row, status } from './row.ts';

const REFUSED = {
  status: 400,
  chat: 'invalid_value',
  messages: 'invalid_request_error',
  generate: 'INVALID_ARGUMENT',
};

export const REQUESTS: readonly Row[] = [
  {
    what: '400 about thought signatures',
    meets: { first: [status(400, errorBody(400, 'Thought signature is not valid.'))] },
    attempts: 2,
    first: 'fine',
  },
  {
    what: '400 about thought signatures, every time',
    meets: { first: status(400, errorBody(400, 'Thought signature is not valid.')) },
    error: REFUSED,
    attempts: 2,
    first: 'fine',
  },
  {
    what: '400 about a missing thought signature',
    meets: {
      first: [status(400, errorBody(400, 'Function call `w` is missing a `thought_signature`.'))],
    },
    attempts: 2,
    first: 'fine',
  },
  { what: '400', meets: { first: status(400) }, error: REFUSED, attempts: 1, first: 'fine' },
  { what: '422', meets: { first: status(422) }, error: REFUSED, attempts: 1, first: 'fine' },
  {
    what: '403 about a file the request names',
    meets: {
      first: status(403, errorBody(403, 'You do not have permission to access the File abc.')),
    },
    error: REFUSED,
    attempts: 1,
    first: 'fine',
  },
  {
    what: 'an answer the safety filter stopped',
    meets: { first: { kind: 'answer', words: ['No'], finish: 'SAFETY' } },
    answer: 'other',
    attempts: 1,
    first: 'fine',
  },
];
