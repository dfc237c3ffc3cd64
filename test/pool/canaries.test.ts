// Secrets with a mark, sent through everything the gateway does with accounts: none may turn up in clear.

import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { JsonValue } from '../../src/lib/json.ts';
import { whileTimePasses } from '../support/passing-clock.ts';
import { type ApiAnswer, type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { PROTOCOL_CALLS, send } from '../support/protocol-calls.ts';
import {
  errorBody,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../support/scripted-upstream.ts';

let gateway: PoolApp;
let upstream: ScriptedUpstream;
/** The canaries in the credentials the upstream was shown. */
const presented = new Set<string>();
afterEach(async () => {
  await gateway.close();
  await upstream.close();
});

const canary = (what: string, at: number): string => `canary${what}${at}x7Qm4Vt9Zk2Lp8Rw5`;
const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

const KEYS = range(9).map((at) => `key.k${at}.${canary('Key', at)}`);
const NEW_KEY = `key.k0.${canary('NewKey', 0)}`;
const REFRESH = range(9).map((at) => `refresh.r${at}.${canary('Refresh', at)}`);
const CLIENT_SECRET = canary('Client', 0);
const PROXY_PASSWORD = canary('Proxy', 0);
const PASSPHRASES = [canary('Pass', 0), canary('Pass', 1)];
const CODE = canary('Code', 0);
const PRIVATE_KEYS = range(2).map(() => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
});
const PEM_LINES = PRIVATE_KEYS.map((pem) => pem.split('\n')[5] ?? '');
/** What the provider hands out. */
const ACCESS = range(4).map((at) => canary('Access', at));
const CANARIES = [
  ...[...KEYS, ...REFRESH].map((text) => text.split('.')[2] ?? ''),
  ...[canary('NewKey', 0), CLIENT_SECRET, PROXY_PASSWORD, CODE],
  ...[...PASSPHRASES, ...PEM_LINES, ...ACCESS],
];

test(`${CANARIES.length} canaries in every flow: none in clear anywhere`, async () => {
  expect(CANARIES.length).toBeGreaterThanOrEqual(30);
  expect(Math.min(...CANARIES.map(({ length }) => length))).toBeGreaterThan(20);
  await start();
  const answers: string[] = [];
  const api = async (method: string, path: string, body?: JsonValue): Promise<ApiAnswer> => {
    const answer = await whileTimePasses(gateway.clock, gateway.api(method, path, body));
    answers.push(answer.text);
    return answer;
  };
  await addEverything(api);
  await useEverything(answers);
  await readEverything(api);
  await api('POST', '/api/oauth/complete', { code: CODE, state: 'no-such-state' });
  await api('GET', `/oauth/callback?code=${CODE}&state=no-such-state`);
  await gateway.app.book.flush();
  expect(findIn(readFolder(gateway.folder))).toEqual([]);
  await gateway.restart();
  await readEverything(api);
  await gateway.stop();

  expect(findIn([{ name: 'log', text: gateway.logged.join('\n') }])).toEqual([]);
  expect(findIn([{ name: 'answers', text: answers.join('\n') }])).toEqual([]);
  expect(findIn(readFolder(gateway.folder))).toEqual([]);
  // They did go through it: the upstream was shown most of them.
  expect(presented.size).toBeGreaterThan(15);
});

type Api = (method: string, path: string, body?: JsonValue) => Promise<ApiAnswer>;

async function start(): Promise<void> {
  upstream = await startScriptedUpstream();
  const { url } = upstream;
  const oauth = {
    client_id: 'a',
    client_secret: CLIENT_SECRET,
    authorization_url: `${url}/authorize`,
    token_url: `${url}/token`,
  };
  gateway = await startPoolApp({
    file: { upstreams: { play: { profile: 'sandbox', base_url: url, oauth } } },
  });
  upstream.script({
    token: (account, nth) => ({
      kind: 'status',
      status: 200,
      body: {
        access_token: `access.${account}.${ACCESS[nth % 4]}`,
        token_type: 'Bearer',
        expires_in: 60,
      },
    }),
  });
}

async function addEverything(api: Api): Promise<void> {
  for (const [at, key] of KEYS.entries()) {
    const label = `k${at}`;
    const { status } = await api('POST', '/api/accounts', {
      upstream: 'play',
      kind: 'api-key',
      label,
      key,
    });
    expect(status).toBe(201);
  }
  // Refused ones: their answers must not repeat what was sent.
  await api('POST', '/api/accounts', { upstream: 'nowhere', kind: 'api-key', key: KEYS[0] ?? '' });
  await api('POST', '/api/accounts', {
    upstream: 'play',
    kind: 'api-key',
    label: 'k0',
    key: KEYS[1] ?? '',
  });
  await api('POST', '/api/accounts', { upstream: 'play', kind: 'oauth', key: KEYS[1] ?? '' });
  await api('POST', '/api/accounts', {
    upstream: 'play',
    kind: 'api-key',
    key: `${KEYS[1]}\nX: y`,
  });
  const text = REFRESH.slice(1)
    .map((token, at) => `r${at + 1} ${token}`)
    .join('\n');
  await api('POST', '/api/accounts/import', { format: 'refresh-tokens', upstream: 'play', text });
  await api('POST', '/api/accounts', {
    upstream: 'play',
    kind: 'oauth',
    label: 'r0',
    refreshToken: REFRESH[0] ?? '',
  });
  const files = PRIVATE_KEYS.map((private_key, at) => ({
    type: 'service_account',
    client_email: `s${at}@x.iam.example`,
    private_key,
    token_uri: `${upstream.url}/token`,
  }));
  await api('POST', '/api/accounts/import', {
    format: 'service-accounts',
    upstream: 'play',
    text: JSON.stringify(files),
  });
  const accounts = gateway.app.book.list().filter(({ origin }) => origin === 'stored');
  expect(accounts.map(({ record }) => record.kind).sort()).toEqual([
    ...Array(9).fill('api-key'),
    ...Array(9).fill('oauth'),
    ...Array(2).fill('service-account'),
  ]);
  const first = `/api/accounts/${accounts[0]?.record.id}`;
  await api('PATCH', first, { key: NEW_KEY });
  await api('PATCH', `/api/accounts/${accounts[1]?.record.id}`, {
    proxyUrl: `http://user:${PROXY_PASSWORD}@127.0.0.1:1`,
  });
  await api('PATCH', first, { proxyUrl: `ftp://user:${PROXY_PASSWORD}@host` });
  const { body } = await api('POST', '/api/accounts/export', { passphrase: PASSPHRASES[0] ?? '' });
  await api('POST', '/api/accounts/import', {
    format: 'export',
    text: String(body.sealed),
    passphrase: PASSPHRASES[1] ?? '',
  });
  await api('POST', '/api/accounts/import', {
    format: 'export',
    text: String(body.sealed),
    passphrase: PASSPHRASES[0] ?? '',
  });
  await api('POST', '/api/accounts/import', {
    format: 'refresh-tokens',
    upstream: 'play',
    text: `{${REFRESH[3]}`,
  });
  await api('POST', '/api/accounts/import', {
    format: 'export',
    text: REFRESH[4] ?? '',
    passphrase: PASSPHRASES[1] ?? '',
  });
}

/** An upstream and a provider that repeat every secret in what they say. */
async function useEverything(answers: string[]): Promise<void> {
  const tell = (status: number, secret: string) => ({
    kind: 'status' as const,
    status,
    body: errorBody(status, `The credential ${secret} is bad: Bearer ${secret}`),
  });
  for (const status of [200, 401, 403, 429, 400, 500, 503]) {
    upstream.script({
      model: ({ credential }) => {
        presented.add(credential);
        return status === 200 ? undefined : tell(status, credential);
      },
      token: (account, nth) => ({
        kind: 'status',
        status: 200,
        body: {
          access_token: `access.${account}.${ACCESS[nth % 4]}`,
          token_type: 'Bearer',
          expires_in: 60,
        },
      }),
    });
    await askAll(answers);
  }
  for (const error of ['invalid_grant', 'invalid_request']) {
    upstream.script({
      token: (account) => ({
        kind: 'status',
        status: 400,
        body: {
          error,
          error_description: `No: ${REFRESH.find((one) => one.includes(`.${account}.`))}`,
        },
      }),
    });
    await askAll(answers);
  }
  upstream.script({});
  await askAll(answers);
}

async function askAll(answers: string[]): Promise<void> {
  for (const { record, origin } of gateway.app.book.list()) {
    if (origin !== 'stored') continue;
    gateway.app.book.apply(record.id, { kind: 'clear-cooldown' });
    if (record.kind !== 'oauth') gateway.app.book.apply(record.id, { kind: 'enable' });
  }
  for (const call of PROTOCOL_CALLS) {
    for (const stream of [false, true]) {
      gateway.clock.skip(120_000);
      const answer = await send(gateway.url, call, { stream });
      answers.push(answer.text, JSON.stringify([...answer.headers]));
    }
  }
}

async function readEverything(api: Api): Promise<void> {
  const accounts = gateway.app.book.list();
  for (const path of [
    'accounts',
    'quota',
    'sessions',
    'upstreams',
    'models',
    'config',
    'openapi.json',
  ]) {
    await api('GET', `/api/${path}`);
  }
  for (const section of ['auth', 'pool', 'quota', 'upstreams', 'network', 'mapping']) {
    await api('GET', `/api/config/${section}`);
  }
  for (const { record } of accounts) {
    await api('GET', `/api/accounts/${record.id}`);
    await api('POST', `/api/accounts/${record.id}/test`, {});
  }
}

interface Found {
  readonly name: string;
  readonly text: string;
}

function readFolder(folder: string): Found[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((name) => ({ name, text: readFileSync(name).toString('latin1') }));
}

/** Plain, and as the common encodings would hide them. */
function findIn(places: readonly Found[]): string[] {
  return places.flatMap(({ name, text }) =>
    CANARIES.filter((secret) =>
      [secret, Buffer.from(secret).toString('hex'), ...base64Forms(secret)].some((form) =>
        text.includes(form),
      ),
    ).map((secret) => `${secret} in ${name}`),
  );
}

/** The part of base64 that is the same wherever the secret begins within its three bytes. */
function base64Forms(secret: string): string[] {
  return ['', 'x', 'xx'].map((before) =>
    Buffer.from(before + secret)
      .toString('base64')
      .slice(4, -4),
  );
}
