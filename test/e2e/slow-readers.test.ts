// A client that reads slowly holds its own upstream call back, and gets everything in order.

import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestApp } from '../support/app.ts';
import { PROTOCOL_CALLS } from '../support/protocol-calls.ts';
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts';

const EVENTS = 5_000;
const PADDING = 'x'.repeat(6_000);

let upstream: RawUpstream;
/** Events the upstream has got rid of. */
let sent = 0;
let app: Omit<TestApp, 'sandbox'>;

beforeAll(async () => {
  const models = PROTOCOL_CALLS.map(({ model }) => model);
  upstream = await startRawUpstream(models, (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    sent = 0;
    const write = (): void => {
      while (sent < EVENTS) {
        sent += 1;
        if (!response.write(eventOf(sent))) return void response.once('drain', write);
      }
      response.end();
    };
    write();
  });
  app = await startGateway({
    environment: {
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEYS: 'k',
      AUTH_MODE: 'off',
    },
  });
});
afterAll(async () => {
  await app.close();
  upstream.close();
});

test.each(PROTOCOL_CALLS)('$name', async (call) => {
  const body = JSON.stringify(call.body({ model: call.model, text: 'Hello', stream: true }));
  const socket = connect({ port: app.port, host: '127.0.0.1' });
  socket.write(
    `POST ${call.path(call.model, true)} HTTP/1.0\r\nHost: 127.0.0.1\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await heldBack();
  expect(sent).toBeLessThan(EVENTS);
  const pieces: Buffer[] = [];
  for await (const piece of socket) {
    pieces.push(piece);
    if (pieces.length % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const text = Buffer.concat(pieces).toString();
  const order = [...text.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number));
  expect(order).toEqual(Array.from({ length: EVENTS }, (_, at) => at + 1));
  expect(call.isComplete(text)).toBe(true);
});

function eventOf(number: number): string {
  const parts = [{ text: `<${number}>${PADDING}` }];
  const end = number === EVENTS ? { finishReason: 'STOP' } : {};
  return `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, ...end }] })}\n\n`;
}

/** Resolves when the upstream has not got rid of anything for a while. */
async function heldBack(): Promise<void> {
  for (let turns = 0, known = sent; turns < 300; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (sent === known && sent > 0) continue;
    turns = 0;
    known = sent;
  }
}
