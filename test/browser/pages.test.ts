// What holds for every page of the console: accessibility, narrow widths, history and focus.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isJsonObject } from '../../src/lib/json.ts';
import { type ConsoleApp, isWithoutBrowser, startConsole } from './console-app.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Place = readonly [path: string, shown: string];

/** Every page and part of a page that has an address of its own, with a text it shows. */
const PLACES: readonly Place[] = [
  ['/', 'too many moons'],
  ['/accounts', 'mary@sandbox.example'],
  ['/accounts?add=sign-in', 'Start sign-in'],
  ['/routing', 'house-*'],
  ['/routing?name=house-cat', 'applies'],
  ['/routing?tab=catalogue', 'alpha-3-flash'],
  ['/routing?tab=provider', 'Exact mapping'],
  ['/keys', 'Ada’s laptop'],
  ['/keys?tab=budgets', 'Whole gateway'],
  ['/requests', 'too many moons'],
  ['/requests/session?session=my-run', 'Account binding'],
  ['/usage', 'alpha-3-flash'],
  ['/usage?period=thisMonth&by=owner', 'This month'],
  ['/usage?model=alpha-3-flash&by=account', 'Success rate'],
  ['/playground', 'Send a message'],
  ['/clients', 'ANTHROPIC_BASE_URL'],
  ['/clients?client=vercel-ai&with=openai-compatible', 'createOpenAICompatible'],
  ['/security', 'Who needs a key'],
  ['/security?tab=people', 'Ann of the office'],
  ['/security?tab=addresses', '203.0.113.7'],
  ['/security?tab=log', 'Invalid or missing key'],
  ['/security?tab=audit', '/api/keys'],
  ['/security?tab=web', 'Trusted proxies'],
  ['/settings', 'Gateway key'],
  ['/settings?section=network', 'Max request size'],
  ['/settings?section=upstreams', 'play'],
  ['/settings?section=pool', 'Account selection'],
  ['/settings?section=monitor', 'Retention period'],
  ['/settings?section=environment', 'ABV_DIST_PATH'],
  ['/logs', 'request'],
  ['/no-such-page', 'Page not found'],
];

const DESK = { width: 1280, height: 860 } as const;
const PHONE = { width: 390, height: 844 } as const;
const IS_WIDE = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';

const NEXT_FRAME =
  'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

/** Where the focus is, and whether one sees it. */
const FOCUS_PLACE = `(() => {
  const { activeElement: element } = document;
  const isInside = element.closest('[role=dialog]') !== null;
  const { outlineStyle, outlineWidth, borderColor } = getComputedStyle(element);
  const isSeen = (outlineStyle !== 'none' && outlineWidth !== '0px') || element.matches('input');
  return (isInside ? 'inside' : 'outside') + (isSeen ? ', seen' : ', unseen ' + borderColor);
})()`;

/** The field's limit of what a good page shifts while it loads. */
const MAX_SHIFT = 0.1;

/** Writes down what shifts, and brings each answer in a frame of its own, as a slow line would. */
const WATCH_SHIFTS = `globalThis.shifts = [];
new PerformanceObserver((list) => shifts.push(...list.getEntries()
  .filter(({ hadRecentInput }) => !hadRecentInput)
  .map(({ value, sources }) => ({ value, moved: sources.map(
    ({ node }) => node?.className ?? node?.parentElement?.className) })))
).observe({ type: 'layout-shift', buffered: true });
globalThis.lastAnswer = undefined;
const { fetch } = globalThis;
globalThis.fetch = (...asked) => {
  const answer = Promise.all([fetch(...asked), lastAnswer])
    .then(([answer]) => ${NEXT_FRAME}.then(() => answer));
  lastAnswer = answer.catch(() => undefined);
  return answer;
};`;

/** All shifts, once every answer has come and was painted. */
const READ_SHIFTS = `(async () => {
  for (let last; last !== lastAnswer; await ${NEXT_FRAME}) await (last = lastAnswer);
  return JSON.stringify(shifts);
})()`;

/** Counts the times that rows write, and the formats that are made to write them. */
const COUNT_TIMES = `globalThis.timesWritten = 0;
globalThis.formatsMade = 0;
const { DateTimeFormat } = Intl;
const { get } = Object.getOwnPropertyDescriptor(DateTimeFormat.prototype, 'format');
Object.defineProperty(DateTimeFormat.prototype, 'format', {
  get() {
    timesWritten += 1;
    return get.call(this);
  },
});
Intl.DateTimeFormat = new Proxy(DateTimeFormat, {
  construct(...made) {
    formatsMade += 1;
    return Reflect.construct(...made);
  },
});`;

/** Resolves once the rows are drawn, which come bit by bit, and counts anew. */
const UNTIL_WRITTEN = `(async () => {
  for (let last; last !== timesWritten; await new Promise(requestIdleCallback)) {
    last = timesWritten;
    await ${NEXT_FRAME};
  }
  timesWritten = 0;
})()`;

