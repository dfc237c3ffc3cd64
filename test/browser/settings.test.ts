// Every setting of the console: shown, changed, refused and taken back.

import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Settings } from '../../src/config/effective.ts';
import { VARIABLES } from '../../src/config/env.ts';
import { isJsonObject } from '../../src/lib/json.ts';
import {
  type ConsoleApp,
  isWithoutBrowser,
  requireReauthentication,
  startConsole,
} from './console-app.ts';

/** A setting as the console shows it, what is put there, and what the gateway makes of it at once. */
interface Change {
  readonly path: string;
  readonly name: string;
  readonly put: (control: Locator, page: Page) => Promise<void>;
  readonly holds: (settings: Settings) => unknown;
  readonly value: unknown;
  /** It needs the password once more. */
  readonly asksAgain?: true;
}

const turn = async (control: Locator): Promise<void> => control.click({ force: true });
const write =
  (text: string) =>
  async (control: Locator): Promise<void> => {
    await control.fill(text);
    await control.press('Enter');
  };
const choose =
  (option: string) =>
  async (control: Locator, page: Page): Promise<void> => {
    await control.click();
    await page.getByRole('option', { name: option, exact: true }).click();
  };

const ACCESS = '/settings';
const NETWORK = '/settings?section=network';
const POOL = '/settings?section=pool';
const QUOTA = '/settings?section=quota';
const THINKING = '/settings?section=thinking';
const MONITOR = '/settings?section=monitor';
const LOG = '/settings?section=log';
const ADDRESSES = '/security?tab=addresses';
const WEB = '/security?tab=web';

