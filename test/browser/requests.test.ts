// The list of recorded requests in the browser: keyboard, filters, and what its rows tell.

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleApp, isWithoutBrowser, startConsole } from './console-app.ts';

const GATEWAY_KEY = 'the-key-of-the-gateway';

const FOCUSED = `(() => {
  const { activeElement: element } = document;
  const row = element?.closest('[data-index]');
  return row ? new URL(element.href).searchParams.get('id') : element?.tagName;
})()`;

const PLACE = `Number(document.activeElement?.closest('[data-index]')?.getAttribute('data-index'))`;

const scrollTo = (top: number): string =>
  `document.querySelector('.virtual-frame').scrollTo({ top: ${top} })`;

/** How far the rows are wider than their list. */
const SPILL = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(
  document.querySelector('.virtual-frame'),
)`;

/** Statuses whose words stand over what comes next to them. */
const OVERLAPS = `[...document.querySelectorAll('.request-line')].flatMap((line) => {
  const words = line.querySelector('.status-mark').getBoundingClientRect();
  const model = line.querySelector('.request-model').getBoundingClientRect();
  return words.right > model.left ? [line.querySelector('.status-mark').textContent] : [];
})`;

describe.skipIf(isWithoutBrowser)('the list of requests', () => {
  let console: ConsoleApp;
  beforeAll(async () => {
    console = await startConsole({ environment: { API_KEY: GATEWAY_KEY } });
    for (let count = 0; count < 60; count += 1) await console.ask({ model: 'nobody-knows-it' });
  });
  /** Each page asks for what runs: those of earlier tests are closed. */
  const pages: Page[] = [];
  const openAt = async (path: string): Promise<Page> => {
    const page = await console.open(path);
    pages.push(page);
    return page;
  };
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.context().close();
    expect(console.problems).toEqual([]);
  });
  afterAll(() => console?.close());

  const focused = (page: Page) => page.evaluate(FOCUSED);
  const place = (page: Page) => page.evaluate<number>(PLACE);
  const open = async (): Promise<Page> => {
    const page = await openAt('/requests');
    await page.locator('.request-line').first().focus();
    return page;
  };

  test('is one stop of Tab, and arrow keys move between its rows', async () => {
    const page = await open();
    expect(await page.locator('.virtual-frame [tabindex="0"]').count()).toBe(1);
    expect(await page.locator('.virtual-frame').getAttribute('tabindex')).toBe('-1');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => place(page)).toBe(1);
    await page.keyboard.press('End');
    await expect.poll(() => place(page)).toBe(59);
    await expect.poll(() => page.locator('.request-line:focus').boundingBox()).not.toBeNull();
    await page.keyboard.press('PageUp');
    await expect.poll(() => place(page)).toBeLessThan(59);
    await page.keyboard.press('Home');
    await expect.poll(() => place(page)).toBe(0);
    await page.keyboard.press('Tab');
    expect(await page.locator('.request-line:focus').count()).toBe(0);
    await page.keyboard.press('Shift+Tab');
    expect(await place(page)).toBe(0);
  });

  test('is read once, and says while it is paused how many came in', async () => {
    const page = await openAt('/requests');
    const lists: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/api/requests?')) lists.push(request.url());
    });
    await page.reload();
    await page.locator('.request-line').first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    expect(lists.length).toBe(1);
    const first = await page.locator('.request-line').first().getAttribute('href');
    await console.ask({ model: 'nobody-knows-it' });
    await console.ask({ model: 'nobody-knows-it' });
    const waiting = page.getByRole('button', { name: '2 new' });
    await waiting.waitFor();
    expect(await page.locator('.request-line').first().getAttribute('href')).toBe(first);
    await waiting.click();
    await expect
      .poll(() => page.locator('.request-line').first().getAttribute('href'))
      .not.toBe(first);
    await page.getByRole('button', { name: 'Pause' }).waitFor();
  });

  test('is printed row below row', async () => {
    const page = await openAt('/requests');
    await page.locator('.request-line').first().waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width: 720, height: 900 });
    const gaps = await page.evaluate<number[]>(`(() => {
      const boxes = [...document.querySelectorAll('.virtual-list > li')]
        .map((row) => row.getBoundingClientRect());
      return boxes.slice(1).map((box, at) => box.top - boxes[at].bottom);
    })()`);
    expect(gaps.length).toBeGreaterThan(5);
    expect(gaps.filter((gap) => gap < -1)).toEqual([]);
    await page.emulateMedia({ media: 'screen' });
  });

  test.each([
    ['beside the list', 1440],
    ['over the list', 700],
  ])('prints a request that is open %s alone and whole', async (_, width) => {
    const page = await openAt('/requests');
    await page.setViewportSize({ width, height: 400 });
    await page.locator('.request-line').first().click();
    await page.getByText('Timing', { exact: true }).waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.request-line').first().isVisible()).toBe(false);
    expect(await page.getByRole('heading', { name: 'Requests', exact: true }).isVisible()).toBe(
      false,
    );
    const [bottom, sheet] = await page.evaluate<[number, number]>(`[
      [...document.querySelectorAll('.facts > dd')].at(-1).getBoundingClientRect().bottom,
      document.documentElement.scrollHeight,
    ]`);
    expect(bottom).toBeGreaterThan(400);
    expect(sheet).toBeGreaterThanOrEqual(Math.floor(bottom));
    await page.emulateMedia({ media: 'screen' });
  });

  test('keeps the focus on a row that is scrolled away, and that new ones push down', async () => {
    const page = await open();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => place(page)).toBe(1);
    const id = await focused(page);
    await page.evaluate(scrollTo(99_999));
    await page.locator('[data-index="59"]').waitFor();
    expect(await focused(page)).toBe(id);
    await page.evaluate(scrollTo(0));
    // The list knows where it is scrolled to: opened before, the row would be scrolled to.
    await page.locator('[data-index="0"]').waitFor();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('region', { name: 'Request', exact: true });
    await panel.waitFor();
    for (let count = 0; count < 40; count += 1) await console.ask({ model: 'nobody-knows-it' });
    const row = page.locator('[data-index]', { has: page.locator(`a[href*="${id}"]`) });
    await expect.poll(() => row.getAttribute('data-index')).toBe('41');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toBe(id);
  });

  test('forgets with all filters also what was typed a moment ago', async () => {
    const page = await openAt('/requests');
    await page.clock.install();
    await page.goto(`${console.url}/requests?status=error`);
    const search = page.getByRole('searchbox').first();
    await search.fill('nobody');
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.clock.runFor(600);
    expect(new URL(page.url()).search).toBe('');
    expect(await search.inputValue()).toBe('');
  });

  test('shows whole what its filters are set to', async () => {
    const page = await openAt('/requests?status=ok&protocol=chat');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Clear', exact: true }).waitFor();
    const clipped = await page.evaluate<string[]>(`
      [...document.querySelectorAll('.filter-bar input:not([type=hidden])')].filter((input) => {
        const { fontSize, fontFamily, paddingLeft } = getComputedStyle(input);
        const font = fontSize + ' ' + fontFamily;
        const pen = Object.assign(document.createElement('canvas').getContext('2d'), { font });
        const end = input.parentElement.querySelector('[data-position=right]') ?? input;
        const start = input.getBoundingClientRect().left + parseFloat(paddingLeft);
        const { left, right } = end.getBoundingClientRect();
        const room = (end === input ? right : left) - start;
        return pen.measureText(input.value).width > room;
      }).map(({ value }) => value)
    `);
    expect(clipped).toEqual([]);
  });

  test('moves a range of time on with the time', async () => {
    const page = await openAt('/requests');
    await page.clock.install();
    await page.goto(`${console.url}/requests?range=15m`);
    await page.locator('.request-line').first().waitFor();
    await page.clock.fastForward(16 * 60_000);
    await page.clock.runFor(3000);
    await page.getByText('No requests match').waitFor();
  });

  test('says of a request that was never sent that nothing was', async () => {
    const page = await open();
    await page.keyboard.press('Enter');
    await page.getByText('Timing', { exact: true }).waitFor();
    expect(await page.getByText('Time to first token').count()).toBe(0);
    await page.getByRole('tab', { name: /Changes/ }).click();
    await page.getByText('Nothing was sent').waitFor();
  });

  test('says when the first token came of streams alone, as usage does', async () => {
    await console.ask();
    const page = await open();
    await page.keyboard.press('Enter');
    await page.getByText('Upstream time').waitFor();
    expect(await page.getByText('Time to first token').count()).toBe(0);
    const question = { model: 'alpha-3-flash', messages: [{ role: 'user', content: 'Hi' }] };
    const streamed = await fetch(`${console.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...question, stream: true }),
    });
    await streamed.text();
    await page.goto(`${console.url}/requests`);
    await page.locator('.request-line').first().click();
    await page.getByText('Time to first token').waitFor();
  });

  test('says of a price that it is that of a million tokens', async () => {
    await console.api('PATCH', '/api/config/prices', {
      'alpha-3-flash': { input: 0.3, output: 2 },
    });
    await console.ask();
    const page = await open();
    await page.keyboard.press('Enter');
    await page.getByText(/ input × \$0\.30 \/ 1M \+ .* output × \$2\.00 \/ 1M/).waitFor();
    await console.api('PATCH', '/api/config/prices', { 'alpha-3-flash': null });
  });

  test('leads from a request to the account that served it, alone', async () => {
    await console.ask();
    const page = await open();
    await page.keyboard.press('Enter');
    const account = page.getByRole('link', { name: /^\S+@sandbox\.example$/ });
    const name = await account.innerText();
    await account.click();
    await expect.poll(() => page.getByLabel('Select ').count()).toBe(1);
    await page.getByLabel(`Select ${name}`).waitFor();
  });

  test('names the key of the gateway, and says where none was needed', async () => {
    await console.ask({}, { authorization: `Bearer ${GATEWAY_KEY}` });
    const page = await open();
    await page.keyboard.press('Enter');
    await page.getByText('gateway key', { exact: true }).waitFor();
    await console.ask();
    await page.getByRole('button', { name: 'Newer request' }).click();
    await page.getByText('none', { exact: true }).waitFor();
  });

  test('tells of an answer that was held back, though its status is good', async () => {
    await console.ask({ messages: [{ role: 'user', content: 'UPSTREAM-BLOCK' }] });
    const page = await openAt('/requests');
    const line = page.locator('.request-line').first();
    await line.getByText('PROHIBITED_CONTENT').waitFor();
    await line.click();
    const details = page.getByRole('region', { name: 'Request', exact: true });
    await details.getByRole('alert').getByText('The response was blocked').waitFor();
    await details.getByText('prompt blocked').waitFor();
  });

  test('shows how a request ended beside its model, at every width', async () => {
    const page = await openAt('/requests');
    const ask = (message: string): Promise<unknown> =>
      fetch(`${console.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          ...{ model: 'alpha-3-flash', max_tokens: 64, stream: true },
          messages: [{ role: 'user', content: message }],
        }),
      }).then(async (answer) => {
        const reader = answer.body?.getReader();
        await reader?.read();
        await (message.includes('CUT') ? reader?.read() : reader?.cancel());
      });
    await ask('UPSTREAM-CUT please, in a sentence that is somewhat longer than most of them');
    await ask('UPSTREAM-SLOW 300 UPSTREAM-WORDS 300');
    await page.getByText('499 cancelled').waitFor();
    await page.getByText('200 interrupted').waitFor();
    for (const width of [1000, 1024, 1280, 1440, 1600, 1920]) {
      await page.setViewportSize({ width, height: 860 });
      // The page is drawn anew for its width a moment later.
      await expect.poll(() => page.evaluate(SPILL), { message: `${width}` }).toBe(0);
      expect([width, await page.evaluate(OVERLAPS)]).toEqual([width, []]);
    }
  });

  const panelOf = (page: Page) => page.getByRole('region', { name: 'Request', exact: true });
  const openId = (page: Page) => new URL(page.url()).searchParams.get('id');

  test('a request is read beside its list, and j and k go to its neighbours', async () => {
    const page = await open();
    const ids = await page.evaluate<(string | null)[]>(
      `[...document.querySelectorAll('.request-line')].slice(0, 3)
        .map(({ href }) => new URL(href).searchParams.get('id'))`,
    );
    await page.locator('.request-line').nth(1).click();
    await panelOf(page).getByText('Why it failed').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('j');
    await expect.poll(() => openId(page)).toBe(ids[2]);
    await page.keyboard.press('k');
    await page.keyboard.press('k');
    await expect.poll(() => openId(page)).toBe(ids[0]);
    expect(await page.getByRole('button', { name: 'Newer request' }).isDisabled()).toBe(true);
    await page.goBack();
    await panelOf(page).waitFor({ state: 'detached' });
    expect(openId(page)).toBeNull();
    await page.setViewportSize({ width: 900, height: 860 });
    await page.locator('.request-line').first().click();
    await page.getByRole('dialog', { name: 'Request' }).getByText('Why it failed').waitFor();
  });

  test('a time is marked in the histogram by pointer and by keys, and left again', async () => {
    const page = await openAt('/requests');
    const plot = page.getByRole('slider', { name: 'Select a time range' });
    await page.locator('.histogram-part > span').first().waitFor();
    const box = await plot.boundingBox();
    if (box === null) throw new Error('There is no histogram.');
    await page.mouse.move(box.x + box.width - 4, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=\d+&to=\d+/);
    await page.getByRole('button', { name: 'Whole time' }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('');
    await page.locator('.histogram-part > span').first().waitFor();
    await plot.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+ArrowLeft');
    expect(await plot.getAttribute('aria-valuetext')).toMatch(/requests, \d+ failed/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/from=\d+&to=\d+/);
    await page.goBack();
    await expect.poll(() => new URL(page.url()).search).toBe('');
  });

  test('columns are chosen and remembered, and a view is kept under a name', async () => {
    const page = await openAt('/requests?status=error');
    const heads = () => page.locator('.request-head > span').allInnerTexts();
    await expect.poll(heads).toContain('Protocol');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Protocol' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'First token' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('menuitem', { name: 'Save this view' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('What failed');
    await page.keyboard.press('Enter');
    await page.goto(`${console.url}/requests`);
    await page.locator('.request-line').first().waitFor();
    expect(await heads()).not.toContain('Protocol');
    expect(await heads()).toContain('First token');
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('menuitem', { name: 'What failed' }).click();
    await page.waitForURL(/status=error/);
  });

  test('equal errors are one line that leads to their requests', async () => {
    const page = await openAt('/requests?view=errors');
    const group = page.getByRole('row', { name: /nobody-knows-it/ });
    await group.waitFor();
    expect(Number(await group.locator('td.numeric').innerText())).toBeGreaterThanOrEqual(60);
    await group.getByRole('link').first().click();
    await page.waitForURL(/error=not-found/);
    await page.locator('.request-line').first().waitFor();
    await page.getByRole('button', { name: 'Clear filter Error' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('error')).toBeNull();
  });

  test('what runs stands on top of the list, and one click stops it', async () => {
    const page = await openAt('/requests');
    const answer = fetch(`${console.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-session-id': 'a run' },
      body: JSON.stringify({
        ...{ model: 'alpha-3-flash', max_tokens: 2000, stream: true },
        messages: [{ role: 'user', content: 'UPSTREAM-SLOW 300 UPSTREAM-WORDS 900' }],
      }),
    }).then((response) => response.text());
    const running = page.locator('.request-line.is-running');
    await running.getByText('out so far').waitFor();
    await page.getByRole('button', { name: 'Stop alpha-3-flash' }).click();
    const text = await answer;
    expect(text).toContain('An operator of this gateway stopped the request.');
    expect(text).not.toContain('message_stop');
    await running.waitFor({ state: 'detached' });
    const line = page.locator('.request-line').first();
    await line.getByText(/Stopped by session/).waitFor();
  });

  test('what ends while the list is paused stays, and is told to have ended', async () => {
    const page = await openAt('/requests');
    const leaving = new AbortController();
    const answer = fetch(`${console.url}/v1/messages`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ model: 'alpha-3-flash', max_tokens: 2000, stream: true },
        messages: [{ role: 'user', content: 'UPSTREAM-SLOW 300 UPSTREAM-WORDS 900' }],
      }),
    }).then((response) => response.text());
    const running = page.locator('.request-line.is-running');
    await running.getByText('out so far').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await running.getByText('ended').waitFor();
    expect(await running.getByRole('button').count()).toBe(0);
    await page.getByRole('button', { name: '1 new' }).click();
    await running.waitFor({ state: 'detached' });
  });

  test('a session is read as one, and lets go of its account', async () => {
    for (let turn = 0; turn < 3; turn += 1) await console.ask({}, { 'x-session-id': 'my run' });
    const page = await openAt('/requests');
    await page.locator('.request-line').first().click();
    await panelOf(page).getByRole('link', { name: 'my run', exact: true }).click();
    await page.getByRole('heading', { name: 'Session my run' }).waitFor();
    await expect.poll(() => page.locator('.session-calls tbody tr').count()).toBe(3);
    await page.getByRole('button', { name: 'Release' }).click();
    await page.getByText('bound to no account').waitFor();
    await page.getByRole('link', { name: 'Show in the list' }).click();
    await expect.poll(() => page.locator('.request-line').count()).toBe(3);
  });

  test('loads without moving what is shown', async () => {
    const page = await console.openPage({ viewport: { width: 1440, height: 900 } });
    await page.addInitScript(`
      globalThis.shifted = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) shifted += entry.value;
      }).observe({ type: 'layout-shift', buffered: true });
    `);
    const signedIn = await openAt('/requests');
    await page.context().addCookies(await signedIn.context().cookies());
    await page.goto(`${console.url}/requests`);
    await page.locator('.request-line').first().waitFor();
    await page.locator('.histogram-part > span').first().waitFor();
    expect(Number(await page.evaluate('shifted'))).toBeLessThan(0.01);
  });
});
