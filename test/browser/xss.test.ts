// Texts of clients and upstreams that try to run as script, in every place of the console that shows them.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleApp, isWithoutBrowser, startConsole } from './console-app.ts';
import { PAYLOADS } from './payloads.ts';

/** Whatever only markup out of a text can have put into the page. */
const PLANTED = `(() => {
  const found = [];
  for (const element of document.querySelectorAll('*')) {
    for (const { name, value } of element.attributes) {
      if (/^on/i.test(name)) found.push(element.localName + ' ' + name);
      if (/^(href|src|action|formaction|data|xlink:href)$/i.test(name) &&
          /^\\s*(javascript|data:text)/i.test(value)) found.push(element.localName + ' ' + value);
    }
  }
  const foreign = 'script:not([src]), iframe, object, embed, base, meta[http-equiv=refresh], marquee,' +
    'math, noscript p, style:not([data-mantine-styles]), link[href*=":9/"], template, xmp, svg script';
  for (const element of document.querySelectorAll(foreign)) found.push(element.outerHTML.slice(0, 90));
  return found;
})()`;

/** Further down the list, until that is drawn. */
const SCROLL = `new Promise((done) => {
  document.querySelector('.virtual-frame').scrollBy(0, 300);
  requestAnimationFrame(() => requestAnimationFrame(done));
})`;

const ONE_LINE = PAYLOADS.map((payload) => payload.replaceAll(/\s/g, ' '));
const TEXTS = new Set(ONE_LINE).size;
const PRINTABLE = ONE_LINE.map((payload) => payload.replaceAll(/[^ -~]/g, '?'));

describe.skipIf(isWithoutBrowser)('texts of clients and upstreams in the console', () => {
  let console: ConsoleApp;
  let page: Page;

  beforeAll(async () => {
    console = await startConsole({ keepsLog: true, proxy: { monitor: { bodies: true } } });
    await plant(console);
    page = await console.open('/');
  });
  afterAll(() => console?.close());

  /** Opens it and finds the text there as text, and nothing that was made of it. */
  async function look(path: string, shown: string): Promise<void> {
    await page.goto(console.url + path);
    await page.getByText(shown).first().waitFor();
    await expectNothingRan(path);
  }

  async function expectNothingRan(place: string): Promise<void> {
    expect({ place, planted: await page.evaluate(PLANTED) }).toEqual({ place, planted: [] });
    expect(console.problems).toEqual([]);
  }

  test('model names and errors in the list of requests and on the overview', async () => {
    expect(TEXTS).toBeGreaterThanOrEqual(200);
    await look('/requests', '<svg onload=alert(1)>');
    const seen = new Set<string>();
    for (let scrolls = 0; scrolls < 200 && seen.size < TEXTS; scrolls += 1) {
      for (const name of await page.locator('.request-model, .request-error').allTextContents()) {
        for (const payload of ONE_LINE) if (name.includes(payload)) seen.add(payload);
      }
      await expectNothingRan('requests');
      await page.evaluate(SCROLL);
    }
    expect(ONE_LINE.filter((payload) => !seen.has(payload))).toEqual([]);
    await page.goto(`${console.url}/`);
    await page.getByText('onerror=alert(1)').first().waitFor();
    await expectNothingRan('overview');
  });

  test('prompts, answers, programs and sessions of a request', async () => {
    const { requests } = await console.api('GET', '/api/requests?status=ok&limit=1');
    const [row] = Array.isArray(requests) ? requests : [];
    const id = typeof row === 'object' && row !== null && 'id' in row ? String(row.id) : '';
    await look(`/requests?id=${id}`, '<svg onload=alert(1)>');
    for (const tab of ['attempts', 'receipt', 'bodies', 'replay']) {
      await page.goto(`${console.url}/requests?id=${id}&tab=${tab}`);
      const panel = page.getByRole('tabpanel');
      await panel.waitFor();
      if (tab === 'bodies') await panel.getByText('<details open').first().waitFor();
      await expectNothingRan(`request ${tab}`);
    }
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Response status').waitFor();
    await expectNothingRan('replay');
  });

  test('errors of an upstream', async () => {
    const { requests } = await console.api('GET', '/api/requests?search=moons&limit=1');
    const [row] = Array.isArray(requests) ? requests : [];
    const id = typeof row === 'object' && row !== null && 'id' in row ? String(row.id) : '';
    await look(`/requests?id=${id}`, 'moons <svg onload=alert(1)>');
    await look('/requests?status=error&search=moons', 'moons');
  });

  test('labels and notes of accounts', async () => {
    await look('/accounts', '<svg onload=alert(1)>');
    const name = `${PRINTABLE.indexOf('<svg onload=alert(1)>')} <svg onload=alert(1)>`;
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').getByLabel('Notes').waitFor();
    await expectNothingRan('account');
    await look('/usage?by=account', 'Usage');
  });

  test('names of keys, with their snippet', async () => {
    await look('/keys', '<svg onload=alert(1)>');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill(`${PRINTABLE[0]} again`);
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await page.locator('.secret-box').waitFor();
    await expectNothingRan('new key');
    // The page asks before a secret goes that nobody has taken.
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await look('/usage?by=key', 'Usage');
  });

  test('entries of the mapping, their targets and the way of a name', async () => {
    await look('/routing', 'Mapping');
    const more = page.getByRole('button', { name: 'Show more' });
    await page.locator('.entry-name').first().waitFor();
    // A long list comes in portions.
    const left = async (): Promise<number> => {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      return more.count();
    };
    await expect.poll(left).toBe(0);
    await page.locator('.entry-name', { hasText: '<svg onload=alert(1)>' }).first().waitFor();
    await expectNothingRan('all of /routing');
    await look(`/routing?name=${encodeURIComponent('<svg onload=alert(1)>')}`, 'maps to');
    await look('/routing?tab=catalogue', 'Name');
    await look('/playground', 'Send a message');
  });

  test('notes of address rules, refused paths, and lines of the log', async () => {
    await look('/security?tab=addresses', '<svg onload=alert(1)>');
    await look('/security?tab=log', 'Invalid or missing key');
    // Other lines may be newer than those of the requests, and only what is in sight is drawn.
    await look('/logs?search=request', 'request');
    await page
      .getByRole('button', { name: /request/ })
      .first()
      .click();
    await expectNothingRan('logs');
    await look('/settings', 'Gateway key');
    await look(`/requests?search=${encodeURIComponent('<svg onload=alert(1)>')}`, 'Requests');
  });
});

