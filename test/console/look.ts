// Takes pictures of the console in both themes and two widths, and reports what axe and the policy say.
//
//   node test/console/look.ts [name …]      views whose name begins so; all without one
//
// Needs the built console in `dist/` (or ISTHMUS_LOOK_DIST) and a Chromium (CHROMIUM_PATH).

import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { startFakeApi } from './fake-api.ts';
import { VIEWS, type View } from './look-views.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const OUT = resolve(ROOT, 'test-results/console');
const DIST = process.env.ISTHMUS_LOOK_DIST ?? resolve(ROOT, 'dist');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const NOW = Date.UTC(2026, 10, 21, 14, 5);
const SCHEMES = ['light', 'dark'] as const;
const SIZES = [
  { width: 1280, height: 860 },
  { width: 390, height: 844 },
] as const;

interface Look {
  readonly view: View;
  readonly scheme: (typeof SCHEMES)[number];
  readonly size: (typeof SIZES)[number];
}

/** Whatever a person should know; nothing when all is well. */
async function look(browser: Browser, { view, scheme, size }: Look): Promise<readonly string[]> {
  const { name, path, scene, needsPassword = false, language = 'en' } = view;
  const api = await startFakeApi({ scene, needsPassword, distPath: DIST, port: 0, now: NOW });
  const context = await browser.newContext({
    viewport: size,
    colorScheme: scheme,
    locale: language === 'zh' ? 'zh-CN' : 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const problems = listen(page);
  const loading = follow(page);
  try {
    await page.clock.setFixedTime(NOW);
    await page.goto(api.url + path);
    await page.locator('main').first().waitFor();
    await page.waitForLoadState('load');
    await settle(page, loading);
    await view.prepare?.(page);
    await settle(page, loading);
    const picture = `${name}-${scheme}-${size.width}.png`;
    const isDialog = (await page.getByRole('dialog').count()) > 0;
    await page.screenshot({ path: resolve(OUT, picture), fullPage: !isDialog });
    problems.push(...(await checkWidth(page)), ...(await checkAxe(page)));
  } catch (error) {
    problems.push(`could not be looked at: ${String(error)}`);
  } finally {
    await context.close();
    await api.close();
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

/** The requests under way; the live feed, which never ends, is none of them. */
function follow(page: Page): ReadonlySet<unknown> {
  const loading = new Set<unknown>();
  page.on('request', (request) => {
    if (request.resourceType() !== 'eventsource') loading.add(request);
  });
  page.on('requestfinished', (request) => loading.delete(request));
  page.on('requestfailed', (request) => loading.delete(request));
  return loading;
}

/** Until nothing is loading any more, and what was loaded is drawn. */
async function settle(page: Page, loading: ReadonlySet<unknown>): Promise<void> {
  do {
    await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
    await evaluate(
      page,
      `document.fonts.ready.then(() => new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`,
    );
  } while (loading.size > 0);
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
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

/** Through the browser's own door: the page's policy allows no foreign script. */
async function evaluate(page: Page, expression: string): Promise<unknown> {
  const session = await page.context().newCDPSession(page);
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
  return result.value;
}

const wanted = process.argv.slice(2);
const views = VIEWS.filter(
  ({ name }) => wanted.length === 0 || wanted.some((start) => name.startsWith(start)),
);
mkdirSync(OUT, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
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
