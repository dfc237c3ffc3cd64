// What the monitor tells while the gateway runs: figures, events and replays.

import { afterEach, expect, test } from 'vitest';
import type { RequestStore } from '../../src/monitor/request-store.ts';
import {
  CONSOLE_PASSWORD,
  type MonitoredGateway,
  type MonitoredOptions,
  startMonitored,
} from '../support/monitored-gateway.ts';
import { checkStreamText } from '../support/stream-grammar/check-stream-text.ts';

const CHAT = '/v1/chat/completions';
const ASKED = { model: 'alpha-3-flash', messages: [{ role: 'user', content: 'Hello there' }] };

let gateway: MonitoredGateway;
afterEach(() => gateway.close());

async function start(options?: MonitoredOptions): Promise<void> {
  gateway = await startMonitored(options);
}

const BROKEN: RequestStore = {
  save: () => Promise.reject(new Error('disk full')),
  list: () => Promise.reject(new Error('disk full')),
  find: () => Promise.reject(new Error('disk full')),
  breakdown: () => Promise.reject(new Error('disk full')),
  usage: () => Promise.reject(new Error('disk full')),
  leadingUsage: () => Promise.reject(new Error('disk full')),
  latency: () => Promise.reject(new Error('disk full')),
  attempts: () => Promise.reject(new Error('disk full')),
  minutes: () => Promise.reject(new Error('disk full')),
  sweep: () => Promise.reject(new Error('disk full')),
  removeBefore: () => Promise.reject(new Error('disk full')),
};

test.each([
  ['broken', BROKEN],
  ['stopped', { ...BROKEN, save: () => new Promise<void>(() => {}) }],
] as const)(
  'a %s store touches no request; the last ones are still shown',
  async (_name, store) => {
    await start({ store });
    for (let count = 0; count < 5; count += 1) {
      const row = gateway.nextRow();
      const answer = await gateway.ask(CHAT, ASKED);
      expect(answer.status).toBe(200);
      await answer.text();
      const { id } = await row;
      expect((await gateway.admin(`/api/requests/${id}`)).body).toMatchObject({
        id,
        outcome: 'ok',
      });
    }
    expect((await gateway.admin('/api/requests')).status).toBe(500);
    expect((await gateway.admin('/api/overview')).status).toBe(200);
  },
);

test('with the monitor off nothing is recorded, and figures go on', async () => {
  await start({ settings: { enabled: false } });
  await (await gateway.ask(CHAT, ASKED)).text();
  await expect
    .poll(async () => (await gateway.admin('/metrics')).text)
    .toContain('isthmus_attempts_total{upstream="sandbox",account="",reason="ok"} 1');
  expect((await gateway.admin('/api/requests')).body).toEqual({ requests: [], total: 0 });
});

/** Opens the stream of events; the answer reads its text until something stands in it. */
async function openEvents(headers: Readonly<Record<string, string>> = {}, query = '') {
  const answer = await fetch(`${gateway.url}/api/events${query}`, {
    headers: { authorization: `Bearer ${CONSOLE_PASSWORD}`, ...headers },
  });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    answer,
    async until(wanted: string | RegExp): Promise<string> {
      while (!new RegExp(wanted).test(text)) {
        const piece = await reader?.read();
        if (piece === undefined || piece.done) return `${text}[end]`;
        text += piece.value;
      }
      return text;
    },
    leave: () => reader?.cancel(),
  };
}

