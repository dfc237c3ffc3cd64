// What the console shows when the gateway refuses, or does not answer, what a person asked for.

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type ConsoleApp,
  isWithoutBrowser,
  PASSWORD,
  requireReauthentication,
  startConsole,
} from './console-app.ts';
import { hold, lose, REFUSAL, refuse } from './trouble.ts';

const [RUTH, MARY] = ['ruth@sandbox.example', 'mary@sandbox.example'] as const;
const NETWORK = '/settings?section=network';
const POOL = '/settings?section=pool';

describe.skipIf(isWithoutBrowser)('what the gateway does not do for the console', () => {
  let console: ConsoleApp;
  beforeAll(async () => {
    console = await startConsole();
  });
  afterEach(() => expect(console.problems).toEqual([]));
  afterAll(() => console?.close());

  const failed = (page: Page) =>
    page.getByRole('alert').filter({ hasText: 'Internal error' }).getByText(REFUSAL);

  test('an order that is refused is told, and the accounts stand where they stood', async () => {
    const page = await console.open('/accounts');
    const allow = await refuse(page, ['POST', /accounts\/order$/]);
    await moveToTop(page, MARY);
    await failed(page).waitFor();
    await expect.poll(() => standing(page)).toEqual([RUTH, MARY]);
    await allow();
    await moveToTop(page, MARY);
    await page.getByText('Order saved').waitFor();
    await refuse(page, ['POST', /accounts\/order$/]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await failed(page).last().waitFor();
    await expect.poll(() => standing(page)).toEqual([MARY, RUTH]);
    await console.api('POST', '/api/accounts/order', { order: await idsOf(RUTH, MARY) });
  });

  test('accounts leave in an export only for the console password', async () => {
    const page = await console.open('/accounts');
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Export accounts' });
    await dialog.getByLabel('Passphrase', { exact: true }).fill('a long passphrase');
    await dialog.getByLabel('Repeat passphrase').fill('a long passphrase');
    const button = dialog.getByRole('button', { name: 'Export' });
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByLabel('Console password').fill('guessed');
    await button.click();
    await dialog.getByText('Wrong console password.').waitFor();
    await dialog.getByLabel('Console password').fill(PASSWORD);
    const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
    expect(file.suggestedFilename()).toMatch(/^isthmus-accounts-.*\.sealed$/);
    await page.getByText('2 accounts exported').waitFor();
  });

  test('a refusal says in Chinese what it is', async () => {
    const page = await console.open('/security?tab=addresses', { locale: 'zh-CN' });
    const rule = { list: 'deny', range: '198.51.100.0/24' };
    await console.api('POST', '/api/address-rules', rule);
    await page.getByText('198.51.100.0/24').waitFor();
    await refuse(page, ['DELETE', /address-rules/]);
    await page
      .getByRole('button', { name: /198\.51\.100\.0/ })
      .last()
      .click();
    await page.getByRole('alert').filter({ hasText: '内部错误' }).getByText(REFUSAL).waitFor();
  });

  test('a value of a setting is told when it is refused after its section was left', async () => {
    const page = await console.open(NETWORK);
    const held = await hold(page, ['PATCH', /config\/network$/]);
    await page.getByLabel('Host', { exact: true }).fill('no host!');
    await page.getByRole('button', { name: 'Account pool' }).click();
    await page.getByLabel('Max wait').waitFor();
    await held.waiting(1);
    await held.release();
    await page.getByRole('alert').getByText('must be a host name or an address').waitFor();
  });

  test('a setting says that it was saved, and can be taken back, after its section was left', async () => {
    const page = await console.open(POOL);
    const held = await hold(page, ['PATCH', /config\/pool$/]);
    await page.getByLabel('Max wait').fill('17');
    await page.getByRole('link', { name: 'Keys' }).first().click();
    await page.getByText('No keys yet').waitFor();
    await held.waiting(1);
    await held.release();
    const notice = page.getByRole('alert').filter({ hasText: 'Saved: Max wait' });
    await notice.waitFor();
    const allow = await refuse(page, ['PATCH', /config\/pool$/]);
    await notice.getByRole('button', { name: 'Undo' }).click();
    await failed(page).waitFor();
    await allow();
    expect(console.settings().pool.maxWaitMs).toBe(17_000);
  });

  test('settings that nobody answered for show what holds', async () => {
    const page = await console.open('/settings?section=quota');
    const control = page.getByLabel('Quota protection');
    const before = await control.isChecked();
    const patches = await hold(page, ['PATCH', /config\/quota$/]);
    await control.click({ force: true });
    await patches.waiting(1);
    await page.getByLabel('Refresh quota every').fill('9');
    await page.keyboard.press('Enter');
    await page.context().setOffline(true);
    await patches.release();
    const notices = page.getByRole('alert').filter({ hasText: 'The gateway does not respond' });
    await expect.poll(() => notices.count()).toBe(2);
    await expect.poll(() => control.isChecked()).toBe(before);
    await page.context().setOffline(false);
  });

  test('a key that is disabled and cannot be brought back is shown as it is', async () => {
    await console.api('POST', '/api/keys', { name: 'Stubborn' });
    const page = await console.open('/keys');
    const row = page.getByRole('row', { name: /Stubborn/ });
    const act = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for Stubborn' }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await act('Disable');
    await page.getByText('Stubborn disabled').waitFor();
    const allow = await refuse(page, ['PATCH', /api\/keys\//]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await failed(page).waitFor();
    await row.getByText('Disabled', { exact: true }).waitFor();
    await allow();
    await act('Enable');
    await row.getByText('Active', { exact: true }).waitFor();
  });

  test('a key is gone once that is said, and one whose removal is refused stays', async () => {
    await console.api('POST', '/api/keys', { name: 'Lasting' });
    const page = await console.open('/keys');
    const row = page.getByRole('row', { name: /Lasting/ });
    const remove = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for Lasting' }).click();
      await page.getByRole('menuitem', { name: 'Remove' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    };
    const allow = await refuse(page, ['DELETE', /api\/keys\//]);
    await remove();
    await failed(page).waitFor();
    await row.getByText('Active', { exact: true }).waitFor();
    await allow();
    await remove();
    await page.getByText('Lasting removed').waitFor();
    const { keys } = await console.api('GET', '/api/keys');
    expect(JSON.stringify(keys)).not.toContain('Lasting');
    await row.waitFor({ state: 'detached' });
  });

  test('a refused change of an upstream keeps what was typed beside what others saved', async () => {
    const entry = { profile: 'generic', base_url: 'https://one.example', quota_path: '/q' };
    await console.api('PATCH', '/api/config/upstreams', { shared: entry });
    const page = await console.open('/settings?section=upstreams');
    await page.getByRole('button', { name: 'Edit shared' }).click();
    const form = page.getByRole('dialog', { name: /shared/ });
    await form.getByLabel('Base URL').fill('https://two.example');
    // The page does not hear of it before it saves.
    const held = await hold(page, ['GET', /config\/upstreams$/]);
    await console.api('PATCH', '/api/config/upstreams', { shared: { quota_path: '/other' } });
    await form.getByRole('button', { name: 'Save' }).click();
    await held.waiting(1);
    await held.release();
    await form.getByText('This was changed elsewhere').waitFor();
    await expect.poll(() => form.getByLabel('Quota path').inputValue()).toBe('/other');
    expect(await form.getByLabel('Base URL').inputValue()).toBe('https://two.example');
    await form.getByRole('button', { name: 'Save' }).click();
    await requireReauthentication(page);
    await form.waitFor({ state: 'hidden' });
    const { values } = await console.api('GET', '/api/config/upstreams');
    expect(values).toMatchObject({
      shared: { base_url: 'https://two.example', quota_path: '/other' },
    });
  });

  test('what was typed beside a proxy that is removed is still there', async () => {
    const [id] = await idsOf(RUTH);
    await console.api('PATCH', `/api/accounts/${id}`, { proxyUrl: 'http://127.0.0.1:9' });
    const page = await console.open(`/accounts?id=${id}`);
    const drawer = page.getByRole('dialog');
    await drawer.getByLabel('Notes').fill('half a note');
    await drawer.getByRole('button', { name: 'Remove the proxy' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await drawer.getByLabel('Notes').inputValue()).toBe('half a note');
    await drawer.getByRole('button', { name: 'Save changes' }).click();
    await expect
      .poll(() => console.api('GET', `/api/accounts/${id}`))
      .toMatchObject({
        ...{ notes: 'half a note', hasProxy: false },
      });
  });

  test('a message that the gateway refused is there to be sent again, and is said once', async () => {
    const page = await console.open('/playground');
    await page.getByRole('combobox', { name: 'Model' }).fill('alpha-3-flash');
    await page.keyboard.press('Escape');
    const message = page.getByRole('textbox', { name: 'Message' });
    for (const [trouble, told] of [
      [refuse, REFUSAL],
      [lose, 'The gateway does not respond'],
    ] as const) {
      const allow = await trouble(page, ['POST', /chat\/completions$/]);
      await message.fill('Name a river.');
      await page.keyboard.press('Enter');
      await page.locator('.talk').getByText(told).waitFor();
      await expect.poll(() => message.inputValue()).toBe('Name a river.');
      await allow();
    }
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('[DONE]').waitFor();
    await page.getByRole('tab', { name: 'Request' }).click();
    const sent = await page.getByRole('tabpanel').innerText();
    expect(sent.match(/Name a river/g)).toHaveLength(1);
    expect(await page.locator('.turn.is-user').count()).toBe(1);
  });

  test('an address pasted into a sign-in outlives the session, and a gateway that is away', async () => {
    const page = await console.open('/accounts?add=sign-in');
    const dialog = page.getByRole('dialog', { name: 'Add account' });
    await dialog.getByRole('button', { name: 'Start sign-in' }).click();
    const pasted = dialog.getByLabel('URL or code');
    await pasted.fill('half-pasted');
    await page.context().setOffline(true);
    await dialog.getByRole('alert').getByText('The gateway does not respond').waitFor();
    expect(await pasted.inputValue()).toBe('half-pasted');
    await page.context().setOffline(false);
    await dialog.getByRole('alert').waitFor({ state: 'detached' });
    await console.api('DELETE', '/api/session');
    const gate = page.getByRole('dialog', { name: 'Sign in to the console' });
    await gate.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await gate.getByRole('button', { name: 'Sign in' }).click();
    await gate.waitFor({ state: 'hidden' });
    expect(await pasted.inputValue()).toBe('half-pasted');
    await dialog.getByText('Waiting for the provider.').waitFor();
  });

  test('an entry of the mapping waits for those there are, and takes the place of none', async () => {
    await console.api('PATCH', '/api/config/mapping', { known: 'alpha-3-flash' });
    const page = await console.open('/keys');
    const held = await hold(page, ['GET', /config\/mapping$/]);
    await page.goto(`${console.url}/routing`);
    const name = page.getByLabel('Name or pattern');
    await name.fill('known');
    await page.getByRole('combobox', { name: 'Maps to model' }).fill('alpha-3-pro');
    await name.press('Enter');
    await held.release();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('An entry with this name already exists. Change it below.').waitFor();
    const { values } = await console.api('GET', '/api/config/mapping');
    expect(values).toMatchObject({ known: 'alpha-3-flash' });
  });

  test('what cannot be read is told with a way to try again, not waited for', async () => {
    const page = await console.open('/keys');
    // A feed that opens asks again for what failed, at times before the button is pressed.
    await lose(page, ['GET', /api\/events$/]);
    const ends = [
      await refuse(page, ['GET', /api\/upstreams$/], 400),
      await refuse(page, ['GET', /config\/(auth|ip_filter)$/], 400),
    ];
    const key = page.getByRole('dialog').getByLabel('Key', { exact: true });
    const slow = await hold(page, ['GET', /api\/upstreams$/]);
    await page.goto(`${console.url}/accounts?add=key`);
    await key.fill('typed before the answer');
    await slow.release();
    await page.getByRole('alert').getByText(REFUSAL).first().waitFor();
    expect(await key.inputValue()).toBe('typed before the answer');
    await key.fill('');
    const places = ['/security', '/security?tab=addresses'] as const;
    for (const place of places) {
      await page.goto(console.url + place);
      await page.getByRole('alert').getByText(REFUSAL).first().waitFor();
    }
    const again = page.getByRole('button', { name: 'Try again' });
    const asked = page.waitForRequest(/config\/(auth|ip_filter)$/);
    await again.first().click();
    await asked;
    for (const end of ends) await end();
    // What is asked again by itself may come before it is pressed.
    const left = async () => {
      await again
        .first()
        .click({ timeout: 2000 })
        .catch(() => {});
      return page.getByRole('alert').getByText(REFUSAL).count();
    };
    await expect.poll(left).toBe(0);
    await page.getByText('Enforce IP rules').waitFor();
  });

  test('who can reach the gateway is read again where it could not be read', async () => {
    const page = await console.open('/keys');
    const end = await refuse(page, ['GET', /config\/network$/], 400);
    await page.goto(`${console.url}/security`);
    const panel = page.getByRole('region', { name: 'Network exposure' });
    await panel.getByText(REFUSAL).waitFor();
    await end();
    await panel.getByRole('button', { name: 'Try again' }).click();
    await panel.getByText('Listens on this machine only').waitFor();
  });

  /** The ids of accounts, by their names. */
  async function idsOf(...labels: readonly string[]): Promise<string[]> {
    const { accounts } = await console.api('GET', '/api/accounts');
    const known: readonly { readonly id: string; readonly label: string }[] = JSON.parse(
      JSON.stringify(accounts),
    );
    return labels.map((label) => known.find((one) => one.label === label)?.id ?? '');
  }
});

async function standing(page: Page): Promise<string[]> {
  const names = await page.locator('.account-card .name-button').allInnerTexts();
  return names.filter((name) => name === RUTH || name === MARY);
}

async function moveToTop(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Move to the top' }).click();
}
