// Several processes on one port: they share the work and what they know, and are replaced without a request lost.

import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';

let gateway: RunningGateway | undefined;

afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

/** Each request on a connection of its own. */
const ALONE = { connection: 'close' };

const PASSWORD = 'a password for the console';

test('requests are spread, limits hold over all, and a worker that dies is replaced', async () => {
  const running = await startGateway({ WORKERS: '2', WEB_PASSWORD: PASSWORD, LOG_LEVEL: 'info' });
  gateway = running;
  await until(running, (text) => listening(text).length === 2);
  const key = await makeKey(running.url, { name: 'Ada', requestsPerMinute: 20 });
  const statuses = await Promise.all(
    Array.from({ length: 40 }, () => ask(running.url, key, ALONE)),
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(20);
  expect(statuses.filter((status) => status === 429)).toHaveLength(20);
  const [first = 0, second = 0] = listening(running.output());
  const other = await makeKey(running.url, { name: 'Eve' });
  process.kill(second, 'SIGKILL');
  await until(running, (text) => text.includes('another takes its place'));
  expect(await ask(running.url, other, ALONE)).toBe(200);
  await until(running, (text) => listening(text).length === 3);
  expect(listening(running.output())).toContain(first);
  expect(await ask(running.url, other, ALONE)).toBe(200);
  const metrics = await fetch(`${running.url}/metrics`).then((answer) => answer.text());
  expect(metrics).toContain('isthmus_requests_total');
});

test('a connection on its way to a worker that is killed is served by another', async () => {
  const running = await startGateway({ WORKERS: '2', LOG_LEVEL: 'info' });
  gateway = running;
  await until(running, (text) => listening(text).length === 2);
  const [, second = 0] = listening(running.output());
  // One that stands still takes nothing: what it is handed stays on its way.
  process.kill(second, 'SIGSTOP');
  let answered = 0;
  const onOthers = Promise.withResolvers<void>();
  const statuses = Promise.all(
    Array.from({ length: 6 }, async () => {
      const status = await ask(running.url, undefined, ALONE);
      answered += 1;
      if (answered === 5) onOthers.resolve();
      return status;
    }),
  );
  await onOthers.promise;
  expect(answered).toBe(5);
  process.kill(second, 'SIGKILL');
  expect(await statuses).toEqual(Array(6).fill(200));
});

test('records and log lines say which worker they are of, and lists are filtered by it', async () => {
  const running = await startGateway({
    ...{ WORKERS: '2', WEB_PASSWORD: PASSWORD, LOG_LEVEL: 'info', ISTHMUS_REPLICA_NAME: 'box' },
  });
  gateway = running;
  await until(running, (text) => listening(text).length === 2);
  expect(running.output()).toContain('"replica":"box/2"');
  const key = await makeKey(running.url, { name: 'Ada' });
  for (let turn = 0; turn < 8; turn += 1) await ask(running.url, key, ALONE);
  const count = async (query: string): Promise<unknown> =>
    (await admin(running.url, `/api/requests?${query}`)).total;
  await expect.poll(() => count('')).toBe(8);
  const [first, second] = [await count('replica=box/1'), await count('replica=box/2')];
  expect([first, second]).toEqual([4, 4]);
  expect(await count('replica=BOX/*')).toBe(8);
  const { replicas } = await admin(running.url, '/api/overview');
  expect(replicas).toEqual(['box/1', 'box/2']);
}, 60_000);

test('all workers are replaced on SIGHUP, without a request lost, and end with their parent', async () => {
  const running = await startGateway({ WORKERS: '2', LOG_LEVEL: 'info' });
  gateway = running;
  await until(running, (text) => listening(text).length === 2);
  const before = listening(running.output());
  let isOver = false;
  const statuses: number[] = [];
  // On connections that stay open, as clients have them.
  const client = async (): Promise<void> => {
    while (!isOver) statuses.push(await ask(running.url));
  };
  const load = Promise.all(Array.from({ length: 6 }, client));
  running.signal('SIGHUP');
  await until(running, (text) => listening(text).length === 4);
  await until(running, (text) => before.every((pid) => stopped(text).includes(pid)));
  isOver = true;
  await load;
  expect(statuses.length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect(await running.stop(), running.output()).toBe(0);
  gateway = undefined;
});

test.skipIf(process.platform !== 'linux')(
  'a worker that dies while the one that was to replace it does is replaced all the same',
  async () => {
    const running = await startGateway({ WORKERS: '2', LOG_LEVEL: 'info' });
    gateway = running;
    await until(running, (text) => listening(text).length === 2);
    const [first = 0, second = 0] = listening(running.output());
    running.signal('SIGHUP');
    await expect.poll(() => childrenOf(running.pid), { interval: 5 }).toHaveLength(3);
    process.kill(first, 'SIGKILL');
    await expect.poll(() => childrenOf(running.pid), { interval: 1 }).not.toContain(first);
    const begun = childrenOf(running.pid).find((pid) => pid !== second) ?? 0;
    process.kill(begun, 'SIGKILL');
    await until(running, (text) => text.includes('The workers stay.'));
    await until(running, (text) => listening(text).length === 3);
    expect(await ask(running.url)).toBe(200);
  },
);

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map(Number);
}

test('live events are those of all workers, whichever the console is connected to', async () => {
  const running = await startGateway({ WORKERS: '2', WEB_PASSWORD: PASSWORD, LOG_LEVEL: 'info' });
  gateway = running;
  await until(running, (text) => listening(text).length === 2);
  const abort = new AbortController();
  const events = await fetch(`${running.url}/api/events`, {
    headers: { authorization: `Bearer ${PASSWORD}` },
    signal: abort.signal,
  });
  const key = await makeKey(running.url, { name: 'Ada' });
  const seen = new Set<string>();
  const asking = (async () => {
    while (seen.size < 4) await ask(running.url, key, ALONE);
  })();
  let text = '';
  for await (const part of events.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    for (const [, kind, name] of text.matchAll(
      /event: (request|log)\ndata: .*"replica":"([^"]+)"/g,
    ))
      seen.add(`${kind} ${name?.slice(name.lastIndexOf('/'))}`);
    if (seen.size === 4) break;
  }
  expect([...seen].sort()).toEqual(['log /1', 'log /2', 'request /1', 'request /2']);
  abort.abort();
  await asking;
}, 60_000);

