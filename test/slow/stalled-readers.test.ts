// Two hundred clients that stop reading in the middle of ten megabytes: what the gateway keeps for them.

import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts';

const MODEL = 'alpha-3-flash';
const READERS = 200;
const ANSWER_BYTES = 10_000_000;
/** With this limit of V8's own memory, holding all the readers were sent ends the gateway. */
const HEAP_MEGABYTES = 512;
/** Beside what as many readers that keep up have taken: about half a megabyte a reader is held, the rest garbage of what passed. */
const MOST_GROWTH_MEGABYTES = 180;
/** Responses repeat their text at the end, and keep it until then outside of the heap. */
const KEPT_MEGABYTES = {
  chat: 0,
  messages: 0,
  native: 0,
  responses: (READERS * ANSWER_BYTES) / 1e6,
};
/** Nothing was read from the upstream for this long: all readers are stalled. */
const QUIET_MS = 1_500;

const user = { role: 'user', content: 'Go on.' };
const SURFACES = {
  chat: ['/v1/chat/completions', { model: MODEL, stream: true, messages: [user] }],
  messages: ['/v1/messages', { model: MODEL, stream: true, max_tokens: 1000, messages: [user] }],
  native: [
    `/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`,
    { contents: [{ role: 'user', parts: [{ text: 'Go on.' }] }] },
  ],
  responses: ['/v1/responses', { model: MODEL, stream: true, input: 'Go on.' }],
} as const;

let sentBytes = 0;
let upstream: RawUpstream;
let gateway: RunningGateway;
beforeAll(async () => {
  upstream = await startRawUpstream([MODEL], answer);
  gateway = await startGateway(
    {
      AUTH_MODE: 'off',
      UPSTREAM_PROFILE: 'gemini-api',
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEYS: 'key-1',
    },
    [],
    [`--max-old-space-size=${HEAP_MEGABYTES}`],
  );
});
afterAll(async () => {
  await gateway.stop();
  upstream.close();
});

/** Sent as fast as it is taken. */
function answer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let sent = 0;
  const send = (): void => {
    while (sent < ANSWER_BYTES && !response.destroyed) {
      const text = `${sent} `.padEnd(1000, 'lorem ipsum ');
      const frame = { candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0 }] };
      sent += text.length;
      sentBytes += text.length;
      if (!response.write(`data: ${JSON.stringify(frame)}\n\n`)) {
        response.once('drain', send);
        return;
      }
    }
    const end = { candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }] };
    response.end(`data: ${JSON.stringify(end)}\n\n`);
  };
  send();
}

/** Asks, takes the beginning of the answer and no more. */
function stall(surface: keyof typeof SURFACES): Promise<Socket> {
  const [path, body] = SURFACES[surface];
  const json = JSON.stringify(body);
  const { port } = new URL(gateway.url);
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `Content-Length: ${json.length}`,
  ];
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(`${head.join('\r\n')}\r\n\r\n${json}`);
    });
    socket.once('data', (data) => {
      socket.pause();
      if (data.toString('latin1').startsWith('HTTP/1.1 200')) resolve(socket);
      else reject(new Error(data.toString('latin1')));
    });
    socket.on('error', reject);
  });
}

/** As many readers that keep up, for a megabyte each: what the process grows to by working is not what readers hold. */
async function readAll(surface: keyof typeof SURFACES): Promise<void> {
  const [path, body] = SURFACES[surface];
  for (let index = 0; index < READERS; index += 20) {
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const answer = await fetch(gateway.url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        let readBytes = 0;
        for await (const chunk of answer.body ?? []) {
          readBytes += chunk.length;
          if (readBytes > 1_000_000) break;
        }
      }),
    );
  }
}

async function untilQuiet(): Promise<void> {
  let before = -1;
  while (before !== sentBytes) {
    before = sentBytes;
    await wait(QUIET_MS);
  }
}

function megabytes(): number {
  const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

async function stallAll(surface: keyof typeof SURFACES): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  for (let index = 0; index < READERS; index += 20) {
    sockets.push(...(await Promise.all(Array.from({ length: 20 }, () => stall(surface)))));
  }
  await untilQuiet();
  return sockets;
}

test.each(Object.keys(SURFACES) as (keyof typeof SURFACES)[])(
  'A11: 200 stalled readers of 10 MB take less than a megabyte each, and no more the second time (%s)',
  async (surface) => {
    await readAll(surface);
    const start = megabytes();
    const growths: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      sentBytes = 0;
      const sockets = await stallAll(surface);
      growths.push(megabytes() - start);
      for (const socket of sockets) socket.destroy();
      await wait(QUIET_MS);
    }
    expect(Math.max(...growths)).toBeLessThan(MOST_GROWTH_MEGABYTES + KEPT_MEGABYTES[surface]);
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  },
);
