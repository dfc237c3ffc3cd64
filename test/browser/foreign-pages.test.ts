// What a web page of somebody else can make the browser of a person do to a gateway that asks this person for no key.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { isWithoutBrowser } from './console-app.ts';

const QUESTION = JSON.stringify({
  model: 'alpha-3-flash',
  max_tokens: 8,
  messages: [{ role: 'user', content: 'A question nobody here asked' }],
});

/**
 * Every way in which a page can send something by itself; the answer names those whose answer it could read.
 * `TARGET` is the address of the gateway as the page calls it, '' for its own origin.
 */
const ATTACK = `(async () => {
  const body = QUESTION;
  const ask = TARGET + '/v1/messages';
  const read = [];
  const settle = (promise) => Promise.race([
    promise.catch(() => undefined),
    new Promise((done) => setTimeout(done, 3000)),
  ]);
  const tries = [];
  const tryFetch = (name, url, options) => tries.push(settle((async () => {
    const answer = await fetch(url, options);
    if (answer.type !== 'opaque' && answer.ok) read.push(name + ' ' + (await answer.text()).slice(0, 80));
  })()));
  for (const mode of ['cors', 'no-cors', 'same-origin']) {
    for (const credentials of ['omit', 'include']) {
      const more = { mode, credentials };
      tryFetch('get ' + mode, TARGET + '/v1/models', more);
      tryFetch('figures ' + mode, TARGET + '/metrics', more);
      tryFetch('accounts ' + mode, TARGET + '/api/accounts', more);
      for (const type of ['text/plain', 'application/json', 'application/x-www-form-urlencoded']) {
        const headers = { 'content-type': type };
        tryFetch(type + ' ' + mode, ask, { method: 'POST', body, headers, ...more });
        tryFetch('key ' + type + ' ' + mode, TARGET + '/api/keys', {
          method: 'POST', body: '{"name":"stolen"}', headers, ...more });
      }
      tryFetch('untyped ' + mode, ask, { method: 'POST', body: new Blob([body]), ...more });
      tryFetch('settings ' + mode, TARGET + '/api/config/auth', {
        method: 'PATCH', body: '{"auth_mode":"off"}', headers: { 'content-type': 'application/json' }, ...more });
      tryFetch('session ' + mode, TARGET + '/api/session', {
        method: 'POST', body: '{"password":"x"}',
        headers: { 'content-type': 'application/json', 'x-isthmus-console': '1' }, ...more });
    }
  }
  for (const type of ['text/plain', 'application/json', 'application/x-www-form-urlencoded']) {
    navigator.sendBeacon(ask, new Blob([body], { type }));
    tries.push(settle(new Promise((done) => {
      const call = new XMLHttpRequest();
      call.onloadend = () => { if (call.status === 200) read.push('xhr ' + type); done(); };
      call.open('POST', ask);
      call.setRequestHeader('content-type', type);
      call.withCredentials = true;
      call.send(body);
    })));
  }
  const load = (element, attributes) => tries.push(settle(new Promise((done) => {
    const made = document.createElement(element);
    made.onload = () => { done(); };
    made.onerror = () => { done(); };
    Object.assign(made, attributes);
    document.body.append(made);
  })));
  load('img', { src: TARGET + '/v1/models' });
  load('script', { src: TARGET + '/v1/models' });
  load('link', { rel: 'stylesheet', href: TARGET + '/v1/models' });
  load('link', { rel: 'prefetch', href: TARGET + '/v1/models' });
  load('iframe', { src: TARGET + '/v1/models' });
  load('iframe', { src: TARGET + '/api/accounts' });
  load('video', { src: TARGET + '/v1/models', crossOrigin: 'anonymous' });
  load('object', { data: TARGET + '/v1/models' });
  for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    const name = 'frame-' + enctype;
    const frame = document.createElement('iframe');
    frame.name = name;
    document.body.append(frame);
    const form = document.createElement('form');
    Object.assign(form, { method: 'POST', action: ask, enctype, target: name });
    const field = document.createElement('input');
    // What a text/plain form sends is JSON then.
    field.name = body.slice(0, -1) + ',"x":"';
    field.value = '"}';
    form.append(field);
    document.body.append(form);
    tries.push(settle(new Promise((done) => { frame.onload = done; form.submit(); })));
  }
  for (const path of ['/api/events', '/v1/models']) {
    tries.push(settle(new Promise((done) => {
      const source = new EventSource(TARGET + path, { withCredentials: true });
      source.onopen = () => { read.push('events ' + path); done(); };
      source.onerror = () => { source.close(); done(); };
    })));
  }
  for (const path of ['/v1/responses', '/v1/realtime', '/api/events']) {
    tries.push(settle(new Promise((done) => {
      const socket = new WebSocket((TARGET || location.origin).replace(/^http/, 'ws') + path);
      socket.onopen = () => { read.push('socket ' + path); socket.send(body); done(); };
      socket.onerror = done;
    })));
  }
  await Promise.all(tries);
  return read;
})()`;

