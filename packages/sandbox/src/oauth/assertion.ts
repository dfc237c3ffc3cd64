// Reads the signed assertion a service account trades for an access token (RFC 7523, 2.1 and 3).

import { verify } from 'node:crypto';
import { isServiceAccountEmail } from '../accounts.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, readNumber } from '../json.ts';
import { OAuthError } from './oauth-error.ts';
import { readScopes } from './scopes.ts';
import type { ServiceAccountKeys } from './service-account-keys.ts';

export interface Assertion {
  readonly email: string;
  readonly scopes: readonly string[];
}

const MAX_LIFETIME_S = 3600;
const MAX_SKEW_S = 60;
/** The sandbox has another port at each start, so assertions made for an earlier one are taken. */
const AUDIENCE = /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost):\d{1,5}(?:\/oauth\/token)?$/;

/** Who an assertion says it is of, unproven; for matching scripted faults. */
export function readAssertionEmail(text: string): string | undefined {
  const issuer = readPart(text.split('.')[1])?.iss;
  return typeof issuer === 'string' ? issuer : undefined;
}

/** @throws OAuthError invalid_grant or invalid_scope. */
export async function readAssertion(
  text: string,
  { keys, now }: { readonly keys: ServiceAccountKeys; readonly now: number },
): Promise<Assertion> {
  const [head, body, signature, ...rest] = text.split('.');
  const [header, claims] = [readPart(head), readPart(body)];
  if (header === undefined || claims === undefined || !signature || rest.length > 0) {
    throw refusal('Invalid JWT: it must have three parts.');
  }
  if (header.alg !== 'RS256') throw refusal('Invalid JWT: alg must be RS256.');
  const { iss: email, scope } = claims;
  if (typeof email !== 'string' || !isServiceAccountEmail(email)) {
    throw refusal('Invalid JWT: iss must be the e-mail of a service account.');
  }
  checkClaims(claims, now / 1000);
  const key = await keys.keyOf(email);
  if (header.kid !== undefined && header.kid !== key.id) throw refusal('Invalid JWT: unknown kid.');
  const signed = Buffer.from(`${head}.${body}`);
  if (!verify('sha256', signed, key.publicKey, Buffer.from(signature, 'base64url'))) {
    throw refusal('Invalid JWT Signature.');
  }
  const scopes = typeof scope === 'string' ? readScopes(scope) : undefined;
  if (scopes === undefined || scopes.length === 0) {
    throw new OAuthError('invalid_scope', 'The assertion must name scopes that exist.');
  }
  return { email, scopes };
}

function checkClaims(claims: JsonObject, nowS: number): void {
  const { iss, sub, aud } = claims;
  const [issuedAt, expiresAt] = [readNumber(claims.iat), readNumber(claims.exp)];
  if (sub !== undefined && sub !== iss) {
    throw new OAuthError('unauthorized_client', 'A service account acts for itself only.');
  }
  if (typeof aud !== 'string' || !AUDIENCE.test(aud)) {
    throw refusal('Invalid JWT: aud must be the address of the token endpoint.');
  }
  if (issuedAt === undefined || expiresAt === undefined) {
    throw refusal('Invalid JWT: iat and exp are required.');
  }
  const lasts = expiresAt - issuedAt;
  const isNow = issuedAt <= nowS + MAX_SKEW_S && expiresAt > nowS;
  if (!isNow || !(lasts > 0) || lasts > MAX_LIFETIME_S) {
    throw refusal(
      'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check iat and exp.',
    );
  }
}

function readPart(text = ''): JsonObject | undefined {
  try {
    const value: JsonValue = parseJson(Buffer.from(text, 'base64url').toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function refusal(message: string): OAuthError {
  return new OAuthError('invalid_grant', message);
}
