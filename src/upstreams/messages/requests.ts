// Builds the HTTP requests of the Messages API for one account.

import { mergeBetas } from '../../wire/messages.ts';
import { HEADER_SPELLINGS, readHeader } from '../../wire/vocabulary.ts';
import type { ClientRequest } from '../transport/client.ts';
import type { AccountAccess, UpstreamCall } from '../upstream.ts';
import type { MessagesProfile } from './profiles.ts';

/** A POST to a path below the version, with the account's credential. */
export function postRequest(
  profile: MessagesProfile,
  path: string,
  call: Omit<UpstreamCall, 'stream'>,
): ClientRequest {
  const { access, body, signal, receipt, freshConnection, clientHeaders } = call;
  return {
    method: 'POST',
    path: profile.versionPath + path,
    headers: headersOf(profile, access, clientHeaders),
    body,
    receipt,
    freshConnection,
    proxyUrl: access.proxyUrl,
    secrets: [access.credential],
    signal,
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
    path: profile.versionPath + path,
    headers: headersOf(profile, access),
    proxyUrl: access.proxyUrl,
    secrets: [access.credential],
    signal,
  };
}

/** The client's own headers over the profile's, its flags beside them, and the account's credential over all. */
function headersOf(
  { auth, version, betaHeader, betas }: MessagesProfile,
  { credential, credentialKind }: AccountAccess,
  client: NonNullable<UpstreamCall['clientHeaders']> = {},
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(client)) {
    if (!NOT_PASSED_ON.has(name)) headers[name] = value;
  }
  headers[version.header] = readHeader(client, 'messagesVersion') ?? version.value;
  const flags = mergeBetas([
    ...HEADER_SPELLINGS.messagesBeta.map((name) => client[name]),
    ...betas,
  ]);
  if (flags !== '') headers[betaHeader] = flags;
  if (credentialKind === 'api-key' && auth === 'x-api-key') headers['x-api-key'] = credential;
  else headers.authorization = `Bearer ${credential}`;
  return headers;
}

/** Credentials, what belongs to one connection, and what is written anew in the profile's spelling. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  ...(['authorization', 'x-api-key', 'cookie', 'host', 'connection', 'transfer-encoding'] as const),
  ...(['accept', 'accept-encoding', 'content-type', 'content-length'] as const),
  ...HEADER_SPELLINGS.messagesVersion,
  ...HEADER_SPELLINGS.messagesBeta,
]);
