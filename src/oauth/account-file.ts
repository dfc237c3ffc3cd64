// The file format accounts are exported in and imported from: plain JSON, sealed on the way out.

import {
  ACCOUNT_KINDS,
  type Account,
  type Credential,
  TIERS,
  type VersionedCredential,
} from '../accounts/account.ts';
import { invalidRequest } from '../canonical/error.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  readNumber,
} from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import { isSafeEndpoint } from '../lib/net.ts';
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

export function readTokenUrl(credential: JsonObject): string | undefined {
  const tokenUrl = optionalText(credential, 'token_uri');
  if (tokenUrl === undefined || isSafeEndpoint(tokenUrl)) return tokenUrl;
  throw invalidRequest('token_uri', told`The "token_uri" must be an https address.`);
}

export function requireText(
  object: JsonObject,
  field: string,
  missing = told`"${field}" is missing.`,
): string {
  const value = optionalText(object, field);
  if (value !== undefined) return value;
  throw invalidRequest(field, missing, 'missing-field');
}

export function optionalText(object: JsonObject, field: string): string | undefined {
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
  try {
    return parseJson(text);
  } catch {
    throw invalidRequest(field, told`This is no JSON.`, 'invalid-json');
  }
}

/** @throws GatewayError when it is no object */
export function requireObject(value: JsonValue | undefined, field: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalidRequest(field, told`"${field}" must be an object.`, 'invalid-type');
}
