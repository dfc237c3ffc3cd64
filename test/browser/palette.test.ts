// The palette and the search of the settings: everything within a few keys, by keyboard alone.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { evaluate } from '../console/open-view.ts';
import { type ConsoleApp, isWithoutBrowser, startConsole } from './console-app.ts';
import { hold } from './trouble.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describe.skipIf(isWithoutBrowser)('finding anything in the console', () => {
  let console: ConsoleApp;
  beforeAll(async () => {
    console = await startConsole();
    await console.api('POST', '/api/keys', { name: 'Ada’s laptop' });
  });
  afterEach(() => expect(console.problems).toEqual([]));
  afterAll(() => console?.close());

  test('Ctrl and K lead to a setting, which is in view and has the focus', async () => {
    const page = await console.open('/');
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Find anything' });
    await field.waitFor();
    await page.keyboard.type('RETENTION');
    await page.getByRole('option', { name: /Retention period/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/settings\?section=monitor&field=retentionDays$/);
    await page.locator('.setting.is-meant:focus').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('accounts, keys, models, clients, pages and requests by id are found, with arrows alone', async () => {
    await console.ask();
    const readId = async (): Promise<unknown> => {
      const { requests } = await console.api('GET', '/api/requests');
      return Array.isArray(requests) ? Object(requests[0]).id : undefined;
    };
    await expect.poll(readId).toEqual(expect.any(String));
    const id = String(await readId());
    for (const [text, url] of [
      ['mary@', /\/accounts\?id=/],
      ['ada’s', /\/keys\?id=/],
      ['alpha-3-flash', /\/routing\?name=alpha-3-flash/],
      ['codex', /\/clients\?client=codex/],
      ['playgr', /\/playground$/],
      [id, /\/requests\?id=/],
    ] as const) {
      const page = await console.open('/');
      await page.getByRole('button', { name: 'Find anything' }).click();
      await page.getByRole('combobox', { name: 'Find anything' }).fill(text);
      await page.locator('[data-combobox-selected]').waitFor();
      await page.keyboard.press('Enter');
      await expect.poll(() => page.url(), { message: text }).toMatch(url);
      await page.context().close();
    }
  });

  test('a name is not taken for the id of a request while the lists that may have it are loaded', async () => {
    const page = await console.open('/');
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    await page.route('**/api/models', async (route) => {
      asked.resolve();
      await held.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Find anything' }).click();
    await page.getByRole('combobox', { name: 'Find anything' }).fill('alpha-3-flash');
    await asked.promise;
    await page.getByText('Nothing matches').waitFor();
    held.resolve();
    await page.locator('[data-combobox-selected]').waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toMatch(/\/routing\?name=alpha-3-flash/);
  });

  test('says when nothing matches, leaves by Escape, gives the focus back, and has no finding of axe', async () => {
    const page = await console.open('/usage');
    const opener = page.getByRole('button', { name: 'Find anything' });
    await opener.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('option').first().waitFor();
    await evaluate(page, AXE);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
      const found = await evaluate(
        page,
        `axe.run(document.querySelector('[role=dialog]')).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
      );
      expect(found).toEqual([]);
    }
    await page.keyboard.type('zzzz');
    await page.getByText('Nothing matches.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('.palette-button:focus').waitFor();
  });

  test('what is typed while its code comes is its own', async () => {
    const page = await console.open('/requests');
    const held = await hold(page, ['GET', /palette-(?!button).*\.js$/]);
    await page.reload();
    await page.getByRole('combobox', { name: 'Protocol', exact: true }).focus();
    await page.keyboard.press('Control+k');
    await held.waiting(1);
    await page.keyboard.type('Neutral names');
    await held.release();
    await page.getByRole('option', { name: 'Protocol names: Neutral names' }).waitFor();
    await page.keyboard.type('!');
    expect(await page.locator('.palette-input input').inputValue()).toBe('Neutral names!');
    await page.keyboard.press('Escape');
  });

  test('names of protocols are neutral once the palette says so, on every page, after a reload and in another language', async () => {
    const page = await console.open('/requests');
    const seeOptions = async (control: string, wanted: readonly string[]): Promise<void> => {
      await page.getByRole('combobox', { name: control, exact: true }).click();
      await expect.poll(() => page.getByRole('option').allTextContents()).toEqual(wanted);
      await page.keyboard.press('Escape');
    };
    const OF_VENDORS = [
      'OpenAI Chat',
      'OpenAI Responses',
      'Anthropic Messages',
      'Gemini generateContent',
    ];
    const NEUTRAL = ['Chat', 'Responses', 'Messages', 'Generate content'];
    await seeOptions('Protocol', OF_VENDORS);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('neutral');
    await page.getByRole('option', { name: 'Protocol names: Neutral names' }).waitFor();
    await page.keyboard.press('Enter');
    await seeOptions('Protocol', NEUTRAL);
    await page.reload();
    await seeOptions('Protocol', NEUTRAL);

    await page.getByRole('link', { name: 'Playground' }).first().click();
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    await seeOptions('Protocol', ['Chat', 'Messages', 'Generate content', 'Responses', 'Images']);
    await page.goto(`${console.url}/settings?section=upstreams`);
    await page.getByRole('button', { name: 'Add upstream' }).first().click();
    const profile = page.getByRole('combobox', { name: 'Profile' });
    await profile.click();
    await page.getByRole('option', { name: 'Chat-compatible' }).click();
    await page.getByText('where it differs from the public API').waitFor();
    await profile.click();
    // Whose keys an account has is no name of a protocol.
    await page.getByRole('option', { name: 'OpenAI', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard changes' }).click();

    await page.goto(`${console.url}/playground`);
    await page.getByRole('button', { name: 'Language and names' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: '中文' }).click();
    await page.locator('html[lang=zh-CN]').waitFor();
    await seeOptions('协议', ['Chat', 'Messages', 'Generate content', 'Responses', 'Images']);
    await page.getByRole('button', { name: '语言和名称' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: '中性名称 开' }).waitFor();
    await page.getByRole('menuitem', { name: '厂商名称' }).press('Enter');
    await seeOptions('协议', [
      'OpenAI Chat',
      'Anthropic Messages',
      'Gemini generateContent',
      'OpenAI Responses',
      'OpenAI Images',
    ]);
  });

  test('settings are found by name, key and variable, of every section, and changed where they are found', async () => {
    const page = await console.open('/settings');
    await page.keyboard.press('/');
    await page.keyboard.type('LOG_LEVEL');
    const panel = page.locator('.panel', {
      has: page.getByRole('heading', { name: 'Log', exact: true }),
    });
    await panel.getByRole('combobox', { name: 'Log level' }).click();
    await page.getByRole('option', { name: 'warn' }).click();
    await page.getByText('Saved: Log level').waitFor();
    const search = page.getByRole('searchbox', { name: 'Search settings' });
    await search.fill('cors');
    await page.getByRole('heading', { name: 'Security' }).waitFor();
    await search.fill('such thing');
    await page.getByText('No settings match').waitFor();
    await search.press('Home');
    await search.pressSequentially('no ');
    expect(await search.inputValue()).toBe('no such thing');
  });
});