describe.skipIf(isWithoutBrowser)('a web page of somebody else', () => {
  let app: TestApp;
  let elsewhere: Server;
  let elsewherePort: number;
  let browser: Browser;

  beforeAll(async () => {
    const context = inject('browser');
    if (context === undefined) throw new Error('There is no browser.');
    // Nothing is configured: programs of this machine need neither key nor password.
    app = await startApp();
    elsewhere = createServer((_request, answer) => {
      answer.writeHead(200, { 'content-type': 'text/html' });
      answer.end(PAGE);
    });
    await new Promise<void>((resolve) => void elsewhere.listen(0, '127.0.0.1', resolve));
    elsewherePort = (elsewhere.address() as AddressInfo).port;
    browser = await chromium.connect(context.endpoint);
  });
  afterAll(async () => {
    await browser?.close();
    await new Promise((resolve) => void elsewhere?.close(resolve));
    await app?.close();
  });

  /** What the gateway answered to a page, without refusals: `METHOD path status`. */
  async function accepted(page: Page, target: string): Promise<readonly string[]> {
    const answers: string[] = [];
    let refused = 0;
    page.context().on('response', (answer) => {
      const url = new URL(answer.url());
      if (url.port !== String(app.port) || url.pathname === '/page') return;
      const isRefusal = answer.status() >= 400 && answer.status() < 500;
      const isSilent = answer.status() === 204 && answer.request().method() === 'OPTIONS';
      if (isRefusal || isSilent) refused += 1;
      else answers.push(`${answer.request().method()} ${url.pathname} ${answer.status()}`);
    });
    const read = await page.evaluate(
      ATTACK.replaceAll('TARGET', JSON.stringify(target)).replace(
        'QUESTION',
        JSON.stringify(QUESTION),
      ),
    );
    // It did knock.
    expect(refused).toBeGreaterThan(10);
    return [...answers, ...(Array.isArray(read) ? read.map(String) : ['no report'])];
  }

  async function expectNothingHappened(): Promise<void> {
    const calls = await app.sandbox.requests();
    expect(calls.filter(({ path }) => !String(path).endsWith('/models'))).toEqual([]);
    expect(app.app.access.keys.list()).toEqual([]);
    expect(app.config.current().authMode).toBe('auto');
    const requests: unknown = await (await fetch(`${app.url}/api/requests`)).json();
    expect(requests).toMatchObject({ total: 0 });
  }

  test.each([
    ['another site', (port: number) => `http://page.attacker.example:${port}`],
    ['another port of this machine', (port: number) => `http://127.0.0.1:${port}`],
    ['another port of localhost', (port: number) => `http://localhost:${port}`],
  ] as const)('from %s reaches no model and no setting', async (_what, originOf) => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const page = await (await browser.newContext()).newPage();
      await page.goto(`${originOf(elsewherePort)}/page`);
      expect(await accepted(page, `http://${host}:${app.port}`)).toEqual([]);
      await page.context().close();
    }
    await expectNothingHappened();
  });

  test('whose name was turned to this machine afterwards reaches none either', async () => {
    const page = await (await browser.newContext()).newPage();
    const origin = `http://rebound.attacker.example:${app.port}`;
    // The page itself came before, from where the name led then.
    await page.route(`${origin}/page`, (route) =>
      route.fulfill({ contentType: 'text/html', body: PAGE }),
    );
    await page.goto(`${origin}/page`);
    expect(await accepted(page, '')).toEqual([]);
    await page.context().close();
    await expectNothingHappened();
  });

  test('in a sandboxed frame, with no origin at all, reaches none either', async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`http://page.attacker.example:${elsewherePort}/page`);
    await page.setContent(
      `<iframe sandbox="allow-scripts allow-forms" srcdoc="${'<p>inside</p>'}">`,
    );
    const frame = page.frames()[1];
    if (frame === undefined) throw new Error('There is no frame.');
    const read = await frame.evaluate(
      ATTACK.replaceAll('TARGET', JSON.stringify(app.url)).replace(
        'QUESTION',
        JSON.stringify(QUESTION),
      ),
    );
    expect(read).toEqual([]);
    await page.context().close();
    await expectNothingHappened();
  });

  test('that a person follows a link from shows nothing of the models', async () => {
    const context = await browser.newContext();
    for (const path of ['/v1/models', '/api/accounts', '/metrics']) {
      const page = await context.newPage();
      await page.goto(`http://page.attacker.example:${elsewherePort}/page`);
      const [answer] = await Promise.all([
        page.waitForResponse((one) => one.url() === app.url + path),
        page.evaluate(`location.href = ${JSON.stringify(app.url + path)}`),
      ]);
      expect([path, answer.status() >= 400]).toEqual([path, true]);
    }
    await context.close();
  });

  test('differs from a program of this machine, which is served', async () => {
    const answer = await fetch(`${app.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: QUESTION,
    });
    expect(answer.status).toBe(200);
  });
});

const PAGE = '<!doctype html><title>Free screensavers</title><body><p>Welcome</p></body>';
