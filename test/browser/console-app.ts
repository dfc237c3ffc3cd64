// A gateway with its console over a sandbox, and pages of the one browser that look at it.

import type { SandboxAccount } from '@isthmus/sandbox';
import { createSandbox } from '@isthmus/sandbox';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { inject } from 'vitest';
import type { App } from '../../src/app.ts';
import type { Settings } from '../../src/config/effective.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/lib/json.ts';
import { startGateway } from '../support/app.ts';

export const PASSWORD = 'a password for the console';

export interface ConsoleApp {
  readonly url: string;
  /** What no page may show: scripts that ran, broken rules of the policy, errors. */
  readonly problems: string[];
  readonly app: App;
  /** What is in force now. */
  settings(): Settings;
  /** A page in a browser context of its own, not signed in. */
  openPage(options?: BrowserContextOptions): Promise<Page>;
  /** A page in a context of its own, signed in, at this path of the console. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>;
  /** A call of the admin API as scripts make it. @throws Error when it is refused */
  api(method: string, path: string, body?: JsonValue): Promise<JsonObject>;
  /** A Messages request as a client on this machine sends it. */
  ask(change?: JsonObject, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** A control of the sandbox. @throws Error when it is refused */
  control(method: string, path: string, body?: JsonValue): Promise<JsonObject>;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

export interface ConsoleOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly proxy?: JsonObject;
  readonly keepsLog?: boolean;
}

/** True where there is no browser, which the set-up has said loudly. */
export const isWithoutBrowser: boolean = inject('browser') === undefined;

/** Accounts by key of the upstream `play`, where people can also sign in. */
const ACCOUNTS: readonly SandboxAccount[] = ['ruth', 'mary'].map((name) => ({
  email: `${name}@sandbox.example`,
  tier: 'pro',
  key: `key-of-${name}-0123456789`,
  project: `sandbox-${name}`,
}));

/** The console asks for `PASSWORD`; the accounts ruth and mary are stored, with their keys. */
export async function startConsole(options: ConsoleOptions = {}): Promise<ConsoleApp> {
  const context = inject('browser');
  if (context === undefined) throw new Error('There is no browser.');
  // As the browser's.
  const clock = createSystemClock();
  const sandbox = createSandbox({ accounts: ACCOUNTS, clock });
  const { url: sandboxUrl, oauth } = await sandbox.start();
  const gateway = await startGateway({
    clock,
    environment: {
      ABV_DIST_PATH: context.distPath,
      WEB_PASSWORD: PASSWORD,
      ...options.environment,
    },
    ...(options.keepsLog === true ? { keepsLog: true } : {}),
    file: {
      proxy: options.proxy ?? {},
      upstreams: {
        play: {
          profile: 'sandbox',
          base_url: sandboxUrl,
          oauth: {
            client_id: oauth.clientId,
            authorization_url: oauth.authorizationUrl,
            token_url: oauth.tokenUrl,
            revocation_url: oauth.revocationUrl,
            userinfo_url: oauth.userInfoUrl,
            scopes: ['models', 'email', 'profile'],
          },
        },
      },
    },
  });
  const { url, app } = gateway;
  const browser = await chromium.connect(context.endpoint);
  const problems: string[] = [];
  const openPage = async (more: BrowserContextOptions = {}): Promise<Page> => {
    const opened = await newContext(browser, more);
    const page = await opened.newPage();
    watch(page, problems);
    return page;
  };
  const api: ConsoleApp['api'] = (method, path, body) =>
    call(`${url}${path}`, { method, body, headers: { authorization: `Bearer ${PASSWORD}` } });
  for (const { email, key } of ACCOUNTS) {
    await api('POST', '/api/accounts', { upstream: 'play', kind: 'api-key', label: email, key });
  }
  await app.pool.ensureModels();
  return {
    url,
    app,
    settings: () => gateway.config.current(),
    problems,
    openPage,
    api,
    async open(path, more) {
      const page = await openPage(more);
      // As the link would, but without loading a page that nobody looks at.
      await page.context().addCookies([await signIn(app, url)]);
      await page.goto(url + path);
      await page.locator('main#content').waitFor();
      // From here on the page hears what happens.
      await page.locator('.feed-mark .is-ok').first().waitFor({ state: 'attached' });
      return page;
    },
    async ask(change = {}, headers = {}) {
      const answer = await fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({
          model: 'alpha-3-flash',
          max_tokens: 64,
          messages: [{ role: 'user', content: 'Hello' }],
          ...change,
        }),
      });
      const body = parseJson(await answer.text());
      return { status: answer.status, body: isJsonObject(body) ? body : {} };
    },
    control: (method, path, body) => call(`${sandboxUrl}${path}`, { method, body, headers: {} }),
    async close() {
      await browser.close();
      await gateway.close();
      await sandbox.close();
    },
  };
}

/** Gives the password where a change asks a signed-in browser for it once more. */
export async function requireReauthentication(page: Page, password = PASSWORD): Promise<void> {
  const prompt = page.getByRole('dialog', { name: 'Confirm your password' });
  await prompt.getByLabel('Password', { exact: true }).fill(password);
  await prompt.getByRole('button', { name: 'Continue' }).click();
  await prompt.waitFor({ state: 'hidden' });
}

/** The cookie that the one-time link sets. */
async function signIn(app: App, url: string) {
  const link = `${url}/sign-in?token=${app.access.login.createLink()}`;
  const { headers } = await fetch(link, { redirect: 'manual' });
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(headers.get('set-cookie') ?? '') ?? [];
  return { name, value, url, httpOnly: true, sameSite: 'Strict' as const };
}

interface Call {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonValue | undefined;
}

async function call(url: string, { method, headers, body }: Call): Promise<JsonObject> {
  const answer = await fetch(url, {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${text}`);
  const value = parseJson(text === '' ? '{}' : text);
  return isJsonObject(value) ? value : {};
}

async function newContext(browser: Browser, more: BrowserContextOptions) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 },
    locale: 'en-GB',
    reducedMotion: 'reduce',
    ...more,
  });
  context.setDefaultTimeout(40_000);
  return context;
}

/** Answers of the gateway that say no are what some tests ask for; all else is a problem. */
function watch(page: Page, problems: string[]): void {
  page.on('dialog', (dialog) => {
    problems.push(`a script ran: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) {
      problems.push(`${page.url()}: ${message.text()}`);
    }
  });
}
