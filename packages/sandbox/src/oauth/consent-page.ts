// The consent page: which client asks, for what, and who says yes on which plan.

import { SANDBOX_TIERS, type SandboxTier, type TierQuotas } from '../accounts.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { type Html, html, join, type Page } from './page.ts';
import { meaningsOf, SCOPE_WORDS } from './scopes.ts';

/** What the form holds when it is shown, or shown again. */
export interface ConsentChoice {
  /** An e-mail of the offered people, or `someone` for the one typed. */
  readonly person: string;
  readonly email: string;
  readonly tier: SandboxTier;
}

export interface ConsentPageOptions {
  readonly request: AuthorizationRequest;
  readonly ticket: string;
  readonly choice: ConsentChoice;
  readonly quotas: TierQuotas;
  /** What was wrong with the last try. */
  readonly complaint?: string | undefined;
}

/** The form's word for whoever's e-mail is typed. */
export const SOMEONE = 'someone';

const PEOPLE = [
  { name: 'Hedy', email: 'hedy@sandbox.example' },
  { name: 'Alan', email: 'alan@sandbox.example' },
  { name: 'Katherine', email: 'katherine@sandbox.example' },
] as const;

/** The form's first state: the person the client hinted at, on the middle plan. */
export function startChoice(loginHint: string | undefined): ConsentChoice {
  const tier = 'pro';
  if (loginHint === undefined) return { person: PEOPLE[0].email, email: '', tier };
  const known = PEOPLE.find(({ email }) => email === loginHint.toLowerCase());
  return known === undefined
    ? { person: SOMEONE, email: loginHint, tier }
    : { person: known.email, email: '', tier };
}

export function writeConsentPage(options: ConsentPageOptions): Page {
  const { request, ticket, choice, complaint } = options;
  const { origin, host, hostname, protocol } = new URL(request.redirectUrl);
  // Source expressions have no form for IPv6 addresses (CSP 3, 2.3.1).
  const formTarget = hostname.startsWith('[') ? protocol : origin;
  const body = html`<h1>${request.client.name} asks for access</h1>
<p class="soft">You will be taken back to ${host}.</p>
${complaint === undefined ? html`` : html`<p class="error" role="alert">${complaint}</p>`}
<form method="post" action="/oauth/authorize">
<input type="hidden" name="ticket" value="${ticket}">
<fieldset>
<legend>Who are you?</legend>
${join(PEOPLE.map(({ name, email }) => writePerson({ name, email, isChosen: choice.person === email })))}
<label class="person"><input type="radio" name="person" id="someone" value="${SOMEONE}"${checked(choice.person === SOMEONE)}><span><b>Someone else</b><small>Any name at sandbox.example</small></span></label>
<div class="email"><label class="soft" for="email">E-mail</label><input id="email" name="email" type="text" inputmode="email" autocomplete="off" autocapitalize="none" spellcheck="false" placeholder="name@sandbox.example" value="${choice.email}"></div>
</fieldset>
<fieldset>
<legend>On which plan?</legend>
<div class="plans">${join(SANDBOX_TIERS.map((tier) => writePlan(tier, options)))}</div>
</fieldset>
<h2>${request.client.name} will be able to</h2>
<ul class="scopes">${join(listScopes(request))}</ul>
<div class="actions"><button class="main" name="decision" value="allow">Allow</button><button name="decision" value="refuse">Refuse</button></div>
</form>`;
  return {
    status: complaint === undefined ? 200 : 400,
    title: 'Sign in to the sandbox',
    body,
    formTargets: [formTarget],
  };
}

export function writeFaultPage(message: string): Page {
  return {
    status: 400,
    title: 'This sign-in cannot go on',
    body: html`<h1>This sign-in cannot go on</h1>
<p class="error" role="alert">${message}</p>
<p class="soft">Go back to the program that sent you here and start again. Nothing was granted.</p>`,
  };
}

function writePerson(person: { name: string; email: string; isChosen: boolean }): Html {
  return html`<label class="person"><input type="radio" name="person" value="${person.email}"${checked(person.isChosen)}><span><b>${person.name}</b><small>${person.email}</small></span></label>
`;
}

function writePlan(tier: SandboxTier, { choice, quotas }: ConsentPageOptions): Html {
  const { requests, windowMs } = quotas[tier].text;
  const amount = new Intl.NumberFormat('en', { notation: 'compact' }).format(requests);
  return html`<label class="plan"><input type="radio" name="tier" value="${tier}"${checked(choice.tier === tier)}><span><b>${tier}</b><small>${amount} calls in\u00a0${writeWindow(windowMs)}</small></span></label>
`;
}

function writeWindow(windowMs: number): string {
  const hours = windowMs / 3_600_000;
  return hours >= 1 ? `${Math.round(hours)}\u00a0h` : `${Math.round(windowMs / 1000)}\u00a0s`;
}

function listScopes({ scopes }: AuthorizationRequest): Html[] {
  const meanings = [...meaningsOf(scopes)];
  if (meanings.length === 0) return [html`<li>Know that you allowed it, and nothing else</li>`];
  return meanings.map((meaning) => html`<li>${SCOPE_WORDS[meaning]}</li>`);
}

function checked(isChecked: boolean): Html {
  return isChecked ? html` checked` : html``;
}
