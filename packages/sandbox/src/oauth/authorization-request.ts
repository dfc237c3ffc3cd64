// Reads an authorization request, and decides whether its faults may be told to the client's address.

import { isRegisteredRedirect, type SandboxClient } from './clients.ts';
import { OAuthError } from './oauth-error.ts';
import { type Parameters, readParameters } from './parameters.ts';
import { readScopes } from './scopes.ts';

export interface AuthorizationRequest {
  readonly client: SandboxClient;
  readonly redirectUrl: string;
  /** Given back as it came; allowed to be absent, as RFC 6749 only recommends it. */
  readonly state: string | undefined;
  readonly scopes: readonly string[];
  /** PKCE, method S256. */
  readonly challenge: string;
  /** Who the client thinks will sign in. */
  readonly loginHint: string | undefined;
}

/** `untrusted`: the client or its address is in doubt, so the fault is shown here and sent nowhere. */
export type AuthorizationReading =
  | { readonly kind: 'good'; readonly request: AuthorizationRequest }
  | { readonly kind: 'untrusted'; readonly message: string }
  | {
      readonly kind: 'refused';
      readonly redirectUrl: string;
      readonly state: string | undefined;
      readonly code: string;
      readonly message: string;
    };

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

export function readAuthorizationRequest(
  query: URLSearchParams,
  clients: readonly SandboxClient[],
): AuthorizationReading {
  for (const name of ['client_id', 'redirect_uri']) {
    if (query.getAll(name).length > 1) return untrusted(`${name} is given twice.`);
  }
  const client = clients.find(({ id }) => id === query.get('client_id'));
  if (client === undefined) return untrusted('The client is unknown: check client_id.');
  const redirectUrl = query.get('redirect_uri') ?? '';
  if (!isRegisteredRedirect(client, redirectUrl)) {
    return untrusted('The return address is not one of this client: check redirect_uri.');
  }
  const states = query.getAll('state');
  try {
    return { kind: 'good', request: { client, redirectUrl, ...readRest(readParameters(query)) } };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const state = states.length === 1 ? states[0] : undefined;
    return { kind: 'refused', redirectUrl, state, code: error.code, message: error.message };
  }
}

function readRest(parameters: Parameters): Omit<AuthorizationRequest, 'client' | 'redirectUrl'> {
  const type = parameters.get('response_type');
  if (type === undefined) throw new OAuthError('invalid_request', 'response_type is missing.');
  if (type !== 'code') {
    throw new OAuthError('unsupported_response_type', 'response_type must be code.');
  }
  if ((parameters.get('response_mode') ?? 'query') !== 'query') {
    throw new OAuthError('invalid_request', 'response_mode must be query.');
  }
  const challenge = parameters.get('code_challenge') ?? '';
  if (parameters.get('code_challenge_method') !== 'S256' || !CHALLENGE.test(challenge)) {
    throw new OAuthError(
      'invalid_request',
      'PKCE is required: code_challenge_method must be S256 and code_challenge the hash.',
    );
  }
  const scopes = readScopes(parameters.get('scope'));
  if (scopes === undefined) throw new OAuthError('invalid_scope', 'A scope is unknown.');
  const [state, loginHint] = [parameters.get('state'), parameters.get('login_hint')];
  return { state, scopes, challenge, loginHint };
}

function untrusted(message: string): AuthorizationReading {
  return { kind: 'untrusted', message };
}
