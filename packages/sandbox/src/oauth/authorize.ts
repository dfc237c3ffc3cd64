// The authorization endpoint: shows the consent page, and sends the person back with a code or a refusal.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { readPersonEmail, SANDBOX_TIERS } from '../accounts.ts';
import { createId } from '../clock.ts';
import { type AuthorizationRequest, readAuthorizationRequest } from './authorization-request.ts';
import {
  type ConsentChoice,
  SOMEONE,
  startChoice,
  writeConsentPage,
  writeFaultPage,
} from './consent-page.ts';
import { OAuthError } from './oauth-error.ts';
import type { OAuthServices } from './oauth-services.ts';
import { sendPage } from './page.ts';
import { type Parameters, readForm } from './parameters.ts';

const TICKET_LIFETIME_MS = 10 * 60_000;

/** `GET /oauth/authorize` */
export function askForConsent(response: ServerResponse, url: URL, services: OAuthServices): void {
  const request = admit(response, url.searchParams, services);
  if (request === undefined) return;
  const ticket = services.tokens.mintTicket({
    query: url.searchParams.toString(),
    expiresAt: services.clock.now() + TICKET_LIFETIME_MS,
  });
  const choice = startChoice(request.loginHint);
  sendPage(response, writeConsentPage({ request, ticket, choice, quotas: services.tiers }));
}

/** `POST /oauth/authorize`: the consent page's form. Only the ticket says what is being decided. */
export async function decide(
  message: IncomingMessage,
  response: ServerResponse,
  services: OAuthServices,
): Promise<void> {
  const form = await readConsentForm(message);
  if (form instanceof OAuthError) return sendPage(response, writeFaultPage(form.message));
  const ticket = services.tokens.readTicket(form.get('ticket') ?? '');
  if (ticket === undefined || ticket.expiresAt <= services.clock.now()) {
    return sendPage(response, writeFaultPage('This page is too old to be answered.'));
  }
  const request = admit(response, new URLSearchParams(ticket.query), services);
  if (request === undefined) return;
  if (form.get('decision') !== 'allow') {
    return sendBack(response, request, services, {
      error: 'access_denied',
      error_description: 'The person refused.',
    });
  }
  const choice = readChoice(form);
  if (choice === undefined) return sendPage(response, writeFaultPage('The plan is unknown.'));
  const given = choice.person === SOMEONE ? choice.email : choice.person;
  const email = readPersonEmail(given);
  if (email === undefined) {
    const ticketText = form.get('ticket') ?? '';
    const complaint = `${JSON.stringify(given)} is not an e-mail at sandbox.example.`;
    const page = { request, ticket: ticketText, choice, quotas: services.tiers, complaint };
    return sendPage(response, writeConsentPage(page));
  }
  sendBack(response, request, services, { code: grantCode(request, email, choice, services) });
}

/** The request, or undefined when its fault was answered already. */
function admit(
  response: ServerResponse,
  query: URLSearchParams,
  services: OAuthServices,
): AuthorizationRequest | undefined {
  const reading = readAuthorizationRequest(query, services.clients);
  switch (reading.kind) {
    case 'good':
      return reading.request;
    case 'untrusted':
      sendPage(response, writeFaultPage(reading.message));
      return undefined;
    case 'refused':
      sendBack(response, reading, services, {
        error: reading.code,
        error_description: reading.message,
      });
      return undefined;
    default:
      return reading satisfies never;
  }
}

function grantCode(
  { client, scopes, redirectUrl, challenge }: AuthorizationRequest,
  email: string,
  { tier }: ConsentChoice,
  { codes, members, grants, clock }: OAuthServices,
): string {
  members.enter(email, tier);
  const grant = {
    familyId: createId(''),
    email,
    tier,
    clientId: client.id,
    scopes,
    grantedAt: clock.now(),
  };
  grants.start(grant);
  return codes.issue({ grant, redirectUrl, challenge });
}

/** `state` as it came, and `iss` so that the client knows who answered (RFC 9207). */
function sendBack(
  response: ServerResponse,
  { redirectUrl, state }: { readonly redirectUrl: string; readonly state: string | undefined },
  { issuer }: OAuthServices,
  answer: Readonly<Record<string, string>>,
): void {
  const target = new URL(redirectUrl);
  const all = { ...answer, ...(state !== undefined && { state }), iss: issuer() };
  for (const [name, value] of Object.entries(all)) target.searchParams.set(name, value);
  response.writeHead(303, {
    location: target.href,
    'content-length': 0,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  response.end();
}

async function readConsentForm(message: IncomingMessage): Promise<Parameters | OAuthError> {
  try {
    return await readForm(message);
  } catch (error) {
    if (error instanceof OAuthError) return error;
    throw error;
  }
}

function readChoice(form: Parameters): ConsentChoice | undefined {
  const tier = SANDBOX_TIERS.find((one) => one === form.get('tier'));
  return tier && { person: form.get('person') ?? SOMEONE, email: form.get('email') ?? '', tier };
}
