// The OAuth endpoints as one: who may ask, scripted faults, and answers in the form of OAuth.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { SandboxError } from '../errors.ts';
import { requireOwnPage } from '../http/require-local-tool.ts';
import { sendJson, sendText } from '../http/send-json.ts';
import type { JsonObject } from '../json.ts';
import type { Fault } from '../state/faults.ts';
import { askForConsent, decide } from './authorize.ts';
import { authenticateToken } from './bearer.ts';
import { authenticateClient, requireClient } from './clients.ts';
import { writeMetadata } from './metadata.ts';
import { OAuthError, writeOAuthError } from './oauth-error.ts';
import type { OAuthServices } from './oauth-services.ts';
import { readForm, requireParameter } from './parameters.ts';
import { meaningsOf } from './scopes.ts';
import { readTokenRequest } from './token-endpoint.ts';

export type OAuthOperation =
  | 'metadata'
  | 'ask-for-consent'
  | 'decide'
  | 'token'
  | 'revoke'
  | 'user-info';

export interface OAuthExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
}

/** Answers refusals too. @throws whatever the sandbox itself fails with, and the signal's reason. */
export async function answerOAuth(
  operation: OAuthOperation,
  exchange: OAuthExchange,
  services: OAuthServices,
): Promise<void> {
  try {
    requireOwnPage(exchange.request);
    await run(operation, exchange, services);
  } catch (error) {
    if (error instanceof OAuthError) sendRefusal(exchange.response, error);
    else if (error instanceof SandboxError && operation === 'user-info') {
      sendBearerRefusal(exchange.response, error);
    } else throw error;
  }
}

async function run(
  operation: OAuthOperation,
  exchange: OAuthExchange,
  services: OAuthServices,
): Promise<void> {
  const { request, response, url } = exchange;
  switch (operation) {
    case 'metadata':
      return sendJson(response, 200, writeMetadata(services.issuer()));
    case 'ask-for-consent':
      return askForConsent(response, url, services);
    case 'decide':
      return decide(request, response, services);
    case 'token':
      return answerToken(exchange, services);
    case 'revoke':
      return revoke(exchange, services);
    case 'user-info':
      return sendJson(response, 200, readUserInfo(request, services));
    default:
      return operation satisfies never;
  }
}

/** A fault's error and delay come before anything is used up; its garbage and cut after. */
async function answerToken(
  { request, response, signal }: OAuthExchange,
  services: OAuthServices,
): Promise<void> {
  const tokenRequest = readTokenRequest(request, await readForm(request), services);
  const { email } = tokenRequest;
  const fault = services.faults.take({ endpoint: 'token', account: email, models: [] }) ?? {};
  if (fault.delayMs !== undefined) await services.clock.sleep(fault.delayMs, signal);
  failIfTold(fault);
  const text = JSON.stringify(await tokenRequest.exchange());
  if (fault.garbage === true) return sendText(response, 200, text.slice(0, text.length / 2));
  if (fault.cutAfterBytes === undefined) return sendText(response, 200, text);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
  response.flushHeaders();
  response.write(text.slice(0, fault.cutAfterBytes), () => response.socket?.destroySoon());
}

function failIfTold({ status, error, message, retryDelay }: Fault): void {
  if (status === undefined && error === undefined) return;
  const code = error ?? (status === 503 ? 'temporarily_unavailable' : 'server_error');
  const seconds = Number.parseFloat(retryDelay ?? '');
  throw new OAuthError(code, message ?? 'The sandbox was told to answer so.', {
    status: status ?? (code === 'invalid_client' ? 401 : 400),
    headers: Number.isFinite(seconds) ? { 'retry-after': String(Math.ceil(seconds)) } : {},
  });
}

/** RFC 7009: the whole grant goes with any of its tokens; an unknown token is no fault. */
async function revoke(
  { request, response }: OAuthExchange,
  services: OAuthServices,
): Promise<void> {
  const form = await readForm(request);
  const client = requireClient(authenticateClient(request, form, services.clients));
  const text = requireParameter(form, 'token');
  const token = services.tokens.readRefresh(text) ?? services.tokens.readAccess(text);
  if (token !== undefined) {
    if ((token.grant.clientId ?? client.id) !== client.id) {
      throw new OAuthError('invalid_grant', 'The token belongs to another client.');
    }
    services.grants.revoke(token.grant);
  }
  sendJson(response, 200, {});
}

/** The claims the token's scopes allow (OpenID Connect Core, 5.3). */
function readUserInfo(request: IncomingMessage, services: OAuthServices): JsonObject {
  const text = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (text === undefined) throw new SandboxError(401, 'Send Authorization: Bearer <token>.');
  const { email } = authenticateToken(text, 'email', services);
  const scopes = services.tokens.readAccess(text)?.grant.scopes ?? [];
  const name = email.slice(0, email.indexOf('@'));
  return {
    sub: email,
    email,
    email_verified: true,
    ...(meaningsOf(scopes).has('profile') && {
      name: name.charAt(0).toUpperCase() + name.slice(1),
    }),
  };
}

function sendRefusal(response: ServerResponse, error: OAuthError): void {
  const text = JSON.stringify(writeOAuthError(error.code, error.message));
  sendText(response, error.status, text, error.headers);
}

/** RFC 6750, 3 */
function sendBearerRefusal(response: ServerResponse, { status, message }: SandboxError): void {
  const code = status === 403 ? 'insufficient_scope' : 'invalid_token';
  sendText(response, status, JSON.stringify(writeOAuthError(code, message)), {
    'www-authenticate': `Bearer error="${code}"`,
  });
}
