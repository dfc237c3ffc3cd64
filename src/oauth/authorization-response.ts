// What came back from the provider's consent page: a callback, or what a person copied from the browser.

import { AuthorizationResponseError, validateAuthResponse } from 'oauth4webapi';
import { type GatewayError, invalidRequest } from '../canonical/error.ts';
import { told } from '../lib/told.ts';
import { isExpectedIssuer } from './identity.ts';
import type { OAuthSettings } from './oauth-settings.ts';

export interface PastedResponse {
  readonly parameters: URLSearchParams;
  /** `address`, with its scheme, host and path · `query` · `code` alone, which knows no state. */
  readonly form:
    | { readonly kind: 'address'; readonly address: string }
    | { readonly kind: 'query' | 'code' };
}

const MAX_PASTED = 16_384;
const CODE = /^[\x21-\x7e]{1,4096}$/;

/**
 * Reads a whole address, only its query, or only the code, with what else gets copied along:
 * blanks, line breaks of a terminal, quotes, angle brackets.
 * @throws GatewayError `invalid-request`
 */
export function readPasted(text: string): PastedResponse {
  if (text.length > MAX_PASTED) throw badPaste(told`This is too long for an address or a code.`);
  const dense = text.replace(/\s+/g, '').replace(/^["'`<]+|["'`>]+$/g, '');
  if (dense === '') throw badPaste(told`Paste the address the browser ended on, or the code.`);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(dense)) return readAddress(dense);
  const query = dense.slice(dense.indexOf('?') + 1);
  const isQuery = /(^|&)(code|error)=|^(state|iss)=/.test(query);
  if (isQuery) return { parameters: new URLSearchParams(query), form: { kind: 'query' } };
  // What follows the code may have been copied with it.
  const parameters = new URLSearchParams(`code=${escapePlus(dense)}`);
  return { parameters, form: { kind: 'code' } };
}

/**
 * The response when it answers the sign-in of `state`: right state, right issuer, a code, no error.
 * @throws GatewayError in plain words; neither code nor state is in it
 */
export function checkResponse(
  { parameters, form }: PastedResponse,
  expected: {
    readonly state: string;
    readonly redirectUri: string;
    readonly settings: OAuthSettings;
  },
): string {
  const { settings, state, redirectUri } = expected;
  if (form.kind === 'address' && form.address !== addressOf(new URL(redirectUri))) {
    throw badPaste(told`This is not the address the sign-in leads to (${redirectUri}).`);
  }
  const complete = new URLSearchParams(parameters);
  if (form.kind === 'code') complete.set('state', state);
  const [code, ...more] = validate(complete, { settings, state }).getAll('code');
  if (code === undefined || more.length > 0 || !CODE.test(code)) {
    throw badPaste(told`There is no usable code in this. Start the sign-in again.`);
  }
  return code;
}

function readAddress(text: string): PastedResponse {
  const url = URL.parse(text);
  if (url === null) throw badPaste(told`This is no address. Copy it again, from its beginning.`);
  return { parameters: url.searchParams, form: { kind: 'address', address: addressOf(url) } };
}

function addressOf({ origin, pathname }: URL): string {
  return origin + pathname;
}

/** A bare code may hold `+` as it is, and may be percent-encoded as it stood in the address. */
function escapePlus(code: string): string {
  return code.replaceAll('+', '%2B');
}

function validate(
  parameters: URLSearchParams,
  { settings, state }: { readonly settings: OAuthSettings; readonly state: string },
): URLSearchParams {
  const issuer = parameters.get('iss');
  if (issuer !== null && !isExpectedIssuer(issuer, settings)) {
    throw badPaste(told`This answer is from another provider than the sign-in was started with.`);
  }
  try {
    return validateAuthResponse(
      { issuer: issuer ?? settings.issuer ?? settings.authorizationUrl },
      { client_id: settings.clientId },
      parameters,
      state,
    );
  } catch (error) {
    if (error instanceof AuthorizationResponseError) throw refusal(error.error);
    throw badPaste(told`This is not a proper answer to this sign-in. Start the sign-in again.`);
  }
}

/** RFC 6749 §4.1.2.1 and OpenID Connect Core §3.1.2.6. */
function refusal(code: string): GatewayError {
  switch (code) {
    case 'access_denied':
      return badPaste(told`The sign-in was declined at the provider. Start it again and agree.`);
    case 'invalid_scope':
      return badPaste(
        told`The provider does not know a scope. Correct the scopes of this upstream.`,
      );
    case 'unauthorized_client':
    case 'invalid_request':
    case 'unsupported_response_type':
      return badPaste(
        told`The provider does not allow this sign-in. Check the client and its registered redirect address.`,
      );
    case 'server_error':
    case 'temporarily_unavailable':
      return badPaste(told`The provider has trouble at the moment. Try again in some minutes.`);
    case 'login_required':
    case 'consent_required':
    case 'interaction_required':
    case 'account_selection_required':
      return badPaste(
        told`The provider wants you to sign in there first. Start the sign-in again.`,
      );
    default:
      return badPaste(told`The provider refused the sign-in. Start it again.`);
  }
}

function badPaste(message: string): GatewayError {
  return invalidRequest('response', message);
}
