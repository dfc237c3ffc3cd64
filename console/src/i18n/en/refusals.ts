// What a refusal is, by the code the gateway gives it; the gateway's own words say the rest.

import type { ErrorKind } from '../../../../src/admin/contract.ts';

const kinds = {
  'invalid-request': 'Invalid request',
  unauthenticated: 'Invalid or missing credential',
  forbidden: 'Not allowed',
  'not-found': 'Not found',
  'method-not-allowed': 'Method not allowed',
  'too-large': 'Payload too large',
  'headers-too-large': 'Headers too large',
  'unsupported-media-type': 'Unsupported media type',
  'upgrade-refused': 'Only HTTP is supported',
  'not-implemented': 'This part of HTTP is not supported',
  'rate-limited': 'Rate limit exceeded',
  'quota-exhausted': 'Quota exhausted',
  'upstream-auth': 'The upstream rejected the credential',
  'upstream-unavailable': 'The upstream is unavailable',
  'upstream-rejected': 'The upstream rejected the request',
  overloaded: 'Overloaded',
  timeout: 'Timed out',
  'client-gone': 'The client disconnected',
  internal: 'Internal error',
} as const satisfies Readonly<Record<ErrorKind, string>>;

export const refusals = {
  ...kinds,
  'missing-field': 'Missing value',
  'invalid-value': 'Invalid value',
  'invalid-type': 'Invalid type',
  'invalid-json': 'Invalid JSON',
  unsupported: 'Not supported',
  'model-not-found': 'Model not found',
  'key-rejected': 'Rejected by key limits',
  'address-blocked': 'IP address blocked',
  conflict: 'Conflict',
  'unreadable-credential': 'A stored credential cannot be read',
  'storage-unavailable': 'The database does not respond',
} as const;
