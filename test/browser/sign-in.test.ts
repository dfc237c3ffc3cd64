// Signing in to the console and out, by password and by link, and sessions that end meanwhile.

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleApp, isWithoutBrowser, PASSWORD, startConsole } from './console-app.ts';
import { hold } from './trouble.ts';

describe.skipIf(isWithoutBrowser)('signing in to the console', () => {
  let console: ConsoleApp;
  beforeAll(async () => {
    console = await startConsole();
  });
  afterAll(() => console.close());

  test('the password lets in, a wrong one is told so, and signing out asks for it again', async () => {
    const page = await console.openPage();
    await page.goto(`${console.url}/requests`);
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    const password = page.getByLabel('Password', { exact: true });
    await password.fill('a guess');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Wrong console password.').waitFor();
    await password.fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({
      name: expect.stringMatching(/^isthmus_session_[0-9a-f]{8}$/),
      httpOnly: true,
      sameSite: 'Strict',
    });
    await page.reload();
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Password', { exact: true }).waitFor();
    expect(console.problems).toEqual([]);
  });

  test('the one-time link lets in once', async () => {
    const link = `${console.url}/sign-in?token=${console.app.access.login.createLink()}`;
    const page = await console.openPage();
    await page.goto(link);
    await page.locator('main#content h1').waitFor();
    expect(page.url()).toBe(`${console.url}/`);
    const other = await console.openPage();
    await other.goto(link);
    await other.getByRole('heading', { name: 'Not signed in' }).waitFor();
    expect(await other.context().cookies()).toEqual([]);
    await other.getByRole('link', { name: 'sign in with the console password' }).click();
    await other.getByLabel('Password', { exact: true }).waitFor();
    expect(console.problems).toEqual([]);
  });

  test('where no password is needed there is nothing to sign out of', async () => {
    const page = await console.open('/');
    const [needed, none] = [{ needsPassword: true }, { needsPassword: false }];
    for (const [session, count] of [
      [needed, 1],
      [none, 0],
    ] as const) {
      await page.route('**/api/session', (route) =>
        route.fulfill({ json: { signedIn: true, ...session } }),
      );
      await page.reload();
      await page.locator('main#content h1').waitFor();
      expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(count);
    }
    expect(console.problems).toEqual([]);
  });

  test('a browser elsewhere is told why no password would help', async () => {
    const open = await startConsole({ environment: { WEB_PASSWORD: '', API_KEY: '' } });
    try {
      const page = await open.openPage({ extraHTTPHeaders: { 'x-forwarded-for': '203.0.113.9' } });
      await page.goto(`${open.url}/requests`);
      await page
        .getByRole('heading', { name: 'is available only on the machine of its gateway' })
        .waitFor();
      expect(await page.getByLabel('Password').count()).toBe(0);
      expect(open.problems).toEqual([]);
    } finally {
      await open.close();
    }
  });

  test('signing out of a session that is over leaves nothing of the page', async () => {
    const page = await console.open('/accounts');
    const button = page.getByRole('button', { name: 'Sign out' });
    await button.waitFor();
    // Else the page finds out by itself, and has nothing to sign out of any more.
    const held = await hold(page, ['GET', /^\/api\//]);
    await console.api('DELETE', '/api/session');
    await button.click();
    await held.release();
    await page.getByRole('heading', { name: 'Sign in to the console', level: 1 }).waitFor();
    expect(await page.locator('main#content').count()).toBe(0);
    expect(console.problems).toEqual([]);
  });

  test('a session that ends asks for the password without losing what was typed', async () => {
    const page = await console.open('/routing');
    const name = page.getByLabel('Name or pattern');
    await name.fill('half-typed');
    await page.getByRole('combobox', { name: 'Maps to model' }).fill('alpha-3-flash');
    await console.api('DELETE', '/api/session');
    const add = page.getByRole('button', { name: 'Add', exact: true });
    await pressEvenIfCovered(add);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('Your session had expired, so nothing was changed.').waitFor();
    expect(await name.inputValue()).toBe('half-typed');
    await add.click();
    await page.getByRole('button', { name: 'Remove the entry half-typed' }).waitFor();
    expect(console.problems).toEqual([]);
  });

  test('a session that ends behind an open form is renewed above it, and the form is still there', async () => {
    const page = await console.open('/keys', { viewport: { width: 390, height: 844 } });
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const form = page.getByRole('dialog', { name: 'Create a key' });
    await form.getByLabel('Name').fill('Grace');
    await console.api('DELETE', '/api/session');
    await page.context().clearCookies();
    await pressEvenIfCovered(form.getByRole('button', { name: 'Create key' }));
    const gate = page.getByRole('dialog', { name: 'Sign in to the console' });
    await gate.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Escape');
    await gate.getByRole('button', { name: 'Sign in' }).click();
    await gate.waitFor({ state: 'hidden' });
    await form.getByText('Your session had expired, so nothing was changed.').waitFor();
    await form.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog', { name: 'Key for Grace' }).waitFor();
    expect(console.problems).toEqual([]);
  });
});

/** Presses a button of a page whose session is over: a query of the page's own may find that out, and ask for the password above the button, before the pointer is there. */
function pressEvenIfCovered(button: Locator): Promise<void> {
  return button.dispatchEvent('click');
}
