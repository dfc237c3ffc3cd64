// The list of keys in the browser, and the fields of a key that are refused where they are written.

import { describe, expect, test } from 'vitest';
import { isJsonObject } from '../../src/lib/json.ts';
import { isWithoutBrowser, startConsole } from './console-app.ts';

describe.skipIf(isWithoutBrowser)('the list of keys', () => {
  test('names every limit a key has', async () => {
    const console = await startConsole();
    try {
      const expiresAt = Date.UTC(2099, 4, 6, 12);
      await console.api('POST', '/api/keys', {
        name: 'Full',
        tokensPerMinute: 2000,
        requestsPerMinute: 3,
        maxConcurrency: 4,
        expiresAt,
        curfew: { from: '23:00', to: '06:00', timeZone: 'Asia/Tokyo' },
      });
      const page = await console.open('/keys');
      const limits = page.locator('.key-limits');
      await limits.getByText('2K tokens/min').waitFor();
      await limits.getByText('3 requests/min').waitFor();
      await limits.getByText('4 at once').waitFor();
      await limits.getByText('until 6 May 2099').waitFor();
      await limits.getByText('blocked 23:00–06:00 (Asia/Tokyo)').waitFor();
      // What is used is summed by the day of the gateway, not of this browser.
      await page.getByRole('columnheader', { name: 'Today (UTC)' }).waitFor();
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });

  test('shows at once what is made, changed and removed elsewhere', async () => {
    const console = await startConsole();
    try {
      const page = await console.open('/keys');
      await page.getByText('No keys yet').waitFor();
      const { key } = await console.api('POST', '/api/keys', { name: 'Made elsewhere' });
      const path = `/api/keys/${isJsonObject(key) ? key.id : ''}`;
      // Sooner than any poll.
      const soon = { timeout: 10_000 };
      const row = page.getByRole('row', { name: /Made elsewhere/ });
      await row.waitFor(soon);
      await console.api('PATCH', path, { tokensPerMinute: 2000 });
      await row.getByText('2K tokens/min').waitFor(soon);
      await console.api('DELETE', path);
      await page.getByText('No keys yet').waitFor(soon);
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });
});

describe.skipIf(isWithoutBrowser)('budgets and owners', () => {
  test('a budget is made, shown with its bar, changed and removed; that of a key in its form', async () => {
    const console = await startConsole();
    try {
      await console.api('POST', '/api/keys', { name: 'Ada', team: 'Research' });
      const page = await console.open('/keys?tab=budgets');
      await page.getByRole('button', { name: 'Add budget' }).click();
      expect(await page.getByRole('textbox', { name: 'Amount in US dollars' }).count()).toBe(1);
      expect(await page.getByText('Must be a number').count()).toBe(0);
      await page.getByRole('combobox', { name: 'Team' }).fill('Research');
      await page.getByLabel('Amount in US dollars').fill('12.50');
      await page.getByRole('button', { name: 'Create budget' }).click();
      await page.getByText('Team Research', { exact: true }).waitFor();
      await page.getByRole('meter', { name: '$0.00 of $12.50 per month' }).waitFor();
      const focused = (name: string | RegExp) =>
        page.getByRole('button', { name }).and(page.locator(':focus')).waitFor();
      await focused('Add budget');
      await page.getByRole('button', { name: /^Edit budget/ }).click();
      await page.getByText('Team Research', { exact: true }).waitFor();
      await page.getByRole('meter', { name: '$0.00 of $12.50 per month' }).waitFor();
      await page.getByLabel('Amount in US dollars').fill('20');
      await page.keyboard.press('Tab');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('meter', { name: '$0.00 of $20.00 per month' }).waitFor();
      await focused(/^Edit budget/);
      const { budgets } = await console.api('GET', '/api/budgets');
      expect(budgets).toMatchObject([{ amount: 20_000_000_000, scope: 'team', isHard: true }]);
      await page.getByRole('button', { name: /^Remove budget/ }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await page.getByText('No budgets yet').waitFor();
      await page.goto(`${console.url}/keys`);
      await page.getByRole('button', { name: 'Ada', exact: true }).click();
      const form = page.getByRole('dialog', { name: /Ada/ });
      await form.getByRole('button', { name: 'Add budget' }).click();
      await form.getByLabel('Amount in US dollars').fill('3');
      await form.getByRole('button', { name: 'Create budget' }).click();
      await form.getByRole('meter', { name: '$0.00 of $3.00 per month' }).waitFor();
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });

  test('what a person spent this month is two clicks away', async () => {
    const console = await startConsole();
    try {
      const holder = { owner: 'ada@example.org', team: 'Research' };
      const { secret } = await console.api('POST', '/api/keys', { name: 'Laptop', ...holder });
      await console.ask({}, { authorization: `Bearer ${secret}` });
      const page = await console.open('/');
      await page.getByRole('link', { name: 'Usage', exact: true }).first().click();
      await page.getByRole('button', { name: 'By owner' }).click();
      const row = page.getByRole('row', { name: /ada@example\.org/ });
      await row.waitFor();
      await row.getByRole('link', { name: 'ada@example.org' }).click();
      await page.locator('.filter-marks').getByText('ada@example.org').waitFor();
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });
});

describe.skipIf(isWithoutBrowser)('what is typed or shown once', () => {
  test('is not lost by Esc, and the page goes on from its button', async () => {
    const console = await startConsole();
    try {
      const page = await console.open('/keys');
      const create = page.getByRole('button', { name: 'Create key' }).first();
      await create.click();
      const form = page.getByRole('dialog', { name: 'Create a key' });
      await form.getByLabel('Name').fill('Ada');
      await page.keyboard.press('Escape');
      const question = page.getByRole('dialog', { name: 'Discard unsaved changes?' });
      await question.waitFor();
      await page.keyboard.press('Escape');
      await question.waitFor({ state: 'hidden' });
      expect(await form.getByLabel('Name').inputValue()).toBe('Ada');
      await form.getByRole('button', { name: 'Create key' }).click();
      const shown = page.getByRole('dialog', { name: 'Key for Ada' });
      await shown.waitFor();
      await page.keyboard.press('Escape');
      await shown.getByRole('button', { name: 'Close' }).click();
      const asked = page.getByRole('dialog', { name: 'Close without copying it?' });
      await asked.getByRole('button', { name: 'Cancel' }).click();
      await shown.getByText(/^sk-/).waitFor();
      await shown.getByRole('button', { name: 'I have copied it' }).click();
      await shown.waitFor({ state: 'hidden' });
      const focused = `document.activeElement.textContent`;
      await expect.poll(() => page.evaluate(focused)).toBe('Create key');
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });

  test('stays below a question that leaves by Esc, whatever asked it', async () => {
    const console = await startConsole();
    try {
      const { key } = await console.api('POST', '/api/keys', { name: 'Ada' });
      const subject = isJsonObject(key) ? (key.id ?? '') : '';
      const budget = { scope: 'key', subject, unit: 'requests', period: 'day', amount: 5 };
      await console.api('POST', '/api/budgets', budget);
      const page = await console.open('/usage');
      await page.keyboard.press('g');
      await page.keyboard.press('k');
      await page.getByRole('button', { name: 'Ada', exact: true }).click();
      const form = page.getByRole('dialog', { name: /Ada/ });
      await form.getByRole('button', { name: /^Remove budget/ }).click();
      const removal = page.getByRole('dialog', { name: 'Remove this budget?' });
      await removal.waitFor();
      await page.keyboard.press('Escape');
      await removal.waitFor({ state: 'hidden' });
      await form.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Create key' }).click();
      const typed = page.getByRole('dialog', { name: 'Create a key' }).getByLabel('Name');
      const question = page.getByRole('dialog', { name: 'Discard unsaved changes?' });
      // Twice: one that was asked must not keep the next one from being asked.
      for (const typedName of ['Grace', 'Grace Hopper']) {
        await typed.fill(typedName);
        await page.evaluate('history.back()');
        await question.waitFor();
        await page.keyboard.press('Escape');
        await question.waitFor({ state: 'hidden' });
        await expect.poll(() => page.url()).toBe(`${console.url}/keys`);
        expect(await typed.inputValue()).toBe(typedName);
      }
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });

  test('is asked about also where a form inside it was opened and left', async () => {
    const console = await startConsole();
    try {
      await console.api('POST', '/api/keys', { name: 'Ada' });
      const page = await console.open('/keys');
      await page.getByRole('button', { name: 'Ada', exact: true }).click();
      const form = page.getByRole('dialog', { name: /Ada/ });
      await form.getByLabel('Name').fill('Ada Lovelace');
      await form.getByRole('button', { name: 'Add budget' }).click();
      const amount = form.getByLabel('Amount in US dollars');
      await amount.waitFor();
      const question = page.getByRole('dialog', { name: 'Discard unsaved changes?' });
      const askedAbout = async (): Promise<void> => {
        await form.getByRole('button', { name: 'Close' }).click();
        await question.getByRole('button', { name: 'Cancel' }).click();
        await question.waitFor({ state: 'hidden' });
      };
      await askedAbout();
      await amount.fill('3');
      // It makes the budget, and saves no key that would close over it.
      await amount.press('Enter');
      await form.getByRole('meter').waitFor();
      await askedAbout();
      expect(await form.getByLabel('Name').inputValue()).toBe('Ada Lovelace');
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });

  test('is asked about before the drawer of an account closes over it', async () => {
    const console = await startConsole();
    try {
      const page = await console.open('/accounts');
      await page.getByRole('button', { name: 'ruth@sandbox.example' }).first().click();
      const drawer = page.getByRole('dialog', { name: 'ruth@sandbox.example' });
      await drawer.getByLabel('Notes').fill('Hers');
      await page.keyboard.press('Escape');
      const question = page.getByRole('dialog', { name: 'Discard unsaved changes?' });
      await question.getByRole('button', { name: 'Discard changes' }).click();
      await drawer.waitFor({ state: 'hidden' });
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });
});

describe.skipIf(isWithoutBrowser)('a form over a page', () => {
  test.each([
    ['/settings?section=upstreams', 'Add upstream', 'Base URL', 'http://127.0.0.1:11434/v1'],
    ['/security?tab=addresses', 'Add rule', 'IP address or range', '198.51.100.7'],
    ['/security?tab=people', 'Invite', 'Name', 'Ann of the office'],
    ['/accounts', 'Export', 'Passphrase', 'as long as a passphrase is'],
  ])('at %s asks before it closes over what was typed', async (path, button, label, text) => {
    const console = await startConsole();
    try {
      const page = await console.open(path);
      await page.getByRole('button', { name: button }).first().click();
      const form = page.getByRole('dialog');
      const field = form.getByLabel(label, { exact: true });
      await field.fill(text);
      await page.keyboard.press('Escape');
      const question = page.getByRole('dialog', { name: 'Discard unsaved changes?' });
      await question.getByRole('button', { name: 'Cancel' }).click();
      await question.waitFor({ state: 'hidden' });
      expect(await field.inputValue()).toBe(text);
      await page.keyboard.press('Escape');
      await question.getByRole('button', { name: 'Discard changes' }).click();
      await form.waitFor({ state: 'hidden' });
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });
});

describe.skipIf(isWithoutBrowser)('what was typed and not saved', () => {
  test('is asked about before the way back, or another part of the page, leads away from it', async () => {
    const console = await startConsole();
    try {
      const page = await console.open('/keys');
      const question = page.getByRole('dialog', { name: 'Discard unsaved changes?' });
      const mapping = page.getByRole('tab', { name: 'Mapping' });
      const places = [
        ['/accounts', page.getByRole('button', { name: 'Add account' }), 'Key', 'Import'],
        ['/routing', page.getByRole('tab', { name: 'External provider' }), 'Base URL', 'Catalogue'],
        ...['Name or pattern', 'First model', 'Name of a new preset', 'Output'].map(
          (label) => ['/routing?tab=catalogue', mapping, label, 'Catalogue'] as const,
        ),
        [
          '/settings?section=log',
          page.getByRole('button', { name: 'Keys and sign-in' }),
          'Gateway key',
          'Network',
        ],
      ] as const;
      for (const [path, opener, label, part] of places) {
        await page.goto(console.url + path);
        await opener.first().click();
        const field = page.locator('input').and(page.getByLabel(label, { exact: true }));
        await field.fill('typed');
        const ways = [
          () => page.getByRole(label === 'Gateway key' ? 'button' : 'tab', { name: part }).click(),
          () => page.goBack(),
        ];
        for (const leave of ways) {
          await leave();
          await question.getByRole('button', { name: 'Cancel' }).click();
          await question.waitFor({ state: 'hidden' });
          expect(await field.inputValue()).toBe('typed');
        }
        await page.goBack();
        await question.getByRole('button', { name: 'Discard changes' }).click();
        await question.waitFor({ state: 'hidden' });
      }
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });

  test('is no reason to ask once it is saved or given up in its form', async () => {
    const console = await startConsole();
    try {
      await console.api('POST', '/api/keys', { name: 'Ada' });
      const page = await console.open('/keys');
      const form = page.getByRole('dialog');
      for (const [name, button] of [
        ['Ada', 'Save'],
        ['Ada Lovelace', 'Cancel'],
      ] as const) {
        await page.getByRole('button', { name, exact: true }).click();
        await form.getByLabel('Name').fill('Ada Lovelace');
        await form.getByLabel('Requests per minute').fill('2');
        await form.getByRole('button', { name: button, exact: true }).click();
        await form.waitFor({ state: 'hidden' });
        await expect.poll(() => page.url()).toBe(`${console.url}/keys`);
      }
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });
});

describe.skipIf(isWithoutBrowser)('a text that is too long', () => {
  test('is kept whole and said so beside its field, and not saved', async () => {
    const console = await startConsole();
    try {
      const page = await console.open('/keys');
      await page.getByRole('button', { name: 'Create key' }).first().click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Name').fill('n'.repeat(129));
      await form.getByText('At most 128 characters; this has 129').waitFor();
      await form.getByRole('button', { name: 'Create key' }).click();
      expect(await console.api('GET', '/api/keys')).toEqual({ keys: [] });
      await form.getByLabel('Name').fill('n'.repeat(128));
      await form.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('button', { name: 'I have copied it' }).click();
      await page.goto(`${console.url}/routing`);
      const name = page.getByLabel('Name or pattern');
      await name.fill('m'.repeat(300));
      await page.getByText('At most 256 characters; this has 300').waitFor();
      expect(await name.inputValue()).toHaveLength(300);
      await page.getByRole('combobox', { name: 'Maps to model' }).fill('alpha-3-flash');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      // Else the browser asks before it is left.
      await name.fill('');
      await page.getByRole('combobox', { name: 'Maps to model' }).fill('');
      await page.goto(`${console.url}/security?tab=addresses`);
      await page.getByRole('button', { name: 'Add rule' }).first().click();
      await form.getByLabel('IP address or range').fill('203.0.113.0/24');
      await form.getByLabel('Note').fill('o'.repeat(1025));
      await form.getByText('At most 1,024 characters; this has 1,025').waitFor();
      await form.getByRole('button', { name: 'Add rule' }).click();
      expect((await console.api('GET', '/api/config/mapping')).values).toEqual({});
      expect(await console.api('GET', '/api/address-rules')).toMatchObject({ rules: [] });
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });
});

describe.skipIf(isWithoutBrowser)('a number that cannot be read', () => {
  test('is said beside its field and not saved: in a key and in the playground', async () => {
    const console = await startConsole();
    try {
      await console.api('POST', '/api/keys', { name: 'Ada', tokensPerMinute: 2000 });
      const page = await console.open('/keys');
      await page.getByRole('button', { name: 'Ada', exact: true }).click();
      const limit = page.getByLabel('Tokens per minute');
      expect(await limit.inputValue()).toBe('2,000');
      await limit.fill('16 MB');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Must be a number').waitFor();
      expect(await limit.inputValue()).toBe('16 MB');
      await limit.fill('1.5');
      await page.getByLabel('Requests per minute').focus();
      await page.getByText('Must be a whole number').waitFor();
      await limit.fill('1e4');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Ada saved').waitFor();
      expect(await console.api('GET', '/api/keys')).toMatchObject({
        keys: [{ tokensPerMinute: 10_000 }],
      });
      await page.goto(`${console.url}/playground`);
      await page.getByLabel('Temperature').fill('1.5x');
      await page.getByLabel('Message', { exact: true }).fill('Hello');
      await page.getByText('Must be a number').waitFor();
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText('A number under Settings is invalid').waitFor();
      await page.getByLabel('Temperature').fill('1.5');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('tab', { name: 'Request' }).click();
      await page.getByText('"temperature": 1.5').waitFor();
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });
});
