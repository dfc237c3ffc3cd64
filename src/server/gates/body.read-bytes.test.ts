import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { JSON_LIMITS, JsonLimitScanner } from '../../lib/json.ts';
import { readBytes } from './body.ts';

type BodyRoom = Parameters<typeof readBytes>[1]['bodies'];

const LIMITS = {
  maxBytes: 1e6,
  bodies: { check: () => undefined, take: () => undefined },
  holder: { clientKeyId: '', clientAddress: '192.0.2.1', heldBytes: 0 },
};

/** What is inspected of a body that comes in these pieces, and the body. */
async function read(pieces: readonly Buffer[]) {
  const request = new IncomingMessage(new Socket());
  const inspected: Buffer[] = [];
  const taken: number[] = [];
  const bodies: BodyRoom = {
    check: () => undefined,
    take: (_holder, { bytes }) => void taken.push(bytes),
  };
  const survey = new JsonLimitScanner(JSON_LIMITS);
  const readPiece = survey.read.bind(survey);
  survey.read = (piece) => {
    inspected.push(piece);
    return readPiece(piece);
  };
  const body = readBytes(request, { ...LIMITS, clock: createFakeClock(), bodies }, survey);
  for (const piece of pieces) request.emit('data', piece);
  request.emit('end');
  return { body: (await body).toString(), inspected, taken };
}

test('A3: a body in single bytes is looked at by the thousand, not by the byte', async () => {
  const text = 'abcdefghij'.repeat(10_000);
  const slab = Buffer.from(text);
  const found = await read(Array.from(slab, (_, at) => slab.subarray(at, at + 1)));
  expect(found.body).toBe(text);
  expect(Buffer.concat(found.inspected).toString()).toBe(text);
  expect(found.inspected.length).toBeLessThan(200);
  // Nothing of what was cut apart is kept with what it was cut from.
  expect(found.inspected.some(({ buffer }) => buffer === slab.buffer)).toBe(false);
  expect(found.taken.at(-1)).toBe(text.length);
});

test('A2: a body in millions of chunks of a few bytes is refused before it costs seconds', async () => {
  const send = (count: number): Promise<Buffer> => {
    const request = new IncomingMessage(new Socket());
    const body = readBytes(request, { ...LIMITS, maxBytes: 1e9, clock: createFakeClock() });
    const chunk = Buffer.from('a');
    for (let sent = 0; sent < count; sent += 1) request.emit('data', chunk);
    request.emit('end');
    return body;
  };
  const most = 4 * 1024 * 1024;
  expect((await send(most)).length).toBe(most);
  await expect(send(most + 1)).rejects.toMatchObject({ kind: 'invalid-request', field: 'body' });
});

test('small pieces stay in their order among large ones', async () => {
  const large = Buffer.alloc(5_000, 'l');
  const found = await read([Buffer.from('a'), Buffer.from('b'), large, Buffer.from('c')]);
  expect(found.body).toBe(`ab${large}c`);
  expect(found.inspected.map(({ length }) => length)).toEqual([2, 5_000, 1]);
});

test('all pieces of a body that was there before anybody read it are in it', async () => {
  const request = new IncomingMessage(new Socket());
  const pieces = ['{"tools":[],', '"messages":', '[]}'];
  request.headers['content-length'] = String(pieces.join('').length);
  for (const piece of pieces) request.push(piece);
  request.push(null);
  request.complete = true;
  const body = await readBytes(request, { ...LIMITS, clock: createFakeClock() });
  expect(body.toString()).toBe(pieces.join(''));
  expect(request.readableLength).toBe(0);
});
