import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { startConnectProxy } from '../../test/support/connect-proxy.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { listen } from '../../test/support/listen.ts';
import { makeTestFolder } from '../../test/support/test-folder.ts';
import { createOutboundFetch } from '../compose/outbound.ts';
import { readSurroundings } from '../config/env.ts';
import { createFakeTerminal } from './fake-terminal.test-support.ts';
import { createAnswer } from './terminal.ts';
import { openUpdateCheck, readProxyChoice, reasonNotToAsk, sayNewest } from './update-check.ts';

const NAME = '@isthmus-gateway/isthmus';
const DAY = 86_400_000;
const NOW = 1_800_000_000_000;

let port: number;
let folder: string;
let asked: (string | undefined)[];
let reply: { status: number; body: string };

beforeEach(async () => {
  folder = makeTestFolder('update');
  asked = [];
  reply = { status: 200, body: '{"version":"1.2.3","engines":{"node":">=24.7"}}' };
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(reply.status).end(reply.body);
  });
  port = await listen(server);
});

const published = () => ({ name: NAME, registry: `http://127.0.0.1:${port}` });

interface Run extends Partial<Parameters<typeof sayNewest>[1]> {
  readonly json?: boolean;
}

async function run(current: string, { json = false, ...options }: Run = {}) {
  const terminal = createFakeTerminal();
  const answer = createAnswer(terminal, json);
  await sayNewest({ terminal, answer }, { fetch, published: published(), current, ...options });
  return terminal;
}

test.each([
  ['1.2.3', '1.2.2', true],
  ['1.10.0', '1.9.9', true],
  ['2.0.0', '2.0.0-beta.1', true],
  ['1.2.3', '1.2.3', false],
  ['1.2.3', '1.3.0', false],
  ['2.0.0-beta.1', '2.0.0', false],
])('%s is newer than %s: %s', async (version, than, expected) => {
  reply = { status: 200, body: JSON.stringify({ version }) };
  expect((await run(than)).needsAttention()).toBe(expected);
});

test('the registry is asked for the newest release of the package, and for nothing else', async () => {
  await run('1.0.0');
  expect(asked).toEqual(['/@isthmus-gateway%2fisthmus/latest']);
});

test('it is asked through the proxy of the settings, with a credential of its own', async () => {
  const proxy = await startConnectProxy({
    routes: { 'registry.example:80': Number(new URL(published().registry).port) },
    credential: 'ada:secret',
  });
  const settings = {
    outbound_proxy: `http://127.0.0.1:${proxy.port}`,
    outbound_proxy_credential: 'ada:secret',
  };
  writeFileSync(join(folder, 'gui_config.json'), JSON.stringify({ proxy: settings }));
  const proxyFor = await readProxyChoice({ dataDir: folder }, {}, createFakeTerminal());
  const terminal = await run('1.0.0', {
    published: { name: NAME, registry: 'http://registry.example' },
    fetch: createOutboundFetch(proxyFor),
  });
  expect(terminal.printed.join()).toContain('1.2.3');
  expect(proxy.asked).toEqual(['registry.example:80']);
  await proxy.close();
});

test.each([
  [404, '{}', `knows no ${NAME}`],
  [500, 'oops', 'answered 500'],
  [200, '<html>', 'answered 200 without a version'],
  [200, '{"version":"rm -rf /"}', 'answered 200 without a version'],
])('a registry that answers %s %s is said', async (status, body, words) => {
  reply = { status, body };
  await expect(run('1.0.0')).rejects.toThrow(words);
});

test('the command says what is newest, how to get it, and ends with a code of its own', async () => {
  const older = await run('1.0.0');
  expect(older.printed.join()).toContain(`npm install --global ${NAME}@latest`);
  expect([older.notes.join(), older.needsAttention()]).toEqual(['It needs node >=24.7.', true]);
  const same = await run('1.2.3', { json: true });
  expect(same.needsAttention()).toBe(false);
  expect(JSON.parse(same.printed.join())).toMatchObject({ current: '1.2.3', isNewer: false });
});

