// People of the console: invited, signed in, limited by their role; holders of keys; rotation.

import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLIENT, startProvider } from '../support/oidc-provider.ts';
import { type ConsoleApp, isWithoutBrowser, startConsole } from './console-app.ts';

const OWN = 'a password of their own';

describe.skipIf(isWithoutBrowser)('people of the console', () => {
  let console: ConsoleApp;
  beforeAll(async () => {
    console = await startConsole();
  });
  afterAll(() => console.close());

  /** The link that a dialog shows this once. */
  async function readLink(dialog: Locator): Promise<string> {
    const link = (await dialog.locator('code').textContent()) ?? '';
    expect(link.startsWith(`${console.url}/join#`)).toBe(true);
    return link;
  }

  async function signIn(page: Page, name: string): Promise<void> {
    await page.goto(console.url);
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Password', { exact: true }).fill(OWN);
    await page.keyboard.press('Enter');
    await page.locator('main#content h1').waitFor();
  }

  test('somebody invited chooses a password, signs in, and may do what their role says', async () => {
    const owner = await console.open('/security?tab=people');
    await owner.getByText('Nobody signs in by name yet').waitFor();
    await owner.getByRole('button', { name: 'Invite' }).click();
    const form = owner.getByRole('dialog', { name: 'Invite someone to the console' });
    await form.getByLabel('Name').fill('Ann');
    await form.getByRole('button', { name: 'Make link' }).click();
    // An invitation decides about who comes in: the password is asked for once more.
    const again = owner.getByRole('dialog', { name: 'Confirm your password' });
    await again.getByLabel('Password', { exact: true }).fill('a password for the console');
    await again.getByRole('button', { name: 'Continue' }).click();
    const shown = owner.getByRole('dialog', { name: 'Link for Ann' });
    const link = await readLink(shown);
    await shown.getByRole('button', { name: 'Close' }).click();
    const asked = owner.getByRole('dialog', { name: 'Close without copying it?' });
    await asked.getByRole('button', { name: 'Close anyway' }).click();
    await shown.waitFor({ state: 'hidden' });

    const ann = await console.openPage();
    await ann.goto(link);
    await ann.getByText('Ann, you are invited to this gateway as Viewer.').waitFor();
    await ann.getByLabel('New password').fill(OWN);
    await ann.getByRole('button', { name: 'Set password and sign in' }).click();
    await ann.getByText('Signed in as Viewer').waitFor();

    await ann.goto(`${console.url}/keys`);
    await ann.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    expect(await ann.getByRole('button', { name: 'Create key' }).first().isDisabled()).toBe(true);
    const [account] = console.app.book.list();
    console.app.book.apply(account?.record.id ?? '', { kind: 'disable' });
    await ann.goto(`${console.url}/accounts`);
    const enable = ann.getByRole('button', { name: 'Enable', exact: true });
    await enable.waitFor();
    expect(await enable.isDisabled()).toBe(true);
    console.app.book.apply(account?.record.id ?? '', { kind: 'enable' });
    await ann.goto(`${console.url}/accounts?add=key`);
    const adding = ann.getByRole('dialog', { name: 'Add account' });
    await adding.getByText('Changes here require the role Operator.').waitFor();
    expect(await adding.getByRole('textbox', { name: 'Key' }).isDisabled()).toBe(true);
    await ann.goto(`${console.url}/settings?section=pool`);
    await ann.getByText('Changes here require the role Operator.').waitFor();
    expect(await ann.locator('.setting input').first().isDisabled()).toBe(true);

    await fetch(`${console.url}/api/keys`, { headers: { authorization: 'Bearer wrong' } });
    await ann.goto(`${console.url}/security?tab=log`);
    const deny = ann.getByRole('button', { name: /^Deny / }).first();
    await deny.waitFor();
    expect(await deny.isDisabled()).toBe(true);

    const other = await console.openPage();
    await other.goto(link);
    await other.getByRole('heading', { name: 'This link does not work' }).waitFor();

    const people = console.app.access.people;
    await people.change(people.findByName('Ann')?.id ?? '', { role: 'operator' });
    await ann.goto(`${console.url}/keys`);
    await ann.getByRole('button', { name: 'Create key' }).first().click();
    await ann.getByLabel('Name', { exact: true }).fill('of Ann');
    await ann.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await ann.getByRole('button', { name: 'I have copied it' }).click();
    await ann.goto(`${console.url}/settings`);
    await ann.getByText('Changes here require the role Owner.').waitFor();

    await owner.goto(`${console.url}/security?tab=audit`);
    await owner.getByRole('cell', { name: 'Ann' }).first().waitFor();
    const accepted = owner.getByRole('row', { name: /invitations\/accept/ });
    await accepted.getByRole('cell', { name: 'Public page' }).waitFor();
    await owner.goto(`${console.url}/security?tab=people`);
    await owner.getByRole('button', { name: 'Remove Ann' }).click();
    const question = owner.getByRole('dialog', { name: 'Remove Ann?' });
    await question.getByRole('button', { name: 'Remove' }).click();
    await owner.getByText('Nobody signs in by name yet').waitFor();
    await ann.reload();
    await ann.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    expect(console.problems).toEqual([]);
  });

  test('of many people those on the screen are drawn, and a search finds the others', async () => {
    const page = await console.open('/');
    const names = Array.from({ length: 300 }, (_, index) => `Person ${index}`);
    const people = names.map((name) => ({
      ...{ id: name, name, role: 'viewer', roleFrom: 'console', signsInBy: 'password' },
      ...{ sessions: [], revision: 1, createdAt: 1 },
    }));
    await page.route('**/api/people', (route) => route.fulfill({ json: { people } }));
    await page.goto(`${console.url}/security?tab=people`);
    await page.getByText('Person 0', { exact: true }).waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(100);
    await page.getByRole('searchbox', { name: 'Search people' }).fill('person 299');
    await page.getByText('Person 299', { exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Search people' }).fill('nobody');
    await page.getByText('No people match').waitFor();
    await page.close();
  });

  test('people sign in by name, and a wrong name or password is told as one', async () => {
    const { people, hasher } = console.app.access;
    const passwordHash = await hasher.hash(OWN);
    const person = await people.add({ name: 'Bob', role: 'viewer', passwordHash });
    const page = await console.openPage();
    await page.goto(console.url);
    await page.getByLabel('Name', { exact: true }).fill('Bob');
    await page.getByLabel('Password', { exact: true }).fill('guessed');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Wrong name or password.').waitFor();
    await signIn(page, 'bob');
    await page.goto(`${console.url}/security?tab=people`);
    await page.getByLabel('New password').fill('another of his own');
    await page.getByRole('button', { name: 'Change password' }).click();
    const again = page.getByRole('dialog', { name: 'Confirm your password' });
    await again.getByLabel('Password', { exact: true }).fill(OWN);
    await again.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Password changed').waitFor();
    await people.remove(person.id);
    expect(console.problems).toEqual([]);
  });

  test('the holder of a key gets it by a link, once, with what clients need', async () => {
    const page = await console.open('/keys');
    await page.getByRole('button', { name: 'Invite by link' }).click();
    const form = page.getByRole('dialog', { name: 'Invite someone to get a key' });
    await form.getByLabel('Name', { exact: true }).fill('Zoe');
    await form.getByRole('button', { name: 'Create key' }).click();
    const shown = page.getByRole('dialog', { name: 'Link for Zoe' });
    const link = await readLink(shown);
    await shown.getByRole('button', { name: 'I have copied it' }).click();
    const zoe = await console.openPage();
    await zoe.goto(link);
    await zoe.getByRole('button', { name: 'Show my key' }).click();
    await zoe.getByRole('heading', { name: 'Key for Zoe' }).waitFor();
    const secret = (await zoe.locator('.secret-box code').textContent()) ?? '';
    expect(secret).toMatch(/^sk-/);
    expect(await zoe.locator('pre').textContent()).toContain(secret);
    expect((await console.ask({}, { 'x-api-key': secret })).status).toBe(200);
    const late = await console.openPage();
    await late.goto(link);
    await late.getByText('This invitation was used already').waitFor();
    expect(console.problems).toEqual([]);
  });

  test('a key is rotated with an overlap, and the list says that the old secret is used', async () => {
    const made = await console.api('POST', '/api/keys', { name: 'Cy' });
    const page = await console.open('/keys');
    await page.getByRole('button', { name: 'Actions for Cy' }).click();
    await page.getByRole('menuitem', { name: 'Rotate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rotate the key of Cy' });
    await dialog.getByText('1 hour').click();
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    const shown = page.getByRole('dialog', { name: 'Key for Cy' });
    const secret = (await shown.locator('code').textContent()) ?? '';
    await shown.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText(/^Old sk-\w+… not used since, ends in /).waitFor();
    const statuses = [secret, String(made.secret)].map(async (key) => {
      return (await console.ask({}, { 'x-api-key': key })).status;
    });
    expect(await Promise.all(statuses)).toEqual([200, 200]);
    await page.reload();
    await page.getByText(/^Old sk-\w+… used /).waitFor();
    expect(console.problems).toEqual([]);
  });

  test('the button of the provider signs in, and what it refuses is told', async () => {
    const provider = await startProvider(`${console.url}/sign-in/callback`);
    try {
      await console.api('PATCH', '/api/config/sign_in', {
        ...{ issuer: provider.issuer, client_id: CLIENT.id, client_secret: CLIENT.secret },
        ...{ label: 'Example', role_claim: 'groups', operators: ['ops'] },
      });
      provider.person = { id: 'dan', claims: { name: 'Dan', groups: [] } };
      const page = await console.openPage();
      await page.goto(console.url);
      await page.getByRole('button', { name: 'Sign in with Example' }).click();
      await page.getByText('The provider gives you no role here.').waitFor();
      provider.person = { id: 'dan', claims: { name: 'Dan', groups: ['ops'] } };
      await page.getByRole('link', { name: 'Back to sign-in' }).click();
      await page.getByRole('button', { name: 'Sign in with Example' }).click();
      await page.locator('main#content h1').waitFor();
      expect(console.app.access.people.findByName('Dan')).toMatchObject({ role: 'operator' });
      expect(console.problems).toEqual([]);
    } finally {
      await provider.close();
    }
  });
});