test('events tell of requests as they end, and of those missed while away', async () => {
  await start();
  const events = await openEvents();
  expect(events.answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(events.answer.headers.get('cache-control')).toBe('no-store');
  expect(events.answer.headers.get('x-accel-buffering')).toBe('no');
  await events.until('retry: 3000');
  await (await gateway.ask(CHAT, ASKED)).text();
  const text = await events.until(/event: request\ndata: .*\n\n/);
  const id = /id: (\S+)\nevent: request/.exec(text)?.[1] ?? '';
  await events.leave();
  await expect.poll(() => gateway.monitor.feed.readers).toBe(0);
  await (await gateway.ask(CHAT, { ...ASKED, model: 'beta-sonnet-4-6' })).text();
  await expect.poll(() => gateway.monitor.figures.inFlight).toBe(0);
  const again = await openEvents({ 'last-event-id': id });
  const resumed = await again.until('event: request');
  expect(resumed).toContain('beta-sonnet-4-6');
  expect(resumed.match(/event: request/g)).toHaveLength(1);
  await again.leave();
});

test('of more readers than there is room for the last is told to come later', async () => {
  await start();
  const first = await openEvents();
  for (let reader = 1; reader < 64; reader += 1) gateway.monitor.feed.read();
  const refused = await openEvents();
  expect([refused.answer.status, refused.answer.headers.get('retry-after')]).toEqual([503, '5']);
  await refused.leave();
  await first.leave();
  await expect.poll(() => gateway.monitor.feed.readers).toBe(63);
  const next = await openEvents();
  expect(next.answer.status).toBe(200);
  await next.leave();
});

test('events of the time since a page was read come first, and its age is a number', async () => {
  await start();
  gateway.monitor.feed.publish('config', { name: 'while it was read' });
  expect(await (await openEvents({}, '?ageMs=600000')).until('while it was read')).toContain(
    'config',
  );
  expect((await openEvents({}, '?ageMs=soon')).answer.status).toBe(400);
});

test('a look at the events has an end, and leaves no reader', async () => {
  await start();
  const authorization = `Bearer ${CONSOLE_PASSWORD}`;
  const look = await fetch(`${gateway.url}/api/events`, {
    method: 'HEAD',
    headers: { authorization },
  });
  expect([look.status, await look.text()]).toEqual([200, '']);
  expect(look.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  await expect.poll(() => gateway.monitor.feed.readers).toBe(0);
});

test('events need the console credential and end when the gateway winds down', async () => {
  await start();
  expect((await fetch(`${gateway.url}/api/events`)).status).toBe(401);
  const events = await openEvents();
  await events.until('retry');
  const closing = gateway.close();
  expect(await events.until('never')).toContain('[end]');
  await closing;
  await start();
});

test('events end for an address that has to stay out from now on', async () => {
  await start();
  const events = await openEvents();
  await events.until('retry');
  gateway.denyAddresses();
  gateway.monitor.feed.publish('config', { name: 'untold' });
  const text = await events.until('untold');
  expect(text).toContain('[end]');
  expect(text).not.toContain('untold');
  expect((await openEvents()).answer.status).toBe(403);
});

test('figures for Prometheus need a credential only from elsewhere', async () => {
  await start();
  expect((await fetch(`${gateway.url}/metrics`)).status).toBe(200);
  const forwarded = { 'x-forwarded-for': '203.0.113.9' };
  expect((await fetch(`${gateway.url}/metrics`, { headers: forwarded })).status).toBe(401);
  const authorization = `Bearer ${CONSOLE_PASSWORD}`;
  const known = await fetch(`${gateway.url}/metrics`, { headers: { ...forwarded, authorization } });
  expect(known.status).toBe(200);
});

test('a recorded request can be sent again to another model, and shows what differs', async () => {
  await start({ settings: { keepsBodies: true } });
  for (const stream of [false, true]) {
    const row = gateway.nextRow();
    await (await gateway.ask(CHAT, { ...ASKED, stream })).text();
    const { id } = await row;
    const next = gateway.nextRow();
    const replay = await gateway.admin(`/api/requests/${id}/replay`, 'POST', {
      model: 'beta-sonnet-4-6',
      account: 'ann@example.org',
    });
    expect(replay.body).toMatchObject({
      status: 200,
      account: 'ann@example.org',
      upstreamModel: 'beta-sonnet-4-6',
      text: expect.stringContaining('beta-sonnet-4-6 received'),
    });
    const kinds = (replay.body.differences as { kind: string }[]).map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['removed', 'added']));
    expect(await next).toMatchObject({ id: replay.body.requestId, keyId: 'console', stream });
    const same = await gateway.admin(`/api/requests/${id}/replay`, 'POST', {});
    expect(same.body.differences).toEqual([{ kind: 'same', text: same.body.text }]);
  }
});

const ANSWERS = {
  chat: 'choices',
  responses: 'output',
  messages: 'content',
  generate: 'candidates',
};

