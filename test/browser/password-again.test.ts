// What being signed in is not enough for: the console asks for the password, once for each such change.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleApp, isWithoutBrowser, PASSWORD, startConsole } from './console-app.ts';
import { BUSY_MACHINE, hold } from './trouble.ts';

describe.skipIf(isWithoutBrowser)('a change that needs the password once more', () => {
  let console: ConsoleApp;
  beforeAll(async () => {
    console = await startConsole();
  });
  afterAll(() => console.close());

  const SETTINGS = '/settings?section=upstreams';
  const addressOf = async (id: string): Promise<unknown> => {
    const { values } = await console.api('GET', '/api/config/upstreams');
    return Object(Object(values)[id]).base_url;
  };

  test('asks for it above the form, and keeps what was typed whatever is answered', async () => {
    await console.api('PATCH', '/api/config/upstreams', {
      far: { profile: 'generic', base_url: 'https://far.example' },
    });
    const page = await console.open(SETTINGS);
    await page.getByRole('button', { name: 'Edit far' }).click();
    const form = page.getByRole('dialog', { name: /far/ });
    await form.getByLabel('Base URL').fill('https://nearer.example');
    await form.getByRole('button', { name: 'Save' }).click();
    const prompt = page.getByRole('dialog', { name: 'Confirm your password' });
    const password = prompt.getByLabel('Password', { exact: true });
    await password.waitFor();
    await page.keyboard.press('Escape');
    await prompt.waitFor({ state: 'hidden' });
    await page.getByText('Nothing was changed because no password was entered.').first().waitFor();
    expect(await form.getByLabel('Base URL').inputValue()).toBe('https://nearer.example');
    expect(await addressOf('far')).toBe('https://far.example');
    await form.getByRole('button', { name: 'Save' }).click();
    await password.fill('a guess');
    await password.press('Enter');
    await prompt.getByText('Wrong password.').waitFor();
    expect(await addressOf('far')).toBe('https://far.example');
    await password.fill(PASSWORD);
    await password.press('Enter');
    await form.waitFor({ state: 'hidden' });
    expect(await addressOf('far')).toBe('https://nearer.example');
    expect(console.problems).toEqual([]);
  });

  test('asks on a machine so slow that the code of the question comes while that is drawn', async () => {
    const page = await console.open('/settings');
    await page.addInitScript(BUSY_MACHINE);
    const held = await hold(page, ['GET', /password-dialog-.*\.js$/]);
    const asked = page.waitForRequest(/password-dialog-.*\.js$/);
    await page.reload();
    const key = page.getByLabel('Gateway key');
    await key.fill('sk-a-key-of-sixteen');
    await held.waiting(1);
    await page.evaluate('busy.stop()');
    await key.press('Enter');
    await page.evaluate('busy.refused');
    await page.evaluate('busy.draw()');
    await held.release();
    await page.evaluate(`import('${(await asked).url()}')`);
    await page.evaluate('busy.go()');
    await page.getByRole('dialog', { name: 'Confirm your password' }).waitFor();
    expect(await key.inputValue()).toBe('sk-a-key-of-sixteen');
  });

  test('asks in Chinese', async () => {
    const page = await console.open('/settings', { locale: 'zh-CN' });
    await page.getByLabel('网关密钥').fill('sk-a-key-of-sixteen');
    await page.getByLabel('网关密钥').press('Enter');
    const prompt = page.getByRole('dialog', { name: '请再次输入密码' });
    await prompt.getByLabel('密码', { exact: true }).fill(PASSWORD);
    await prompt.getByRole('button', { name: '继续' }).click();
    await expect.poll(() => console.settings().apiKey).toBe('sk-a-key-of-sixteen');
  });

  test('is not needed to take the removal of an upstream back', async () => {
    const page = await console.open(SETTINGS);
    const before = await addressOf('play');
    await page.getByRole('button', { name: 'Remove play' }).click();
    await expect.poll(() => addressOf('play')).toBeUndefined();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => addressOf('play')).toBe(before);
    expect(console.problems).toEqual([]);
  });
});
