import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { startGateway } from '../../../test/support/app.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { listen } from '../../../test/support/listen.ts';
import { makeTestFolder } from '../../../test/support/test-folder.ts';
import { resolveSettings } from '../../config/effective.ts';
import { type Environment, readEnvironment } from '../../config/env.ts';
import { createSystemClock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import { createVault } from '../../sealing/seal.ts';
import { DATABASE_FILE, KEY_FILE, loadSecretKey } from '../../sealing/secret-key.ts';
import { openDatabase } from '../../stores/sqlite/open-database.ts';
import { createHttpClient } from '../admin-client.ts';
import { claimFolder } from '../data-folder.ts';
import { createFakeTerminal } from '../fake-terminal.test-support.ts';
import { createAnswer } from '../terminal.ts';
import {
  checkClients,
  checkClocks,
  checkDisk,
  checkExposure,
  checkNode,
  checkProxies,
  type FoundClient,
  findListener,
  scoreOf,
} from './checks.ts';
import { type DoctorOptions, examine } from './doctor.ts';

let folder: string;
/** An address where nobody listens: no system gives out ports so low. */
const nowhere = 'http://127.0.0.1:2';

beforeEach(() => {
  folder = makeTestFolder('doctor');
});

/** A server that answers everything alike. */
async function serve(headers: Record<string, string>, body = '{}'): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(200, headers).end(body));
  return `http://127.0.0.1:${await listen(server)}`;
}

const settingsOf = (environment: Environment, file = {}) => resolveSettings({ environment, file });

async function doctor(
  url: string | undefined,
  change: Partial<DoctorOptions> = {},
  generate = false,
) {
  const terminal = createFakeTerminal();
  await examine(
    {
      ...{ terminal, answer: createAnswer(terminal, true), clock: createFakeClock(), fetch },
      readEnvironment: () => ({ dataDir: folder }),
      findClients: () => [],
      connect: async () => createHttpClient({ url: url ?? nowhere, password: undefined }),
      ...change,
    },
    { ...(url === undefined ? {} : { url }), generate },
  );
  const { score, findings } = JSON.parse(terminal.printed.join());
  const list: readonly JsonObject[] = findings;
  const of = (check: string) => list.filter((one) => one.check === check);
  return { score, findings: list, of, terminal };
}

test('a certificate file that cannot be read hides nothing else', async () => {
  const tlsCert = join(folder, 'cert.pem');
  const readEnvironment = () => ({ dataDir: folder, tlsCert, tlsKey: tlsCert });
  expect((await doctor(undefined, { readEnvironment })).of('address')).toHaveLength(1);
  writeFileSync(tlsCert, 'no certificate');
  expect((await doctor(undefined, { readEnvironment })).of('address')).toHaveLength(1);
});

test('without a gateway it looks at the machine, and that none runs is no error', async () => {
  const { score, of, terminal } = await doctor(nowhere);
  expect(of('address')).toMatchObject([
    { severity: 'info', wayOut: expect.stringContaining('serve') },
  ]);
  for (const check of ['node', 'data folder', 'settings', 'exposure']) {
    expect(of(check)).toMatchObject([{ severity: 'ok' }]);
  }
  expect([score, terminal.hasFailed(), terminal.needsAttention()]).toEqual([100, false, false]);
});

test('a database that a gateway could not open is found before one is started', async () => {
  expect((await doctor(undefined)).of('database')).toEqual([]);
  const clock = createSystemClock();
  const path = join(folder, DATABASE_FILE);
  const vault = createVault(loadSecretKey({ dataDir: folder }));
  await (await openDatabase({ path, vault, clock })).close();
  expect((await doctor(undefined)).of('database')).toMatchObject([{ severity: 'ok' }]);
  writeFileSync(join(folder, KEY_FILE), 'another-key-of-sixteen-characters-or-more');
  const { of, terminal } = await doctor(undefined);
  expect(of('database')).toMatchObject([
    { severity: 'error', message: expect.stringContaining('sealed with another key') },
  ]);
  expect(terminal.hasFailed()).toBe(true);
  writeFileSync(path, 'no database');
  expect((await doctor(undefined)).of('database')).toMatchObject([
    { severity: 'error', message: expect.stringContaining('is no database') },
  ]);
  // Of a gateway that runs it is no business.
  const claim = claimFolder(folder);
  expect((await doctor(undefined)).of('database')).toEqual([]);
  claim.release();
});

test('another program at the address is told from a gateway, whatever it speaks', async () => {
  const { of, score, terminal } = await doctor(await serve({}, '<html>'));
  expect(of('address')).toMatchObject([
    { severity: 'error', message: expect.stringContaining('Another program') },
  ]);
  expect([score, terminal.hasFailed()]).toEqual([70, true]);
  expect(await findListener(nowhere, fetch)).toEqual({ kind: 'nobody' });
});

