// The admin API and the commands over the whole gateway.

import { afterEach, expect, test } from 'vitest';
import { createHttpClient } from '../../src/cli/admin-client.ts';
import { runCommand } from '../../src/cli/run-command.test-support.ts';
import { startApp, startGateway, type TestApp } from '../support/app.ts';

let app: Pick<TestApp, 'close'> | undefined;

afterEach(async () => {
  await app?.close();
  app = undefined;
});

async function start(): Promise<TestApp> {
  const gateway = await startApp({ environment: { WEB_PASSWORD: 'the-password' } });
  app = gateway;
  return gateway;
}

function api(
  { url }: Pick<TestApp, 'url'>,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    headers: { authorization: 'Bearer the-password', 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function isthmus({ url, clock }: TestApp, line: string) {
  const connect = async () => createHttpClient({ url, password: 'the-password' });
  const { printed } = await runCommand(`${line} --json`, { clock, connect, input: '' });
  return JSON.parse(printed.join('\n'));
}

const ask = ({ url }: TestApp, model: string) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  }).then(({ status }) => status);

test('accounts of the environment are listed, tested, and disabled for this run', async () => {
  const gateway = await start();
  const { accounts } = await isthmus(gateway, 'accounts list');
  expect(accounts).toMatchObject([{ label: 'key-1@env' }, { label: 'key-2@env' }]);
  expect(await isthmus(gateway, 'accounts test key-1@env')).toMatchObject({ isUsable: true });
  for (const name of ['key-1@env', 'key-2@env']) {
    await isthmus(gateway, `accounts disable ${name}`);
  }
  expect(await ask(gateway, 'alpha-3-flash')).toBe(503);
  await isthmus(gateway, 'accounts enable key-2@env');
  expect(await ask(gateway, 'alpha-3-flash')).toBe(200);
});

test('a mapping counts from the next request on, and the route of a name is explained', async () => {
  const gateway = await start();
  expect(await ask(gateway, 'my-own-name')).toBe(404);
  const mapping = { 'my-*': 'alpha-3-flash' };
  const changed = await api(gateway, 'PATCH', '/api/config/mapping', mapping);
  expect(changed.status).toBe(200);
  expect(await ask(gateway, 'my-own-name')).toBe(200);
  expect(await isthmus(gateway, 'route my-own-name')).toMatchObject({ target: 'alpha-3-flash' });
});

test('the figures count an account whose upstream is gone as its page shows it', async () => {
  const gateway = await start();
  const short = { profile: 'generic', base_url: 'http://127.0.0.1:9' };
  const account = { upstream: 'short', kind: 'api-key', key: 'key-of-an-account-0123456789' };
  const states = async () =>
    (await (await fetch(`${gateway.url}/metrics`)).text()).match(/^isthmus_accounts.*$/gm);
  expect((await api(gateway, 'PATCH', '/api/config/upstreams', { short })).status).toBe(200);
  expect((await api(gateway, 'POST', '/api/accounts', account)).status).toBe(201);
  expect(await states()).toContain('isthmus_accounts{state="active"} 3');
  await api(gateway, 'PATCH', '/api/config/upstreams', { short: null });
  await expect.poll(states).toContain('isthmus_accounts{state="disabled"} 1');
  expect(await states()).toContain('isthmus_accounts{state="active"} 2');
});

test('all that a full disk or a silent collector can cost is counted among the figures', async () => {
  const gateway = await start();
  const authorization = 'Bearer the-password';
  const answer = await fetch(`${gateway.url}/metrics`, { headers: { authorization } });
  const counted = (await answer.text()).matchAll(/^isthmus_dropped_total\{what="([^"]+)"\} 0$/gm);
  expect([...counted].map(([, what]) => what).sort()).toEqual([
    'access-log-entries',
    'log-lines',
    'request-records',
    'signatures',
    'trace-spans',
  ]);
});

test('answers of the sandbox are told as such, also while an account somebody added there gives them', async () => {
  const gateway = await startGateway({ environment: { WEB_PASSWORD: 'the-password' } });
  app = gateway;
  const overview = async () => (await api(gateway, 'GET', '/api/overview')).json();
  const add = (account: object) => api(gateway, 'POST', '/api/accounts', account);
  await add({ upstream: 'sandbox', kind: 'api-key', key: 'mine', addAnyway: true, label: 'mine' });
  expect(await overview()).toMatchObject({
    isSandbox: true,
    accounts: { total: 5, failing: 1, disabled: 4 },
    attention: [{ kind: 'account-failing' }, { kind: 'sandbox' }],
  });
  const short = { profile: 'generic', base_url: 'http://127.0.0.1:9' };
  await api(gateway, 'PATCH', '/api/config/upstreams', { short });
  await add({ upstream: 'short', kind: 'api-key', key: 'key-of-an-account-0123456789' });
  expect(await overview()).toMatchObject({ isSandbox: false });
});