/** By its middle and its ends; what is drawn over the input of a switch is its own. */
const IS_COVERED = `(() => {
  const { activeElement: element } = document;
  const { left, top, width, height } = element.getBoundingClientRect();
  const isOver = (share) => {
    const found = document.elementFromPoint(left + width / 2, top + height * share);
    return found === null || found.closest('.bottom-bar, .mantine-Drawer-header, .form-actions') !== null;
  };
  const isOfBar = element.closest('.bottom-bar, .mantine-Drawer-header, .form-actions') !== null;
  return width > 0 && !isOfBar && [0.1, 0.5, 0.9].every(isOver);
})()`;

/** What is pressed and is less than forty pixels high; links in a running text are as high as the text. */
const SMALL_TARGETS = `JSON.stringify([...document.querySelectorAll(
  'button, a, [role=tab], select, textarea, input:not([type=hidden], [type=checkbox], [type=radio])'
)].filter((element) => {
  const frame = element.closest('.mantine-Input-wrapper') ?? element;
  const { width, height, bottom } = frame.getBoundingClientRect();
  const { visibility, display } = getComputedStyle(element);
  if (width === 0 || height === 0 || bottom < 0 || visibility === 'hidden') return false;
  if (element.matches('.visually-hidden') || (element.localName === 'a' && display === 'inline')) return false;
  return height < 39.5;
}).map((element) => element.localName + '.' + element.className + ' ' +
  (element.getAttribute('aria-label') ?? element.innerText).slice(0, 30)))`;

/** Tables that scroll sideways, and choices and placeholders that do not fit their place. */
const CUT_OFF = `JSON.stringify([...document.querySelectorAll(
  'table, input, .mantine-SegmentedControl-root, .mantine-Button-label')]
.filter((element) => {
  const { font, paddingInlineStart, paddingInlineEnd, visibility } = getComputedStyle(element);
  if (element.checkVisibility() === false || visibility === 'hidden') return false;
  if (element.localName === 'table') {
    const frame = element.closest('section') ?? element;
    return frame.scrollWidth > frame.clientWidth;
  }
  if (element.localName !== 'input') return element.scrollWidth > element.clientWidth;
  if (element.value !== '') return false;
  const canvas = document.createElement('canvas').getContext('2d');
  canvas.font = font;
  const room = element.clientWidth - parseFloat(paddingInlineStart) - parseFloat(paddingInlineEnd);
  return canvas.measureText(element.placeholder).width > room + 1;
}).map((element) => element.placeholder ?? element.closest('section')?.ariaLabel ?? element.innerText))`;