test.each(['chat', 'responses', 'messages', 'generate'] as const)(
  'a request is sent again in the protocol %s, and says the same',
  async (protocol) => {
    await start({ settings: { keepsBodies: true } });
    for (const stream of [false, true]) {
      const row = gateway.nextRow();
      const messages = [{ role: 'user', content: 'Hello there' }];
      await (await gateway.ask(CHAT, { model: 'alpha-3-flash', messages, stream })).text();
      const { id } = await row;
      const next = gateway.nextRow();
      const { body } = await gateway.admin(`/api/requests/${id}/replay`, 'POST', { protocol });
      expect(body).toMatchObject({ status: 200, protocol });
      const text = String(body.body);
      if (stream) expect(checkStreamText(protocol, text)).toBe('success');
      else expect(JSON.parse(text)).toHaveProperty(ANSWERS[protocol]);
      expect(await next).toMatchObject({ protocol, stream, model: 'alpha-3-flash' });
      expect(body.differences).toEqual([{ kind: 'same', text: body.text }]);
    }
  },
);

test('bodies are kept for some minutes, and then no more', async () => {
  await start();
  const keeps = async () => {
    const row = gateway.nextRow();
    await (await gateway.ask(CHAT, ASKED)).text();
    return (await gateway.admin(`/api/requests/${(await row).id}`)).body.keepsBodies;
  };
  expect(await keeps()).toBe(false);
  const path = '/api/body-recording';
  expect((await gateway.admin(path)).body).toEqual({ until: null });
  const { body } = await gateway.admin(path, 'PUT', { minutes: 15 });
  expect(await keeps()).toBe(true);
  expect((await gateway.admin(path)).body).toEqual(body);
  gateway.settings.bodiesUntil = Number(body.until) - 15 * 60_000;
  expect([await keeps(), (await gateway.admin(path)).body]).toEqual([false, { until: null }]);
  await gateway.admin(path, 'PUT', { minutes: 15 });
  expect((await gateway.admin(path, 'PUT', { minutes: 0 })).body).toEqual({ until: null });
  expect((await gateway.admin(path, 'PUT', { minutes: 61 })).status).toBe(400);
});

test('a request is sent again to the account asked for, or not at all, and that says why', async () => {
  await start({ settings: { keepsBodies: true }, accounts: ['ann', 'bob'] });
  const row = gateway.nextRow();
  await (await gateway.ask(CHAT, ASKED)).text();
  const path = `/api/requests/${(await row).id}/replay`;
  gateway.disable('bob');
  const next = gateway.nextRow();
  const disabled = await gateway.admin(path, 'POST', { account: 'Bob@example.org' });
  expect(disabled.body).toMatchObject({
    status: 503,
    text: 'bob@example.org cannot serve this request now: disabled by hand.',
  });
  expect(disabled.body).not.toHaveProperty('account');
  expect(await next).toMatchObject({ outcome: 'error', attempts: 0 });
  const unknown = await gateway.admin(path, 'POST', { account: 'nobody@example.org' });
  expect([unknown.status, unknown.text]).toEqual([400, expect.stringContaining('nobody@example')]);
  await gateway.addFault({ status: 500, count: 9 });
  const failing = await gateway.admin(path, 'POST', { account: 'ann@example.org' });
  expect(failing.body).toMatchObject({ account: 'ann@example.org' });
});

test('native requests are sent again to the model of their path', async () => {
  await start({ settings: { keepsBodies: true } });
  const row = gateway.nextRow();
  const path = '/v1beta/models/alpha-3-flash:streamGenerateContent?alt=sse';
  await (await gateway.ask(path, { contents: [{ parts: [{ text: 'Hello' }] }] })).text();
  const { id } = await row;
  const replay = await gateway.admin(`/api/requests/${id}/replay`, 'POST', {
    model: 'beta-sonnet-4-6',
  });
  expect(replay.body).toMatchObject({ status: 200, upstreamModel: 'beta-sonnet-4-6' });
});

test('what was not kept whole cannot be sent again, and says why', async () => {
  await start();
  const row = gateway.nextRow();
  await (await gateway.ask(CHAT, ASKED)).text();
  const { id } = await row;
  const bare = await gateway.admin(`/api/requests/${id}/replay`, 'POST', {});
  expect([bare.status, bare.text]).toEqual([400, expect.stringContaining('proxy.monitor.bodies')]);
  gateway.settings.keepsBodies = true;
  const next = gateway.nextRow();
  const long = 'x'.repeat(300_000);
  await (await gateway.ask(CHAT, { ...ASKED, messages: [{ role: 'user', content: long }] })).text();
  const cut = await gateway.admin(`/api/requests/${(await next).id}/replay`, 'POST', {});
  expect([cut.status, cut.text]).toEqual([400, expect.stringContaining('in part only')]);
});
