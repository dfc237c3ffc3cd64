// Acts in the console that meet: two at once, and answers that come after the page or form was left.

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { isJsonObject, parseJson } from '../../src/lib/json.ts';
import { type ConsoleApp, isWithoutBrowser, startConsole } from './console-app.ts';
import { hold } from './trouble.ts';

const [RUTH, MARY] = ['ruth@sandbox.example', 'mary@sandbox.example'] as const;

/** A feed that says what the test says. */
const FEED = `window.EventSource = class extends EventTarget {
  constructor() { super(); window.feed = this; }
  close() {}
}`;

describe.skipIf(isWithoutBrowser)('acts of the console that meet each other', () => {
  let console: ConsoleApp;
  beforeAll(async () => {
    console = await startConsole();
  });
  afterEach(() => expect(console.problems).toEqual([]));
  afterAll(() => console?.close());

  test('two accounts disabled at once are each told, and each can be taken back', async () => {
    const page = await console.open('/accounts');
    const held = await hold(page, ['POST', /\/disable$/]);
    for (const name of [RUTH, MARY]) {
      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      await page.getByRole('menuitem', { name: 'Disable' }).click();
    }
    await held.waiting(2);
    await held.release();
    const undone = Promise.all(
      [RUTH, MARY].map((name) => page.getByText(`${name} enabled`).waitFor()),
    );
    for (const name of [RUTH, MARY]) await undo(page, `${name} disabled`);
    await undone;
  });

  test('two rules removed at once are each told, and each can be taken back', async () => {
    const ranges = ['198.51.100.1', '198.51.100.2'] as const;
    for (const range of ranges) {
      await console.api('POST', '/api/address-rules', { list: 'deny', range, note: '' });
    }
    const page = await console.open('/security?tab=addresses');
    const held = await hold(page, ['DELETE', /address-rules/]);
    for (const range of ranges) {
      await page.getByRole('button', { name: `Remove the rule for ${range}` }).click();
    }
    await held.waiting(2);
    await held.release();
    for (const range of ranges) await undo(page, `Rule for ${range} removed`);
    for (const range of ranges) {
      await page.getByRole('button', { name: `Remove the rule for ${range}` }).waitFor();
    }
  });

  test('two upstreams removed at once are each told, and each can be taken back', async () => {
    const entry = { profile: 'generic', base_url: 'http://127.0.0.1:9' };
    const address = 'https://provider.example';
    const oauth = { client_id: 'c', authorization_url: address, token_url: address };
    await console.api('PATCH', '/api/config/upstreams', {
      north: entry,
      south: { ...entry, oauth: { ...oauth, client_secret: 'a-secret-of-the-client' } },
    });
    const page = await console.open('/settings?section=upstreams');
    const held = await hold(page, ['PATCH', /config\/upstreams$/]);
    for (const id of ['north', 'south']) {
      await page.getByRole('button', { name: `Remove ${id}` }).click();
    }
    await held.waiting(1);
    await held.release();
    for (const id of ['north', 'south']) await undo(page, `Upstream ${id} removed`);
    await page.getByText('Undone, except for the client secret').waitFor();
    for (const id of ['north', 'south']) {
      await page.getByRole('button', { name: `Remove ${id}` }).waitFor();
    }
    const read = async () => (await console.api('GET', '/api/config/upstreams')).values;
    await expect.poll(read).toMatchObject({ north: entry, south: { ...entry, oauth } });
  });

  test('what was done to all selected accounts is said, also after the page was left', async () => {
    for (const label of ['spare-1', 'spare-2']) {
      const key = `key-of-${label}-0123456789`;
      const account = { upstream: 'play', kind: 'api-key', label, key, addAnyway: true };
      await console.api('POST', '/api/accounts', account);
    }
    const page = await console.open('/accounts');
    for (const label of ['spare-1', 'spare-2']) await page.getByLabel(`Select ${label}`).check();
    const held = await hold(page, ['DELETE', /api\/accounts\//]);
    await page.getByRole('region', { name: '2 selected' }).getByText('Remove').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await held.waiting(2);
    await page.getByRole('link', { name: 'Keys' }).first().click();
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    await held.release();
    await page.getByText('Done for 2 accounts').waitFor();
    await page.getByRole('link', { name: 'Accounts' }).first().click();
    await page.getByLabel(`Select ${RUTH}`).waitFor();
    await page.getByLabel('Select spare-1').waitFor({ state: 'detached' });
  });

  test('an account that is moved is sent to its place though the list was read meanwhile', async () => {
    const page = await console.open('/accounts');
    await page.addInitScript(FEED);
    await page.reload();
    await page.getByRole('button', { name: `Actions for ${MARY}` }).click();
    const item = page.getByRole('menuitem', { name: 'Move to the top' });
    await item.waitFor();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 10_000);
    const isRead = page.waitForResponse(/\/api\/accounts$/);
    await page.evaluate("window.feed.dispatchEvent(new Event('account'))");
    await page.clock.runFor(900);
    await item.dispatchEvent('click');
    await page.clock.runFor(200);
    await (await isRead).finished();
    await page.clock.runFor(100);
    const isSent = page.waitForRequest(/accounts\/order$/);
    await page.clock.runFor(1000);
    const body = parseJson((await isSent).postData() ?? '');
    const sent = isJsonObject(body) && Array.isArray(body.order) ? body.order : [];
    const { accounts } = await console.api('GET', '/api/accounts');
    const known = (Array.isArray(accounts) ? accounts : []).filter(isJsonObject);
    expect(known.find(({ id }) => id === sent[0])?.label).toBe(MARY);
  });

  test('the secret of a key is shown though its form was closed before the answer', async () => {
    const page = await console.open('/keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const form = page.getByRole('dialog', { name: 'Create a key' });
    await form.getByLabel('Name').fill('Hasty');
    const held = await hold(page, ['POST', /api\/keys$/]);
    await form.getByRole('button', { name: 'Create key' }).click();
    await held.waiting(1);
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'hidden' });
    await held.release();
    const made = page.getByRole('dialog', { name: 'Key for Hasty' });
    expect(await made.locator('.secret-box code').innerText()).toMatch(/\S{16}/);
  });

  test('a form that is closed before its answer is told about, and the next one stays open', async () => {
    await console.api('POST', '/api/keys', { name: 'First' });
    await console.api('POST', '/api/keys', { name: 'Second' });
    const page = await console.open('/keys');
    const edit = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      await page.getByRole('menuitem', { name: 'Edit limits' }).click();
    };
    const held = await hold(page, ['PATCH', /api\/keys\//]);
    await edit('First');
    const first = page.getByRole('dialog', { name: 'Limits of First' });
    await first.getByLabel('Requests per minute').fill('700');
    await first.getByRole('button', { name: 'Save' }).click();
    await held.waiting(1);
    await page.keyboard.press('Escape');
    await first.waitFor({ state: 'hidden' });
    await edit('Second');
    const second = page.getByRole('dialog', { name: 'Limits of Second' });
    await second.getByLabel('Requests per minute').fill('800');
    await held.release();
    await page.getByText('First saved').waitFor();
    expect(await second.getByLabel('Requests per minute').inputValue()).toBe('800');
  });

  test('what is typed while a setting is being saved is saved too', async () => {
    const page = await console.open('/settings?section=pool');
    const control = page.getByLabel('Max wait');
    const held = await hold(page, ['PATCH', /config\/pool$/]);
    await control.fill('31');
    await control.press('Enter');
    await held.waiting(1);
    await control.fill('32');
    await held.release();
    await page.getByText('Saved: Max wait').waitFor();
    expect(await control.inputValue()).toBe('32');
    await control.press('Enter');
    await expect.poll(() => console.settings().pool.maxWaitMs).toBe(32_000);
  });
});

/** Takes back what a notice says; it is there for ten seconds. */
function undo(page: Page, said: string): Promise<void> {
  const notice = page.getByRole('alert').filter({ hasText: said });
  return notice.getByRole('button', { name: 'Undo' }).click();
}