test('a running gateway is asked what needs attention, accounts are tried, and names nobody serves are found', async () => {
  const gateway = await startGateway({
    file: { proxy: { custom_mapping: { mine: 'alpha-3-flash', lost: 'no-such-model' } } },
  });
  const plain = await doctor(gateway.url);
  expect(plain.of('address')).toMatchObject([{ severity: 'ok' }]);
  expect(plain.of('models')).toMatchObject([
    { severity: 'warning', message: expect.stringContaining('lost leads to no-such-model') },
  ]);
  expect(plain.of('accounts').at(-1)).toMatchObject({
    wayOut: expect.stringContaining('--generate'),
  });
  const costly = await doctor(gateway.url, {}, true);
  expect(costly.of('accounts').map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/ answers\.$/),
  );
  await gateway.close();
});

test('an account whose upstream lists no models is not said to answer', async () => {
  const server = createServer((_request, response) => response.writeHead(404).end('{}'));
  const gateway = await startGateway({
    environment: {
      UPSTREAM_PROFILE: 'openai-compatible',
      UPSTREAM_BASE_URL: `http://127.0.0.1:${await listen(server)}/v1`,
      UPSTREAM_API_KEYS: 'sk-0123456789abcdefghij',
    },
  });
  const { of } = await doctor(gateway.url, {}, true);
  expect(of('accounts')).toMatchObject([
    { severity: 'info', message: expect.stringContaining('was not tried') },
  ]);
  await gateway.close();
});

test('where the upstream is not reached, the key is not all that is named', async () => {
  const gateway = await startGateway({
    environment: {
      UPSTREAM_PROFILE: 'openai',
      UPSTREAM_BASE_URL: `${nowhere}/v1`,
      UPSTREAM_API_KEYS: 'sk-0123456789abcdefghij',
    },
  });
  const { of } = await doctor(gateway.url);
  expect(of('accounts')).toContainEqual({
    check: 'accounts',
    severity: 'error',
    message: expect.stringContaining('could not be reached'),
    wayOut: expect.stringContaining('network'),
  });
  await gateway.close();
});

test('a refused password is a finding', async () => {
  const gateway = await startGateway({ environment: { WEB_PASSWORD: 'another password' } });
  const { of } = await doctor(gateway.url);
  expect(of('gateway')).toMatchObject([
    { severity: 'error', message: expect.stringContaining('wants the console password') },
  ]);
  await gateway.close();
});

test('settings that cannot be used are the one finding', async () => {
  writeFileSync(join(folder, 'gui_config.json'), '{"proxy":{"port":"many"}}');
  const { findings, of } = await doctor(nowhere);
  expect(of('settings')).toMatchObject([
    { severity: 'error', message: expect.stringMatching(/cannot be used: proxy\.port/) },
  ]);
  expect(findings).toHaveLength(2);
  const readBad = () => readEnvironment({ variables: { PORT: 'x' }, readText: () => '' });
  const bad = await doctor(nowhere, { readEnvironment: readBad });
  expect(bad.of('settings')).toMatchObject([{ message: expect.stringContaining('PORT') }]);
});

test.skipIf(process.platform === 'win32')(
  'files that others can read, and a lost key, are found',
  async () => {
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'isthmus.db'), '', { mode: 0o644 });
    const { of } = await doctor(nowhere);
    expect(of('data folder').map(({ severity }) => severity)).toEqual([
      'warning',
      'warning',
      'error',
    ]);
    expect(JSON.stringify(of('data folder'))).toContain('chmod go-rwx');
  },
);

test('a gateway on the data folder at another address is found', async () => {
  const port = Number(new URL(nowhere).port);
  const claim = claimFolder(folder);
  const terminal = createFakeTerminal();
  const options = {
    ...{ terminal, answer: createAnswer(terminal, true), clock: createFakeClock(), fetch },
    readEnvironment: () => ({ dataDir: folder, port }),
    findClients: () => [],
    connect: () => Promise.reject(new Error('unused')),
  };
  await examine(options, {});
  claim.release();
  expect(terminal.printed.join()).toContain('A gateway runs on the data folder, but not at');
});

test('what the disk has left decides', async () => {
  const severityAt = async (bytes: number) =>
    (await checkDisk(folder, async () => bytes))[0]?.severity;
  expect(await severityAt(50e6)).toBe('error');
  expect(await severityAt(500e6)).toBe('warning');
  expect(await severityAt(5e9)).toBe('ok');
});

test.each([
  ['v20.19.0', 'error'],
  ['v24.6.0', 'error'],
  ['v24.7.0', 'ok'],
  ['v26.10.0', 'ok'],
])('node %s is %s', (version, severity) => {
  expect(checkNode(version).severity).toBe(severity);
});

