import { afterEach, beforeEach, expect, test } from 'vitest';
import { UnusableFileError } from '../../config/values.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { readSentence } from '../../lib/localized-message.ts';
import { PRESETS } from '../../routing/mapping.ts';
import { startAdmin, type TestAdmin } from '../admin.test-support.ts';

const FILE = {
  api_key: 'sk-canary-api-key',
  theme: 'dark',
  proxy: {
    port: 9000,
    auth_mode: 'strict',
    future: { kept: true },
    custom_mapping: { 'gpt-4': 'alpha-3-flash' },
    extprov: {
      enabled: true,
      api_key: 'canary-extprov-key',
      base_url: 'https://u:canary@p.example',
    },
  },
  upstreams: {
    main: {
      profile: 'generic',
      base_url: 'https://upstream.example',
      oauth: {
        client_id: 'id',
        client_secret: 'canary-client-secret',
        token_url: 'https://o.example/token',
        authorization_url: 'https://o.example/auth',
      },
    },
  },
};

let admin: TestAdmin;

beforeEach(async () => {
  admin = await startAdmin();
  admin.fakes.config = structuredClone(FILE);
});
afterEach(() => admin.close());

const patch = (section: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  admin.call('PATCH', `/api/config/${section}`, { body, headers });

/** With the English text alone. */
function errorOf(body: JsonObject): JsonObject {
  const { message = null, ...error } = isJsonObject(body.error) ? body.error : {};
  return { ...error, message: readSentence(message)?.text ?? null };
}

test('sections show what the file says, and of secrets only that they are set', async () => {
  const { text, body } = await admin.call('GET', '/api/config');
  expect(text).not.toContain('canary');
  expect(body.sections).toMatchObject([
    { section: 'auth', values: { api_key: { isSet: true }, auth_mode: 'strict' } },
    { section: 'mapping', values: { 'gpt-4': 'alpha-3-flash' } },
    { section: 'targets', values: {} },
    { section: 'presets', values: {} },
    { section: 'families', values: {} },
    { section: 'pool', values: {} },
    { section: 'quota', values: {} },
    { section: 'thinking', values: {} },
    { section: 'upstreams', values: { main: { oauth: { client_secret: { isSet: true } } } } },
    { section: 'network', values: { port: 9000 } },
    { section: 'ip_filter', values: {} },
    { section: 'console', values: {} },
    { section: 'sign_in', values: {} },
    { section: 'extprov', values: { enabled: true, base_url: 'https://[hidden]@p.example' } },
    { section: 'prices', values: {} },
    { section: 'monitor', values: {} },
    { section: 'alerts', values: {} },
    { section: 'log', values: {} },
  ]);
});

test('a mode that stands where it may stand too is shown, the one of its own place before it', async () => {
  const shown = async () => (await admin.call('GET', '/api/config/auth')).body.values;
  admin.fakes.config = { auth_mode: 'off' };
  expect(await shown()).toMatchObject({ auth_mode: 'off' });
  admin.fakes.config = { auth_mode: 'off', proxy: { auth_mode: 'strict' } };
  expect(await shown()).toMatchObject({ auth_mode: 'strict' });
});

test('a change touches its own section alone and keeps what nobody here knows', async () => {
  const { status } = await patch('network', { port: 9001, allowed_hosts: ['box'] });
  expect(status).toBe(200);
  expect(admin.fakes.config).toEqual({
    ...FILE,
    proxy: { ...FILE.proxy, port: 9001, allowed_hosts: ['box'] },
  });
  await patch('mapping', { 'gpt-4': null, 'gpt-5*': 'alpha-3-pro-high' });
  expect(admin.fakes.config).toMatchObject({
    api_key: FILE.api_key,
    theme: 'dark',
    proxy: { custom_mapping: { 'gpt-5*': 'alpha-3-pro-high' }, future: { kept: true } },
  });
  expect(JSON.stringify(admin.fakes.config)).not.toContain('gpt-4');
});

test('a section sent back as it was shown changes no secret', async () => {
  const { body } = await admin.call('GET', '/api/config/upstreams');
  expect((await patch('upstreams', body.values)).status).toBe(200);
  expect(admin.fakes.config).toEqual(FILE);
  for (const section of ['auth', 'extprov', 'network', 'mapping']) {
    const shown = await admin.call('GET', `/api/config/${section}`);
    expect((await patch(section, shown.body.values)).status).toBe(200);
  }
  expect(admin.fakes.config).toEqual(FILE);
  const list = await patch('extprov', { mirrors: ['https://[hidden]@p.example'] });
  expect(list.status).toBe(400);
});

test('a name that sounds like a secret is shown with what stands behind it', async () => {
  const limits = { 'a-token': { requests: 5, window_minutes: 1 } };
  const upstream = {
    profile: 'generic',
    base_url: 'https://k.example',
    limits,
    oauth: { ...FILE.upstreams.main.oauth, client_secret: 'canary-of-key' },
  };
  const written = {
    mapping: { 'my-key': 'alpha-3-flash' },
    extprov: { model_mapping: { 'beta-secret': 'extmodel' } },
    upstreams: { 'work-key': upstream },
  };
  for (const [section, values] of Object.entries(written)) {
    expect((await patch(section, values)).status).toBe(200);
  }
  const shown = async (section: string) =>
    (await admin.call('GET', `/api/config/${section}`)).body.values;
  expect(await shown('mapping')).toMatchObject(written.mapping);
  expect(await shown('extprov')).toMatchObject({ ...written.extprov, api_key: { isSet: true } });
  expect(await shown('upstreams')).toMatchObject({
    'work-key': { ...upstream, oauth: { client_secret: { isSet: true } } },
  });
  expect((await patch('upstreams', await shown('upstreams'))).status).toBe(200);
  expect(admin.fakes.config).toMatchObject({ upstreams: written.upstreams });
});

test('headers and parameters of an upstream that may be credentials are not shown, and stay when sent back', async () => {
  const upstream = {
    profile: 'openai-compatible',
    base_url: 'https://k.example',
    headers: { 'helicone-auth': 'Bearer canary-header' },
    query: { 'api-version': '2026-01-01', 'api-key': 'canary-parameter' },
  };
  expect((await patch('upstreams', { own: upstream })).status).toBe(200);
  const { body, text } = await admin.call('GET', '/api/config/upstreams');
  expect(text).not.toContain('canary');
  expect(body.values).toMatchObject({
    own: {
      headers: { 'helicone-auth': { isSet: true } },
      query: { 'api-version': '2026-01-01', 'api-key': { isSet: true } },
    },
  });
  expect((await patch('upstreams', body.values as JsonObject)).status).toBe(200);
  expect(admin.fakes.config).toMatchObject({ upstreams: { own: upstream } });
});

test('what is no setting is refused, unless the file holds it already', async () => {
  const cases = [
    ['monitor', { body: true }, 'proxy.monitor.body'],
    ['thinking', { level: 'high' }, 'proxy.thinking.level'],
    ['quota', { protection: { on: true } }, 'proxy.quota.protection.on'],
    ['upstreams', { main: { address: 'https://u.example' } }, 'upstreams.main.address'],
  ] as const;
  for (const [section, body, field] of cases) {
    const refused = await patch(section, body);
    expect([refused.status, errorOf(refused.body).field]).toEqual([400, field]);
    expect(errorOf(refused.body).message).toContain('Nothing was changed');
  }
  expect(admin.fakes.config).toEqual(FILE);
  admin.fakes.config = { proxy: { monitor: { body: true } } };
  expect((await patch('monitor', { body: false, bodies: true })).status).toBe(200);
  expect((await patch('monitor', { body: null, none: null })).status).toBe(200);
  expect(admin.fakes.config).toEqual({ proxy: { monitor: { bodies: true } } });
  // Names that people choose are no strangers.
  expect((await patch('upstreams', { other: FILE.upstreams.main })).status).toBe(200);
  expect((await patch('extprov', { model_mapping: { any: 'model' } })).status).toBe(200);
});

test('what was taken out lately may be put back, whether it is a setting or not', async () => {
  const future = { kept: true };
  const main = { ...FILE.upstreams.main, future };
  admin.fakes.config = { upstreams: { main }, proxy: { monitor: { body: true } } };
  const before = structuredClone(admin.fakes.config);
  expect((await patch('upstreams', { main: null })).status).toBe(200);
  expect((await patch('monitor', { body: null })).status).toBe(200);
  expect((await patch('monitor', { body: true })).status).toBe(200);
  expect((await patch('upstreams', { main })).status).toBe(200);
  expect(admin.fakes.config).toEqual(before);
  const other = await patch('upstreams', { main: { other: true } });
  expect([other.status, errorOf(other.body).field]).toEqual([400, 'upstreams.main.other']);
});

test('a new secret is taken and not shown', async () => {
  const { text } = await patch('auth', { admin_password: 'canary-new-password' });
  expect(text).not.toContain('canary');
  expect(admin.fakes.config).toMatchObject({ admin_password: 'canary-new-password' });
});

test('a revision counts for its own section: another change is refused with 412', async () => {
  const network = await admin.call('GET', '/api/config/network');
  const revision = network.headers.get('etag') ?? '';
  expect(revision).toBe(`"${network.body.revision}"`);
  expect((await patch('thinking', { mode: 'custom' })).status).toBe(200);
  const first = await patch('network', { port: 1 }, { 'if-match': revision });
  expect(first.status).toBe(200);
  expect(first.headers.get('etag')).not.toBe(revision);
  const late = await patch('network', { port: 2 }, { 'if-match': revision });
  expect([late.status, errorOf(late.body).code]).toEqual([412, 'stale-revision']);
  expect(admin.fakes.config).toMatchObject({ proxy: { port: 1 } });
});

test('of two changes with one revision at the same moment, one wins', async () => {
  const { headers } = await admin.call('GET', '/api/config/network');
  const revision = { 'if-match': headers.get('etag') ?? '' };
  const answers = await Promise.all([
    patch('network', { port: 1 }, revision),
    patch('network', { port: 2 }, revision),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
});

test('a change that locks out only with what the file says since is refused', async () => {
  Object.assign(admin.options.config, {
    async reload() {
      admin.fakes.config = { proxy: { ip_filter: { default: 'deny' } } };
    },
  });
  const { status, body } = await patch('ip_filter', { enabled: true });
  expect([status, errorOf(body).message]).toEqual([400, expect.stringContaining('127.0.0.1')]);
});

test('a wrong value is refused with its path and changes nothing', async () => {
  const wrong = await patch('network', { port: 'many', allowed_hosts: ['box'] });
  expect([wrong.status, errorOf(wrong.body).field]).toEqual([400, 'proxy.port']);
  const misspelt = await patch('thinking', { mod: 'auto' });
  expect([misspelt.status, errorOf(misspelt.body).field]).toEqual([400, 'proxy.thinking.mod']);
  const stranger = await patch('network', { api_key: 'x' });
  expect([stranger.status, errorOf(stranger.body).field]).toEqual([400, 'api_key']);
  const proto = await patch('auth', JSON.parse('{"__proto__":{"auth_mode":"off"}}'));
  expect([proto.status, errorOf(proto.body).field]).toEqual([400, '__proto__']);
  expect(admin.fakes.config).toEqual(FILE);
});

test('an entry of the mapping needs a name and one model, and a bad one can still be taken out', async () => {
  for (const entry of [{ '': 'alpha-3-flash' }, { ' ': 'x' }, { a: '' }, { a: ' ' }, { a: 'b*' }]) {
    const { status, body } = await patch('mapping', entry);
    expect([status, errorOf(body).field]).toEqual([400, 'proxy.custom_mapping']);
  }
  expect(admin.fakes.config).toEqual(FILE);
  expect((await patch('mapping', { '': null })).status).toBe(200);
});

test('a password that is set here has eight characters at least, one that is in the file stays', async () => {
  const short = await patch('auth', { admin_password: 'seven77' });
  expect([short.status, errorOf(short.body).field]).toEqual([400, 'admin_password']);
  expect(admin.fakes.config).toEqual(FILE);
  admin.fakes.config = { ...FILE, admin_password: 'short' };
  expect((await patch('auth', { auth_mode: 'auto' })).status).toBe(200);
  expect((await patch('auth', { admin_password: '八个字的控制密码' })).status).toBe(200);
  expect((await patch('auth', { admin_password: null })).status).toBe(200);
});

test('a change beside a file that cannot be used blames the file and no field of the change', async () => {
  const problem = 'proxy.pool.mode: must be one of balance, cache-first, performance-first';
  admin.fakes.writeFault = new UnusableFileError('gui_config.json', [problem]);
  const { status, body } = await patch('log', { log_level: 'debug' });
  expect(status).toBe(400);
  expect(errorOf(body)).not.toHaveProperty('field');
  expect(errorOf(body).message).toBe(
    `The config file is invalid, so nothing was changed. Correct it first: ${problem}.`,
  );
});

test('a file that cannot be written is an error without its details', async () => {
  admin.fakes.writeFault = new Error('EROFS: read-only file system, /secret/place');
  const { status, text } = await patch('log', { log_level: 'debug' });
  expect(status).toBe(500);
  expect(text).not.toContain('/secret/place');
});

test('B10: an entry that goes to a model nobody offers is saved with a warning and what may be meant', async () => {
  const { status, body } = await patch('mapping', { 'my-*': 'alpha-3-flsh', ok: 'alpha-3-flash' });
  expect(status).toBe(200);
  expect(body.values).toMatchObject({ 'my-*': 'alpha-3-flsh' });
  expect(body.warnings).toEqual([
    '"my-*" goes to "alpha-3-flsh", which no account offers and no rule knows: requests for it will fail. Did you mean "alpha-3-flash"?',
  ]);
  const good = await patch('mapping', { 'my-*': 'alpha-3-flash', other: 'gpt-4o' });
  expect(good.body).not.toHaveProperty('warnings');
  expect((await patch('mapping', { 'my-*': null })).body).not.toHaveProperty('warnings');
});

/** The English texts of the warnings of an answer. */
function textsOf({ warnings }: JsonObject): unknown[] {
  return Array.isArray(warnings) ? warnings.map((one) => readSentence(one)?.text) : [];
}

test('targets are saved with a warning for each model that nobody offers', async () => {
  const main = { steps: [['alpha-3-flash'], [{ to: 'alpha-3-flsh', weight: 3 }]] };
  const { status, body } = await patch('targets', { main });
  expect(status).toBe(200);
  expect(body.values).toEqual({ main });
  expect(textsOf(body)).toEqual([
    '"@main" goes to "alpha-3-flsh", which no account offers and no rule knows: requests for it will fail. Did you mean "alpha-3-flash"?',
  ]);
  expect((await patch('mapping', { 'my-*': '@main' })).body).not.toHaveProperty('warnings');
  const misspelt = await patch('mapping', { other: '@mian' });
  expect(textsOf(misspelt.body)).toMatchObject([expect.stringContaining('Did you mean "@main"?')]);
  const removed = await patch('targets', { main: null });
  expect(textsOf(removed.body)).toMatchObject([expect.stringContaining('"my-*" goes to "@main"')]);
  expect((await patch('targets', { 'no name': main })).status).toBe(400);
  expect((await patch('targets', { '': { steps: [] } })).status).toBe(400);
});

test('an entry of the mapping is no longer than a model name may be', async () => {
  expect((await patch('mapping', { ['n'.repeat(256)]: 'alpha-3-flash' })).status).toBe(200);
  for (const entry of [{ [`${'n'.repeat(256)}*`]: 'm' }, { name: 'm'.repeat(257) }]) {
    const { status, body } = await patch('mapping', entry);
    expect([status, errorOf(body).field]).toEqual([400, 'proxy.custom_mapping']);
    expect(errorOf(body).message).toContain('longer than 256 characters');
    const [name = ''] = Object.keys(entry);
    const shown = name.length > 40 ? `"${'n'.repeat(40)}…"` : `"${name}"`;
    expect(errorOf(body).message).toContain(shown);
  }
});

test('the external provider is not enabled without its key', async () => {
  const refused = async (values: JsonObject) => {
    const { status, body } = await patch('extprov', values);
    return status === 400 && errorOf(body).field === 'proxy.extprov.api_key';
  };
  expect(await refused({ api_key: null })).toBe(true);
  expect(await refused({ api_key: ' ' })).toBe(true);
  expect(await refused({ enabled: false, api_key: null })).toBe(false);
  expect(await refused({ enabled: true })).toBe(true);
  expect(await refused({ dispatch_mode: 'fallback' })).toBe(false);
  expect(await refused({ enabled: true, api_key: 'key-of-the-provider' })).toBe(false);
  expect(await refused({ enabled: true, api_key: { isSet: true } })).toBe(false);
});

test('a preset replaces what another brought, and leaves what a person wrote or changed', async () => {
  const own = { mine: 'alpha-3-flash', 'gpt-4*': 'beta-opus-4-6-thinking' };
  await admin.call('POST', '/api/config/mapping/presets/default');
  await admin.call('PATCH', '/api/config/mapping', { body: own });
  const { body } = await admin.call('POST', '/api/config/mapping/presets/cost-effective');
  const { mapping } = PRESETS.find(({ name }) => name === 'cost-effective') ?? {};
  const before = admin.fakes.config;
  expect(body.values).toMatchObject({ ...mapping, ...own });
  expect(Object.keys(Object(body.values))).not.toContain('gpt-5*');
  await admin.call('POST', '/api/config/mapping/presets/cost-effective');
  expect(admin.fakes.config).toEqual(before);
});

test('a preset of the operator is kept, listed with what it changes, and applied', async () => {
  const ours = { 'gpt-*': '@coding', 'claude-*': 'anthropic/claude-sonnet-4-6' };
  await admin.call('PATCH', '/api/config/presets', { body: { ours } });
  const { body } = await admin.call('GET', '/api/config/mapping/presets');
  const { presets } = body;
  expect(Array.isArray(presets) ? presets.at(-1) : undefined).toEqual({
    ...{ name: 'ours', description: '', mapping: ours, patch: ours },
  });
  const applied = await admin.call('POST', '/api/config/mapping/presets/ours');
  expect(applied.body.values).toMatchObject(ours);
});

test.each([
  [{ default: { a: 'b' } }, 'is a built-in preset'],
  [{ 'a b': { a: 'b' } }, 'a name has up to 64'],
  [{ mine: { a: 'b*' } }, 'must go to the name of one model'],
])('the presets %j are refused', async (presets, words) => {
  const { status, body } = await admin.call('PATCH', '/api/config/presets', { body: presets });
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain(words);
});

test('a preset is merged into the mapping', async () => {
  const { body } = await admin.call('GET', '/api/config/mapping/presets');
  expect(body.presets).toMatchObject([{ name: 'default' }, { name: 'performance' }, {}]);
  const merged = await admin.call('POST', '/api/config/mapping/presets/performance');
  expect(merged.body.values).toMatchObject({
    'gpt-4': 'alpha-3-flash',
    'gpt-*': 'alpha-3-pro-high',
  });
  expect((await admin.call('POST', '/api/config/mapping/presets/none')).status).toBe(404);
});
