// Reads the model name of a request strictly: it ends up in logs, headers and upstream paths.

import { invalidRequest } from '../canonical/error.ts';
import { told } from '../lib/told.ts';

const MAX_NAME_LENGTH = 256;

/**
 * The name without a leading `models/`, in any case.
 * @throws GatewayError invalid-request when it is missing, no text, too long or has control characters.
 */
export function readModelName(value: unknown): string {
  if (typeof value !== 'string') {
    throw invalidRequest(
      'model',
      told`model must be a string: the name of a model.`,
      'invalid-type',
    );
  }
  const name = value.replace(/^models\//i, '');
  if (name.trim() === '') {
    throw invalidRequest(
      'model',
      told`model is missing: send the name of a model.`,
      'missing-field',
    );
  }
  if (name.length > MAX_NAME_LENGTH) {
    throw invalidRequest('model', told`model is longer than ${MAX_NAME_LENGTH} characters.`);
  }
  if (/\p{Cc}/u.test(name)) {
    throw invalidRequest('model', told`model holds control characters.`);
  }
  return name;
}
