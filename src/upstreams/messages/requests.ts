// Builds the HTTP requests of the Messages API for one account.

import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { itemsOf, objectOf } from '../../lib/read-values.ts';
import { MESSAGES_VERSION, mergeBetas } from '../../wire/messages.ts';
import { HEADER_SPELLINGS, readHeader } from '../../wire/vocabulary.ts';
import type { ClientRequest } from '../transport/client.ts';
import type { AccountAccess, UpstreamCall } from '../upstream.ts';
import { postOf } from '../wire-parts.ts';
import { type MessagesProfile, VERSION_PATH } from './profiles.ts';

/** A POST to a path below the version, with the account's credential. */
export function postRequest(
  profile: MessagesProfile,
  path: string,
  call: Omit<UpstreamCall, 'stream'>,
): ClientRequest {
  const { access, body, clientHeaders } = call;
  return {
    ...postOf(call),
    path: VERSION_PATH + path,
    headers: headersOf(profile, access, { client: clientHeaders, body }),
    secrets: [access.credential],
  };
}

/** A GET of a path below the version, with the account's credential. */
export function getRequest(
  profile: MessagesProfile,
  path: string,
  { access, signal }: Pick<UpstreamCall, 'access' | 'signal'>,
): ClientRequest {
  return {
    method: 'GET',
    path: VERSION_PATH + path,
    headers: headersOf(profile, access),
    proxyUrl: access.proxyUrl,
    secrets: [access.credential],
    signal,
  };
}

interface Relayed {
  readonly client?: UpstreamCall['clientHeaders'];
  readonly body?: JsonObject;
}

/** The client's own headers over the profile's, its flags beside them, and the account's credential over all. */
function headersOf(
  { auth, betas }: MessagesProfile,
  { credential, credentialKind }: AccountAccess,
  { client = {}, body }: Relayed = {},
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(client)) {
    if (!NOT_PASSED_ON.has(name)) headers[name] = value;
  }
  const asked = readHeader(client, 'messagesVersion');
  headers['anthropic-version'] =
    asked === undefined || saysMoreThan(asked, body) ? MESSAGES_VERSION : asked;
  const flags = mergeBetas([
    ...HEADER_SPELLINGS.messagesBeta.map((name) => client[name]),
    ...betas,
  ]);
  if (flags !== '') headers['anthropic-beta'] = flags;
  if (credentialKind === 'api-key' && auth === 'x-api-key') headers['x-api-key'] = credential;
  else headers.authorization = `Bearer ${credential}`;
  return headers;
}

/**
 * From this version on there is no sampling to be set, no document of the assistant and no citation of the user.
 * Source: TypeScript SDK 1.x, which sends it; "Migrating to API version 2026-10-21".
 */
const WITH_FEWER_WORDS = '2026-10-21';
const SAMPLING = ['temperature', 'top_p', 'top_k'];

/** True where the body says what its version has no words for: it is sent by the one before. */
function saysMoreThan(version: string, body: JsonObject = {}): boolean {
  if (version < WITH_FEWER_WORDS) return false;
  if (SAMPLING.some((field) => body[field] !== undefined)) return true;
  return itemsOf(body.messages).some((message) => {
    const { role, content } = objectOf(message) ?? {};
    return itemsOf(content).some((block) => isDroppedOf(role, objectOf(block)));
  });
}

/** Blocks within other blocks stay. */
function isDroppedOf(role: JsonValue | undefined, block: JsonObject | undefined): boolean {
  if (role === 'assistant') return block?.type === 'document';
  return role === 'user' && block?.type === 'text' && itemsOf(block.citations).length > 0;
}

/** Credentials, what belongs to one connection, and what is written anew in the profile's spelling. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  ...(['authorization', 'x-api-key', 'cookie', 'host', 'connection', 'transfer-encoding'] as const),
  ...(['accept', 'accept-encoding', 'content-type', 'content-length'] as const),
  ...HEADER_SPELLINGS.messagesVersion,
  ...HEADER_SPELLINGS.messagesBeta,
]);
