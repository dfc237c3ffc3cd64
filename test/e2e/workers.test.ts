// Several processes on one port: they share the work and what they know, and are replaced without a request lost.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';

const PASSWORD = 'a password for the console';

let running: RunningGateway;
let key: string;
/** Where what was printed during a test begins. */
let begin = 0;

beforeAll(async () => {
  running = await startGateway({
    ...{ WORKERS: '2', WEB_PASSWORD: PASSWORD, LOG_LEVEL: 'info', ISTHMUS_REPLICA_NAME: 'box' },
  });
  await until((text) => listening(text).length === 2);
  expect(running.output()).toContain('"replica":"box/2"');
  key = await makeKey({ name: 'Ada' });
});
beforeEach(() => {
  begin = running.output().length;
});
afterAll(() => running.stop());

/** Each request on a connection of its own: one that stays open would be that of a worker that ends. */
const ALONE = { connection: 'close' };

test('records and log lines say which worker they are of, and lists are filtered by it', async () => {
  for (let turn = 0; turn < 8; turn += 1) await ask(key);
  const count = async (query: string): Promise<unknown> =>
    (await admin(`/api/requests?${query}`)).total;
  await expect.poll(() => count('')).toBe(8);
  const [first, second] = [await count('replica=box/1'), await count('replica=box/2')];
  expect([first, second]).toEqual([4, 4]);
  expect(await count('replica=BOX/*')).toBe(8);
  const { replicas } = await admin('/api/overview');
  expect(replicas).toEqual(['box/1', 'box/2']);
});

test('live events are those of all workers, whichever the console is connected to', async () => {
  const abort = new AbortController();
  const events = await fetch(`${running.url}/api/events`, {
    headers: { authorization: `Bearer ${PASSWORD}`, ...ALONE },
    signal: abort.signal,
  });
  const seen = new Set<string>();
  const asking = (async () => {
    while (seen.size < 4) await ask(key);
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
});

test('a background response is shown, and ended, by a worker that does not make it', async () => {
  // Each connection goes to the next worker.
  const input = 'UPSTREAM-SLOW 60000 Hello';
  const asked = { model: 'alpha-3-flash', input, background: true };
  for (let turn = 0; turn < 2; turn += 1) {
    const { id } = await callJson('POST', '/v1/responses', asked);
    const path = `/v1/responses/${id}`;
    const shown = [await callJson('GET', path), await callJson('GET', path)];
    expect(shown.map(({ status }) => status)).toEqual(['in_progress', 'in_progress']);
    const ended = await callJson('POST', `${path}/cancel`);
    expect(ended.status).toBe('cancelled');
    const after = [await callJson('GET', path), await callJson('GET', path)];
    expect(after.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
    // So that the next is made and ended the other way round.
    await callJson('GET', path);
  }
});

test('the stream of a background response is read on at a worker that does not make it', async () => {
  const read = async (path: string, body?: object): Promise<string> => {
    const method = body === undefined ? 'GET' : 'POST';
    const headers = {
      ...{ 'content-type': 'application/json', authorization: `Bearer ${key}` },
      ...ALONE,
    };
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
});

test('requests are spread, limits hold over all, and a worker that dies is replaced', async () => {
  const limited = await makeKey({ name: 'Bob', requestsPerMinute: 20 });
  const statuses = await Promise.all(Array.from({ length: 40 }, () => ask(limited)));
  expect(statuses.filter((status) => status === 200)).toHaveLength(20);
  expect(statuses.filter((status) => status === 429)).toHaveLength(20);
  const [first = 0, second = 0] = living();
  const other = await makeKey({ name: 'Eve' });
  process.kill(second, 'SIGKILL');
  await until((text) => text.includes('another takes its place'));
  expect(await ask(other)).toBe(200);
  await until((text) => listening(text).length === 1);
  expect(living()).toContain(first);
  expect(await ask(other)).toBe(200);
  const metrics = await fetch(`${running.url}/metrics`, { headers: ALONE }).then((answer) =>
    answer.text(),
  );
  expect(metrics).toContain('isthmus_requests_total');
});

test('a connection on its way to a worker that is killed is served by another', async () => {
  const [, second = 0] = living();
  // One that stands still takes nothing: what it is handed stays on its way.
  process.kill(second, 'SIGSTOP');
  let answered = 0;
  const onOthers = Promise.withResolvers<void>();
  const statuses = Promise.all(
    Array.from({ length: 6 }, async () => {
      const status = await ask(key);
      answered += 1;
      if (answered === 5) onOthers.resolve();
      return status;
    }),
  );
  await onOthers.promise;
  expect(answered).toBe(5);
  process.kill(second, 'SIGKILL');
  expect(await statuses).toEqual(Array(6).fill(200));
  await until((text) => listening(text).length === 1);
});

test.skipIf(process.platform !== 'linux')(
  'a worker that dies while the one that was to replace it does is replaced all the same',
  async () => {
    const [first = 0, second = 0] = living();
    running.signal('SIGHUP');
    await expect.poll(() => childrenOf(running.pid), { interval: 5 }).toHaveLength(3);
    process.kill(first, 'SIGKILL');
    await expect.poll(() => childrenOf(running.pid), { interval: 1 }).not.toContain(first);
    const begun = childrenOf(running.pid).find((pid) => pid !== second) ?? 0;
    process.kill(begun, 'SIGKILL');
    await until((text) => text.includes('The workers stay.'));
    await until((text) => listening(text).length === 1);
    expect(await ask(key)).toBe(200);
  },
);

test('all workers are replaced on SIGHUP, without a request lost, and end with their parent', async () => {
  const before = living();
  expect(before).toHaveLength(2);
  let isOver = false;
  const statuses: number[] = [];
  // On connections that stay open, as clients have them.
  const client = async (): Promise<void> => {
    while (!isOver) statuses.push(await ask(key, {}));
  };
  const load = Promise.all([client(), client()]);
  running.signal('SIGHUP');
  await until((text) => listening(text).length === 2);
  await until((text) => before.every((pid) => stopped(text).includes(pid)));
  isOver = true;
  await load;
  expect(statuses.length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect(await running.stop(), running.output()).toBe(0);
});

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map(Number);
}

/** The workers that take requests. */
function living(): readonly number[] {
  return listening(running.output()).filter((pid) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  });
}

async function callJson(method: string, path: string, body?: object): Promise<JsonObject> {
  const answer = await fetch(running.url + path, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...ALONE },
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

/** Looks whenever something was printed, at what was printed during the test. */
function until(isSo: (text: string) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isSo(running.output().slice(begin))) return;
      end();
      resolve();
    };
    const end = running.onOutput(look);
    look();
  });
}

async function ask(secret: string, headers: object = ALONE): Promise<number> {
  const answer = await fetch(`${running.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${secret}`,
      ...headers,
    },
    body: JSON.stringify({ model: 'alpha-3-flash', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await answer.text();
  return answer.status;
}

async function admin(path: string): Promise<JsonObject> {
  const answer = await fetch(running.url + path, {
    headers: { authorization: `Bearer ${PASSWORD}`, ...ALONE },
  });
  const parsed: unknown = await answer.json();
  return isJsonObject(parsed) ? parsed : {};
}

async function makeKey(input: object): Promise<string> {
  const answer = await fetch(`${running.url}/api/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${PASSWORD}`, ...ALONE },
    body: JSON.stringify(input),
  });
  const body: unknown = await answer.json();
  if (typeof body !== 'object' || body === null || !('secret' in body)) {
    throw new Error(`No key was made: ${JSON.stringify(body)}`);
  }
  return String(body.secret);
}
