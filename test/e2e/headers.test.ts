// The gateway's own headers: what they say of an answer, and what they ask of a request.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { PROTOCOL_CALLS, send } from '../support/protocol-calls.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

describe.each(PROTOCOL_CALLS)('$name', (call) => {
  test.each([false, true])('every answer tells how it came about (stream=%s)', async (stream) => {
    const { status, headers } = await send(app.url, call, { stream });
    expect(status).toBe(200);
    expect(headers.get('x-request-id')).toMatch(/^req_/);
    expect(headers.get('request-id')).toBe(headers.get('x-request-id'));
    expect(headers.get('x-isthmus-model')).toBe(call.model);
    expect(headers.get('x-isthmus-attempts')).toBe('1');
    expect(headers.get('server-timing')).toMatch(/^total;dur=[\d.]+, upstream;dur=[\d.]+/);
    expect(headers.get('x-isthmus-receipt')).toBeNull();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const type = stream ? 'text/event-stream' : 'application/json';
    expect(headers.get('content-type')).toMatch(type);
  });

  test('a sane request id is kept, another one replaced', async () => {
    const idOf = async (id: string): Promise<string | null> =>
      (await send(app.url, call, { headers: { 'x-request-id': id } })).headers.get('x-request-id');
    expect(await idOf('trace-1:a.b')).toBe('trace-1:a.b');
    expect(await idOf('two words')).toMatch(/^req_/);
  });

  test('X-Session-ID keeps a conversation on one account', async () => {
    const accounts = new Set<unknown>();
    for (let turn = 0; turn < 4; turn += 1) {
      const headers = { 'x-session-id': `session of ${call.name}` };
      await send(app.url, call, { text: `Turn ${turn}`, headers });
      accounts.add(await lastAccount());
    }
    expect(accounts.size).toBe(1);
  });

  test('X-Preferred-Account chooses an account; an unknown one changes nothing', async () => {
    for (const [label, account] of [
      ['key-1@env', 'ada@sandbox.example'],
      ['key-2@env', 'grace@sandbox.example'],
    ] as const) {
      await send(app.url, call, { headers: { 'x-preferred-account': label } });
      expect(await lastAccount()).toBe(account);
    }
    const headers = { 'x-preferred-account': 'nobody@example.com' };
    expect((await send(app.url, call, { headers })).status).toBe(200);
  });

  test('X-Model-Tier takes the three tiers and nothing else', async () => {
    const statusOf = async (tier: string): Promise<number> =>
      (await send(app.url, call, { headers: { 'x-model-tier': tier } })).status;
    for (const tier of ['ultra', 'pro', 'free']) expect(await statusOf(tier)).toBe(200);
    expect(await statusOf('gold')).toBe(400);
  });
});

describe.each([
  ['chat', { seed: 1, verbosity: 'low' }],
  ['messages', { top_k: 40, inference_geo: 'eu' }],
] as const)('what cannot be carried in %s', (name, fields) => {
  const call = PROTOCOL_CALLS.find((one) => one.name === name);
  if (call === undefined) throw new Error('The protocol is missing.');
  const question = { model: call.model, text: 'Hello', stream: false };
  const rawBody = JSON.stringify({ ...call.body(question), ...fields });

  test('is counted in the receipt', async () => {
    const { status, headers } = await send(app.url, call, { rawBody });
    expect(status).toBe(200);
    expect(headers.get('x-isthmus-receipt')).toMatch(
      /^dropped=[1-9]\d*;approximated=0;repaired=0$/,
    );
  });

  test('is refused in strict mode, by name', async () => {
    const headers = { 'x-isthmus-strict': '1' };
    const answer = await send(app.url, call, { rawBody, headers });
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(/(?:verbosity|inference_geo) \(dropped\)/);
    const whole = await send(app.url, call, { headers });
    expect(whole.status).toBe(200);
  });
});

async function lastAccount(): Promise<unknown> {
  return (await app.sandbox.requests()).at(-1)?.account;
}
