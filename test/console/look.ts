// Takes pictures of the console in both themes and two widths, and reports what axe and the policy say.
//
//   node test/console/look.ts [name …]      views whose name begins so; all without one
//
// Needs the built console in `dist/` (or ISTHMUS_LOOK_DIST) and a Chromium (CHROMIUM_PATH).

import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { VIEWS } from './look-views.ts';
import { evaluate, type Look, openView, ROOT, SCHEMES, startBrowser } from './open-view.ts';

const OUT = resolve(ROOT, 'test-results/console');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SIZES = [
  { width: 1280, height: 860 },
  { width: 390, height: 844 },
] as const;

/** Whatever a person should know; nothing when all is well. */
async function look(browser: Browser, { view, scheme, size }: Look): Promise<readonly string[]> {
  const { name } = view;
  const { page, show, close } = await openView(browser, { view, scheme, size });
  const problems = listen(page);
  try {
    await show();
    const picture = `${name}-${scheme}-${size.width}.png`;
    const isDialog = (await page.getByRole('dialog').count()) > 0;
    await page.screenshot({ path: resolve(OUT, picture), fullPage: !isDialog });
    problems.push(...(await checkWidth(page)), ...(await checkAxe(page)));
  } catch (error) {
    problems.push(`could not be looked at: ${String(error)}`);
  } finally {
    await close();
  }
  return problems.map((problem) => `${name} ${scheme} ${size.width}: ${problem}`);
}

/** Script that runs where only text should be, broken rules of the policy, errors. */
function listen(page: Page): string[] {
  const problems: string[] = [];
  page.on('dialog', (dialog) => {
    problems.push(`a script ran: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()}`);
  });
  return problems;
}

async function checkWidth(page: Page): Promise<readonly string[]> {
  const tooWide = await evaluate(
    page,
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  return Number(tooWide) > 0 ? [`the page is ${tooWide} pixels wider than the window`] : [];
}

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly targets: readonly string[];
}

async function checkAxe(page: Page): Promise<readonly string[]> {
  await evaluate(page, `${AXE}; true`);
  const found = await evaluate(
    page,
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      JSON.stringify(violations.map(({ id, impact, nodes }) => ({
        id, impact, targets: nodes.slice(0, 3).map((one) => one.target + ': ' + one.failureSummary),
      }))))`,
  );
  const findings: readonly Finding[] = JSON.parse(String(found));
  return findings
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, impact, targets }) => `axe ${impact} ${id}: ${targets.join(' | ')}`);
}

const wanted = process.argv.slice(2);
const views = VIEWS.filter(
  ({ name }) => wanted.length === 0 || wanted.some((start) => name.startsWith(start)),
);
mkdirSync(OUT, { recursive: true });
const browser = await startBrowser();
const problems: string[] = [];
try {
  for (const view of views) {
    const looks = SIZES.flatMap((size) => SCHEMES.map((scheme) => ({ view, scheme, size })));
    const found = await Promise.all(looks.map((one) => look(browser, one)));
    problems.push(...found.flat());
  }
} finally {
  await browser.close();
}
for (const problem of problems) console.log(problem);
console.log(`${views.length} views, ${problems.length} problems; pictures in ${OUT}`);
process.exitCode = problems.length === 0 ? 0 : 1;
