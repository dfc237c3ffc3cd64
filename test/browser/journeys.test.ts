// What people come to the console for, from the first click to what it changes in the gateway.

import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { asSentence } from '../../src/lib/localized-message.ts';
import { type ConsoleApp, isWithoutBrowser, startConsole } from './console-app.ts';
import { type Held, hold } from './trouble.ts';

const RUTH = { 'x-preferred-account': 'ruth@sandbox.example' } as const;

const SCROLL = `(() => {
  const { scrollHeight, scrollTop, clientHeight } = document.querySelector('.talk');
  return { isLong: scrollHeight > 2 * clientHeight, isAtEnd: scrollTop + clientHeight > scrollHeight - 2 };
})()`;

describe.skipIf(isWithoutBrowser)('what people come to the console for', () => {
  let console: ConsoleApp;
  beforeAll(async () => {
    console = await startConsole({
      environment: { TRUSTED_PROXIES: '127.0.0.1' },
      proxy: { monitor: { bodies: true } },
    });
  });
  afterEach(async () => {
    await console.control('DELETE', '/sandbox/faults');
    expect(console.problems).toEqual([]);
  });
  afterAll(() => console.close());

  test('an account is added at the consent page of its provider, and serves', async () => {
    const page = await console.open('/accounts');
    await page.getByRole('button', { name: 'Add account' }).click();
    const dialog = page.getByRole('dialog');
    // It opens on keys, which most people own.
    await dialog.getByRole('tab', { name: 'Sign in' }).click();
    await dialog.getByRole('button', { name: 'Start sign-in' }).click();
    const [consent] = await Promise.all([
      page.context().waitForEvent('page'),
      dialog.getByRole('link', { name: 'Open sign-in page' }).click(),
    ]);
    await consent.getByRole('radio', { name: /Katherine/ }).check();
    await consent.getByRole('radio', { name: /ultra/ }).check();
    await consent.getByRole('button', { name: 'Allow' }).click();
    await consent.getByText('The account is ready.').waitFor();
    expect(new URL(consent.url()).search).toBe('?result=done');
    await dialog.getByText('katherine@sandbox.example signed in').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: 'katherine@sandbox.example', exact: true }).waitFor();
    const answer = await console.ask({}, { 'x-preferred-account': 'katherine@sandbox.example' });
    expect(answer.status).toBe(200);
    // That one is no built-in sandbox but an upstream somebody set up.
    const { isSandbox } = await console.api('GET', '/api/overview');
    expect(isSandbox).toBe(false);
    const { accounts } = await console.control('GET', '/sandbox/accounts');
    expect(accounts).toContainEqual(
      expect.objectContaining({ email: 'katherine@sandbox.example', tier: 'ultra', grants: 1 }),
    );
  });

  test('an account whose sign-in was revoked is found on the overview, signed in again, and serves', async () => {
    const email = 'katherine@sandbox.example';
    await console.control('POST', `/sandbox/accounts/${email}/revoke`);
    const ask = () => console.ask({}, { 'x-preferred-account': email });
    // The others answer; asking this one again is what shows that its grant is gone.
    const askAgain = async () => {
      expect((await ask()).status).toBe(200);
      const { accounts } = await console.api('GET', '/api/accounts');
      return accounts;
    };
    const expired = { label: email, status: expect.objectContaining({ kind: 'disabled' }) };
    await expect.poll(askAgain, { interval: 300 }).toContainEqual(expect.objectContaining(expired));
    const page = await console.open('/');
    const entry = page.getByRole('listitem').filter({ hasText: email });
    await entry.getByText('Sign-in expired').waitFor();
    await entry.getByRole('link', { name: 'Open' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in again' }).click();
    const dialog = page.getByRole('dialog', { name: `Sign in again: ${email}` });
    await dialog.getByRole('button', { name: 'Start sign-in' }).click();
    const [consent] = await Promise.all([
      page.context().waitForEvent('page'),
      dialog.getByRole('link', { name: 'Open sign-in page' }).click(),
    ]);
    await consent.getByRole('radio', { name: /Katherine/ }).check();
    await consent.getByRole('button', { name: 'Allow' }).click();
    await dialog.getByText(`${email} signed in`).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.goto(`${console.url}/`);
    await page.locator('main#content h1').waitFor();
    await entry.waitFor({ state: 'detached' });
    expect((await ask()).status).toBe(200);
    await expect
      .poll(async () => (await console.api('GET', '/api/requests?limit=1')).requests)
      .toMatchObject([{ account: email, status: 200 }]);
  });

  test('a key that its upstream refuses is told when it is added', async () => {
    const page = await console.open('/accounts?add=key');
    const dialog = page.getByRole('dialog', { name: 'Add account' });
    await choose(page, 'Upstream', 'play (sandbox)');
    await dialog.getByLabel('Key', { exact: true }).fill('a-key-mistyped-0123456789');
    await dialog.getByLabel(/^Name/).fill('mistyped');
    await dialog.getByRole('button', { name: 'Add key' }).click();
    await dialog.getByText('the upstream refuses it, so it was not stored').waitFor();
    expect(JSON.stringify(await console.api('GET', '/api/accounts'))).not.toContain('mistyped');
    await dialog.getByRole('button', { name: 'Add anyway' }).click();
    await dialog.getByText('mistyped is added, but cannot be used now').waitFor();
    await dialog.getByText(/The credential is not valid here\./).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await dialog.waitFor({ state: 'detached' });
    const { accounts } = await console.api('GET', '/api/accounts');
    const added = Array.isArray(accounts) ? accounts : [];
    for (const account of added.filter(isJsonObject)) {
      if (account.label === 'mistyped') await console.api('DELETE', `/api/accounts/${account.id}`);
    }
  });

  test('a key goes to the provider that it is of, until an upstream is chosen', async () => {
    const page = await console.open('/accounts?add=key');
    const dialog = page.getByRole('dialog', { name: 'Add account' });
    const upstream = dialog.getByRole('combobox', { name: 'Upstream' });
    const key = dialog.getByLabel('Key', { exact: true });
    for (const [secret, name] of [
      ['AIza-of-a-person-0123456789', 'gemini-api'],
      ['sk-proj-of-a-person-0123456789', 'openai'],
      ['sk-ant-of-a-person-0123456789', 'anthropic'],
    ] as const) {
      await key.fill(secret);
      await expect.poll(() => upstream.inputValue()).toBe(name);
    }
    await choose(page, 'Upstream', 'play (sandbox)');
    await key.fill('AIza-of-a-person-0123456789');
    expect(await upstream.inputValue()).toBe('play (sandbox)');
    await key.fill('');
  });

  test('a key of the public API needs nothing set up before', async () => {
    const page = await console.open('/accounts?add=key');
    const dialog = page.getByRole('dialog', { name: 'Add account' });
    // Nothing goes out from here: what was to be added is looked at.
    let asked: unknown;
    let isGood = false;
    const lists: Held[] = [];
    const refusal = {
      error: { code: 'key-refused', field: 'key', message: asSentence('key: no.') },
    };
    await page.route('**/api/accounts', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      asked = route.request().postDataJSON();
      if (!isGood) {
        lists.push(await hold(page, ['GET', /api\/upstreams$/]));
        return route.fulfill({ status: 400, json: refusal });
      }
      return route.fulfill({ json: { id: 'new', label: 'mine', condition: { trial: null } } });
    });
    const upstreams = async () => (await console.api('GET', '/api/config/upstreams')).values;
    await choose(page, 'Upstream', 'gemini-api');
    await dialog.getByLabel('Key', { exact: true }).fill('a-key-of-a-person-0123456789');
    await dialog.getByRole('button', { name: 'Add key' }).click();
    await dialog.getByRole('button', { name: 'Add anyway' }).waitFor();
    // A refused key leaves nothing behind.
    expect(asked).toMatchObject({ upstream: 'gemini-api', kind: 'api-key' });
    await expect.poll(upstreams).not.toHaveProperty('gemini-api');
    // The list that says so is still on its way to the page: until then it would not be written again.
    const again = dialog.getByRole('button', { name: 'Add key' });
    await lists[0]?.waiting(1);
    expect(await again.isEnabled()).toBe(false);
    await lists[0]?.release();
    isGood = true;
    await again.click();
    await dialog.getByText('mine is added').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await dialog.waitFor({ state: 'detached' });
    expect(await upstreams()).toMatchObject({ 'gemini-api': { profile: 'gemini-api' } });
    await console.api('PATCH', '/api/config/upstreams', { 'gemini-api': null });
  });

  test('what is left of a quota goes down with the requests', async () => {
    const account = 'ruth@sandbox.example';
    await console.control('POST', '/sandbox/quota', { account, requests: 10, remaining: 10 });
    const page = await console.open('/accounts');
    await page.getByRole('button', { name: account, exact: true }).click();
    const drawer = page.getByRole('dialog');
    const meter = (left: string) =>
      drawer.getByRole('meter', { name: `alpha-3-flash: ${left} left`, exact: true });
    const refresh = drawer.getByRole('button', { name: 'Refresh', exact: true });
    await refresh.click();
    await meter('100%').waitFor();
    for (let asked = 0; asked < 3; asked += 1) {
      expect((await console.ask({}, RUTH)).status).toBe(200);
    }
    await refresh.click();
    await meter('70%').waitFor();
  });

  test('an account that cools down for one model still counts as one that can serve', async () => {
    const fault = { status: 429, reason: 'QUOTA_EXHAUSTED', retryDelay: '90s', count: 1 };
    await console.control('POST', '/sandbox/faults', { ...fault, account: 'ruth@sandbox.example' });
    expect((await console.ask({ model: 'beta-sonnet-4-6' }, RUTH)).status).toBe(200);
    const page = await console.open('/accounts');
    await page.getByText('1 model cooling down').waitFor();
    const { accounts } = await console.api('GET', '/api/overview');
    expect(accounts).toEqual({
      ...{ total: 3, usable: 3, untried: 0, failing: 0 },
      ...{ cooling: 0, disabled: 0 },
    });
  });

  test('an entry of the mapping acts on the next request, changed and taken back too', async () => {
    const page = await console.open('/routing');
    await page.getByLabel('Name or pattern').fill('house-model');
    await page.getByRole('combobox', { name: 'Maps to model' }).fill('alpha-3-pro-low');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('house-model now maps to alpha-3-pro-low').waitFor();
    expect(await targetOf('house-model')).toBe('alpha-3-pro-low');
    const target = page.getByRole('combobox', { name: 'Model for house-model' });
    await target.fill('');
    await target.press('Enter');
    await page.getByText('Choose the model it maps to.').waitFor();
    // What is chosen is saved, and not first what was typed to find it.
    const saved = page.waitForRequest((one) => one.method() === 'PATCH');
    await target.fill('alpha-3-flas');
    await page.getByRole('option', { name: 'alpha-3-flash', exact: true }).waitFor();
    await target.press('ArrowDown');
    await target.press('Enter');
    expect((await saved).postDataJSON()).toEqual({ 'house-model': 'alpha-3-flash' });
    const changed = page.getByRole('alert').filter({ hasText: 'now maps to alpha-3-flash' });
    await changed.waitFor();
    expect(await targetOf('house-model')).toBe('alpha-3-flash');
    // An entry of another name is no reason not to.
    await console.api('PATCH', '/api/config/mapping', { 'other-model': 'alpha-3-flash' });
    await changed.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone').waitFor();
    expect(await targetOf('house-model')).toBe('alpha-3-pro-low');
    await page.getByRole('textbox', { name: 'Check a model name' }).fill('house-model');
    await page.locator('.where-line strong', { hasText: 'alpha-3-pro-low' }).waitFor();
    await page.getByRole('button', { name: 'Remove the entry house-model' }).click();
    await page.getByText('Entry house-model removed').waitFor();
    expect((await console.ask({ model: 'house-model' })).status).toBe(404);
  });

  test('a check of a chain says that clients ask for a name that is mapped to it', async () => {
    const steps = [['alpha-3-flash']];
    await console.api('PATCH', '/api/config/targets', { 'my-chain': { steps } });
    const page = await console.open('/routing?name=@my-chain');
    await page.getByText('Clients cannot request @my-chain itself').waitFor();
    expect((await console.ask({ model: '@my-chain' })).status).toBe(404);
  });

  test('a preset is merged into the mapping and acts', async () => {
    await console.api('PATCH', '/api/config/mapping', { 'my-own': 'alpha-3-flash' });
    const page = await console.open('/routing');
    await page.getByRole('button', { name: 'Apply: Cost-effective' }).click();
    await page.getByText('merged into the mapping').waitFor();
    await page.getByRole('button', { name: 'Applied: Cost-effective' }).waitFor();
    expect(await targetOf('gpt-4o')).toContain('alpha');
    expect(await targetOf('my-own')).toBe('alpha-3-flash');
  });

  test('a request that failed is found, with the reason and every try', async () => {
    const page = await console.open('/requests');
    const model = 'alpha-3-pro-high';
    const busy = { status: 429, reason: 'QUOTA_EXHAUSTED', retryDelay: '90s', count: 1, model };
    await console.control('POST', '/sandbox/faults', { ...busy, account: 'ruth@sandbox.example' });
    const bad = { status: 400, message: 'The prompt has too many moons.', count: 1, model };
    await console.control('POST', '/sandbox/faults', bad);
    expect((await console.ask({ model }, RUTH)).status).toBe(400);
    await console.ask();
    await choose(page, 'Status', 'Failed');
    await page.getByLabel('Search requests').fill('moons');
    const row = page.getByRole('link', { name: /too many moons/ });
    await row.waitFor();
    await page.locator('.request-line').nth(1).waitFor({ state: 'detached' });
    await row.click();
    const drawer = page.getByRole('region', { name: 'Request', exact: true });
    await drawer.getByText('Why it failed').waitFor();
    await drawer.getByText('The prompt has too many moons.').waitFor();
    await drawer.getByRole('tab', { name: /Attempts/ }).click();
    const attempt = drawer.locator('.attempt').first();
    await attempt.getByText('ruth@sandbox.example').first().waitFor();
    expect(await attempt.innerText()).toContain('429');
    await attempt.getByText('Why this account').waitFor();
    expect(await drawer.locator('.attempt').nth(1).innerText()).toContain('400');
  });

  test('an entry whose model nobody knows is marked where it stands', async () => {
    await console.api('PATCH', '/api/config/mapping', { 'my-alias': 'no-such-model' });
    const page = await console.open('/routing');
    const entry = page.locator('.entry', { hasText: 'my-alias' });
    await entry.getByText('unknown model').waitFor();
    await entry.getByRole('combobox').fill('alpha-3-flash');
    await page.keyboard.press('Enter');
    await page.getByText('my-alias now maps to alpha-3-flash').waitFor();
    await entry.getByText('unknown model').waitFor({ state: 'detached' });
  });

  test('B10: a misspelt model is no applause, but what was meant, and a way back', async () => {
    const page = await console.open('/routing');
    await page.getByLabel('Name or pattern').fill('my-*');
    await page.getByRole('combobox', { name: 'Maps to model' }).fill('alpha-3-flsh');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const warning = page.getByRole('alert').filter({ hasText: 'Did you mean "alpha-3-flash"?' });
    await warning.waitFor();
    expect(await page.getByText('my-* now maps to').count()).toBe(0);
    await warning.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone').waitFor();
    const { values } = await console.api('GET', '/api/config/mapping');
    expect(Object.keys(Object(values))).not.toContain('my-*');
  });

  test('what the upstream said stands beside what the client was told', async () => {
    const fault = { status: 429, reason: 'RATE_LIMIT_EXCEEDED', retryDelay: '1s', count: 6 };
    const message = 'Too many rivers a minute.';
    await console.control('POST', '/sandbox/faults', { ...fault, message });
    expect((await console.ask({ model: 'alpha-3-pro-low' })).status).toBe(429);
    await console.control('DELETE', '/sandbox/faults');
    const page = await console.open('/requests?status=429');
    await page.locator('.request-line').first().click();
    const drawer = page.getByRole('region', { name: 'Request', exact: true });
    await drawer.getByRole('alert').getByText(message).waitFor();
    await drawer.getByRole('tab', { name: /Attempts/ }).click();
    await drawer.locator('.attempt-words').first().getByText(message).waitFor();
  });

  test('a request that was not kept says so before it is sent again', async () => {
    await console.api('PATCH', '/api/config/monitor', { bodies: false });
    const { status } = await console.ask({ model: 'beta-haiku-4-5' });
    expect(status).toBe(200);
    // Its record is written soon after the answer.
    await expect.poll(async () => (await readRequests(1))[0]?.model).toBe('beta-haiku-4-5');
    await console.api('PATCH', '/api/config/monitor', { bodies: true });
    const page = await console.open('/requests?status=ok');
    await page.locator('.request-line').first().click();
    const drawer = page.getByRole('region', { name: 'Request', exact: true });
    await drawer.getByRole('tab', { name: 'Replay' }).click();
    await drawer.getByText('This request cannot be sent again').waitFor();
    expect(await drawer.getByRole('button', { name: 'Send again' }).count()).toBe(0);
  });

  test('a request is sent again from its record', async () => {
    await console.ask({ model: 'alpha-3-flash', system: 'Say something about rivers.' });
    const page = await console.open('/requests?status=ok');
    await page.locator('.request-line').first().click();
    const drawer = page.getByRole('region', { name: 'Request', exact: true });
    await drawer.getByRole('tab', { name: 'Replay' }).click();
    await drawer.getByRole('button', { name: 'Send again' }).click();
    await drawer.getByText('Response status 200').waitFor();
    await drawer.getByText('Both responses are the same.').waitFor();
  });

  test('the playground shows the answer of a model and the wire both ways', async () => {
    const page = await console.open('/playground');
    await page.getByRole('combobox', { name: 'Model' }).fill('alpha-3-flash');
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Message' }).fill('Name a river.');
    await page.keyboard.press('Enter');
    const wire = page.getByRole('tabpanel');
    await wire.getByText('[DONE]').waitFor();
    const { requests } = await console.control('GET', '/sandbox/requests');
    expect(JSON.stringify(requests)).toContain('Name a river.');
    const said = await page.locator('.turn.is-assistant .markdown').innerText();
    const read = async () => {
      const [row] = await readRequests(1);
      return (await console.api('GET', `/api/requests/${row?.id}`)).response;
    };
    await expect.poll(read).toMatchObject({ blocks: [{ text: said }] });
    await page.getByRole('tab', { name: 'Request' }).click();
    await wire.getByText('Name a river.').waitFor();
  });

  test('a long conversation of the playground scrolls in its place, to what came last', async () => {
    const page = await console.open('/playground');
    await page.getByRole('combobox', { name: 'Model' }).fill('alpha-3-flash');
    await page.keyboard.press('Escape');
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('UPSTREAM-WORDS 600');
    await page.keyboard.press('Enter');
    await page.getByText('[DONE]').waitFor();
    await expect.poll(() => page.evaluate(SCROLL)).toEqual({ isLong: true, isAtEnd: true });
    const isWithin = (found: Locator) =>
      expect
        .poll(async () => {
          const box = await found.boundingBox();
          return box !== null && box.y > 0 && box.y + box.height <= 860;
        })
        .toBe(true);
    await isWithin(message);
    await page.getByRole('combobox', { name: 'Protocol' }).click();
    await page.getByRole('option', { name: 'OpenAI Images' }).click();
    await page.getByRole('textbox', { name: /Message|Prompt/ }).fill('A red boat');
    await page.getByRole('button', { name: /Send|Draw/ }).click();
    await isWithin(page.getByRole('link', { name: 'Save' }));
  });

  test('a key is made, shown once, and refused when its limit is reached', async () => {
    const page = await console.open('/keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const drawer = page.getByRole('dialog');
    await drawer.getByLabel('Name').fill('Ada’s laptop');
    await drawer.getByLabel('Requests per minute').fill('2');
    // One key: the button takes no second click.
    await drawer.getByRole('button', { name: 'Create key' }).dblclick();
    const made = page.getByRole('dialog', { name: 'Key for Ada’s laptop' });
    const secret = await made.locator('.secret-box code').innerText();
    await made.getByRole('button', { name: 'I have copied it' }).click();
    await made.waitFor({ state: 'hidden' });
    const asked = [];
    for (let count = 0; count < 3; count += 1) {
      asked.push(await console.ask({}, { 'x-api-key': secret }));
    }
    expect(asked.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(JSON.stringify(asked[2]?.body)).toContain('requests');
    const row = page.getByRole('row', { name: /Ada’s laptop/ });
    await row.getByText('2 requests/min').waitFor();
    expect(await row.count()).toBe(1);
    // What it used shows without waiting for the next look.
    await row.getByText('2 requests', { exact: true }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.goto(`${console.url}/requests?status=429`);
    await page.getByRole('link', { name: /This key has used its/ }).click();
    const detail = page.getByRole('region', { name: 'Request', exact: true });
    await detail.getByText('Ada’s laptop', { exact: true }).waitFor();
  });

  test('of two that change one key, the later one is told, and then saves beside the first', async () => {
    await console.api('POST', '/api/keys', { name: 'Shared' });
    const pages = [await console.open('/keys'), await console.open('/keys')] as const;
    for (const page of pages) {
      await page.getByRole('button', { name: 'Actions for Shared' }).click();
      await page.getByRole('menuitem', { name: 'Edit limits' }).click();
    }
    const [first, second] = pages.map((page) => page.getByRole('dialog', { name: /Shared/ }));
    // Sent before the page can hear of the other change.
    const held = await hold(pages[1], ['PATCH', /api\/keys\//]);
    await second?.getByLabel('Tokens per minute').fill('900');
    await second?.getByRole('button', { name: 'Save' }).click();
    await held.waiting(1);
    await first?.getByLabel('Requests per minute').fill('7');
    await first?.getByRole('button', { name: 'Save' }).click();
    await first?.waitFor({ state: 'hidden' });
    await held.release();
    await second?.getByText('This was changed elsewhere').waitFor();
    await expect.poll(() => second?.getByLabel('Requests per minute').inputValue()).toBe('7');
    expect(await second?.getByLabel('Tokens per minute').inputValue()).toBe('900');
    await second?.getByRole('button', { name: 'Save' }).click();
    await second?.waitFor({ state: 'hidden' });
    const { keys } = await console.api('GET', '/api/keys');
    expect(keys).toContainEqual(
      expect.objectContaining({ name: 'Shared', requestsPerMinute: 7, tokensPerMinute: 900 }),
    );
  });

  test('of two that change one address rule, the later one is told, and shown what the first made of it', async () => {
    const range = '198.51.100.0/24';
    const rule = await console.api('POST', '/api/address-rules', { list: 'deny', range });
    const path = '/security?tab=addresses';
    const pages = [await console.open(path), await console.open(path)] as const;
    for (const page of pages) {
      await page.getByRole('button', { name: `Edit the rule for ${range}` }).click();
    }
    const [first, second] = pages.map((page) => page.getByRole('dialog'));
    const held = await hold(pages[1], ['PATCH', /api\/address-rules\//]);
    await second?.getByLabel('Note').fill('Scans at night');
    await second?.getByRole('button', { name: 'Save' }).click();
    await held.waiting(1);
    await first?.getByText('Allow', { exact: true }).click();
    await first?.getByRole('button', { name: 'Save' }).click();
    await first?.waitFor({ state: 'hidden' });
    await held.release();
    await second?.getByText('This was changed elsewhere').waitFor();
    await expect.poll(() => second?.getByRole('radio', { name: 'Allow' }).isChecked()).toBe(true);
    expect(await second?.getByLabel('Note').inputValue()).toBe('Scans at night');
    await second?.getByRole('button', { name: 'Save' }).click();
    await second?.waitFor({ state: 'hidden' });
    const { rules } = await console.api('GET', '/api/address-rules');
    expect(rules).toMatchObject([{ list: 'allow', note: 'Scans at night', revision: 3 }]);
    await console.api('DELETE', `/api/address-rules/${rule.id}`);
  });

  test('an address is blocked at once, with its hits counted', async () => {
    const { secret } = await console.api('POST', '/api/keys', { name: 'Remote' });
    const visitor = { 'x-forwarded-for': '203.0.113.7', 'x-api-key': String(secret) };
    expect((await console.ask({}, visitor)).status).toBe(200);
    const page = await console.open('/security?tab=addresses');
    await page.getByRole('switch', { name: 'Enforce IP rules' }).click({ force: true });
    await page.getByText('Saved: Enforce IP rules').waitFor();
    await page.getByRole('button', { name: 'Add rule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('IP address or range').fill('203.0.113.0/24');
    await dialog.getByLabel('Note').fill('Scans at night');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await page.getByText('Rule for 203.0.113.0/24 added').waitFor();
    expect((await console.ask({}, visitor)).status).toBe(403);
    await page.getByLabel('IP address', { exact: true }).fill('203.0.113.7');
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByText('203.0.113.7 would be denied').waitFor();
    await page.reload();
    const rule = page.getByRole('row', { name: /203\.0\.113\.0\/24/ });
    await rule.getByText('Scans at night').waitFor();
    expect(await rule.getByRole('cell').nth(4).innerText()).toMatch(/^1\b/);
    await page.getByRole('button', { name: 'Add rule' }).click();
    await dialog.getByLabel('IP address or range').fill('127.0.0.0/8');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await dialog.getByRole('alert').getByText('the deny rule 127.0.0.0/8 covers it').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: /Remove the rule for 203/ }).click();
    await page.getByText('Rule for 203.0.113.0/24 removed').waitFor();
    expect((await console.ask({}, visitor)).status).toBe(200);
  });

  /** The newest records. */
  async function readRequests(limit: number): Promise<readonly JsonObject[]> {
    const { requests } = await console.api('GET', `/api/requests?limit=${limit}`);
    return Array.isArray(requests) ? requests.filter(isJsonObject) : [];
  }

  /** The model the sandbox was asked for when a client asks for this one. */
  async function targetOf(model: string): Promise<string> {
    expect((await console.ask({ model })).status).toBe(200);
    const { requests } = await console.control('GET', '/sandbox/requests');
    const last = JSON.stringify(Array.isArray(requests) ? requests.at(-1) : undefined);
    return /models\/([^:"]+):/.exec(last)?.[1] ?? last;
  }
});

async function choose(page: Page, field: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}