describe.skipIf(isWithoutBrowser)('every page of the console', () => {
  let console: ConsoleApp;
  beforeAll(async () => {
    console = await startConsole({ keepsLog: true });
    await console.api('PATCH', '/api/config/mapping', { 'house-*': 'alpha-3-flash' });
    const holder = { owner: 'ada@example.org', team: 'Research', tags: ['ci'] };
    const { key } = await console.api('POST', '/api/keys', { name: 'Ada’s laptop', ...holder });
    const budget = { unit: 'tokens', amount: 1000, period: 'day' };
    const subject = isJsonObject(key) ? (key.id ?? '') : '';
    await console.api('POST', '/api/budgets', { scope: 'key', subject, ...budget });
    await console.api('POST', '/api/budgets', { scope: 'gateway', ...budget, unit: 'money' });
    await console.app.access.people.add({ name: 'Ann of the office', role: 'operator' });
    await console.api('POST', '/api/invitations/key', { name: 'A laptop' });
    const rule = { list: 'deny', range: '203.0.113.7', note: 'Scans' };
    await console.api('POST', '/api/address-rules', rule);
    await console.ask({ model: 'house-cat' }, { 'x-session-id': 'my-run' });
    const fault = { status: 400, message: 'There are too many moons.', count: 1 };
    await console.control('POST', '/sandbox/faults', fault);
    await console.ask();
    await fetch(`${console.url}/api/keys`, { headers: { authorization: 'Bearer wrong' } });
  });
  afterAll(() => console?.close());

  test('has no finding of axe in either theme, and fits a phone and its fingers', async () => {
    const places = PLACES.values();
    const findings: string[] = [];
    // Two pages at a time: while one loads the other is looked at.
    const look = async (): Promise<void> => {
      const page = await console.open('/');
      for (const place of places) findings.push(...(await checkPlace(page, console.url, place)));
    };
    await Promise.all([look(), look()]);
    expect(findings).toEqual([]);
    expect(console.problems).toEqual([]);
  }, 180_000);

  test('no page moves what one reads while it loads, on a desk and a phone', async () => {
    const findings: string[] = [];
    const look = async (viewport: { width: number; height: number }): Promise<void> => {
      const page = await console.open('/', { viewport });
      await page.addInitScript(WATCH_SHIFTS);
      for (const [path, shown] of PLACES) {
        await page.goto(console.url + path);
        await page.getByText(shown).locator('visible=true').first().waitFor();
        const shifts = JSON.parse(String(await page.evaluate(READ_SHIFTS)));
        const sum = shifts.reduce((all: number, { value }: { value: number }) => all + value, 0);
        const said = `${viewport.width} ${path} ${sum.toFixed(3)} ${JSON.stringify(shifts)}`;
        if (sum > MAX_SHIFT) findings.push(said);
      }
    };
    await Promise.all([look({ width: 1440, height: 900 }), look(PHONE)]);
    expect(findings).toEqual([]);
    expect(console.problems).toEqual([]);
  }, 180_000);

  test('cuts no choice, no button and no placeholder off, and scrolls no table sideways, at any width, in any language', async () => {
    const findings: string[] = [];
    const look = async (locale: string): Promise<void> => {
      const page = await console.open('/', { locale });
      await page.addInitScript(WATCH_SHIFTS);
      for (const [path] of PLACES) {
        await page.goto(console.url + path);
        await page.evaluate(READ_SHIFTS);
        for (const width of [390, 768, 1000, 1280, 1920]) {
          await page.setViewportSize({ width, height: 860 });
          await page.evaluate(NEXT_FRAME);
          const found = String(await page.evaluate(CUT_OFF));
          if (found !== '[]') findings.push(`${locale} ${width} ${path}: ${found}`);
        }
      }
    };
    await Promise.all(['en-GB', 'zh-CN', 'ja-JP'].map(look));
    expect(findings).toEqual([]);
  }, 360_000);

  test('usage, errors and the check of a name lead to one model, and on to its price', async () => {
    const page = await console.open('/usage');
    const model = page.getByRole('region', { name: 'alpha-3-flash' });
    for (const [path, link] of [
      ['/', page.getByRole('row', { name: /too many moons/ }).getByText('alpha-3-flash')],
      ['/routing?name=house-cat', page.getByRole('link', { name: 'Usage and latency' })],
      ['/usage', page.getByRole('table').getByRole('link', { name: 'alpha-3-flash' })],
    ] as const) {
      await page.goto(console.url + path);
      await link.first().click();
      await model.getByText('50%').waitFor();
      await model
        .getByRole('link', { name: /(ruth|mary)@sandbox.example/ })
        .first()
        .waitFor();
    }
    await model.getByRole('link', { name: 'Set your own price' }).click();
    await expect.poll(() => focused(page)).toBe('Input');
    expect(await page.getByLabel('Model or pattern').inputValue()).toBe('alpha-3-flash');
    expect(console.problems).toEqual([]);
  });

  test('an own price is read as it is written, edited as it is, and put back as it was', async () => {
    const price = { input: 3, cache_write: 3.75, output: 15 };
    await console.api('PATCH', '/api/config/prices', { 'play/house-cat': price });
    const page = await console.open('/routing');
    const row = page.getByRole('listitem').filter({ hasText: 'play/house-cat' });
    await row.getByText('Input $3.00 · Cache write $3.75 · Output $15.00').waitFor();
    await row.getByRole('button', { name: 'Edit the price of play/house-cat' }).click();
    expect(await page.getByLabel('Output', { exact: true }).inputValue()).toBe('15');
    await page.getByLabel('Cached input').fill('0,300');
    await page.getByLabel('Input', { exact: true }).fill('2.5');
    await page.getByText('Must be a number').waitFor();
    const save = page.getByRole('button', { name: 'Save price' });
    expect(await save.isDisabled()).toBe(true);
    await page.getByLabel('Cached input').fill('0.125');
    await save.click();
    await row.getByText(/Input \$2.50 .* Cached input \$0.125/).waitFor();
    const prices = () => console.settings().prices['play/house-cat'];
    await expect.poll(prices).toMatchObject({ ...price, input: 2.5, cached_input: 0.125 });
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(prices).toEqual(price);
    await page.getByRole('alert').getByRole('button', { name: 'Close' }).first().click();
    await row.getByRole('button', { name: 'Remove the price of play/house-cat' }).click();
    await row.waitFor({ state: 'detached' });
    expect(console.problems).toEqual([]);
  });

  test('on a phone a row says what its times are, and keeps its buttons together', async () => {
    await console.api('PATCH', '/api/config/prices', { 'house-cat': { input: 3, output: 15 } });
    const page = await console.open('/security?tab=people', { viewport: PHONE });
    await page.locator('.cell-label', { hasText: 'Last sign-in' }).waitFor();
    await page.locator('.cell-label', { hasText: 'Expires' }).waitFor();
    await page.goto(`${console.url}/routing`);
    const row = page.getByRole('listitem').filter({ hasText: 'house-cat' });
    const topOf = async (name: RegExp): Promise<number | undefined> =>
      (await row.getByRole('button', { name }).boundingBox())?.y;
    expect(await topOf(/^Remove the price/)).toBe(await topOf(/^Edit the price/));
    await console.api('PATCH', '/api/config/prices', { 'house-cat': null });
    await page.close();
  });

  test('one long name leaves room for the models of all names', async () => {
    const long = `projects/${'a-long-name/'.repeat(18)}model`;
    await console.api('PATCH', '/api/config/mapping', { [long]: 'alpha-3-flash' });
    const page = await console.open('/routing?tab=catalogue');
    await page.getByRole('button', { name: long }).waitFor();
    const { width = 0 } =
      (await page.locator('.models td:nth-child(2)').first().boundingBox()) ?? {};
    expect(width).toBeGreaterThan(200);
    await console.api('PATCH', '/api/config/mapping', { [long]: null });
    await page.close();
  });

  test('the timeline of a session ends before the accounts of its calls begin', async () => {
    for (const _ of [1, 2, 3]) await console.ask({}, { 'x-session-id': 'three-calls' });
    const page = await console.open('/requests/session?session=three-calls');
    await page.locator('.session-bar > span').nth(2).waitFor();
    const gaps = await page.evaluate(`[...document.querySelectorAll('.session-bar > span')].map(
      (bar) => bar.parentElement.nextElementSibling.getBoundingClientRect().left -
        bar.getBoundingClientRect().right)`);
    expect(gaps).toEqual([1, 2, 3].map(() => expect.toSatisfy((gap) => Number(gap) > 5)));
    await page.close();
  });

  test('every rate of an own price is edited in the console, those of thinking, sound and pictures as well', async () => {
    const page = await console.open('/routing');
    await page.getByLabel('Model or pattern').fill('play/*');
    await page.getByText('More rates').click();
    await page.getByLabel('Thinking').fill('12');
    await page.getByLabel('Audio input').fill('1.5');
    await page.getByLabel('Per image').fill('0.04');
    await page.getByRole('button', { name: 'Add price' }).click();
    const prices = () => console.settings().prices['play/*'];
    await expect.poll(prices).toMatchObject({ thought: 12, audio_input: 1.5, image: 0.04 });
    await page.getByRole('button', { name: 'Edit the price of play/*' }).click();
    expect(await page.getByLabel('Per image').inputValue()).toBe('0.04');
    await page.getByLabel('Thinking').fill('');
    await page.getByRole('button', { name: 'Save price' }).click();
    await expect.poll(prices).not.toHaveProperty('thought');
    expect(prices()).toMatchObject({ audio_input: 1.5, image: 0.04 });
    await console.api('PATCH', '/api/config/prices', { 'play/*': null });
    expect(console.problems).toEqual([]);
  });

  test('what is in no group of the usage leads to the requests that are in none', async () => {
    const page = await console.open('/usage?by=owner');
    const row = page.getByRole('row').filter({ hasText: '(none)' });
    await row.waitFor();
    const count = await row.getByRole('link').nth(1).innerText();
    await row.getByRole('link', { name: '(none)' }).click();
    await page.locator('.filter-marks').getByText('Owner').waitFor();
    expect(new URL(page.url()).searchParams.get('without')).toBe('owner');
    await page.getByText(`${count} requests`).first().waitFor();
    expect(console.problems).toEqual([]);
  });

  test('usage is printed with what it is narrowed to, and without shortcuts to other views', async () => {
    const page = await console.open('/usage?model=alpha-3-flash&by=account');
    const shortcuts = page.locator('.usage-shortcuts');
    await shortcuts.getByText('Model: alpha-3-flash').waitFor();
    await page.emulateMedia({ media: 'print' });
    expect((await shortcuts.innerText()).trim()).toBe('Model: alpha-3-flash');
  });

  test('usage is downloaded with every group', async () => {
    const page = await console.open('/usage');
    const button = page.getByRole('button', { name: 'Download CSV' });
    const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
    const table = await text(await file.createReadStream());
    expect(table).toMatch(/^from,model,requests,/);
    expect(table).toContain(',alpha-3-flash,');
  });

  test('open menus and lists have no finding of axe in either theme', async () => {
    const page = await console.open('/');
    const findings: string[] = [];
    for (const path of ['/accounts', '/keys', '/requests?status=ok']) {
      await page.goto(console.url + path);
      await page.locator('main [aria-haspopup=menu]').first().click();
      await page.getByRole('menuitem').first().waitFor();
      await evaluate(page, AXE);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
        findings.push(...(await checkAxe(page, 'all')).map((one) => `${path}: ${one}`));
      }
      const first = await page.getByRole('menuitem').first().innerText();
      expect(await focused(page)).toBe(first.trim());
    }
    await page.goto(`${console.url}/logs`);
    await page.locator('main [aria-haspopup=listbox]').first().click();
    await page.getByRole('option').first().waitFor();
    await evaluate(page, AXE);
    findings.push(...(await checkAxe(page, 'all')));
    expect(findings).toEqual([]);
  });

  test('the entry that decides is marked, not one that has the name of its target', async () => {
    const entries = { 'house-name': 'alpha-3-flash', 'alpha-3-flash': 'alpha-3-pro-high' };
    await console.api('PATCH', '/api/config/mapping', entries);
    const page = await console.open('/routing?name=house-name-online');
    await page.locator('.where-steps').getByText('Your entry house-name maps it').waitFor();
    expect(await page.locator('.entry.is-deciding .entry-name').allInnerTexts()).toEqual([
      expect.stringContaining('house-name'),
    ]);
    const none = { 'house-name': null, 'alpha-3-flash': null };
    await console.api('PATCH', '/api/config/mapping', none);
    expect(console.problems).toEqual([]);
  });

  test('a search leaves the rows that it finds as they stand', async () => {
    const page = await console.open('/accounts');
    const card = await page.locator('.account-card', { hasText: 'ruth@' }).elementHandle();
    await page.getByRole('searchbox').fill('ruth@');
    await page.locator('.account-card', { hasText: 'mary@' }).waitFor({ state: 'detached' });
    expect(await card?.isVisible()).toBe(true);
    await page.close();
  });

  test('a letter more in the search of a long list makes no row anew, and all rows share their formats', async () => {
    const page = await console.open('/');
    await page.addInitScript(COUNT_TIMES);
    // Else rows tell each second how long ago something was.
    await page.clock.setFixedTime(Date.now());
    for (const name of ['accounts', 'keys'] as const) {
      const { [name]: known } = await console.api('GET', `/api/${name}`);
      const [one] = Array.isArray(known) ? known : [];
      const rows = Array.from({ length: 200 }, (_, index) => ({
        ...(isJsonObject(one) ? one : {}),
        id: `many-${index}`,
        name: `many-${index}`,
        label: `many-${index}`,
        lastUsedAt: new Date().toISOString(),
      }));
      await page.route(`**/api/${name}`, (route) => route.fulfill({ json: { [name]: rows } }));
      // The first letter takes the order away that rows may be moved in.
      await page.goto(`${console.url}/${name}?q=m`);
      await page.getByText('many-0').first().waitFor();
      expect(await page.evaluate('formatsMade'), name).toBeLessThan(20);
      await page.evaluate(UNTIL_WRITTEN);
      await page.getByRole('searchbox').fill('many');
      await page.waitForURL(/q=many/);
      expect(await page.evaluate('timesWritten'), name).toBe(0);
    }
    await page.close();
  });

  test('a long list is whole in a window that is longer', async () => {
    const names = Array.from({ length: 400 }, (_, index) => `long-${index}`);
    const entries = Object.fromEntries(names.map((name) => [name, 'alpha-3-flash']));
    await console.api('PATCH', '/api/config/mapping', entries);
    const page = await console.open('/routing', { viewport: { width: 1280, height: 40_000 } });
    await page.locator('.entry-name', { hasText: 'long-399' }).waitFor();
    const none = Object.fromEntries(names.map((name) => [name, null]));
    await console.api('PATCH', '/api/config/mapping', none);
    await page.close();
  });

  test('the reference of the API is light or dark as the system is, and fits a phone', async () => {
    const page = await console.open('/', { viewport: { width: 320, height: 640 } });
    await page.goto(`${console.url}/api/docs`);
    await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
    expect(await page.evaluate(IS_WIDE)).toBe(false);
    const colours = `[getComputedStyle(document.body).backgroundColor,
      getComputedStyle(document.querySelector('main a')).color].join(' ')`;
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await page.evaluate(colours)).toBe('rgb(255, 255, 255) rgb(59, 79, 216)');
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await page.evaluate(colours)).toBe('rgb(13, 16, 20) rgb(152, 165, 255)');
    expect(console.problems).toEqual([]);
  });

  test('the page of a key’s holder shows its own use with the key alone, light and dark, on every width', async () => {
    const { key, secret } = await console.api('POST', '/api/keys', { name: 'Grace', team: 'Lab' });
    const subject = isJsonObject(key) ? (key.id ?? '') : '';
    const budget = { unit: 'tokens', amount: 5000, period: 'week', timeZone: 'UTC' };
    await console.api('POST', '/api/budgets', { scope: 'team', subject: 'Lab', ...budget });
    await console.api('POST', '/api/budgets', {
      scope: 'key',
      subject,
      ...budget,
      unit: 'images',
      amount: 1,
    });
    await console.ask({}, { authorization: `Bearer ${secret}` });
    const page = await console.openPage();
    await page.goto(`${console.url}/me`);
    await page.getByLabel('API key').fill('sk-wrong');
    await page.getByRole('button', { name: 'Show usage' }).click();
    await page.getByText('This key is not accepted').waitFor();
    console.problems.length = 0;
    await page.getByLabel('API key').fill(String(secret));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Grace · Lab' }).waitFor();
    await page
      .getByRole('progressbar', { name: /^Your team: .* of 5,000 tokens per week/ })
      .waitFor();
    await page.getByText(/^1 image left/).waitFor();
    await page.getByRole('cell', { name: 'alpha-3-flash' }).waitFor();
    expect(page.url()).toBe(`${console.url}/me`);
    expect(await page.evaluate('localStorage.length + document.cookie.length')).toBe(0);
    const findings: string[] = [];
    await evaluate(page, AXE);
    for (const width of [390, 768, 1280, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(IS_WIDE)).toBe(false);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        findings.push(...(await checkAxe(page, 'all')));
      }
    }
    expect(findings).toEqual([]);
    await page.reload();
    await page.getByRole('heading', { name: 'Grace · Lab' }).waitFor();
    await page.getByRole('button', { name: 'Forget key' }).click();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(console.problems).toEqual([]);
  });

  test('a key’s holder is told why a key does not serve, and keeps what was typed', async () => {
    const path = '/api/keys';
    const { key, secret } = await console.api('POST', path, { name: 'Ida' });
    const ofKey = `${path}/${isJsonObject(key) ? key.id : ''}`;
    const page = await console.openPage();
    await page.goto(`${console.url}/me`);
    const field = page.getByLabel('API key');
    // Typed in a text where a dash became a longer one: no header can hold it.
    for (const [typed, said] of [
      ['sk–wrong', 'Check that it is complete'],
      [String(secret), 'Ida'],
    ] as const) {
      await field.fill(typed);
      await page.keyboard.press('Enter');
      await page.getByText(said).waitFor();
    }
    await console.api('PATCH', ofKey, { enabled: false });
    await page.reload();
    await page.getByText('This key is disabled.').waitFor();
    await console.api('PATCH', ofKey, { enabled: true });
    await page.route('**/v1/usage*', (route) => route.abort());
    await page.reload();
    await page.getByText('The gateway cannot be reached').waitFor();
    await page.unroute('**/v1/usage*');
    await page.reload();
    await page.getByRole('heading', { name: 'Ida' }).waitFor();
    expect(console.problems).toEqual([]);
  });

  test('what a colour tells is told too where the system chooses the colours', async () => {
    const page = await console.open('/', { forcedColors: 'active', colorScheme: 'light' });
    await page.locator('.meter-fill').first().waitFor();
    const looks = await page.evaluate(`[
      getComputedStyle(document.querySelector('.meter-fill')).backgroundColor,
      getComputedStyle(document.querySelector('.status-mark'), '::before').backgroundColor,
      getComputedStyle(document.querySelector('.nav-link[aria-current]')).outlineStyle,
    ].join()`);
    expect(looks).toBe('rgb(45, 164, 78),rgb(45, 164, 78),solid');
  });

  test('the way back of the browser leads from a part of a page to the part before', async () => {
    const page = await console.open('/settings');
    const at = () => page.url().slice(console.url.length);
    await page.getByRole('button', { name: 'Environment' }).click();
    await expect.poll(at).toBe('/settings?section=environment');
    await page.goBack();
    await expect.poll(at).toBe('/settings');
    await page.goto(`${console.url}/accounts`);
    await page.getByRole('button', { name: 'mary@sandbox.example', exact: true }).click();
    await page.getByRole('dialog').waitFor();
    await page.goBack();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(at()).toBe('/accounts');
    expect(console.problems).toEqual([]);
  });

  test('a drawer that is closed leaves no step to go back through', async () => {
    await console.ask();
    await console.api('POST', '/api/keys', { name: 'Ada' });
    const page = await console.open('/settings');
    const at = () => page.url().slice(console.url.length);
    for (const [name, opener] of [
      ['Accounts', page.getByRole('button', { name: 'mary@sandbox.example', exact: true })],
      ['Requests', page.locator('.request-line').first()],
      ['Keys', page.getByRole('button', { name: 'Ada', exact: true })],
    ] as const) {
      await page.getByRole('link', { name }).first().click();
      await opener.click();
      const drawer = sideOf(page, name);
      await drawer.waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'hidden' });
      expect(at()).toBe(`/${name.toLowerCase()}`);
      await page.goBack();
      await expect.poll(at).toBe('/settings');
    }
    expect(console.problems).toEqual([]);
  });

  test('an address of something that is not there says so, and closes to the list', async () => {
    const page = await console.open('/');
    for (const [name, said] of [
      ['Accounts', 'Account not found'],
      ['Keys', 'Key not found'],
      ['Requests', 'Request not found'],
    ] as const) {
      const path = `/${name.toLowerCase()}`;
      await page.goto(`${console.url}${path}/nobody`);
      const drawer = sideOf(page, name);
      await drawer.getByText(said).waitFor();
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'hidden' });
      expect(page.url()).toBe(`${console.url}${path}`);
    }
    expect(console.problems).toEqual([]);
  });

  test('the tab is named after the page, however its address is written', async () => {
    const page = await console.open('/');
    for (const [path, name] of [
      ['/keys/', 'Keys'],
      ['/Keys', 'Keys'],
      ['/requests/session?session=my-run', 'Requests'],
      ['/no-such-page', 'Page not found'],
    ] as const) {
      await page.goto(console.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expect.poll(() => page.title()).toBe(`${name} · isthmus`);
    }
    expect(console.problems).toEqual([]);
  });

  test('what people do most is within reach of the keyboard', async () => {
    const page = await console.open('/');
    const heading = (name: string) => page.getByRole('heading', { name, level: 1 });
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to content');
    for (const [letter, name] of [
      ['a', 'Accounts'],
      ['k', 'Keys'],
      ['q', 'Requests'],
    ] as const) {
      await page.keyboard.press('g');
      await page.keyboard.press(letter);
      await heading(name).waitFor();
    }
    await page.keyboard.press('/');
    expect(await focused(page)).toBe('Search requests');
    await page.keyboard.type('moons');
    const row = page.getByRole('link', { name: /too many moons/ });
    await page.locator('.request-line').nth(1).waitFor({ state: 'detached' });
    await row.focus();
    await page.keyboard.press('Enter');
    const drawer = sideOf(page, 'Requests');
    await drawer.getByText('Why it failed').waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'hidden' });
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('g');
    await page.keyboard.press('k');
    await heading('Keys').waitFor();
    await tabTo(page, 'Create key');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    await expect.poll(() => focused(page)).toBe('Name');
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Enter');
    await page.locator('.secret-box').waitFor();
    await tabTo(page, 'I have copied it');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /By keyboard/ }).waitFor();
    expect(console.problems).toEqual([]);
  });

  test('what the keyboard leads to is not under the bar of a phone, nor under the ends of a drawer', async () => {
    const viewport = { width: 390, height: 500 };
    const page = await console.open('/routing?tab=catalogue', { viewport });
    const ofPage = await listCovered(page);
    await page.goto(`${console.url}/settings?section=upstreams`);
    await page.getByRole('button', { name: 'Add upstream' }).click();
    await page.getByRole('dialog').getByLabel('Base URL').waitFor();
    expect([...ofPage, ...(await listCovered(page))]).toEqual([]);
  });

  test('a dialog keeps the focus, leaves by Escape, and gives the focus back', async () => {
    const page = await console.open('/accounts');
    await tabTo(page, 'Add account');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Add account' });
    await dialog.getByRole('button', { name: 'Add key' }).waitFor();
    await expect.poll(() => page.evaluate(FOCUS_PLACE)).toBe('inside, seen');
    for (let presses = 0; presses < 12; presses += 1) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate(FOCUS_PLACE)).toBe('inside, seen');
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(() => focused(page)).toBe('Add account');
    expect(console.problems).toEqual([]);
  });

  test('a dialog that an entry of a menu opened gives the focus back to its button', async () => {
    await console.api('POST', '/api/keys', { name: 'Of a menu' });
    const page = await console.open('/keys');
    for (const [entry, dialog] of [
      ['Rotate', /^Rotate/],
      ['Edit limits', 'Limits of Of a menu'],
      ['Remove', /^Remove/],
    ] as const) {
      await page.getByRole('button', { name: 'Actions for Of a menu' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('menuitem', { name: entry }).press('Enter');
      const opened = page.getByRole('dialog', { name: dialog });
      await opened.waitFor();
      await page.keyboard.press('Escape');
      await opened.waitFor({ state: 'hidden' });
      await expect.poll(() => focused(page), { message: entry }).toBe('Actions for Of a menu');
    }
    expect(console.problems).toEqual([]);
  });

  test('an entry of a menu that changes an account leaves the focus at its button', async () => {
    const page = await console.open('/accounts');
    for (const entry of ['Disable', 'Enable']) {
      await page.getByRole('button', { name: 'Actions for mary@sandbox.example' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('menuitem', { name: entry }).press('Enter');
      await page.getByRole('menu').waitFor({ state: 'detached' });
      await expect
        .poll(() => focused(page), { message: entry })
        .toBe('Actions for mary@sandbox.example');
    }
    expect(console.problems).toEqual([]);
  });

  test('a button that works keeps the focus, and a step of a dialog that is over hands it on', async () => {
    const page = await console.open('/accounts');
    const dialog = page.getByRole('dialog');
    const press = (name: string) => dialog.getByRole('button', { name }).press('Enter');
    await page.getByRole('button', { name: 'ruth@sandbox.example', exact: true }).click();
    await press('Test');
    await dialog.locator('.test-steps').waitFor();
    await expect.poll(() => focused(page)).toBe('Test');
    await page.goto(`${console.url}/accounts?add=key`);
    await dialog.getByRole('combobox', { name: 'Upstream' }).click();
    await page.getByRole('option', { name: /play/ }).click();
    await dialog.getByLabel('Key', { exact: true }).fill('key-of-ruth-0123456789');
    await press('Add key');
    await dialog.getByText('its credential is accepted').waitFor();
    await expect.poll(() => focused(page)).toBe('Close');
    await press('Add another');
    await expect.poll(() => focused(page)).toBe('Key');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('content');
    expect(console.problems).toEqual([]);
  });

  test('speaks Chinese, in the theme that was chosen, and stays so', async () => {
    const page = await console.open('/keys');
    await page.getByRole('button', { name: 'Appearance' }).click();
    await page.getByRole('menuitem', { name: 'Dark' }).click();
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
    await page.getByRole('button', { name: 'Language' }).click();
    await page.getByRole('menuitem', { name: '中文' }).click();
    await page.locator('html[lang=zh-CN]').waitFor();
    await page.reload();
    await page.locator('html[lang=zh-CN][data-mantine-color-scheme=dark]').waitFor();
    await page.getByRole('button', { name: '创建密钥' }).first().waitFor();
    await page.getByRole('link', { name: '概览' }).first().click();
    await page.getByRole('button', { name: '语言' }).click();
    await page.getByRole('menuitem', { name: 'English' }).click();
    await page.getByRole('link', { name: 'Keys' }).first().click();
    await page.getByRole('button', { name: 'Create key' }).first().waitFor();
    expect(console.problems).toEqual([]);
  });

  test('speaks Japanese to a browser that asks for it, and fits a phone in it', async () => {
    const page = await console.open('/', { locale: 'ja-JP', viewport: PHONE });
    await page.locator('html[lang=ja]').waitFor();
    for (const [path, shown] of [
      ['/', '失敗'],
      ['/accounts', 'アカウントを追加'],
      ['/requests', 'リクエストを検索'],
      ['/settings?section=pool', 'セッションの固定'],
      ['/clients', 'キーを作成'],
      ['/playground', 'メッセージを送信してください'],
    ] as const) {
      await page.goto(console.url + path);
      await page
        .getByText(shown)
        .or(page.getByPlaceholder(shown))
        .or(page.getByLabel(shown))
        .first()
        .waitFor();
      expect(await page.evaluate(IS_WIDE), path).toBe(false);
    }
    expect(console.problems).toEqual([]);
  });
});

async function checkPlace(page: Page, url: string, [path, shown]: Place): Promise<string[]> {
  const isShown = () => page.getByText(shown).locator('visible=true').first().waitFor();
  const findings: string[] = [];
  await page.setViewportSize(DESK);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(url + path);
  await isShown();
  await evaluate(page, AXE);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
    // The theme changes colours and nothing else.
    const found = await checkAxe(page, colorScheme === 'light' ? 'all' : ['color-contrast']);
    findings.push(...found.map((one) => `${path} ${colorScheme}: ${one}`));
  }
  await page.setViewportSize(PHONE);
  await isShown();
  findings.push(...(await checkPhone(page)).map((one) => `${path} ${one}`));
  return findings;
}

/** A page may still be on its way to its narrow form: what is found must last some frames. */
async function checkPhone(page: Page): Promise<readonly string[]> {
  let found: readonly string[] = [];
  for (let looks = 0; looks < 20; looks += 1) {
    const small: readonly string[] = JSON.parse(String(await page.evaluate(SMALL_TARGETS)));
    found = small.map((one) => `has a small target: ${one}`);
    if ((await page.evaluate(IS_WIDE)) === true) found = [...found, 'is wider than a phone'];
    if (found.length === 0) break;
    await page.evaluate(NEXT_FRAME);
  }
  return found;
}

/** What a page opens of one entry: a request stands beside its list, all else above it. */
function sideOf(page: Page, name: string): Locator {
  return name === 'Requests'
    ? page.getByRole('region', { name: 'Request', exact: true })
    : page.getByRole('dialog');
}

/** By its label, or by what it says. */
async function focused(page: Page): Promise<string> {
  const name = await page.evaluate(`(() => {
    const { activeElement: element } = document;
    return element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText;
  })()`);
  return String(name).trim();
}

/** What the keyboard leads to, forwards and backwards, that nothing of can be seen. */
async function listCovered(page: Page): Promise<readonly string[]> {
  const covered: string[] = [];
  for (const key of ['Tab', 'Shift+Tab']) {
    for (let presses = 0; presses < 40; presses += 1) {
      await page.keyboard.press(key);
      if ((await page.evaluate(IS_COVERED)) === true) covered.push(await focused(page));
    }
  }
  return covered;
}

async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    if ((await focused(page)) === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`The key Tab does not lead to ${name}.`);
}

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly targets: readonly string[];
}

/** `axe` is in the page already. */
async function checkAxe(page: Page, rules: 'all' | readonly string[]): Promise<readonly string[]> {
  const only = rules === 'all' ? '' : `, runOnly: ${JSON.stringify(rules)}`;
  const value = await evaluate(
    page,
    `axe.run(document, { resultTypes: ['violations']${only} }).then(({ violations }) =>
      JSON.stringify(violations.map(({ id, impact, nodes }) => ({
        id, impact, targets: nodes.slice(0, 3).map((one) => one.target + ': ' + one.failureSummary),
      }))))`,
  );
  const findings: readonly Finding[] = JSON.parse(String(value));
  return findings.map(({ id, impact, targets }) => `${impact} ${id}: ${targets.join(' | ')}`);
}

/** Through the browser's own door: the page's policy allows no foreign script. */
async function evaluate(page: Page, expression: string): Promise<unknown> {
  const session = await page.context().newCDPSession(page);
  const { result } = await session.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: expression !== AXE,
  });
  await session.detach();
  return result.value;
}
