// The gateway over a sandbox that outlives it: accounts by key and by sign-in, all on one fake clock.

import type { SandboxAccount, SandboxTier } from '@isthmus/sandbox';
import { createSandbox, type SandboxOptions } from '@isthmus/sandbox';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/lib/json.ts';
import { createPassingClock } from './passing-clock.ts';
import { type PoolApp, type PoolAppOptions, startPoolApp } from './pool-app.ts';

export interface SandboxPool extends Omit<PoolApp, 'url' | 'app'> {
  readonly gateway: PoolApp;
  readonly sandboxUrl: string;
  /** Adds a sandbox account with its key; gives its id. */
  addKey(email: string, fields?: JsonObject): Promise<string>;
  /** Signs a person in as a browser would, up to the address it ends on. */
  consent(options: ConsentOptions): Promise<string>;
  /** Signs a person in and pastes the address; gives the account's id. */
  signIn(email: string, tier?: SandboxTier): Promise<string>;
  /** A control of the sandbox. @throws Error when it refuses */
  control(method: string, path: string, body?: JsonValue): Promise<JsonObject>;
}

interface ConsentOptions {
  readonly authorizationUrl: string;
  readonly email: string;
  readonly tier?: SandboxTier | undefined;
}

export interface SandboxPoolOptions extends Omit<PoolAppOptions, 'file' | 'clock'> {
  /** E-mails of accounts with a key; `key-of-<name>` is theirs. */
  readonly names: readonly string[];
  readonly sandbox?: Partial<SandboxOptions>;
  readonly proxy?: JsonObject;
  /** Where the gateway asks for tokens, given the sandbox's own address. */
  readonly tokenUrl?: (url: string) => string;
}

/** The upstream is `play`. */
export async function startSandboxPool(options: SandboxPoolOptions): Promise<SandboxPool> {
  const clock = createPassingClock();
  const accounts = options.names.map(accountOf);
  const sandbox = createSandbox({ accounts, clock, ...options.sandbox });
  const { url, oauth } = await sandbox.start();
  const { tokenUrl = (own) => own } = options;
  const file: JsonObject = {
    ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
    upstreams: {
      play: {
        profile: 'sandbox',
        base_url: url,
        oauth: {
          client_id: oauth.clientId,
          authorization_url: oauth.authorizationUrl,
          token_url: tokenUrl(oauth.tokenUrl),
          revocation_url: oauth.revocationUrl,
          userinfo_url: oauth.userInfoUrl,
          scopes: ['models', 'email', 'profile'],
        },
      },
    },
  };
  const gateway = await startPoolApp({ ...options, file, clock });
  const consent = (choice: ConsentOptions): Promise<string> => allow(url, choice);
  return {
    ...gateway,
    gateway,
    sandboxUrl: url,
    consent,
    async addKey(email, fields = {}) {
      const key = accounts.find((account) => account.email === email)?.key ?? '';
      const account = { upstream: 'play', kind: 'api-key', label: email, key, ...fields };
      return String((await gateway.must('POST', '/api/accounts', account)).id);
    },
    async signIn(email, tier) {
      const started = await gateway.must('POST', '/api/oauth/start', { upstream: 'play' });
      const authorizationUrl = String(started.authorizationUrl);
      const address = await consent({ authorizationUrl, email, tier });
      const done = await gateway.must('POST', '/api/oauth/complete', { url: address });
      return isJsonObject(done.account) ? String(done.account.id) : '';
    },
    async control(method, path, body) {
      const answer = await fetch(`${url}${path}`, {
        method,
        ...(body === undefined
          ? {}
          : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
      const value = parseJson(text);
      return isJsonObject(value) ? value : {};
    },
    async close() {
      await gateway.close();
      await sandbox.close();
    },
  };
}

function accountOf(email: string): SandboxAccount {
  const name = email.slice(0, email.indexOf('@'));
  return { email, tier: 'pro', key: `key-of-${name}`, project: `sandbox-${name}` };
}

/** What a person does at the consent page. */
async function allow(
  url: string,
  { authorizationUrl, email, tier = 'pro' }: ConsentOptions,
): Promise<string> {
  const page = await (await fetch(authorizationUrl)).text();
  const ticket = /name="ticket" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const form = { ticket, decision: 'allow', person: 'someone', email, tier };
  const answer = await fetch(`${url}/oauth/authorize`, {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
  return answer.headers.get('location') ?? '';
}
