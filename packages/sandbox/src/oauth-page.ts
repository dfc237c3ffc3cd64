// The consent page and the other pages of the sign-in: self-contained, no script, light and dark, wide and narrow.

import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { meaningsOf, SCOPE_WORDS } from './oauth-tokens.ts';
import { SANDBOX_TIERS, type SandboxTier, type TierQuotas } from './state.ts';

/** What the form holds when it is shown, or shown again. */
export interface ConsentChoice {
  /** An e-mail of the offered people, or `someone` for the one typed. */
  readonly person: string;
  readonly email: string;
  readonly tier: SandboxTier;
}

interface ConsentRequest {
  readonly client: { readonly name: string };
  readonly redirectUrl: string;
  readonly scopes: readonly string[];
}

interface ConsentPageOptions {
  /** Which client asks, for what, and where it is sent back to. */
  readonly request: ConsentRequest;
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

function listScopes({ scopes }: ConsentRequest): Html[] {
  const meanings = [...meaningsOf(scopes)];
  if (meanings.length === 0) return [html`<li>Know that you allowed it, and nothing else</li>`];
  return meanings.map((meaning) => html`<li>${SCOPE_WORDS[meaning]}</li>`);
}

function checked(isChecked: boolean): Html {
  return isChecked ? html` checked` : html``;
}

/** HTML that is safe to send: only `html` and `join` make it, and they escape what they are given. */
interface Html {
  readonly safe: string;
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

/** Safe between tags and within quoted attributes. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES.get(character) ?? character);
}

/** Escapes every value that is not HTML already. */
function html(texts: TemplateStringsArray, ...values: readonly (string | Html)[]): Html {
  const pieces = texts.map((text, index) => {
    const value = values[index];
    if (value === undefined) return text;
    return text + (typeof value === 'string' ? escapeHtml(value) : value.safe);
  });
  return { safe: pieces.join('') };
}

function join(parts: readonly Html[]): Html {
  return { safe: parts.map(({ safe }) => safe).join('') };
}

export interface Page {
  readonly status: number;
  readonly title: string;
  readonly body: Html;
  /** Origins the page's form may lead to beside the sandbox itself. */
  readonly formTargets?: readonly string[];
}

export function sendPage(response: ServerResponse, page: Page): void {
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title}</title>
<style>${{ safe: STYLE }}</style>
</head>
<body>
<main>
<p class="brand"><svg viewBox="0 0 32 32" aria-hidden="true"><path d="M4 7h24v4c-7 1-9 3-9 5s2 4 9 5v4H4v-4c7-1 9-3 9-5s-2-4-9-5z"/></svg>Sandbox accounts</p>
${page.body}
</main>
<footer>Nothing here is real. These people, plans and quotas live in this program only, and no password is ever asked for.</footer>
</body>
</html>
`;
  const bytes = Buffer.from(document.safe);
  response.writeHead(page.status, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': bytes.length,
    'content-security-policy': securityPolicy(page.formTargets ?? []),
    'cache-control': 'no-store',
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  });
  response.end(bytes);
}

/** Browsers hold the redirect that answers a form to `form-action` too (CSP 3, 6.4.2). */
function securityPolicy(formTargets: readonly string[]): string {
  const digest = createHash('sha256').update(STYLE).digest('base64');
  return [
    "default-src 'none'",
    `style-src 'sha256-${digest}'`,
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const STYLE = `
:root{--page:#eef1f6;--card:#fff;--ink:#1b2230;--soft:#5b6577;--line:#d8dee9;--tint:#f1f5ff;--accent:#2f5bea;--on:#fff;--bad:#b3261e;--badtint:#fdecea}
@media (prefers-color-scheme:dark){:root{--page:#0f131a;--card:#181e28;--ink:#e8ecf4;--soft:#9aa6b9;--line:#2d3645;--tint:#1e2940;--accent:#7d9bff;--on:#0c1226;--bad:#ff9b93;--badtint:#3a1e1d}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;padding:clamp(12px,5vw,48px) 12px;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif;display:flex;flex-direction:column;align-items:center}
main{width:100%;max-width:460px;background:var(--card);border:1px solid var(--line);border-radius:16px;padding:clamp(18px,6vw,32px)}
.brand{display:flex;align-items:center;gap:8px;margin:0 0 18px;color:var(--soft);font-size:14px}
.brand svg{width:22px;height:22px;fill:var(--accent)}
h1{margin:0 0 6px;font-size:22px;line-height:1.25;overflow-wrap:anywhere}
p{margin:0 0 14px}
.soft{color:var(--soft);font-size:14px;overflow-wrap:anywhere}
.error{background:var(--badtint);color:var(--bad);border-radius:10px;padding:10px 14px;overflow-wrap:anywhere}
fieldset{border:0;padding:0;margin:20px 0 0;min-width:0}
legend,h2{padding:0;margin:0 0 8px;font-size:14px;font-weight:600}
label{cursor:pointer}
.person{display:flex;align-items:center;gap:12px;padding:10px 12px;border:1px solid var(--line);margin-top:-1px}
.person:first-of-type{border-radius:12px 12px 0 0;margin-top:0}
.person:last-of-type{border-radius:0 0 12px 12px}
.person:has(:checked),.plan:has(:checked){background:var(--tint)}
.person span{min-width:0;overflow-wrap:anywhere}
.person b,.plan b{display:block;font-weight:600}
.person small,.plan small{color:var(--soft);font-size:13px}
input[type=radio]{accent-color:var(--accent);width:18px;height:18px;margin:0;flex:none}
.email{display:none;margin-top:10px}
form:has(#someone:checked) .email{display:block}
.email input{width:100%;margin-top:4px;padding:10px 12px;font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:10px}
.plans{display:grid;grid-template-columns:repeat(3,1fr);gap:8px}
.plan{display:flex;flex-direction:column;gap:6px;padding:10px;border:1px solid var(--line);border-radius:12px}
.scopes{list-style:none;margin:0;padding:0}
.scopes li{padding:6px 0 6px 28px;position:relative}
.scopes li::before{content:"";position:absolute;left:6px;top:12px;width:6px;height:11px;border:solid var(--accent);border-width:0 2px 2px 0;transform:rotate(45deg)}
.scopes section,h2{margin-top:20px}
.actions{display:flex;gap:10px;margin-top:24px}
button{flex:1;padding:12px;font:inherit;font-weight:600;border-radius:12px;border:1px solid var(--line);background:transparent;color:inherit;cursor:pointer}
button.main{background:var(--accent);border-color:var(--accent);color:var(--on)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
footer{max-width:460px;margin-top:16px;padding:0 12px;color:var(--soft);font-size:13px;text-align:center}
`;
