// What the gateway refused about one field, to be shown at that field.

import { ApiError } from '../api/client.ts';

/** Without the field's name in front, which stands above it already; undefined for anything else. */
export function readFieldError(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError) || error.field !== field) return undefined;
  const { message } = error;
  const words = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
  return capitalize(words);
}

/**
 * What the gateway refused about several fields of one thing, by their places below that of the thing;
 * undefined where the first of them is no field of it.
 */
export function readFieldErrors(
  error: unknown,
  place: string,
): ReadonlyMap<string, string> | undefined {
  if (!(error instanceof ApiError) || error.field?.startsWith(`${place}.`) !== true) {
    return undefined;
  }
  const faults = `; ${error.message}`.split(`; ${place}.`).slice(1);
  return new Map(
    faults.map((fault) => {
      const [name = '', ...words] = fault.split(': ');
      return [name, capitalize(words.join(': '))];
    }),
  );
}

function capitalize(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
