// The views of keys, requests, usage, playground, clients, security, settings and logs.

import type { Page } from 'playwright-core';
import type { View } from './look-views.ts';

const rich = (name: string, path: string, prepare?: View['prepare']): View => ({
  name,
  path,
  scene: 'rich',
  ...(prepare === undefined ? {} : { prepare }),
});
const empty = (name: string, path: string): View => ({ name, path, scene: 'empty' });
const chinese = (name: string, path: string): View => ({
  name,
  path,
  scene: 'rich',
  language: 'zh',
});

const japanese = (name: string, path: string): View => ({ ...chinese(name, path), language: 'ja' });

const STREAM = [
  { choices: [{ delta: { reasoning_content: 'The person greets. Greet back, briefly.' } }] },
  { choices: [{ delta: { content: 'Hello! An isthmus is a narrow strip of land ' } }] },
  { choices: [{ delta: { content: 'that joins two larger ones.\n\n<b>Text stays text.</b>' } }] },
];

const HELD_BACK = [
  { choices: [{ delta: { content: 'An isthmus is a narrow strip of ' } }] },
  { choices: [{ delta: { refusal: 'The upstream held this answer back: SAFETY.' } }] },
  { choices: [{ delta: {}, finish_reason: 'content_filter' }] },
];

const CUT_SHORT = [
  {
    choices: [{ delta: { content: 'An isthmus is a narrow strip of ' }, finish_reason: 'length' }],
  },
];

async function talk(page: Page, chunks: readonly object[], last: string): Promise<void> {
  const body = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]']
    .map((chunk) => `data: ${chunk}\n\n`)
    .join('');
  await page.route('**/v1/chat/completions', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body, headers: { 'x-request-id': 'req_1' } }),
  );
  const settings = page.getByRole('button', { name: 'Settings' });
  const model = page.getByRole('combobox', { name: 'Model' });
  await settings.or(model).first().waitFor();
  const isNarrow = (await settings.count()) > 0;
  if (isNarrow) await settings.click();
  await model.fill('gemini-3-pro');
  await page.keyboard.press('Escape');
  if (isNarrow) await page.keyboard.press('Escape');
  await page.getByRole('textbox', { name: 'Message' }).fill('What is an isthmus?');
  await page.keyboard.press('Enter');
  await page.getByText(last).first().waitFor();
}

async function createKey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Create key' }).first().click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Build server');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await page.getByText('sk-new1').first().waitFor();
}

export const PAGE_VIEWS: readonly View[] = [
  rich('keys', '/keys'),
  empty('keys-empty', '/keys'),
  chinese('keys-chinese', '/keys'),
  rich('keys-found', '/keys?sort=today', (page) =>
    page.getByRole('searchbox', { name: 'Search keys' }).fill('SHOP'),
  ),
  rich('key-form', '/keys', (page) =>
    page.getByRole('button', { name: 'Nightly build' }).first().click(),
  ),
  rich('key-created', '/keys', createKey),
  rich('requests', '/requests'),
  empty('requests-empty', '/requests'),
  chinese('requests-chinese', '/requests'),
  rich('requests-none', '/requests?search=no-such-thing'),
  rich('requests-part', '/requests', async (page) => {
    const filters = page.getByRole('button', { name: 'Filters' });
    if (await filters.isVisible()) await filters.click();
    await page.getByRole('combobox', { name: 'Model' }).fill('MINI');
    await page.waitForURL(/model=/);
  }),
  rich('requests-errors', '/requests?view=errors'),
  rich('requests-zoomed', '/requests?session=run-7&error=timeout', async (page) => {
    await page.getByRole('slider').focus();
    await page.keyboard.press('ArrowLeft');
    for (let count = 0; count < 9; count += 1) await page.keyboard.press('Shift+ArrowLeft');
  }),
  rich('session', '/requests/session?session=run-7'),
  rich('requests-columns', '/requests', (page) =>
    page.getByRole('button', { name: 'Columns' }).click(),
  ),
  rich('request-summary', '/requests?id=r009990'),
  rich('request-attempts', '/requests?id=r009990&tab=attempts'),
  rich('request-receipt', '/requests?id=r009990&tab=receipt'),
  chinese('request-receipt-chinese', '/requests?id=r009990&tab=receipt'),
  rich('request-bodies', '/requests?id=r009990&tab=bodies'),
  rich('request-replay', '/requests?id=r009990&tab=replay', async (page) => {
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Response status').waitFor();
  }),
  rich('usage', '/usage'),
  rich('usage-kinds', '/usage?by=none&period=month'),
  rich('usage-model', '/usage?model=gemini-3-flash&by=account'),
  empty('usage-empty', '/usage'),
  chinese('usage-chinese', '/usage'),
  rich('playground', '/playground'),
  rich('playground-talk', '/playground', (page) => talk(page, STREAM, 'Text stays text')),
  rich('playground-held-back', '/playground', (page) => talk(page, HELD_BACK, 'held this answer')),
  rich('playground-cut-short', '/playground', (page) =>
    talk(page, CUT_SHORT, 'reached max tokens'),
  ),
  rich('clients', '/clients'),
  chinese('clients-chinese', '/clients?client=gemini-cli'),
  rich('clients-codex', '/clients?client=codex&with=powershell'),
  rich('clients-vercel', '/clients?client=vercel-ai'),
  rich('clients-other', '/clients?client=other'),
  empty('clients-empty', '/clients?client=openai&with=python'),
  { name: 'clients-trouble', path: '/clients?client=curl', scene: 'trouble' },
  rich('security', '/security'),
  rich('security-addresses', '/security?tab=addresses', async (page) => {
    await page.getByPlaceholder('203.0.113.7').fill('203.0.113.7');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('would be denied').waitFor();
  }),
  rich('security-log', '/security?tab=log'),
  rich('security-web', '/security?tab=web'),
  chinese('security-chinese', '/security'),
  ...[
    'access',
    'network',
    'upstreams',
    'pool',
    'quota',
    'thinking',
    'monitor',
    'alerts',
    'environment',
  ].map((section) => rich(`settings-${section}`, `/settings?section=${section}`)),
  rich('settings-upstream', '/settings?section=upstreams', (page) =>
    page.getByRole('button', { name: 'Edit work' }).click(),
  ),
  chinese('settings-chinese', '/settings?section=pool'),
  japanese('settings-japanese', '/settings?section=pool'),
  japanese('clients-japanese', '/clients?client=codex'),
  rich('logs', '/logs', (page) =>
    page
      .getByRole('button', { name: /account is cooling down/ })
      .first()
      .click(),
  ),
  empty('logs-empty', '/logs'),
];
