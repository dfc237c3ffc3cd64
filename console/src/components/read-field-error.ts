// What the gateway refused about one field, to be shown at that field.

import { ApiError } from '../api/client.ts';

/** Without the field's name in front, which stands above it already; undefined for anything else. */
export function readFieldError(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError) || error.field !== field) return undefined;
  const { message } = error;
  const words = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
