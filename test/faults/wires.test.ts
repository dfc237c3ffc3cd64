// Every fault of the bytes of an answer, on each upstream wire, for its own clients and for those of another protocol:
// every day for one of the two.

import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { IS_SLOW } from '../support/counts.ts';
import { serveOnLoopback } from '../support/loopback.ts';
import { whileTimePasses } from '../support/passing-clock.ts';
import { startPoolApp } from '../support/pool-app.ts';
import { type Answer, PROTOCOL_CALLS, type ProtocolCall, send } from '../support/protocol-calls.ts';
import { type WireFault, wireFaults } from './wires/wire-faults.ts';
import { MODEL, WIRES, type Wire } from './wires/wires.ts';

const DAY_MS = 25 * 3_600_000;

describe.each(WIRES)('an upstream of the wire $name', (wire) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await startBench(wire);
  });
  afterAll(() => bench.close());

  const other = wire.name === 'chat' ? 'messages' : 'chat';
  const calls = PROTOCOL_CALLS.filter(({ name }) => name === wire.name || name === other);
  describe.each(calls)('asked by a client of $name', (call) => {
    const turn = calls.indexOf(call);
    const faults = wireFaults(wire).filter((_, nth) => IS_SLOW || (turn + nth) % 2 === 0);
    test.each(faults)('$form: $what, becomes the $becomes', async (fault) => {
      const stream = fault.form === 'stream';
      const answer = await bench.ask(call, stream, fault);
      judge({ call, stream, answer, fault });
      expect(answer.headers.get('x-isthmus-attempts')).toBe(String(bench.calls()));
    });
  });
});

interface Judged {
  readonly call: ProtocolCall;
  readonly stream: boolean;
  readonly answer: Answer;
  readonly fault: WireFault;
}

function judge({ call, stream, answer, fault }: Judged): void {
  const { status, text, headers } = answer;
  expect(status, text).toBe(200);
  if (fault.becomes === 'broken stream') {
    expect(call.hasError(text), text).toBe(true);
    expect(text.match(/Good/g), text).toHaveLength(1);
  } else {
    const wanted = fault.becomes === 'answer' ? '1' : '2';
    expect(headers.get('x-isthmus-attempts'), text).toBe(wanted);
    for (const word of [/Good/g, /answer\./g]) expect(text.match(word), text).toHaveLength(1);
    if (stream) {
      expect(call.isComplete(text), text).toBe(true);
      // The shape of an answer that was asked for whole.
      expect(text).not.toContain('"object":"chat.completion"');
    }
    expect(call.hasError(text), text).toBe(false);
  }
}

interface Bench {
  /** The first call of the request meets the fault, the next ones are answered. */
  ask(call: ProtocolCall, stream: boolean, fault: WireFault): Promise<Answer>;
  /** How often the upstream was called for it. */
  calls(): number;
  close(): Promise<void>;
}

async function startBench(wire: Wire): Promise<Bench> {
  let meets: WireFault | undefined;
  let called = 0;
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(wire.models));
      return;
    }
    called += 1;
    request.resume();
    const fault = called === 1 ? meets : undefined;
    if (fault !== undefined) void writeRaw(request.socket, fault);
    else if (meets?.form === 'stream') {
      response.setHeader('content-type', 'text/event-stream').end(wire.events.join(''));
    } else {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(wire.whole));
    }
  });
  const { url, close } = await serveOnLoopback(server);
  const base_url = `${url}${wire.base}`;
  const gateway = await startPoolApp({
    file: { upstreams: { raw: { profile: wire.profile, base_url } } },
  });
  await gateway.must('POST', '/api/accounts', { upstream: 'raw', kind: 'api-key', key: 'key.raw' });
  await gateway.app.pool.ensureModels();
  return {
    ask(call, stream, fault) {
      meets = fault;
      called = 0;
      // What was retried before takes nothing from this request.
      gateway.clock.skip(DAY_MS);
      const asked = send(gateway.url, call, { model: MODEL, stream, text: fault.what });
      return fault.close === 'open' ? whileTimePasses(gateway.clock, asked) : asked;
    },
    calls: () => called,
    async close() {
      await gateway.close();
      await close();
    },
  };
}

async function writeRaw(
  socket: Socket,
  { bytes, close: closes = 'end' }: WireFault,
): Promise<void> {
  socket.on('error', () => {});
  const pieces = Array.isArray(bytes) ? bytes : [bytes];
  for (const piece of pieces) {
    socket.write(piece);
    if (pieces.length > 1) await new Promise((done) => setImmediate(done));
  }
  if (closes === 'end') socket.end();
}
