// The file of exported accounts (plain JSON, sealed on the way out), and key files of service accounts.

import { createPrivateKey, sign } from 'node:crypto';
import { promisify } from 'node:util';
import {
  ACCOUNT_KINDS,
  type Account,
  type Credential,
  type ServiceAccountCredential,
  TIERS,
  type VersionedCredential,
} from '../accounts/account.ts';
import { invalidRequest } from '../canonical/error.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
  tryParse,
} from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import { isSafeEndpoint } from '../lib/net.ts';
import { objectOf } from '../lib/read-values.ts';
import { BILLINGS } from '../pricing/charges.ts';

const FORMAT = 'isthmus-accounts';
const VERSION = 1;
const MAX_ACCOUNTS = 10_000;

export interface ExportedAccount {
  readonly account: Account;
  readonly stored: VersionedCredential;
  readonly proxyUrl: string | undefined;
}

export function writeAccountFile(accounts: readonly ExportedAccount[]): string {
  return JSON.stringify({ format: FORMAT, version: VERSION, accounts: accounts.map(writeAccount) });
}

/** The accounts of a file, each still to be read by itself. @throws GatewayError `invalid-request` */
export function readAccountFile(value: JsonValue): readonly JsonValue[] {
  const { format, version, accounts } = requireObject(value, 'file');
  if (format !== FORMAT) {
    const message = told`This is no export of accounts: its "format" is not "${FORMAT}".`;
    throw invalidRequest('format', message);
  }
  if (version !== VERSION) {
    throw invalidRequest('version', told`Only version ${VERSION} of the format can be read.`);
  }
  if (!Array.isArray(accounts) || accounts.length > MAX_ACCOUNTS) {
    throw invalidRequest('accounts', told`"accounts" must be a list of at most ${MAX_ACCOUNTS}.`);
  }
  return accounts;
}

/** @throws GatewayError `invalid-request` naming the field, never its value */
export function readAccount(value: JsonValue) {
  const account = requireObject(value, 'account');
  const tier = TIERS.find((one) => one === account.tier);
  if (tier === undefined && account.tier !== undefined && account.tier !== null) {
    throw invalidRequest('tier', told`"tier" must be one of ${TIERS.join(', ')}.`);
  }
  const billing = BILLINGS.find((one) => one === account.billing);
  if (billing === undefined && account.billing !== undefined && account.billing !== null) {
    throw invalidRequest('billing', told`"billing" must be one of ${BILLINGS.join(', ')}.`);
  }
  return {
    /** Where the export came from; the credential there, to tell which of two is newer. */
    id: optionalText(account, 'id'),
    credentialVersion: optionalNumber(account, 'credential_version'),
    upstreamId: requireText(account, 'upstream'),
    label: requireText(account, 'label'),
    projectId: optionalText(account, 'project_id'),
    tier,
    billing,
    priority: optionalNumber(account, 'priority'),
    notes: optionalText(account, 'notes'),
    proxyUrl: optionalText(account, 'proxy_url'),
    credential: readCredential(account),
  };
}

/** Fields that are undefined are left out of the text. */
function writeAccount({ account, stored, proxyUrl }: ExportedAccount): object {
  const { id, upstreamId, label, kind, projectId, tier, billing, priority, notes } = account.record;
  return {
    id,
    upstream: upstreamId,
    label,
    kind,
    project_id: projectId,
    tier,
    billing,
    priority,
    notes,
    proxy_url: proxyUrl,
    credential_version: stored.version,
    credential: writeCredential(stored.credential),
  };
}

/** Access tokens stay behind: they are over before long. */
function writeCredential(credential: Credential): object {
  switch (credential.kind) {
    case 'api-key':
      return { key: credential.key };
    case 'oauth':
      return { refresh_token: credential.refreshToken, scopes: credential.scopes };
    case 'service-account':
      return {
        client_email: credential.clientEmail,
        private_key: credential.privateKey,
        private_key_id: credential.privateKeyId,
        token_uri: credential.tokenUrl,
      };
    default:
      return credential satisfies never;
  }
}

function readCredential(account: JsonObject): Credential {
  const word = requireText(account, 'kind');
  const credential = requireObject(account.credential, 'credential');
  const kind = ACCOUNT_KINDS.find((each) => each === word);
  switch (kind) {
    case 'api-key':
      return { kind, key: requireText(credential, 'key') };
    case 'oauth': {
      const given = Array.isArray(credential.scopes) ? credential.scopes : undefined;
      const scopes = given?.filter((one) => typeof one === 'string');
      return { kind, refreshToken: requireText(credential, 'refresh_token'), scopes };
    }
    case 'service-account':
      return {
        kind,
        clientEmail: requireText(credential, 'client_email'),
        privateKey: requireText(credential, 'private_key'),
        privateKeyId: optionalText(credential, 'private_key_id'),
        tokenUrl: readTokenUrl(credential),
      };
    case undefined:
      throw invalidRequest('kind', told`"kind" must be oauth, api-key or service-account.`);
    default:
      return kind satisfies never;
  }
}

function readTokenUrl(credential: JsonObject): string | undefined {
  const tokenUrl = optionalText(credential, 'token_uri');
  if (tokenUrl === undefined || isSafeEndpoint(tokenUrl)) return tokenUrl;
  throw invalidRequest('token_uri', told`The "token_uri" must be an https address.`);
}

function requireText(
  object: JsonObject,
  field: string,
  missing = told`"${field}" is missing.`,
): string {
  const value = optionalText(object, field);
  if (value !== undefined) return value;
  throw invalidRequest(field, missing, 'missing-field');
}

function optionalText(object: JsonObject, field: string): string | undefined {
  const value = Object.hasOwn(object, field) ? object[field] : undefined;
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string' && value.length <= 16_384) return value;
  throw invalidRequest(field, told`"${field}" must be a string.`, 'invalid-type');
}

function optionalNumber(object: JsonObject, field: string): number | undefined {
  const value = Object.hasOwn(object, field) ? object[field] : undefined;
  if (value === undefined || value === null) return undefined;
  const number = readNumber(value);
  if (number !== undefined && Number.isSafeInteger(number)) return number;
  throw invalidRequest(field, told`"${field}" must be a whole number.`, 'invalid-type');
}

const MAX_CHARACTERS = 4 * 1024 * 1024;

/** @throws GatewayError `invalid-request` naming the field; the text is never in it */
export function readImportJson(text: string, field: string): JsonValue {
  if (text.length > MAX_CHARACTERS)
    throw invalidRequest(field, told`The import is larger than 4 MB.`);
  const value = tryParse(text);
  if (value === undefined) throw invalidRequest(field, told`This is no JSON.`, 'invalid-json');
  return value;
}

/** @throws GatewayError when it is no object */
export function requireObject(value: JsonValue | undefined, field: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalidRequest(field, told`"${field}" must be an object.`, 'invalid-type');
}

// Service-account key files: reads them, and signs the assertion that is traded for an access token.

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

/** Reads a key file (`type: "service_account"`). @throws GatewayError `invalid-request`, never with the key */
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
  return objectOf(tryParse(Buffer.from(parts[1] ?? '', 'base64url').toString()));
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
