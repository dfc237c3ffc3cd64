// Credentials and permissions: what is held against an account, and for how long.

import { errorBody, type ScriptedReply } from '../../support/scripted-upstream.ts';
import { info, page, type Row, status } from './row.ts';

const UNAUTHENTICATED = status(401);
const FORBIDDEN = status(403, errorBody(403, 'The project is suspended.'));
const VERIFY = status(403, errorBody(403, 'Verify.', [info('VALIDATION_REQUIRED')]));
const NO_MODEL = status(404, errorBody(404, 'models/x is not found.'));
const REVOKED: ScriptedReply = status(400, { error: 'invalid_grant' });
const UNUSABLE = {
  status: 503,
  chat: 'upstream_account_unavailable',
  messages: 'api_error',
  generate: 'UNAVAILABLE',
};

export const CREDENTIALS: readonly Row[] = [
  {
    what: '401 that a new token ends',
    meets: { first: [UNAUTHENTICATED] },
    attempts: 2,
    first: 'fine',
  },
  {
    what: '401 that a new token does not end',
    meets: { first: UNAUTHENTICATED },
    attempts: 3,
    first: 'out 5 s',
  },
  {
    what: '401 of a key',
    accounts: 'api-key',
    meets: { first: UNAUTHENTICATED },
    attempts: 2,
    first: 'out 5 s',
  },
  {
    what: '400 that says the key is not valid',
    accounts: 'api-key',
    meets: { first: status(400, errorBody(400, 'No.', [info('API_KEY_INVALID')])) },
    attempts: 2,
    first: 'out 5 s',
  },
  {
    what: '401 at more accounts than one request may try',
    accounts: 'api-key',
    meets: { all: UNAUTHENTICATED },
    error: UNUSABLE,
    attempts: 6,
    first: 'out 5 s',
  },
  {
    what: '401 everywhere',
    meets: { all: UNAUTHENTICATED },
    error: UNUSABLE,
    attempts: 6,
    first: 'out 5 s',
  },
  {
    what: 'a refresh token refused once',
    meets: { first: UNAUTHENTICATED },
    tokens: { first: REVOKED },
    attempts: 3,
    first: 'out 1 s, revocations 1',
  },
  {
    what: 'a refresh token refused three times',
    meets: { first: UNAUTHENTICATED },
    tokens: { first: REVOKED },
    requests: 3,
    betweenMs: 3000,
    attempts: 3,
    first: 'disabled invalid-grant, revocations 3',
  },
  {
    what: 'refresh tokens refused everywhere',
    only: 'whole',
    meets: { all: UNAUTHENTICATED },
    tokens: { all: REVOKED },
    error: UNUSABLE,
    attempts: 6,
    first: 'revocations 1',
  },
  {
    what: 'a token endpoint that fails',
    meets: { first: UNAUTHENTICATED },
    tokens: { first: status(500, 'oops') },
    attempts: 3,
    first: 'fine',
  },
  {
    what: 'a token endpoint that shows a page',
    meets: { first: UNAUTHENTICATED },
    tokens: { first: page(200) },
    attempts: 3,
    first: 'fine',
  },
  {
    what: '403 that asks for verification',
    meets: { first: VERIFY },
    attempts: 2,
    first: 'blocked 600000',
  },
  { what: '403', meets: { first: FORBIDDEN }, attempts: 2, first: 'disabled forbidden' },
  {
    what: '403 everywhere',
    meets: { all: FORBIDDEN },
    error: UNUSABLE,
    attempts: 2,
    retryAfter: 1,
    first: 'disabled forbidden',
    second: 'disabled forbidden',
  },
  {
    what: '403 of two accounts that serve other requests',
    meets: { first: [FORBIDDEN], second: [FORBIDDEN] },
    error: UNUSABLE,
    attempts: 2,
    retryAfter: 1,
    first: 'fine',
    second: 'fine',
  },
  {
    what: 'verification asked for everywhere',
    meets: { all: VERIFY },
    error: UNUSABLE,
    attempts: 2,
    retryAfter: 1,
    first: 'blocked 600000',
    second: 'blocked 600000',
  },
  {
    what: '403 that names the model',
    meets: { first: [status(403, errorBody(403, 'You may not use models/alpha.'))] },
    attempts: 2,
    first: 'refused 60000',
  },
  {
    what: '403 that names nothing, everywhere',
    meets: { all: status(403, errorBody(403, 'The caller does not have permission')) },
    error: {
      status: 400,
      chat: 'invalid_value',
      messages: 'invalid_request_error',
      generate: 'FAILED_PRECONDITION',
    },
    attempts: 2,
    first: 'fine',
  },
  {
    what: '404 for a model that is listed',
    meets: { first: [NO_MODEL] },
    attempts: 2,
    first: 'fine',
  },
  {
    what: '404 for the model everywhere',
    meets: { all: NO_MODEL },
    error: {
      status: 404,
      chat: 'model_not_found',
      messages: 'not_found_error',
      generate: 'NOT_FOUND',
    },
    attempts: 2,
    first: 'fine',
  },
];
