// Service-account key files: reads them, and signs the assertion that is traded for an access token.

import { createPrivateKey, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { ServiceAccountCredential } from '../accounts/account.ts';
import { invalidRequest } from '../canonical/error.ts';
import { isJsonObject, type JsonObject, tryParse } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import { optionalText, readTokenUrl, requireText } from './account-file.ts';

/** Providers take no assertion that lives longer. */
const LIFETIME_SECONDS = 3600;
/** These scopes are about a person who signs in; a service account is none. */
const PERSONAL_SCOPES: readonly string[] = ['openid', 'email', 'profile', 'offline_access'];

interface AssertionFacts {
  readonly tokenUrl: string;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch, by the provider's clock. */
  readonly issuedAt: number;
}

/** A JWT by RFC 7523 §3, signed RS256. */
export function signAssertion(
  { clientEmail, privateKey, privateKeyId }: ServiceAccountCredential,
  { tokenUrl, scopes, issuedAt }: AssertionFacts,
): Promise<string> {
  const scope = scopes.filter((one) => !PERSONAL_SCOPES.includes(one)).join(' ');
  const seconds = Math.floor(issuedAt / 1000);
  const claims = {
    ...(scope === '' ? {} : { scope }),
    iss: clientEmail,
    sub: clientEmail,
    aud: tokenUrl,
    iat: seconds,
    exp: seconds + LIFETIME_SECONDS,
  };
  return signJwt(claims, { privateKey, keyId: privateKeyId });
}

/**
 * Reads the public JSON format of key files (`type: "service_account"`).
 * @throws GatewayError `invalid-request` naming the field; it never holds the key
 */
export function readServiceAccountKey(file: JsonObject) {
  if (file.type !== 'service_account') {
    const message = told`This is no service-account key file: its "type" must be "service_account".`;
    throw invalidRequest('type', message);
  }
  const clientEmail = requireKeyText(file, 'client_email');
  const privateKey = requireKeyText(file, 'private_key');
  if (!isRsaKey(privateKey)) {
    const message = told`The "private_key" is no PKCS #8 PEM of an RSA key. Download the key file again.`;
    throw invalidRequest('private_key', message);
  }
  const tokenUrl = readTokenUrl(file);
  const privateKeyId = optionalText(file, 'private_key_id');
  const key = { clientEmail, privateKey, privateKeyId, tokenUrl };
  const credential: ServiceAccountCredential = { kind: 'service-account', ...key };
  return { credential, projectId: optionalText(file, 'project_id') };
}

function isRsaKey(pem: string): boolean {
  if (!pem.includes('-----BEGIN PRIVATE KEY-----')) return false;
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

function requireKeyText(file: JsonObject, field: string): string {
  return requireText(file, field, told`The key file has no "${field}".`);
}

const signInBackground = promisify(sign);

/** @param key PKCS #8, as PEM. @throws Error when it is none */
async function signJwt(
  claims: JsonObject,
  { privateKey, keyId }: { readonly privateKey: string; readonly keyId: string | undefined },
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
  const claims = tryParse(Buffer.from(parts[1] ?? '', 'base64url').toString());
  return isJsonObject(claims) ? claims : undefined;
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
