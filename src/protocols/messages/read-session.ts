// Finds the session a Messages body names in `metadata.user_id`, for account affinity.

import { isJsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { EXCESS_WORDS, JsonExcessError } from '../../lib/json-survey.ts';
import { fieldError, optionalObjectAt, optionalStringAt, pathOf, type Scope } from './fields.ts';

/**
 * Coding CLIs put JSON text with a `session_id` there, older ones `user_…_session_<id>`. A plain user
 * id names a person, not a conversation, and is not used.
 */
export function readBodySession(body: Scope): string | undefined {
  const metadata = optionalObjectAt(body, 'metadata');
  if (metadata === undefined) return undefined;
  const userId = optionalStringAt(metadata, 'user_id');
  if (userId === undefined) return undefined;
  if (userId.startsWith('{')) return sessionOfJson(userId, pathOf(metadata, 'user_id'));
  return /session_([A-Za-z0-9-]+)/.exec(userId)?.[1];
}

/** @throws GatewayError 400 for JSON over the limits; what is no JSON names no session */
function sessionOfJson(text: string, path: string): string | undefined {
  const value = tryParse(text, path);
  const session = isJsonObject(value) ? value.session_id : undefined;
  return typeof session === 'string' && session !== '' ? session : undefined;
}

function tryParse(text: string, path: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonExcessError)) return undefined;
    throw fieldError(path, `The JSON in it ${EXCESS_WORDS[error.excess]}`);
  }
}