test.skipIf(isWithoutBrowser)(
  'no text can become markup or a script, even by a mistake',
  async () => {
    const console = await startConsole();
    try {
      const page = await console.open('/');
      const policies = await page.evaluate(`(() => {
      const tried = [
        () => { document.body.innerHTML = '<b>markup</b>'; },
        () => { document.createElement('script').src = '/other.js'; },
        () => { document.createElement('iframe').srcdoc = '<b>markup</b>'; },
        () => trustedTypes.createPolicy('default', { createHTML: (text) => text }),
      ];
      return tried.map((attempt) => {
        try { attempt(); return 'done'; } catch (error) { return error.name; }
      });
    })()`);
      expect(policies).toEqual(['TypeError', 'TypeError', 'TypeError', 'TypeError']);
    } finally {
      await console.close();
    }
  },
);

/** Puts the texts into every field that is kept. */
async function plant(console: ConsoleApp): Promise<void> {
  await inTurns(ONE_LINE, async (payload) => {
    await console.ask({ model: payload });
  });
  const every = ONE_LINE.join('\n');
  await console.ask(
    { messages: [{ role: 'user', content: every }], system: every, metadata: { user_id: every } },
    {
      'user-agent': PRINTABLE.join(' ').slice(0, 4000),
      'x-session-id': PRINTABLE[18] ?? '',
    },
  );
  await console.control('POST', '/sandbox/faults', {
    status: 400,
    message: `moons ${PRINTABLE[18]} ${every}`.slice(0, 2000),
    count: 1,
  });
  await console.ask();
  await inTurns(PRINTABLE, async (payload) => {
    await console.api('POST', '/api/keys', { name: payload.slice(0, 128) });
  });
  await inTurns(PRINTABLE, async (payload, index) => {
    const label = `${index} ${payload}`.slice(0, 128);
    const account = { upstream: 'play', kind: 'api-key', label, notes: payload };
    const key = `no-key-${index}`;
    await console.api('POST', '/api/accounts', { ...account, key, addAnyway: true });
  });
  await inTurns(PRINTABLE, async (payload, index) => {
    const rule = { list: 'deny', range: `203.0.113.${index}`, note: payload };
    await console.api('POST', '/api/address-rules', rule);
  });
  // A target with a star is refused, and a name with one is a pattern.
  const mapping = ONE_LINE.map((payload) => payload.replaceAll('*', '')).map((text) => [
    text,
    text,
  ]);
  await console.api('PATCH', '/api/config/mapping', Object.fromEntries(mapping));
  await inTurns(PRINTABLE, async (payload) => {
    await fetch(`${console.url}/api/${encodeURIComponent(payload)}`);
    await fetch(`${console.url}/api/keys?${encodeURIComponent(payload)}`);
  });
}

/** Eight at a time. */
async function inTurns(
  texts: readonly string[],
  run: (text: string, index: number) => Promise<void>,
): Promise<void> {
  const waiting = texts.entries();
  const work = async (): Promise<void> => {
    for (const [index, text] of waiting) await run(text, index);
  };
  await Promise.all(Array.from({ length: 8 }, work));
}
