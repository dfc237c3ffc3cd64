import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { createBodyBudget } from './body.ts';
import { isMultipart, readMultipart } from './multipart.ts';

const TYPE = 'multipart/form-data; boundary=XX';

async function read(body: string | Buffer, contentType = TYPE) {
  const request = new IncomingMessage(new Socket());
  request.headers['content-type'] = contentType;
  const response = new ServerResponse(request);
  const clock = createFakeClock();
  const holder = { clientKeyId: '', clientAddress: '192.0.2.1', heldBytes: 0 };
  const limits = { maxBytes: 10_000_000, clock, bodies: createBodyBudget(clock), holder };
  const reading = readMultipart({ request, response, ...limits });
  reading.catch(() => undefined);
  request.push(body);
  request.push(null);
  return reading;
}

function part(disposition: string, content: string, headers = ''): string {
  return `--XX\r\nContent-Disposition: form-data; ${disposition}\r\n${headers}\r\n${content}\r\n`;
}

test('fields and files are read with their names, types and bytes', async () => {
  const image = Buffer.from([0x89, 0x50, 0, 0xff]).toString('latin1');
  const body =
    part('name="model"', 'm') +
    part('name="image[]"; filename="../a.png"', image, 'Content-Type: image/png\r\n') +
    part('name="tags[]"', 'a') +
    part('name="tags[]"', 'b') +
    part('name="cut[type]"', 'server_vad') +
    part('name="cut[threshold]"', '0.5') +
    '--XX--\r\n';
  const { fields, files } = await read(Buffer.from(body, 'latin1'));
  const cut = { type: 'server_vad', threshold: '0.5' };
  expect(fields).toEqual({ model: 'm', tags: ['a', 'b'], cut });
  expect(files).toMatchObject([{ field: 'image', mediaType: 'image/png' }]);
  expect(files[0]?.bytes.toString('latin1')).toBe(image);
  expect(files[0]?.fileName).not.toContain('/');
});

test.each([
  ['no boundary', part('name="a"', 'b'), 'multipart/form-data'],
  ['another boundary', part('name="a"', 'b'), 'multipart/form-data; boundary=YY'],
  ['no end', part('name="a"', 'b'), TYPE],
  ['nothing', '', TYPE],
  ['another type', part('name="a"', 'b'), 'text/plain'],
  ['no form at all', '{"a":1}', TYPE],
  ['a cut file', part('name="f"; filename="f"', 'b').slice(0, -4), TYPE],
  ['51 parts', `${part('name="a"', 'b').repeat(51)}--XX--\r\n`, TYPE],
  ['18 files', `${part('name="f"; filename="f"', 'b').repeat(18)}--XX--\r\n`, TYPE],
  ['a field of a megabyte', `${part('name="a"', 'b'.repeat(1_100_000))}--XX--\r\n`, TYPE],
])('a form with %s is refused', async (_what, body, type) => {
  await expect(read(body, type)).rejects.toMatchObject({ name: 'GatewayError' });
});

test.each([
  ['a file without a name', `${part('filename="x"', 'b')}--XX--\r\n`],
  [
    'headers beyond the limit',
    `${part('name="a"', 'b', `X-A: ${'x'.repeat(20_000)}\r\n`)}--XX--\r\n`,
  ],
  ['an open quote behind backslashes', `${part(`name="${'\\'.repeat(5000)}`, 'b')}--XX--\r\n`],
])('%s is refused at once, not passed over', async (_what, body) => {
  await expect(read(body)).rejects.toMatchObject({ kind: 'invalid-request' });
});

test('what the platform writes as a form is read as it was meant', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 });
  const key = fc.stringMatching(/^[a-z_]{1,12}$/);
  const file = fc.record({
    field: key,
    name: fc.stringMatching(/^[\w. -]{1,20}$/),
    bytes: fc.uint8Array(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(key, text, { maxKeys: 8, noNullPrototype: true }),
      fc.array(file, { maxLength: 5 }),
      async (fields, files) => {
        const form = new FormData();
        for (const [name, value] of Object.entries(fields)) form.set(name, value);
        for (const { field, name, bytes } of files) {
          form.append(`file-${field}`, new Blob([new Uint8Array(bytes)]), name);
        }
        const response = new Response(form);
        const body = Buffer.from(await response.arrayBuffer());
        const result = await read(body, response.headers.get('content-type') ?? '');
        const lines = (value: string) => value.toWellFormed().replace(/\r\n|\r|\n/g, '\r\n');
        const expected = Object.entries(fields).map(([name, value]) => [name, lines(value)]);
        expect(result.fields).toEqual(Object.fromEntries(expected));
        expect(result.files.map(({ fileName, bytes }) => [fileName, [...bytes]])).toEqual(
          files.map(({ name, bytes }) => [name, [...bytes]]),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test('names of the prototype are fields like any other', async () => {
  const { fields } = await read(`${part('name="__proto__"', 'x')}--XX--\r\n`);
  expect(Object.keys(fields)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
});

test('only multipart/form-data is a form', () => {
  expect(isMultipart('multipart/form-data; boundary=x')).toBe(true);
  expect(isMultipart('Multipart/Form-Data')).toBe(true);
  expect(isMultipart('multipart/mixed; boundary=x')).toBe(false);
  expect(isMultipart('application/json')).toBe(false);
  expect(isMultipart(undefined)).toBe(false);
});
