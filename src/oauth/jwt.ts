// JSON Web Tokens (RFC 7519) as far as they are needed: signs them with RS256, and reads their claims.

import { sign } from 'node:crypto';
import { promisify } from 'node:util';
import { isJsonObject, type JsonObject, parseJson } from '../lib/json.ts';

interface SigningKey {
  /** PKCS #8, as PEM. */
  readonly privateKey: string;
  readonly keyId: string | undefined;
}

const signInBackground = promisify(sign);

/** @throws Error when the key is none */
export async function signJwt(
  claims: JsonObject,
  { privateKey, keyId }: SigningKey,
): Promise<string> {
  const kid = keyId === undefined ? {} : { kid: keyId };
  const text = `${encode({ alg: 'RS256', typ: 'JWT', ...kid })}.${encode(claims)}`;
  const signature = await signInBackground('sha256', Buffer.from(text), privateKey);
  return `${text}.${signature.toString('base64url')}`;
}

/** The claims of a signed token, undefined for what is none. The signature is not checked. */
export function readClaims(token: string): JsonObject | undefined {
  const parts = token.split('.');
  if (parts.length !== 3) return undefined;
  try {
    const claims = parseJson(Buffer.from(parts[1] ?? '', 'base64url').toString());
    return isJsonObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
