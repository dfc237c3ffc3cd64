// The sandbox answers only while nothing real is configured, and says so each time.

import { afterEach, describe, expect, test } from 'vitest';
import { KEY, startGateway, type TestApp } from '../support/app.ts';
import { PROTOCOL_CALLS, send } from '../support/protocol-calls.ts';

let app: Pick<TestApp, 'close'> | undefined;
afterEach(() => app?.close());

async function start(environment: Readonly<Record<string, string>>, file = {}) {
  const running = await startGateway({ environment, file });
  app = running;
  return running;
}

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';

describe.each(PROTOCOL_CALLS)('$name', (call) => {
  test.each([false, true])('B4: an answer of the sandbox says so (stream=%s)', async (stream) => {
    const { url } = await start({});
    const { status, headers } = await send(url, call, { stream });
    expect(status).toBe(200);
    expect(headers.get('x-isthmus-sandbox')).toBe('1');
  });

  test.each([
    [
      'a misspelt variable',
      { UPSTREAM_PROFILE: 'gemini-api', UPSTREAM_API_KEY: 'AIza-a-real-key' },
      'gemini-api',
    ],
    ['an upstream without a key', { UPSTREAM_BASE_URL: NOWHERE }, 'generic'],
    ['a placeholder for a key', { UPSTREAM_API_KEYS: 'any-key' }, 'gemini-api'],
  ])('B4: %s is a 503 that says what is missing', async (_, environment, upstream) => {
    const { url } = await start(environment);
    const answer = await send(url, call);
    expect(answer.status).toBe(503);
    expect(answer.text).toContain(`No account is configured for the upstream ${upstream}`);
    expect(answer.headers.get('retry-after')).toBe('60');
    expect(answer.headers.get('x-isthmus-sandbox')).toBeNull();
  });

  test('B4: an upstream without an address is a 503 that names the variable', async () => {
    const { url } = await start({ UPSTREAM_PROFILE: 'generic', UPSTREAM_API_KEYS: 'AIza-a-key' });
    const answer = await send(url, call);
    expect(answer.status).toBe(503);
    expect(answer.text).toContain('The upstream generic has no address: set UPSTREAM_BASE_URL');
    const overview = await (await fetch(`${url}/api/overview`)).text();
    expect(overview).toContain('UPSTREAM_PROFILE=generic needs an address');
  });

  test.each([
    ['an account that cannot be reached', { UPSTREAM_BASE_URL: NOWHERE, UPSTREAM_API_KEYS: 'k-1' }],
    ['no account at all', { UPSTREAM_BASE_URL: NOWHERE }],
  ])(
    'B4: beside %s the sandbox answers who asks for it by name, and nobody else',
    async (_, real) => {
      const { url } = await start(real, { upstreams: { sandbox: { profile: 'sandbox' } } });
      const headers = { 'x-preferred-account': 'Ada@sandbox.example' };
      const asked = await send(url, call, { headers });
      expect(asked).toMatchObject({ status: 200 });
      expect(asked.headers.get('x-isthmus-sandbox')).toBe('1');
      const other = await send(url, call);
      expect(other.status).toBeGreaterThanOrEqual(500);
      expect(other.headers.get('x-isthmus-sandbox')).toBeNull();
    },
  );

  test.each(['API_KEY', 'WEB_PASSWORD'])(
    'B5: the %s of the gateway makes no account',
    async (name) => {
      const { url, config } = await start({ GEMINI_API_KEY: KEY, [name]: KEY, AUTH_MODE: 'auto' });
      expect(config.current().upstreams).toEqual([]);
      expect(config.current().warnings.map(({ text }) => text)).toEqual([
        expect.stringContaining(
          'A key of GEMINI_API_KEY makes no account: it is a key or the password of this gateway',
        ),
      ]);
      expect((await send(url, call)).headers.get('x-isthmus-sandbox')).toBe('1');
    },
  );
});

