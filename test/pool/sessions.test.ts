// Sessions keep their account over the whole gateway, leave it softly, come back, and belong to one key.

import { afterEach, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { createRandom } from '../fuzz/random.ts';
import { countOf } from '../support/counts.ts';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { PROTOCOL_CALLS, type ProtocolCall, send } from '../support/protocol-calls.ts';
import {
  errorBody,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../support/scripted-upstream.ts';

const LABELS = ['one', 'two', 'three', 'four', 'five', 'six'];
const KEY = 'sk-sessions-0123456789';
const [CHAT] = PROTOCOL_CALLS;

let gateway: PoolApp;
let upstream: ScriptedUpstream;
afterEach(async () => {
  await gateway.close();
  await upstream.close();
});

async function start(pool: JsonObject = {}): Promise<void> {
  const random = createRandom(7);
  upstream = await startScriptedUpstream();
  gateway = await startPoolApp({
    environment: { API_KEY: KEY, AUTH_MODE: 'auto', WEB_PASSWORD: '' },
    file: { proxy: { pool }, upstreams: { play: { profile: 'sandbox', base_url: upstream.url } } },
    random: () => random.next(),
  });
  for (const label of LABELS) {
    await gateway.app.book.add({
      upstreamId: 'play',
      label,
      credential: { kind: 'api-key', key: `key.${label}` },
    });
  }
}

interface Asking {
  readonly session: string;
  readonly call?: ProtocolCall | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The account that served. */
async function ask({ session, call = CHAT, headers = {} }: Asking): Promise<string> {
  if (call === undefined) throw new Error('There is no protocol.');
  const answer = await send(gateway.url, call, {
    model: 'alpha-3-flash',
    headers: { 'x-session-id': session, ...headers },
  });
  expect(answer.status, answer.text).toBe(200);
  return upstream.calls.at(-1)?.account ?? '';
}

test('a session keeps its account over hundreds of requests, in every protocol and over idle minutes', async () => {
  await start();
  const home = await ask({ session: 'long' });
  for (let count = 0; count < countOf({ slow: 1000, everyday: 200 }); count += 1) {
    const call = PROTOCOL_CALLS[count % PROTOCOL_CALLS.length];
    expect(await ask({ session: 'long', call })).toBe(home);
    if (count % 50 === 0) gateway.clock.skip(50 * 60_000);
  }
});

const ASKED = 'Please read the file.';
const TURNS = ['Hi', 'Hello!', ASKED, 'It is empty.', 'And the other file?'];
/** The turns so far, as each protocol's clients write them. */
const CONVERSATIONS: Readonly<Record<string, (turns: readonly string[]) => JsonObject>> = {
  '/v1/chat/completions': (turns) => ({ model: 'alpha-3-flash', messages: messagesOf(turns) }),
  '/v1/messages': (turns) => ({
    model: 'alpha-3-flash',
    max_tokens: 100,
    messages: messagesOf(turns),
  }),
  '/v1beta/models/alpha-3-flash:generateContent': (turns) => ({
    contents: turns.map((text, at) => {
      return { role: at % 2 === 0 ? 'user' : 'model', parts: [{ text }] };
    }),
  }),
};

function messagesOf(turns: readonly string[]): JsonObject[] {
  return turns.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content }));
}

test.each(Object.entries(CONVERSATIONS))(
  'a conversation that begins with a greeting and has no name keeps its account (%s)',
  async (path, bodyOf) => {
    await start();
    const accounts = new Set<string>();
    for (let count = 0; count < 10; count += 1) {
      for (const turns of [3, 5]) {
        await gateway.must('POST', path, bodyOf(TURNS.slice(0, turns)));
        accounts.add(upstream.calls.at(-1)?.account ?? '');
      }
    }
    expect(accounts.size).toBe(1);
  },
);

test('sessions that come mixed keep their accounts, and are spread over all', async () => {
  await start();
  const random = createRandom(11);
  const homes = new Map<string, string>();
  for (let count = 0; count < 300; count += 1) {
    const session = `session ${random.below(40)}`;
    const account = await ask({ session });
    expect(account).toBe(homes.get(session) ?? account);
    homes.set(session, account);
  }
  expect(homes.size).toBe(40);
  expect(new Set(homes.values()).size).toBe(LABELS.length);
});

test('a cooldown of its account moves a session softly, and back', async () => {
  await start();
  const home = await ask({ session: 'soft' });
  const limit = errorBody(429, 'Slow down.', [{ retryDelay: '60s' }]);
  upstream.script({
    model: ({ account }, nth) =>
      account === home && nth === 1 ? { kind: 'status', status: 429, body: limit } : undefined,
  });
  const detour = await ask({ session: 'soft' });
  expect(detour).not.toBe(home);
  for (let count = 0; count < 20; count += 1) expect(await ask({ session: 'soft' })).toBe(detour);
  gateway.clock.skip(60_001);
  for (let count = 0; count < 20; count += 1) expect(await ask({ session: 'soft' })).toBe(home);
});

test('a disabled account loses its sessions for good', async () => {
  await start();
  const home = await ask({ session: 'moved' });
  const account = gateway.app.book.list().find(({ record }) => record.label === home);
  gateway.app.book.apply(account?.record.id ?? '', { kind: 'disable' });
  const next = await ask({ session: 'moved' });
  expect(next).not.toBe(home);
  gateway.app.book.apply(account?.record.id ?? '', { kind: 'enable' });
  for (let count = 0; count < 20; count += 1) expect(await ask({ session: 'moved' })).toBe(next);
});

test('with cache-first a session waits for its account', async () => {
  await start({ mode: 'cache-first', max_wait_seconds: 30 });
  const home = await ask({ session: 'patient' });
  upstream.script({
    model: ({ account }, nth) =>
      account === home && nth === 1
        ? { kind: 'status', status: 429, body: errorBody(429, 'No.', [{ retryDelay: '20s' }]) }
        : undefined,
  });
  await ask({ session: 'patient' });
  const before = gateway.clock.now();
  expect(await ask({ session: 'patient' })).toBe(home);
  expect(gateway.clock.now() - before).toBeGreaterThan(19_000);
});

test('two keys with the same session id share nothing', async () => {
  await start();
  const keyed = { authorization: `Bearer ${KEY}` };
  let differing = 0;
  for (let count = 0; count < 30; count += 1) {
    const session = `shared ${count}`;
    const [mine, theirs] = [await ask({ session }), await ask({ session, headers: keyed })];
    if (mine !== theirs) differing += 1;
    expect(await ask({ session })).toBe(mine);
    expect(await ask({ session, headers: keyed })).toBe(theirs);
  }
  expect(differing).toBeGreaterThan(10);
});