test('an account the upstream wants verified counts among those that rest, where its page shows it', async () => {
  const gateway = await start();
  const { book } = gateway.app;
  const [account] = book.list();
  const failure = { kind: 'verification-required' } as const;
  book.apply(account?.record.id ?? '', { kind: 'failure', model: 'alpha-3-flash', failure });
  const overview = await (await api(gateway, 'GET', '/api/overview')).json();
  expect(overview).toMatchObject({ accounts: { cooling: 1, disabled: 0 } });
});

test('long answers of the API are compressed for callers that take it, and for no others', async () => {
  const { url } = await start();
  const ask = async (accepted: string, path: string): Promise<string | null> => {
    const headers = { authorization: 'Bearer the-password', 'accept-encoding': accepted };
    const answer = await fetch(`${url}${path}`, { headers });
    expect(answer.headers.get('vary')).toContain('accept-encoding');
    expect(await answer.json()).toBeTypeOf('object');
    return answer.headers.get('content-encoding');
  };
  expect(await ask('gzip, br', '/api/openapi.json')).toBe('br');
  expect(await ask('gzip', '/api/openapi.json')).toBe('gzip');
  expect(await ask('gzip;q=0', '/api/openapi.json')).toBeNull();
  expect(await ask('identity', '/api/openapi.json')).toBeNull();
  expect(await ask('gzip', '/api/keys')).toBeNull();
});

test('requests of /v1/responses are recorded, filtered and summed by that name', async () => {
  const gateway = await start();
  const post = (path: string, body: object): Promise<Response> => api(gateway, 'POST', path, body);
  await (await post('/v1/responses', { model: 'alpha-3-flash', input: 'Hello' })).text();
  const messages = [{ role: 'user', content: 'Hello' }];
  await (await post('/v1/chat/completions', { model: 'alpha-3-flash', messages })).text();
  await expect
    .poll(async () => {
      const answer = await api(gateway, 'GET', '/api/requests?protocol=responses');
      const { requests } = (await answer.json()) as { requests: { protocol: string }[] };
      return requests.map(({ protocol }) => protocol);
    })
    .toEqual(['responses']);
});

test('payloads are recorded for the minutes that were asked for, and no longer', async () => {
  const gateway = await start();
  const read = async <Answer>(path: string): Promise<Answer> =>
    (await (await api(gateway, 'GET', path)).json()) as Answer;
  const latest = async (): Promise<unknown> => {
    const { requests } = await read<{ requests: { id: string }[] }>('/api/requests');
    const [{ id } = { id: '' }] = requests;
    const { keepsBodies } = await read<{ keepsBodies?: boolean }>(`/api/requests/${id}`);
    return [requests.length, keepsBodies];
  };
  await api(gateway, 'PUT', '/api/body-recording', { minutes: 5 });
  await ask(gateway, 'alpha-3-flash');
  await expect.poll(latest).toEqual([1, true]);
  gateway.clock.skip(300_000);
  await ask(gateway, 'alpha-3-flash');
  await expect.poll(latest).toEqual([2, false]);
});

test('B9: a sign-in asks only for what is unknown of its upstream', async () => {
  const upstreams = {
    house: { profile: 'generic', base_url: 'http://127.0.0.1:9' },
    'gemini-api': { profile: 'gemini-api' },
    vertex: { profile: 'vertex' },
  };
  const gateway = await startGateway({
    environment: { WEB_PASSWORD: 'the-password' },
    file: { upstreams },
  });
  app = gateway;
  const refusal = async (upstream: string): Promise<string> => {
    const answer = await api(gateway, 'POST', '/api/oauth/start', { upstream, redirect: 'manual' });
    expect(answer.status).toBe(400);
    return answer.text();
  };
  for (const upstream of ['gemini-api', 'vertex']) {
    expect(await refusal(upstream)).toContain('Add the client id of your own OAuth client');
  }
  expect(await refusal('house')).toContain('Add the client id and addresses of your own');
});

test('the description of an export names both forms it comes in', async () => {
  const gateway = await start();
  const { paths } = JSON.parse(await (await api(gateway, 'GET', '/api/openapi.json')).text());
  for (const path of ['/api/export/requests', '/api/export/usage']) {
    for (const format of ['csv', 'json']) {
      const { headers } = await api(gateway, 'GET', `${path}?format=${format}`);
      const [type] = headers.get('content-type')?.split(';') ?? [];
      expect(Object.keys(paths[path].get.responses[200].content)).toContain(type);
    }
  }
});
