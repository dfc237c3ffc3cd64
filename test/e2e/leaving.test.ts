// A client that leaves closes the upstream call at once, whatever stage the call is in.

import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawPost } from '../../src/server/raw-socket.test-support.ts';
import { startGateway, type TestApp } from '../support/app.ts';
import { PROTOCOL_CALLS, type ProtocolCall } from '../support/protocol-calls.ts';
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts';

const FIRST_EVENT =
  'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Once"}]}}]}\n\n';
const MOST_MS = 50;
/** A busy machine may be late by itself, though not every time. */
const TRIES = 20;

interface UpstreamCall {
  readonly response: ServerResponse;
  /** Resolves with the moment at which the gateway closed the call. */
  readonly closed: Promise<number>;
}

/** An upstream that says nothing by itself. */
let upstream: RawUpstream & { nextCall(): Promise<UpstreamCall> };
let app: Omit<TestApp, 'sandbox'>;

beforeAll(async () => {
  upstream = await startSilentUpstream();
  app = await startGateway({
    environment: { UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEYS: 'k', AUTH_MODE: 'off' },
  });
});
afterAll(async () => {
  await app.close();
  upstream.close();
});

describe.each(PROTOCOL_CALLS)('P090 $name', (call) => {
  test.each([
    ['before a whole answer', false, false],
    ['before the first event of a stream', true, false],
    ['in the middle of a stream', true, true],
  ])('leaving %s', async (_when, stream, begun) => {
    const times: number[] = [];
    for (let turn = 0; turn < TRIES && !times.some(isSoon); turn += 1) {
      times.push(await leave(call, { stream, begun }));
    }
    expect(times).toSatisfy((all: number[]) => all.some(isSoon));
  });
});

/** What some systems and proxies send for a client that leaves answers unread. */
test.each(PROTOCOL_CALLS)('ending its side while it takes nothing: $name', async (call) => {
  const body = JSON.stringify(call.body({ model: call.model, text: 'Hello', stream: true }));
  const arrived = upstream.nextCall();
  const logged = app.nextLine();
  const client = connect({ port: app.port, host: '127.0.0.1', allowHalfOpen: true });
  client.write(rawPost(call.path(call.model, true), body));
  const { response, closed } = await arrived;
  await heldBack(response.writeHead(200, { 'content-type': 'text/event-stream' }));
  client.end();
  await closed;
  expect((await logged).fields).toMatchObject({ status: 499, error: 'client-gone' });
  client.destroy();
});

/** Writes events until the gateway has not taken any for a while. */
async function heldBack(response: ServerResponse): Promise<void> {
  const event = FIRST_EVENT.replace('Once', 'x'.repeat(60_000));
  for (let turns = 0; turns < 300; turns += 1) {
    while (response.write(event)) turns = 0;
    await new Promise((resolve) => setImmediate(resolve));
    if (!response.writableNeedDrain) turns = 0;
  }
}

const isSoon = (elapsedMs: number): boolean => elapsedMs <= MOST_MS;

interface Stage {
  readonly stream: boolean;
  /** Leave after the first event instead of before it. */
  readonly begun: boolean;
}

/** Milliseconds from the client's leaving to the end of the upstream call. */
async function leave(call: ProtocolCall, { stream, begun }: Stage): Promise<number> {
  const abort = new AbortController();
  const arrived = upstream.nextCall();
  const logged = app.nextLine();
  const answer = fetch(`${app.url}${call.path(call.model, stream)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(call.body({ model: call.model, text: 'Hello', stream })),
    signal: abort.signal,
  });
  const failed = answer.then((response) => response.text()).catch(() => undefined);
  const { response, closed } = await Promise.race([arrived, failed.then(neverArrived)]);
  if (begun) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(FIRST_EVENT);
    await answer;
  }
  const leftAt = performance.now();
  abort.abort();
  const elapsedMs = (await closed) - leftAt;
  await failed;
  expect((await logged).fields).toMatchObject({ status: 499, error: 'client-gone' });
  return elapsedMs;
}

function neverArrived(): never {
  throw new Error('The gateway answered without asking the upstream.');
}

async function startSilentUpstream(): Promise<typeof upstream> {
  const waiting: ((call: UpstreamCall) => void)[] = [];
  const models = PROTOCOL_CALLS.map(({ model }) => model);
  const silent = await startRawUpstream(models, (response) => {
    const closed = new Promise<number>((resolve) => {
      response.on('close', () => resolve(performance.now()));
    });
    waiting.shift()?.({ response, closed });
  });
  return { ...silent, nextCall: () => new Promise((resolve) => waiting.push(resolve)) };
}
