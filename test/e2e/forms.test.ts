// Forms as no honest client sends them, over a socket: each gets its status, quickly, and leaves nothing behind.

import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { wavOf } from '../support/sounds.ts';

const TYPE = 'multipart/form-data; boundary=XX';
const SOUND = wavOf({ seconds: 0.1, peak: 0.5 }).toString('latin1');
const MODEL = part('name="model"', 'alpha-3-flash');
const FILE = part('name="file"; filename="a.wav"', SOUND, 'Content-Type: audio/wav');
const END = '--XX--\r\n';

let app: TestApp;
/** Where temporary files would go. */
let folder: string;
let usualFolder: string | undefined;

beforeAll(async () => {
  app = await startApp();
  folder = mkdtempSync(join(tmpdir(), 'isthmus-forms-'));
  usualFolder = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  await post({ body: MODEL + FILE + END });
});

afterAll(async () => {
  if (usualFolder === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = usualFolder;
  expect(readdirSync(folder)).toEqual([]);
  rmdirSync(folder);
  await app.close();
});

describe('forms that are read', () => {
  test.each([
    ['as clients send them', MODEL + FILE + END],
    ['with something before and behind', `hello\r\n${MODEL}${FILE}${END}good bye`],
    ['with blanks behind a boundary', (MODEL + FILE + END).replaceAll('--XX\r\n', '--XX \t\r\n')],
    ['without a last line end', MODEL + FILE + END.trim()],
    ['with a file of a bad name', MODEL + named('../../../../etc/passwd/a.wav') + END],
    ['with a file of a Windows path', MODEL + named('C:\\\\x\\a.wav') + END],
    ['with a file named after nothing', MODEL + named('.wav') + END],
    ['with a quote in a name', MODEL + named('a\\"b.wav') + END],
    ['with an extended name', MODEL + part("name=file; filename*=UTF-8''%c3%a9.wav", SOUND) + END],
    ['with a NUL in a name', MODEL + named('a\0.wav') + END],
    ['with headers in capitals', (MODEL + FILE + END).replaceAll('Content-D', 'CONTENT-D')],
    ['with a field of the prototype', `${part('name="__proto__"', 'x')}${MODEL}${FILE}${END}`],
    ['with bytes like a boundary', MODEL + named('a.wav', `${SOUND}\r\n--X\r\n--`) + END],
    ['with an empty file field', `${MODEL}${FILE}${part('name="mask"; filename=""', '')}${END}`],
  ])('%s', async (_what, body) => {
    expect(await post({ body })).toMatchObject({ status: 200 });
  });

  test('a byte at a time', async () => {
    const body = MODEL + part('name="file"; filename="a.mp3"', 'abc') + END;
    const chunks = Array.from(body);
    expect(await post({ chunks })).toMatchObject({ status: 200 });
  });
});

describe('forms that are refused', () => {
  test.each([
    ['no boundary', 'multipart/form-data'],
    ['an empty boundary', 'multipart/form-data; boundary='],
    ['an empty boundary in quotes', 'multipart/form-data; boundary=""'],
    ['another boundary', 'multipart/form-data; boundary=YY'],
    ['a boundary of 71 characters', `multipart/form-data; boundary=${'b'.repeat(71)}`],
    ['a boundary of 8000 characters', `multipart/form-data; boundary=${'b'.repeat(8000)}`],
  ])('%s', async (_what, type) => {
    expect(await post({ type, body: MODEL + FILE + END })).toMatchObject({ status: 400 });
  });

  test.each([
    ['multipart/mixed', 'multipart/mixed; boundary=XX'],
    ['url-encoded', 'application/x-www-form-urlencoded'],
    ['text', 'text/plain'],
    ['JSON', 'application/json'],
  ])('a body of another type: %s', async (_what, type) => {
    expect(await post({ type, body: MODEL + FILE + END })).toMatchObject({ status: 415 });
  });

  test.each([
    ['nothing', ''],
    ['no form', '{"model":"alpha-3-flash"}'],
    ['no end', MODEL + FILE],
    ['a cut file', (MODEL + FILE).slice(0, -60)],
    ['a cut header', `${MODEL}--XX\r\nContent-Disposition: form-da`],
    ['a cut boundary', `${MODEL}${FILE}--X`],
    ['half an end', `${MODEL}${FILE}--XX-`],
    ['a boundary alone', '--XX'],
    ['an end alone', '--XX--'],
    ['line feeds alone', (MODEL + FILE + END).replaceAll('\r\n', '\n')],
    ['words behind a boundary', (MODEL + FILE + END).replaceAll('--XX\r\n', '--XX x\r\n')],
    ['a part of nothing', `${MODEL}${FILE}--XX\r\n${END}`],
    ['a part without headers', `${MODEL}${FILE}--XX\r\n\r\nx\r\n${END}`],
    ['a part without a name', MODEL + FILE + part('filename="x"', 'y') + END],
    ['a part of an empty name', MODEL + FILE + part('name=""', 'y') + END],
    ['a name without its quote', MODEL + FILE + part('name="x', 'y') + END],
    ['a part that is an attachment', (MODEL + FILE + END).replace('form-data;', 'attachment;')],
    ['a header without a colon', MODEL + FILE + part('name="x"', 'y', 'nothing') + END],
    ['a folded header', MODEL + FILE + part('name="x"', 'y', 'X-A: b\r\n c') + END],
    ['a header twice', MODEL + FILE + part('name="x"', 'y', 'X-A: b\r\nx-a: c') + END],
    ['a form in a form', MODEL + part('name="file"', 'x', 'Content-Type: multipart/mixed') + END],
    ['base64', MODEL + part('name="file"', 'x', 'Content-Transfer-Encoding: base64') + END],
    ['a charset nobody knows', part('name="model"', 'x', 'Content-Type: text/plain; charset=y')],
    ['a field that is no text', `${part('name="model"', '\xff\xfe\xff')}${FILE}${END}`],
    ['a field twice', MODEL + MODEL + FILE + END],
    [
      'a file in place of a field',
      part('name="model"; filename="m"', 'alpha-3-flash') + FILE + END,
    ],
    ['a field in place of a file', MODEL + part('name="file"', SOUND) + END],
    ['no file chosen', MODEL + part('name="file"; filename=""', '') + END],
    ['a file whose ending is a folder', MODEL + named('a.wav/..', 'no sound') + END],
    ['51 parts', MODEL + FILE + part('name="x[]"', 'y').repeat(49) + END],
    ['33 fields', MODEL + FILE + part('name="x[]"', 'y').repeat(32) + END],
    ['18 files', MODEL + FILE.repeat(18) + END],
    ['10,000 parts', part('name="x"', 'y').repeat(10_000) + END],
    ['500,000 empty parts', '--XX\r\n\r\n\r\n'.repeat(500_000) + END],
    ['500,000 boundaries', '--XX\r\n'.repeat(500_000) + END],
    ['33 headers', MODEL + FILE + part('name="x"', 'y', headers(33)) + END],
    ['100,000 headers', MODEL + FILE + part('name="x"', 'y', headers(100_000)) + END],
    ['a header of a megabyte', part('name="x"', 'y', `X-A: ${'b'.repeat(1_000_000)}`) + END],
    ['a name of a megabyte', part(`name="${'n'.repeat(1_000_000)}"`, 'y') + END],
    ['a name of 201 characters', MODEL + FILE + part(`name="${'n'.repeat(201)}"`, 'y') + END],
    ['a file name of a megabyte', MODEL + named(`${'n'.repeat(1_000_000)}.wav`) + END],
    ['a wall of backslashes', part(`name="${'\\'.repeat(8000)}`, 'y') + END],
    ['5,000 parameters', part(`name="x"${'; a=b'.repeat(5000)}`, 'y') + END],
    ['a megabyte of beginnings', `${FILE.slice(0, -2)}${'\r\n--X'.repeat(200_000)}`],
  ])('%s', async (_what, body) => {
    expect(await post({ body })).toMatchObject({ status: 400 });
  });

  test.each([
    ['a field of a megabyte and a byte', part('name="prompt"', 'p'.repeat(1_048_577))],
    ['a file of 25 MB and a byte', named('a.wav', 'x'.repeat(25 * 1_048_576 + 1))],
  ])('%s is too large', async (_what, piece) => {
    expect(await post({ body: MODEL + piece + END })).toMatchObject({ status: 413 });
  });

  test('a compressed form', async () => {
    const extra = { 'content-encoding': 'gzip' };
    expect(await post({ body: MODEL + FILE + END, extra })).toMatchObject({ status: 415 });
  });
});

test('uploads that break off end as gone clients, and the gateway goes on', async () => {
  const body = MODEL + FILE + END;
  for (const share of [0, 0.1, 0.5, 0.9, 1]) {
    const gone = nextGone();
    await endWithError(body.slice(0, Math.floor(body.length * share) - (share === 1 ? 1 : 0)));
    expect(await gone).toMatchObject({ status: 499 });
  }
  expect(await post({ body })).toMatchObject({ status: 200 });
});

function part(disposition: string, content: string, header = ''): string {
  const more = header === '' ? '' : `${header}\r\n`;
  return `--XX\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\n${content}\r\n`;
}

function named(fileName: string, content = SOUND): string {
  return part(`name="file"; filename="${fileName}"`, content);
}

function headers(count: number): string {
  return Array.from({ length: count }, (_, index) => `X-${index}: b`).join('\r\n');
}

/** The log line of the next request whose client left; those of answered ones are passed over. */
async function nextGone(): Promise<unknown> {
  for (;;) {
    const { fields } = await app.nextLine();
    if (fields.error === 'client-gone') return fields;
  }
}

interface Form {
  readonly type?: string;
  readonly extra?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Sent one by one, in place of `body`. */
  readonly chunks?: readonly string[];
}

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

const MOST_CPU_MS = 200;

/** Bytes stand for themselves (latin1). Also checks what the whole exchange costs this process. */
async function post({ type = TYPE, extra = {}, body = '', chunks }: Form): Promise<Answer> {
  const before = process.threadCpuUsage();
  const bytes = Buffer.from(body, 'latin1');
  const answer = await new Promise<Answer>((resolve, reject) => {
    const sent = request(`${app.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: {
        'content-type': type,
        ...(chunks === undefined && { 'content-length': bytes.length }),
        ...extra,
      },
    });
    sent.once('response', (response) => resolve(readAnswer(response)));
    sent.once('error', reject);
    for (const chunk of chunks ?? []) sent.write(chunk, 'latin1');
    sent.end(bytes);
  });
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(MOST_CPU_MS + bytes.length / 50_000);
  return answer;
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const pieces = await Array.fromAsync(response);
  return { status: response.statusCode, text: Buffer.concat(pieces).toString('utf8') };
}

/** Sends the beginning of a form, then goes away. */
async function endWithError(beginning: string): Promise<void> {
  const socket = connect(app.port, '127.0.0.1');
  const head = [
    'POST /v1/audio/transcriptions HTTP/1.1',
    `Host: 127.0.0.1:${app.port}`,
    `Content-Type: ${TYPE}`,
    'Content-Length: 100000',
  ];
  await new Promise<void>((resolve) => {
    socket.write(`${head.join('\r\n')}\r\n\r\n${beginning}`, 'latin1', () => resolve());
  });
  socket.destroy();
}
