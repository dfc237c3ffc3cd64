// What a refusal is, by the code the gateway gives it; the gateway's own words say the rest.

import type { ErrorKind } from '../../../../src/admin/contract.ts';

const kinds = {
  'invalid-request': 'The request is not valid',
  unauthenticated: 'The credential is missing or wrong',
  forbidden: 'This is not allowed',
  'not-found': 'There is no such thing',
  'method-not-allowed': 'This method is not known here',
  'too-large': 'This is too large',
  'headers-too-large': 'The headers are too large',
  'unsupported-media-type': 'This type of content is not taken',
  'upgrade-refused': 'Only HTTP is spoken here',
  'not-implemented': 'This part of HTTP is not spoken here',
  'rate-limited': 'There were too many requests',
  'quota-exhausted': 'The quota is used up',
  'upstream-auth': 'The upstream refused the credential',
  'upstream-unavailable': 'The upstream failed',
  'upstream-rejected': 'The upstream refused the request',
  overloaded: 'There is too much to do just now',
  timeout: 'It took too long',
  'client-gone': 'The client left',
  internal: 'The gateway failed',
} as const satisfies Readonly<Record<ErrorKind, string>>;

export const refusals = {
  ...kinds,
  'missing-field': 'Something is missing',
  'invalid-value': 'This cannot be taken as it is',
  'invalid-type': 'This cannot be taken as it is',
  'invalid-json': 'This is no JSON',
  unsupported: 'This is not supported',
  'model-not-found': 'There is no such model',
  'key-rejected': 'A rule of the key refused it',
  'address-blocked': 'This address is not let in',
  conflict: 'Something else stands in the way',
  'unreadable-credential': 'A kept credential cannot be read',
  'storage-unavailable': 'The database does not answer',
} as const;