const CHANGES: readonly Change[] = [
  {
    ...{ path: ACCESS, name: 'Gateway key', put: write('sk-a-key-of-sixteen') },
    ...{ holds: ({ apiKey }) => apiKey, value: 'sk-a-key-of-sixteen' },
    asksAgain: true,
  },
  {
    ...{ path: ACCESS, name: 'Stay signed in', put: write('3') },
    ...{ holds: (all) => all.console.sessionIdleMs, value: 3 * 3_600_000 },
  },
  {
    ...{ path: ACCESS, name: 'Sign-in link at startup', put: turn },
    ...{ holds: (all) => all.console.hasSignInLink, value: false },
  },
  {
    ...{ path: NETWORK, name: 'Host', put: write('0.0.0.0') },
    ...{ holds: ({ host }) => host, value: '0.0.0.0' },
  },
  {
    ...{ path: NETWORK, name: 'Max request size', put: write('20000') },
    ...{ holds: ({ maxBodyBytes }) => maxBodyBytes, value: 20_000 },
  },
  {
    ...{ path: NETWORK, name: 'WebSockets', put: turn },
    ...{ holds: ({ takesWebSockets }) => takesWebSockets, value: false },
  },
  {
    ...{ path: NETWORK, name: 'Fetch remote media', put: turn },
    ...{ holds: ({ fetchRemoteMedia }) => fetchRemoteMedia, value: true },
  },
  {
    ...{ path: POOL, name: 'Account selection', put: choose('Cache first') },
    ...{ holds: ({ pool }) => pool.mode, value: 'cache-first' },
  },
  {
    ...{ path: POOL, name: 'Max wait', put: write('30') },
    ...{ holds: ({ pool }) => pool.maxWaitMs, value: 30_000 },
  },
  {
    ...{ path: POOL, name: 'Fixed account', put: choose('mary@sandbox.example') },
    ...{ holds: ({ pool }) => pool.fixedAccount, value: 'mary@sandbox.example' },
  },
  {
    ...{ path: POOL, name: 'Session affinity', put: write('15') },
    ...{ holds: ({ pool }) => pool.sessionIdleMs, value: 900_000 },
  },
  {
    ...{ path: QUOTA, name: 'Refresh quota every', put: write('7') },
    ...{ holds: ({ quota }) => JSON.stringify(quota).includes('420000'), value: true },
  },
  {
    ...{ path: QUOTA, name: 'Quota protection', put: turn },
    ...{ holds: ({ quota }) => JSON.stringify(quota).includes('true'), value: true },
  },
  {
    ...{ path: QUOTA, name: 'Reserve', put: write('33') },
    ...{ holds: ({ quota }) => /\b(33|0\.33)\b/.test(JSON.stringify(quota)), value: true },
  },
  {
    ...{ path: QUOTA, name: 'Protected models', put: write('alpha-3-pro-image') },
    ...{ holds: ({ quota }) => JSON.stringify(quota).includes('alpha-3-pro-image'), value: true },
  },
  {
    ...{ path: THINKING, name: 'Thinking mode', put: choose('Fixed budget') },
    ...{ holds: ({ thinking }) => thinking.kind, value: 'custom' },
  },
  {
    ...{ path: THINKING, name: 'Thinking budget', put: write('2048') },
    ...{ holds: ({ thinking }) => thinking, value: { kind: 'custom', tokens: 2048 } },
  },
  {
    ...{ path: MONITOR, name: 'Record payloads', put: turn },
    ...{ holds: ({ monitor }) => JSON.stringify(monitor).match(/true/g)?.length, value: 2 },
  },
  {
    ...{ path: MONITOR, name: 'Retention period', put: write('2') },
    ...{ holds: ({ monitor }) => JSON.stringify(monitor).includes('172800000'), value: true },
  },
  {
    ...{ path: MONITOR, name: 'Max log size', put: write('5000000') },
    ...{ holds: ({ monitor }) => JSON.stringify(monitor).includes('5000000'), value: true },
  },
  {
    ...{ path: LOG, name: 'Log level', put: choose('warn') },
    ...{ holds: ({ logLevel }) => logLevel, value: 'warn' },
  },
  {
    ...{ path: ADDRESSES, name: 'Enforce IP rules', put: turn },
    ...{ holds: ({ addressFilter }) => addressFilter.enabled, value: true },
  },
  {
    ...{ path: ADDRESSES, name: 'Allow takes precedence over deny', put: turn },
    ...{ holds: ({ addressFilter }) => addressFilter.allowBeatsDeny, value: true },
  },
  {
    ...{ path: WEB, name: 'Allowed origins (CORS)', put: write('https://app.example') },
    ...{ holds: ({ corsOrigins }) => corsOrigins, value: ['https://app.example'] },
  },
  {
    ...{ path: WEB, name: 'Trusted proxies', put: write('198.51.100.7') },
    ...{ holds: ({ trustedProxies }) => trustedProxies, value: ['198.51.100.7'] },
  },
  {
    ...{ path: WEB, name: 'Allowed hosts', put: write('gateway.example') },
    ...{ holds: ({ allowedHosts }) => allowedHosts, value: ['gateway.example'] },
  },
];