test('B4: accounts that signed in to the sandbox rest as soon as a real account is added, and come back', async () => {
  const { app: gateway, url } = await start({ UPSTREAM_PROFILE: 'sandbox' });
  const signedIn = await gateway.book.add({
    upstreamId: 'sandbox',
    label: 'signed-in@sandbox.example',
    credential: { kind: 'api-key', key: 'sandbox-key-ada' },
  });
  const state = () => gateway.book.find(signedIn.record.id)?.health.status;
  expect(state()).toEqual({ kind: 'active' });
  const real = await gateway.book.add({
    upstreamId: 'elsewhere',
    label: 'real',
    credential: { kind: 'api-key', key: 'a-real-key' },
  });
  expect(state()).toMatchObject({ kind: 'disabled', reason: 'standing-by' });
  const [call] = PROTOCOL_CALLS;
  if (call === undefined) throw new Error('The protocol is missing.');
  expect((await send(url, call)).status).not.toBe(200);
  await gateway.book.remove(real.record.id);
  expect(state()).toEqual({ kind: 'active' });
});

test('B4: an upstream that the settings name ends the made-up answers at once', async () => {
  const { url, editConfig, app: gateway } = await start({});
  const [call] = PROTOCOL_CALLS;
  if (call === undefined) throw new Error('The protocol is missing.');
  expect((await send(url, call)).status).toBe(200);
  await editConfig({ upstreams: { 'gemini-api': { profile: 'gemini-api' } } });
  expect((await send(url, call)).status).toBe(503);
  // Whoever wants them all the same asks for them by name.
  gateway.book.apply('ada@sandbox.example', { kind: 'enable' });
  expect((await send(url, call)).headers.get('x-isthmus-sandbox')).toBe('1');
  await editConfig({});
  expect((await send(url, call)).status).toBe(200);
});

test('B4: variables that nothing reads are pointed out with what was meant', async () => {
  const { config, url } = await start({
    UPSTREAM_PROFILE: 'gemini-api',
    UPSTREAM_API_KEY: 'k',
    ISTHMUS_COLOUR: 'red',
    WEB_PASWORD: 'x',
    ABV_WORKERS: '2',
    ISTHMUS_PORT: '9000',
    ISTHMUS_PORT_8045_TCP: 'tcp://10.0.0.1:8045',
    UPSTREAM_PORT: 'tcp://10.0.0.2:8045',
  });
  expect(config.current().warnings.map(({ text }) => text)).toEqual([
    'The variable ABV_WORKERS is not known and does nothing. Did you mean WORKERS?',
    'The variable ISTHMUS_COLOUR is not known and does nothing.',
    'The variable ISTHMUS_PORT is not known and does nothing. Did you mean PORT?',
    'The variable UPSTREAM_API_KEY is not known and does nothing. Did you mean UPSTREAM_API_KEYS?',
    'The variable WEB_PASWORD is not known and does nothing. Did you mean WEB_PASSWORD?',
  ]);
  const overview = await (await fetch(`${url}/api/overview`)).json();
  expect(overview).toHaveProperty(
    'attention',
    expect.arrayContaining([expect.objectContaining({ kind: 'setting-unused' })]),
  );
});

test('B6: a fixed account that nobody is called by is pointed out by the overview, as it does nothing', async () => {
  const fixed = (name: string) => ({ proxy: { pool: { fixed_account: name } } });
  const { url, editConfig } = await start({}, fixed('eda@sandbox.example'));
  const unused = async () => {
    const overview = await (await fetch(`${url}/api/overview`)).json();
    const { attention } = overview as { readonly attention: readonly { readonly kind: string }[] };
    return attention.filter(({ kind }) => kind === 'setting-unused');
  };
  expect(await unused()).toMatchObject([
    { message: expect.stringContaining('none has the id or label "eda@sandbox.example"') },
  ]);
  await editConfig(fixed('Ada@sandbox.example'));
  expect(await unused()).toEqual([]);
});

test('B6: a provider that is enabled without its address serves nothing, and the overview says so', async () => {
  const { config } = await start({}, { proxy: { extprov: { enabled: true, api_key: 'k' } } });
  expect(config.current().warnings.map(({ text }) => text)).toEqual([
    'The external provider is enabled, but serves nothing: set proxy.extprov.base_url.',
  ]);
});