const BY_HAND = {
  ...({ setting: 'auto', isTerminal: true, isInstalled: true } as const),
  ...{ isService: false, isContainer: false, isCi: false },
};

test.each([
  [{}, undefined],
  [{ setting: 'off' } as const, 'update_check is off'],
  [{ isInstalled: false }, 'it was built from source'],
  [{ isTerminal: false }, 'nobody started it at a terminal'],
  [{ isService: true }, 'it runs as a service'],
  [{ isContainer: true }, 'it runs in a container'],
  [{ isCi: true }, 'it runs in CI'],
])('with %o the reason not to ask is: %s', (change, reason) => {
  expect(reasonNotToAsk({ ...BY_HAND, ...change })).toBe(reason);
});

test.each([
  [{}, '', { isService: false, isContainer: false, isCi: false }],
  [{ INVOCATION_ID: 'a1' }, '', { isService: true }],
  [{ XPC_SERVICE_NAME: '0' }, '', { isService: false }],
  [{ XPC_SERVICE_NAME: 'org.isthmus' }, '', { isService: true }],
  [{ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, '', { isContainer: true }],
  [{}, '/.dockerenv', { isContainer: true }],
  [{}, '/run/.containerenv', { isContainer: true }],
  [{ CI: 'true' }, '', { isCi: true }],
  [{ CI: 'false' }, '', { isCi: false }],
])('variables %o and the file %s mean %o', (variables, file, expected) => {
  expect(readSurroundings(variables, (path) => path === file)).toMatchObject(expected);
});

async function openCheck(clock = createFakeClock(NOW), current = '1.0.0') {
  const found: string[] = [];
  const check = await openUpdateCheck({
    ...{ dataDir: folder, clock, fetch, published: published(), current },
    onNewer: (version) => void found.push(version),
  });
  return { check, clock, found };
}

test('at the first start it is said; a newer version is told when it is found, once, and known at the next start', async () => {
  const first = await openCheck();
  expect([first.check.isFirst, first.check.newer()]).toEqual([true, undefined]);
  expect(asked).toEqual([]);
  first.check.start();
  await first.clock.advance(0);
  await expect.poll(() => first.found).toEqual(['1.2.3']);
  first.check.close();
  const second = await openCheck(createFakeClock(NOW + DAY / 2));
  expect([second.check.isFirst, second.check.newer()]).toEqual([false, '1.2.3']);
  second.check.start();
  await second.clock.advance(DAY / 2 - 1);
  expect(asked).toHaveLength(1);
  await second.clock.advance(1);
  await expect.poll(() => asked.length).toBe(2);
  second.check.close();
  expect(second.found).toEqual([]);
});

test('a version that was installed meanwhile is not told', async () => {
  writeFileSync(join(folder, 'isthmus-update-check.json'), `{"askedAt":${NOW},"latest":"1.2.3"}`);
  const { check } = await openCheck(createFakeClock(NOW), '1.2.3');
  expect(check.newer()).toBeUndefined();
});

test('a registry that fails costs nothing, and is asked again a day later', async () => {
  reply = { status: 500, body: '' };
  const { check, clock, found } = await openCheck();
  check.start();
  await clock.advance(0);
  const askedAt = () => readFileSync(join(folder, 'isthmus-update-check.json'), 'utf8');
  await expect.poll(askedAt).toContain(`"askedAt":${NOW}`);
  await expect.poll(() => clock.pendingTimers).toBe(1);
  await clock.advance(DAY);
  await expect.poll(() => asked.length).toBe(2);
  check.close();
  expect(found).toEqual([]);
});

test('a damaged memory of the last time is no reason to fail', async () => {
  writeFileSync(join(folder, 'isthmus-update-check.json'), '{"askedAt":');
  const { check } = await openCheck();
  expect(check.newer()).toBeUndefined();
});
