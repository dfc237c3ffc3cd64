// The shell of the sandbox's few pages: self-contained, no script, light and dark, wide and narrow.

import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

/** HTML that is safe to send: only `html` and `join` make it, and they escape what they are given. */
export interface Html {
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
export function html(texts: TemplateStringsArray, ...values: readonly (string | Html)[]): Html {
  const pieces = texts.map((text, index) => {
    const value = values[index];
    if (value === undefined) return text;
    return text + (typeof value === 'string' ? escapeHtml(value) : value.safe);
  });
  return { safe: pieces.join('') };
}

export function join(parts: readonly Html[]): Html {
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