test.each<[Environment, string[]]>([
  [{}, ['ok']],
  [{ authMode: 'off' }, ['warning']],
  [{ authMode: 'off', host: '0.0.0.0' }, ['error']],
  [{ authMode: 'strict' }, ['info']],
  [{ host: '0.0.0.0', apiKey: 'short' }, ['warning', 'warning']],
  [{ host: '0.0.0.0', apiKey: 'a key of enough letters', webPassword: 'own' }, ['ok']],
])('exposure of %o: %o', (environment, severities) => {
  expect(checkExposure(settingsOf(environment)).map(({ severity }) => severity)).toEqual(
    severities,
  );
});

test('a proxy is shown without its password, and clients that would use it for this machine are warned of', () => {
  const environment = { httpProxy: 'http://ada:secret@proxy.example:3128' };
  const text = JSON.stringify(checkProxies(settingsOf(environment), environment));
  expect(text).toContain('NO_PROXY=localhost,127.0.0.1');
  expect(text).toContain('proxy.example:3128');
  expect(text).not.toContain('secret');
  const covered = { ...environment, noProxy: ['localhost'] };
  expect(JSON.stringify(checkProxies(settingsOf(covered), covered))).not.toContain('warning');
});

test.each([
  [0, 'ok'],
  [60_000, 'warning'],
  [-600_000, 'error'],
])('a clock that is %i ms off is %s', async (skewMs, severity) => {
  const now = Date.parse('2026-11-27T10:00:00Z');
  const baseUrl = `${await serve({ date: new Date(now).toUTCString() })}/v1`;
  const upstreams = { other: { profile: 'openai-compatible', base_url: baseUrl } } as const;
  const settings = settingsOf({}, { upstreams });
  const findings = await checkClocks(settings, { fetch, now: () => now + skewMs });
  expect(findings.map((one) => one.severity)).toEqual([severity]);
});

const CLIENT: FoundClient = {
  ...{ id: 'codex', name: 'Codex CLI', isInstalled: true, basePath: '/v1', key: 'sk-good' },
  model: 'alpha-3-flash',
  place: { kind: 'file', name: '~/.codex/config.toml' },
  address: 'http://localhost:8045/v1',
};

test.each<[Partial<FoundClient>, string, string]>([
  [{}, 'ok', 'is connected'],
  [{ address: undefined }, 'info', 'is not connected'],
  [{ address: 'https://api.openai.com/v1' }, 'info', 'points to https://api.openai.com'],
  [{ address: 'http://127.0.0.1:8045' }, 'error', 'wrong base path'],
  [{ address: 'http://127.0.0.1:8045/v1/' }, 'ok', 'is connected'],
  [{ address: 'http://127.0.0.1:8045/v1/v1' }, 'error', 'wrong base path'],
  [{ address: 'https://127.0.0.1:8045/v1' }, 'error', 'wrong protocol: https://127.0.0.1:8045/v1'],
  [{ address: 'http://localhost:9999/v1' }, 'warning', 'points to http://localhost:9999'],
  [{ other: 'model_provider = "mine"' }, 'warning', 'model_provider = "mine" leads it elsewhere'],
  [{ key: 'sk-bad' }, 'error', 'does not accept the key'],
  [{ model: 'alpha-0' }, 'error', 'asks for the model alpha-0, which nobody serves'],
])('a client with %o is %s', async (change, severity, words) => {
  const options = {
    url: 'http://127.0.0.1:8045',
    takesKey: async (key: string) => key === 'sk-good',
    unserved: new Set(['alpha-0']),
  };
  const [finding] = await checkClients([{ ...CLIENT, ...change }], options);
  expect(finding).toMatchObject({ severity, message: expect.stringContaining(words) });
  if (severity !== 'ok') expect(finding?.wayOut).toMatch(/^isthmus connect codex/);
});

test('settings that cannot be read are said, and are no error of the gateway', async () => {
  const client = { ...CLIENT, address: undefined, problem: 'Line 1 is no TOML.' };
  const options = {
    url: 'http://127.0.0.1:8045',
    takesKey: undefined,
    unserved: new Set<string>(),
  };
  expect(await checkClients([client], options)).toMatchObject([
    { severity: 'warning', message: expect.stringContaining('Line 1 is no TOML.') },
  ]);
});

test('a client of this machine is tried with its own key and model at a running gateway', async () => {
  const gateway = await startGateway({});
  const client = { ...CLIENT, address: `${gateway.url}/v1`, key: 'any-key' };
  const lost = { ...client, model: 'no-such-model' };
  const { of } = await doctor(gateway.url, { findClients: () => [client, lost] });
  expect(of('clients')).toMatchObject([
    { severity: 'ok' },
    { severity: 'error', message: expect.stringContaining('no-such-model, which nobody serves') },
  ]);
  await gateway.close();
});

test('the score falls with each warning and error, down to 0', () => {
  const finding = (severity: 'ok' | 'warning' | 'error') => ({
    check: 'c',
    severity,
    message: 'm',
  });
  expect(scoreOf([finding('ok')])).toBe(100);
  expect(scoreOf([finding('warning'), finding('error')])).toBe(60);
  expect(scoreOf(Array.from({ length: 9 }, () => finding('error')))).toBe(0);
});
