// What a page of the console is, and the one that stands in while none is built.

import { hash } from 'node:crypto';

/** A page as it is sent this once. */
export interface ConsolePage {
  readonly html: string;
  readonly policy: string;
}

const STYLE =
  'body{font:1rem/1.6 system-ui,sans-serif;max-width:40rem;margin:15vh auto 0;padding:0 1rem;' +
  'color-scheme:light dark}code{padding:.1em .3em;border:1px solid;border-radius:.3em}';

const HTML =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>isthmus</title>' +
  `<meta name="viewport" content="width=device-width"><style>${STYLE}</style>` +
  '<h1>isthmus is running</h1>' +
  '<p>The gateway answers model requests. Its web console is not built yet: run ' +
  '<code>npm start</code> in its folder, which builds it, or set <code>ABV_DIST_PATH</code> to ' +
  'the folder of a built console.</p>' +
  '<p>Until then everything can be done with the command line (<code>npx isthmus --help</code>) and ' +
  'the admin API, which <a href="/api/openapi.json">describes itself</a>.</p></html>';

export const PLACEHOLDER_PAGE: ConsolePage = {
  html: HTML,
  policy:
    `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; ` +
    `base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
};
