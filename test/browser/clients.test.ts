// The page that sets up clients: what is copied from it, and which way out it says.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { isJsonObject } from '../../src/lib/json.ts';
import { type ConsoleApp, isWithoutBrowser, startConsole } from './console-app.ts';

describe.skipIf(isWithoutBrowser)('setting up a client', () => {
  let console: ConsoleApp;
  beforeAll(async () => {
    console = await startConsole();
  });
  afterEach(() => expect(console.problems).toEqual([]));
  afterAll(() => console.close());

  test('a chosen client is copied with the address of the gateway, and has an address of its own', async () => {
    const page = await console.open('/clients');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.keyboard.press('/');
    await page.keyboard.type('codex');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Codex CLI' }).waitFor();
    expect(page.url()).toBe(`${console.url}/clients?client=codex`);
    await page.getByRole('button', { name: 'Copy: Add this to its config file' }).click();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    expect(copied).toContain(`base_url = "${console.url}/v1"`);
    expect(copied).toContain('wire_api = "responses"');
    await page.getByText('PowerShell').click();
    await page.getByText('%USERPROFILE%\\.codex\\config.toml').waitFor();
    await page.reload();
    await page.getByText('%USERPROFILE%\\.codex\\config.toml').waitFor();
    await page.goBack();
    await page.getByText('~/.codex/config.toml').waitFor();
    await page.goto(`${console.url}/clients/gemini-cli`);
    await page.getByRole('heading', { name: 'Gemini CLI' }).waitFor();
  });

  test('what is typed stands in the snippets as text, and a key is gone with the page', async () => {
    const page = await console.open('/clients?client=curl');
    const ask = page.locator('.client-snippet').nth(1);
    await ask.getByText('any-key').waitFor();
    await page.getByRole('textbox', { name: 'Key' }).fill(`sk-'$(x) <img src=x onerror=alert(1)>`);
    await page.getByRole('combobox', { name: 'Model' }).fill('no <b>such</b> model');
    const shown = `authorization: Bearer sk-'\\''$(x) <img src=x onerror=alert(1)>'`;
    await expect.poll(() => ask.innerText()).toContain(shown);
    await page.getByText('Unknown model').waitFor();
    expect(page.url()).toBe(`${console.url}/clients?client=curl`);
    const kept = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }])',
    );
    expect(kept).not.toContain('sk-');
    await page.reload();
    await ask.getByText('any-key').waitFor();
  });

  test('a key is asked for as soon as the gateway has one', async () => {
    const page = await console.open('/clients');
    await page.getByText('any value works').waitFor();
    await console.api('POST', '/api/keys', { name: 'Ada’s laptop' });
    await page.locator('mark', { hasText: 'YOUR_KEY' }).first().waitFor();
    await page.getByLabel('Key', { exact: true }).fill('sk-one');
    await page.getByText('export ANTHROPIC_AUTH_TOKEN=sk-one').waitFor();
    expect(await page.locator('mark').count()).toBe(0);
  });

  test('in two clicks a client has a key and one command, and its first request is seen here, good or bad', async () => {
    const page = await console.open('/clients');
    await page.getByRole('button', { name: 'Codex CLI' }).click();
    await page.getByRole('button', { name: 'Create a key' }).press('Enter');
    // The button is gone; the focus is not.
    await expect.poll(() => page.evaluate('document.activeElement.innerText')).toBe('Copy the key');
    const command = page.locator('.one-command pre').first();
    await expect
      .poll(() => command.innerText())
      .toMatch(/^isthmus connect codex --url http:\/\/127\.0\.0\.1:\d+ --key sk-\S+ --model \S+$/);
    const [, secret = ''] = /--key (\S+)/.exec(await command.innerText()) ?? [];
    await page.getByText('Waiting for the first request').waitFor();
    // Another's request is not the one that is waited for.
    await console.ask();
    const authorization = `Bearer ${secret}`;
    await console.ask({ model: 'no-such-model' }, { authorization });
    await page.getByText('A request arrived, and failed with 404').waitFor();
    await console.ask({}, { authorization });
    await page.getByText('The first request was answered. It works.').waitFor();
    await page.getByRole('link', { name: 'View request' }).click();
    const question = page.getByRole('dialog', { name: 'Leave this page?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'View request' }).click();
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL(/\/requests\?id=/);
  });

  test('says the way out where no account can answer, and leads on to the requests', async () => {
    const { accounts } = await console.api('GET', '/api/accounts');
    if (!Array.isArray(accounts)) throw new Error('There are no accounts.');
    for (const account of accounts) {
      const id = isJsonObject(account) ? String(account.id) : '';
      await console.api('POST', `/api/accounts/${id}/disable`);
    }
    const page = await console.open('/clients?client=openai&with=python');
    await page.getByText('from openai import OpenAI').waitFor();
    await page.getByText('No account is available').waitFor();
    await page.getByRole('link', { name: 'Open Requests' }).click();
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Open Accounts' }).click();
    await page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor();
  });
});