describe.skipIf(isWithoutBrowser)('the settings in the console', () => {
  let console: ConsoleApp;
  beforeAll(async () => {
    console = await startConsole();
  });
  afterEach(() => expect(console.problems).toEqual([]));
  afterAll(() => console?.close());

  test('each is shown, changed and in force at once', async () => {
    const page = await console.open('/settings');
    for (const { path, name, put, holds, value, asksAgain = false } of CHANGES) {
      if (page.url() !== console.url + path) await page.goto(console.url + path);
      const control = page
        .locator('.setting')
        .filter({ has: page.locator('.setting-name', { hasText: name }) })
        .locator('.setting-control')
        .locator('input:not([type=hidden])')
        .first();
      await control.locator('xpath=self::*[not(@disabled)]').waitFor({ state: 'attached' });
      expect({ name, is: holds(console.settings()) }).not.toEqual({ name, is: value });
      const answered = page.waitForResponse(
        (one) => one.request().method() === 'PATCH' && !(asksAgain && one.status() === 400),
      );
      // What fails before is what is told.
      answered.catch(() => undefined);
      await put(control, page);
      if (asksAgain) await requireReauthentication(page);
      // The next change is made against the revision of this answer.
      expect({ name, status: (await answered).status() }).toEqual({ name, status: 200 });
      await expect
        .poll(() => ({ name, is: holds(console.settings()) }))
        .toEqual({ name, is: value });
    }
    const small = await console.ask({ system: 'x'.repeat(30_000) });
    expect(small.status).toBe(413);
    await page.getByText('Saved:', { exact: false }).first().waitFor();
  });

  test('a figure out of range is refused where it is written', async () => {
    const page = await console.open(QUOTA);
    const before = console.settings().quota;
    const control = page.getByLabel('Reserve');
    await control.fill('200');
    await control.press('Enter');
    await page.getByText('0 to 100').waitFor();
    expect(await control.inputValue()).toBe('200');
    expect(console.settings().quota).toEqual(before);
  });

  test('a size is read with its unit, and what cannot be read is refused where it is written', async () => {
    const page = await console.open(NETWORK);
    const control = page.getByLabel('Max request size');
    const held = () => console.settings().maxBodyBytes;
    await write('16 MB')(control);
    await expect.poll(held).toBe(16 * 1_048_576);
    await expect.poll(() => control.inputValue()).toBe('16,777,216');
    for (const [text, reason] of [
      ['16 apples', 'Must be a number of bytes, or a number with KB, MB or GB'],
      ['16', '16 KiB to 2,147,483,647 bytes'],
    ] as const) {
      await write(text)(control);
      await page.getByText(reason).waitFor();
      expect([await control.inputValue(), held()]).toEqual([text, 16 * 1_048_576]);
    }
    await write('1e6')(control);
    await expect.poll(held).toBe(1_000_000);
    await page.goto(console.url + POOL);
    await write('2 min')(page.getByLabel('Max wait'));
    await page.getByText('Must be a number').waitFor();
  });

  test('what the gateway refuses stays where it was written, with the reason', async () => {
    const page = await console.open(NETWORK);
    const host = page.getByLabel('Host', { exact: true });
    const before = console.settings().host;
    await host.fill('no host!');
    await host.press('Enter');
    await page.getByText('Must be a host name or an address').waitFor();
    expect([await host.inputValue(), console.settings().host]).toEqual(['no host!', before]);
    await host.fill('127.0.0.1');
    await page.getByText('Must be a host name').waitFor({ state: 'detached' });
    await host.press('Enter');
    await expect.poll(() => console.settings().host).toBe('127.0.0.1');
    expect(await page.locator('input:focus').inputValue()).toBe('127.0.0.1');
    await page.goto(console.url + WEB);
    const pages = page.getByLabel('Allowed origins (CORS)');
    await pages.fill('somewhere');
    await pages.press('Enter');
    await page.getByText('Must be origins such as https://app.example.com').waitFor();
    const list = page.locator('.setting').filter({ has: pages });
    await list.getByText('somewhere', { exact: true }).waitFor();
    await pages.press('Backspace');
    await page.getByText('Must be origins').waitFor({ state: 'detached' });
    await pages.fill('https://other.example');
    await pages.press('Enter');
    await expect.poll(() => console.settings().corsOrigins).toContain('https://other.example');
    expect(await list.getByText('somewhere', { exact: true }).count()).toBe(0);
    await page.goto(console.url + ACCESS);
    const key = page.getByLabel('Gateway key');
    await key.fill('two words');
    await key.press('Enter');
    await page.getByText('Must be one line without blanks').waitFor();
    expect(await key.inputValue()).toBe('two words');
  });

  test('two pages that change the same setting see each other, and undo', async () => {
    const [one, other] = [await console.open(POOL), await console.open(POOL)];
    const [first, second] = [one, other].map((page) => page.getByLabel('Max wait'));
    if (first === undefined || second === undefined) throw new Error('There are two.');
    const shows = (field: Locator, value: string) =>
      expect.poll(() => field.inputValue()).toBe(value);
    await first.fill('20');
    await first.press('Enter');
    await shows(second, '20');
    await second.fill('25');
    await second.press('Enter');
    await shows(first, '25');
    // What the one left is no more: taking that back would take back what the other did.
    await one.getByRole('button', { name: 'Undo' }).click();
    await one.getByText('This was changed elsewhere').waitFor();
    expect(console.settings().pool.maxWaitMs).toBe(25_000);
    await other.getByRole('button', { name: 'Undo' }).click();
    await shows(first, '20');
    expect(console.settings().pool.maxWaitMs).toBe(20_000);
  });

  test('who needs a key is chosen, and asked of the next request', async () => {
    const page = await console.open('/security');
    await page.getByRole('radio', { name: /^Strict/ }).click();
    await expect.poll(() => console.settings().authMode).toBe('strict');
    expect((await console.ask()).status).toBe(401);
    await page.getByRole('radio', { name: /^Off/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
    await expect.poll(() => console.settings().authMode).toBe('off');
    expect((await console.ask()).status).toBe(200);
    await page.getByRole('radio', { name: /^Auto/ }).click();
    await expect.poll(() => console.settings().authMode).toBe('auto');
  });

  test('an account that every request goes to is named, and told when it is not there', async () => {
    const { accounts } = await console.api('GET', '/api/accounts');
    const known = (Array.isArray(accounts) ? accounts : []).filter(isJsonObject);
    const { id = '' } = known.find(({ label }) => label === 'mary@sandbox.example') ?? {};
    await console.api('PATCH', '/api/config/pool', { fixed_account: id });
    const page = await console.open('/settings?section=pool');
    const control = page.getByRole('combobox', { name: 'Fixed account' });
    await expect.poll(() => control.inputValue()).toBe('mary@sandbox.example');
    await console.api('PATCH', '/api/config/pool', { fixed_account: 'gone@sandbox.example' });
    await page.getByText('No account has this label or ID').waitFor();
    expect(await control.inputValue()).toBe('gone@sandbox.example');
    await console.api('PATCH', '/api/config/pool', { fixed_account: null });
    await page.getByText('No account has this label or ID').waitFor({ state: 'detached' });
  });

  test('nothing is recorded once the monitor is turned off', async () => {
    const page = await console.open(MONITOR);
    const total = async () => Number((await console.api('GET', '/api/requests?limit=1')).total);
    const before = await total();
    await console.ask();
    await expect.poll(total).toBe(before + 1);
    const control = page.getByLabel('Record requests');
    await control.click({ force: true });
    await expect.poll(() => console.settings().monitor.enabled).toBe(false);
    await console.ask();
    await control.click({ force: true });
    await expect.poll(() => console.settings().monitor.enabled).toBe(true);
    await console.ask();
    await expect.poll(total).toBe(before + 2);
  });

  test('all of the external provider is shown, kept and shown again', async () => {
    const page = await console.open('/routing?tab=provider');
    await page.getByText('Not in use.').waitFor();
    const texts = [
      ['Base URL', 'https://provider.example/api'],
      ['API key', 'a-key-of-the-provider'],
      ['Opus', 'model-o'],
      ['Sonnet', 'model-s'],
      ['Haiku', 'model-h'],
      ['Exact mapping', 'client-name = provider-name'],
      ['URL of its MCP service for web search', 'https://provider.example/mcp/search'],
      ['URL of its MCP service that reads web pages', 'https://provider.example/mcp/reader'],
      ['Vision model', 'model-v'],
    ] as const;
    const switches = ['Offer MCP endpoints to clients', 'Web search', 'Web reader', 'Vision'];
    for (const [name, text] of texts) await page.getByLabel(name, { exact: true }).fill(text);
    for (const name of switches) {
      // Some have an address behind their name.
      await page.getByRole('switch', { name }).click({ force: true });
    }
    await page.getByRole('combobox', { name: 'Mode' }).click();
    await page.getByRole('option', { name: 'When no account is available' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Provider settings saved').waitFor();
    expect(console.settings().externalProvider).toMatchObject({
      enabled: false,
      dispatchMode: 'fallback',
    });
    const { values } = await console.api('GET', '/api/config/extprov');
    expect(values).toEqual({
      base_url: 'https://provider.example/api',
      api_key: { isSet: true },
      dispatch_mode: 'fallback',
      model_mapping: { 'client-name': 'provider-name' },
      models: { opus: 'model-o', sonnet: 'model-s', haiku: 'model-h' },
      mcp: {
        enabled: true,
        web_search_enabled: true,
        web_reader_enabled: true,
        vision_enabled: true,
        web_search_url: 'https://provider.example/mcp/search',
        web_reader_url: 'https://provider.example/mcp/reader',
        vision_model: 'model-v',
      },
    });
    await page.reload();
    for (const [name, text] of texts) {
      const field = page.getByLabel(name, { exact: true });
      await field.waitFor();
      expect(await field.inputValue()).toBe(name === 'API key' ? '' : text);
    }
    for (const name of switches) {
      expect(await page.getByRole('switch', { name }).isChecked()).toBe(true);
    }
  });

  test('accounts of an upstream that is removed are told to be out of use', async () => {
    await console.api('PATCH', '/api/config/upstreams', {
      short: { profile: 'generic', base_url: 'http://127.0.0.1:9' },
    });
    const key = 'key-of-an-account-0123456789';
    await console.api('POST', '/api/accounts', {
      ...{ upstream: 'short', kind: 'api-key', label: 'stranded', key },
    });
    const page = await console.open('/accounts');
    const card = page.getByRole('listitem').filter({ hasText: 'stranded' });
    await card.getByText('Failing').waitFor();
    await console.api('PATCH', '/api/config/upstreams', { short: null });
    await card.getByText('Upstream no longer configured').waitFor();
    expect(await card.getByRole('button', { name: 'Enable' }).count()).toBe(0);
    await console.api('PATCH', '/api/config/upstreams', {
      short: { profile: 'generic', base_url: 'http://127.0.0.1:9' },
    });
    await card.getByText('Failing').waitFor();
  });

  test('what is wrong with an upstream is said at its fields, the first of them in sight', async () => {
    const page = await console.open('/settings?section=upstreams');
    await page.getByRole('button', { name: 'Add upstream' }).click();
    const form = page.getByRole('dialog');
    await form.getByRole('combobox', { name: 'Profile' }).click();
    await page.getByRole('option', { name: 'generateContent-compatible' }).click();
    await form.getByLabel('ID', { exact: true }).fill('new-one');
    await form.getByLabel('Base URL').fill('models.example');
    await form.getByLabel('Client ID').fill('me');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('Must be an address that starts with').waitFor();
    const said = (name: string) => form.getByRole('textbox', { name }).getAttribute('aria-invalid');
    expect(await Promise.all(['Base URL', 'Token URL', 'Issuer'].map(said))).toEqual([
      'true',
      'true',
      null,
    ]);
    const focused = 'document.activeElement.dataset.path';
    expect(await page.evaluate(focused)).toBe('base_url');
    await form.getByLabel('Limits by model').fill('alpha = 0 / 5');
    await form.getByLabel('Base URL').fill('http://127.0.0.1:9');
    await form.getByLabel('Client ID').fill('');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('Must be >= 1').waitFor();
    expect(await page.evaluate(focused)).toBe('limits');
    await form.getByLabel('ID', { exact: true }).fill('not an id');
    await form.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => page.evaluate(focused)).toBe('id');
    expect(await console.api('GET', '/api/config/upstreams')).not.toHaveProperty('values.new-one');
  });

  test('an upstream is added, and accounts can be added to it at once', async () => {
    const page = await console.open('/settings?section=upstreams');
    await page.getByRole('button', { name: 'Add upstream' }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByLabel('ID', { exact: true }).fill('work');
    await drawer.getByRole('combobox', { name: 'Profile' }).click();
    await page.getByRole('option', { name: 'generateContent-compatible' }).click();
    await drawer.getByLabel('Base URL').fill('http://127.0.0.1:9/models');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Upstream work saved').waitFor();
    const added = { upstream: 'work', kind: 'api-key', label: 'w', key: 'k-of-work' };
    expect(await console.api('POST', '/api/accounts', added)).toMatchObject({ label: 'w' });
  });
});

describe.skipIf(isWithoutBrowser)('what the environment says', () => {
  test('is locked where it would be changed, and listed with all that can be set', async () => {
    const environment = {
      ...{ AUTH_MODE: 'strict', ABV_MAX_BODY_SIZE: '5000', API_KEY: 'sk-of-the-environment' },
      ...{ TRUSTED_PROXIES: '198.51.100.7', REDIS_URL: 'redis://:a-word@cache.example:6380' },
    };
    const console = await startConsole({ environment });
    try {
      const page = await console.open(NETWORK);
      const row = page.locator('.setting').filter({ hasText: 'Max request size' });
      await row.getByText('Set by ABV_MAX_BODY_SIZE in the environment').waitFor();
      expect(await row.locator('input').count()).toBe(0);
      await page.goto(console.url + ACCESS);
      await page.getByText('Set by API_KEY in the environment').waitFor();
      await page.getByText('Set by WEB_PASSWORD in the environment').waitFor();
      await page.goto(`${console.url}/security`);
      await page.getByText('Set by AUTH_MODE in the environment').waitFor();
      expect(await page.getByRole('radio', { name: /Off/ }).isDisabled()).toBe(true);
      await page.goto(console.url + WEB);
      await page.getByText('198.51.100.7').waitFor();
      await page.goto(`${console.url}/settings?section=environment`);
      await page.getByText('cache.example:6380').waitFor();
      const names = await page.locator('.variables strong').allTextContents();
      expect(names.sort()).toEqual(
        Object.values(VARIABLES)
          .map(({ name }) => name)
          .sort(),
      );
      const text = await page.locator('main').innerText();
      expect(text).not.toMatch(/a-word|sk-of-the-environment/);
      await page.getByRole('listitem').filter({ hasText: 'LOG_LEVEL' }).getByRole('link').click();
      await page.getByText('Log level').waitFor();
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });
});

describe.skipIf(isWithoutBrowser)('what webhooks are told', () => {
  test('is shown in the language of the console while it lasts', async () => {
    const console = await startConsole({
      proxy: {
        alerts: { channels: { ops: { webhook: 'http://127.0.0.1:9/' } }, hold_seconds: 0 },
      },
    });
    try {
      for (const { record } of console.app.book.list()) {
        await console.api('POST', `/api/accounts/${record.id}/disable`);
      }
      const page = await console.open('/settings?section=alerts', { locale: 'zh-CN' });
      const active = page.getByRole('region', { name: '活动告警' });
      await active.getByText('没有可用的账号，无法回答任何请求').waitFor();
      expect(await active.innerText()).not.toContain('No account');
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });
});

describe.skipIf(isWithoutBrowser)('the console password', () => {
  test('is set in the console and asked for from then on', async () => {
    const console = await startConsole({ environment: { WEB_PASSWORD: '', API_KEY: '' } });
    try {
      const page = await console.openPage();
      await page.goto(`${console.url}/settings`);
      await page.getByLabel('Console password').fill('seven77');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('At least 8 characters', { exact: true }).waitFor();
      await page.getByLabel('Console password').fill('correct horse battery');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved: Console password').waitFor();
      // Whoever set it goes on, and can leave now.
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      await page.getByLabel('Stay signed in').fill('5');
      await page.getByLabel('Stay signed in').press('Enter');
      await page.getByText('Saved: Stay signed in').waitFor();
      expect(await page.getByText('Action failed').count()).toBe(0);
      const other = await console.openPage();
      await other.goto(console.url);
      await other.getByLabel('Password', { exact: true }).fill('correct horse battery');
      await other.keyboard.press('Enter');
      await other.locator('main#content').waitFor();
      await page.getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await requireReauthentication(page, 'correct horse battery');
      await page.getByRole('button', { name: 'Sign out' }).waitFor({ state: 'detached' });
      await other.reload();
      await other.locator('main#content').waitFor();
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });
});
