// Finds the session a Messages body names in `metadata.user_id`, for account affinity.

import { isJsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { optionalObjectAt, optionalStringAt, type Scope } from './fields.ts';

/**
 * Coding CLIs put JSON text with a `session_id` there, older ones `user_…_session_<id>`. A plain user
 * id names a person, not a conversation, and is not used.
 */
export function readBodySession(body: Scope): string | undefined {
  const metadata = optionalObjectAt(body, 'metadata');
  const userId = metadata === undefined ? undefined : optionalStringAt(metadata, 'user_id');
  if (userId === undefined) return undefined;
  if (userId.startsWith('{')) return sessionOfJson(userId);
  return /session_([A-Za-z0-9-]+)/.exec(userId)?.[1];
}

function sessionOfJson(text: string): string | undefined {
  const value = tryParse(text);
  const session = isJsonObject(value) ? value.session_id : undefined;
  return typeof session === 'string' && session !== '' ? session : undefined;
}

function tryParse(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
