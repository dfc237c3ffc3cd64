import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleApp, isWithoutBrowser, startConsole } from './console-app.ts';

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
    console = await startConsole();
    for (let count = 0; count < 60; count += 1) await console.ask({ model: 'nobody-knows-it' });
  });
  afterEach(() => expect(console.problems).toEqual([]));
  afterAll(() => console?.close());

  const open = async (): Promise<Page> => {
    const page = await console.open('/requests');
    await page.locator('.request-line').first().focus();
    return page;
  };

  test('says of a request that was never sent that nothing was', async () => {
    const page = await open();
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: /Receipt/ }).click();
    await page.getByText('Nothing was sent').waitFor();
  });

  test('shows how a request ended beside its model, at every width', async () => {
    const page = await console.open('/requests');
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
    await page.getByText('200 broke off').waitFor();
    for (const width of [1000, 1024, 1280, 1440, 1600, 1920]) {
      await page.setViewportSize({ width, height: 860 });
      expect([width, await page.evaluate(OVERLAPS)]).toEqual([width, []]);
      expect([width, await page.evaluate(SPILL)]).toEqual([width, 0]);
    }
  });
});
