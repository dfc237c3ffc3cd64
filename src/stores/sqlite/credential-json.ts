// A credential as the JSON that is sealed, and back.

import type { Credential } from '../../accounts/credential.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';

export function writeCredential(credential: Credential): string {
  return JSON.stringify(credential);
}

/** Undefined when it is none of the kinds. */
export function readCredential(text: string): Credential | undefined {
  const value = parse(text);
  if (!isJsonObject(value)) return undefined;
  switch (value.kind) {
    case 'api-key':
      return typeof value.key === 'string' ? { kind: 'api-key', key: value.key } : undefined;
    case 'oauth':
      return readOAuth(value);
    case 'service-account':
      return readServiceAccount(value);
    default:
      return undefined;
  }
}

function readOAuth(value: JsonObject): Credential | undefined {
  const { refreshToken, accessToken, expiresAt, scopes } = value;
  if (typeof refreshToken !== 'string') return undefined;
  return {
    kind: 'oauth',
    refreshToken,
    ...(typeof accessToken === 'string' && { accessToken }),
    ...(typeof expiresAt === 'number' && { expiresAt }),
    ...(Array.isArray(scopes) && { scopes: scopes.filter((scope) => typeof scope === 'string') }),
  };
}

function readServiceAccount(value: JsonObject): Credential | undefined {
  const { clientEmail, privateKey, privateKeyId, tokenUrl } = value;
  if (typeof clientEmail !== 'string' || typeof privateKey !== 'string') return undefined;
  return {
    kind: 'service-account',
    clientEmail,
    privateKey,
    ...(typeof privateKeyId === 'string' && { privateKeyId }),
    ...(typeof tokenUrl === 'string' && { tokenUrl }),
  };
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
