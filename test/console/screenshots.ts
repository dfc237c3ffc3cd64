// Takes the pictures of docs/images: `npm run screenshots`, while port 8045 is free.

import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { VIEWS } from './look-views.ts';
import { openView, ROOT, SCHEMES, startBrowser } from './open-view.ts';

const OUT = resolve(ROOT, 'docs/images');
const NAMES = ['requests', 'usage', 'clients'];
/** Some pictures show the address of the gateway. */
const PORT = 8045;
const SIZE = { width: 1120, height: 720 };

mkdirSync(OUT, { recursive: true });
const browser = await startBrowser();
try {
  for (const view of VIEWS.filter(({ name }) => NAMES.includes(name))) {
    for (const scheme of SCHEMES) {
      const { page, show, close } = await openView(browser, {
        view,
        scheme,
        size: SIZE,
        port: PORT,
      });
      await show();
      await page.screenshot({ path: resolve(OUT, `${view.name}-${scheme}.png`) });
      await close();
    }
  }
} finally {
  await browser.close();
}
