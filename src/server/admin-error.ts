// The one error shape of the admin API: `{error: {code, message, field?}}`.

import type { GatewayError } from '../canonical/error.ts';
import { errorStatus } from '../canonical/error-status.ts';
import type { JsonObject } from '../lib/json.ts';

/** Whether errors of a path have this shape, also of paths that do not exist. */
export function isAdminPath(path: string): boolean {
  return (
    path === '/metrics' || path === '/api' || path.startsWith('/api/') || path.startsWith('/oauth/')
  );
}

/** `code` is the reason where there is one, else the kind of error. */
export function writeAdminError(error: GatewayError): {
  readonly status: number;
  readonly body: JsonObject;
} {
  const { kind, reason, message, field } = error;
  const content = { code: reason ?? kind, message, ...(field === undefined ? {} : { field }) };
  return { status: errorStatus(error), body: { error: content } };
}