test('a background response is shown, and ended, by a worker that does not make it', async () => {
  const running = await startGateway({ WORKERS: '2', LOG_LEVEL: 'info' });
  gateway = running;
  await until(running, (text) => listening(text).length === 2);
  // Each connection goes to the next worker.
  const call = (method: string, path: string, body?: object): Promise<JsonObject> =>
    callJson(`${running.url}${path}`, method, body);
  const input = 'UPSTREAM-SLOW 60000 Hello';
  const asked = { model: 'alpha-3-flash', input, background: true };
  for (let turn = 0; turn < 2; turn += 1) {
    const { id } = await call('POST', '/v1/responses', asked);
    const path = `/v1/responses/${id}`;
    const shown = [await call('GET', path), await call('GET', path)];
    expect(shown.map(({ status }) => status)).toEqual(['in_progress', 'in_progress']);
    const ended = await call('POST', `${path}/cancel`);
    expect(ended.status).toBe('cancelled');
    const after = [await call('GET', path), await call('GET', path)];
    expect(after.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
    // So that the next is made and ended the other way round.
    await call('GET', path);
  }
}, 60_000);

test('the stream of a background response is read on at a worker that does not make it', async () => {
  const running = await startGateway({ WORKERS: '2', LOG_LEVEL: 'info' });
  gateway = running;
  await until(running, (text) => listening(text).length === 2);
  const read = async (path: string, body?: object): Promise<string> => {
    const method = body === undefined ? 'GET' : 'POST';
    const headers = { 'content-type': 'application/json', ...ALONE };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${running.url}/v1/responses${path}`, { method, headers, ...init });
    expect(answer.headers.get('content-type')).toMatch('text/event-stream');
    return answer.text();
  };
  const asked = { model: 'alpha-3-flash', input: 'UPSTREAM-WORDS 400', background: true };
  const whole = await read('', { ...asked, stream: true });
  const id = /"id":"(resp_[^"]+)"/.exec(whole)?.[1];
  const events = whole.split(/(?<=\n\n)/);
  // Each connection goes to the next worker.
  for (let turn = 0; turn < 2; turn += 1) {
    expect(await read(`/${id}?stream=true`)).toBe(whole);
    expect(await read(`/${id}?stream=true&starting_after=4`)).toBe(events.slice(5).join(''));
    expect(await read(`/${id}?stream=true&starting_after=${events.length - 1}`)).toBe('');
  }
}, 60_000);

async function callJson(url: string, method: string, body?: object): Promise<JsonObject> {
  const answer = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...ALONE },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const parsed: unknown = await answer.json();
  return isJsonObject(parsed) ? parsed : {};
}

function listening(text: string): readonly number[] {
  return pidsOf(text, 'The gateway listens.');
}

function stopped(text: string): readonly number[] {
  return pidsOf(text, 'The gateway stops.');
}

function pidsOf(text: string, message: string): readonly number[] {
  return text
    .split('\n')
    .filter((line) => line.includes(message))
    .map((line) => Number(/"pid":(\d+)/.exec(line)?.[1]));
}

/** Looks whenever something was printed. */
function until(running: RunningGateway, isSo: (text: string) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isSo(running.output())) return;
      end();
      resolve();
    };
    const end = running.onOutput(look);
    look();
  });
}

async function ask(url: string, key?: string, headers: object = {}): Promise<number> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...headers,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ model: 'alpha-3-flash', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await answer.text();
  return answer.status;
}

async function admin(url: string, path: string): Promise<JsonObject> {
  const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${PASSWORD}` } });
  const parsed: unknown = await answer.json();
  return isJsonObject(parsed) ? parsed : {};
}

async function makeKey(url: string, input: object): Promise<string> {
  const answer = await fetch(`${url}/api/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${PASSWORD}` },
    body: JSON.stringify(input),
  });
  const body: unknown = await answer.json();
  if (typeof body !== 'object' || body === null || !('secret' in body)) {
    throw new Error(`No key was made: ${JSON.stringify(body)}`);
  }
  return String(body.secret);
}
