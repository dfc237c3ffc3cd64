// Bodies of every size and kind in containers of little memory: each is answered, refused or told to wait, beside
// streams that notice nothing, and the process never dies.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { buildStale } from '../../scripts/build.mjs';
import { NODE_ENVIRONMENT, nodeFlags } from '../../scripts/node-flags.mjs';

const MEGABYTE = 1_048_576;
const ROOT = join(import.meta.dirname, '../..');
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A memory cgroup of version 1 or 2; undefined where none may be made. */
function makeGroup(limit: number): string | undefined {
  const isFirst = existsSync('/sys/fs/cgroup/memory/cgroup.procs');
  const parent = isFirst ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup';
  const file = isFirst ? 'memory.limit_in_bytes' : 'memory.max';
  const group = join(parent, `isthmus-test-${process.pid}-${limit}`);
  try {
    mkdirSync(group);
    writeFileSync(join(group, file), String(limit));
    return group;
  } catch {
    if (existsSync(group)) rmdirSync(group);
    return undefined;
  }
}

const mayGroup = (() => {
  const group = makeGroup(64 * MEGABYTE);
  if (group !== undefined) rmdirSync(group);
  return group !== undefined;
})();
if (!mayGroup)
  console.error('*** SKIPPED: test/slow/memory, as no memory cgroup may be made here. ***');

interface Contained {
  readonly url: string;
  readonly child: ChildProcess;
}

async function startContained(megabytes: number, upstreamUrl: string): Promise<Contained> {
  const limit = megabytes * MEGABYTE;
  const group = makeGroup(limit);
  if (group === undefined) throw new Error('There is no cgroup.');
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-memory-'));
  const node = [process.execPath, ...nodeFlags(limit), 'lib/main.js', 'serve', '--port', '0'];
  const script = `echo $$ > ${group}/cgroup.procs && exec ${node.join(' ')}`;
  const child = spawn('sh', ['-c', script], {
    cwd: ROOT,
    env: {
      ...NODE_ENVIRONMENT,
      ...{ PATH: process.env.PATH, HOME: folder, ISTHMUS_DATA_DIR: folder },
      ...{ UPSTREAM_PROFILE: 'gemini-api', UPSTREAM_BASE_URL: upstreamUrl },
      UPSTREAM_API_KEYS: 'one,two',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  closers.push(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
    await expect.poll(() => rmdirSync(group)).toBeUndefined();
  });
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (data: Buffer) => {
      text += data;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.on('exit', (code) => reject(new Error(`It ended with ${code}.`)));
  });
  return { url, child };
}

const EVENTS = 20;
const PACE_MS = 100;

/** Takes any body, and answers a stream at the pace of a model. */
async function startUpstream(): Promise<string> {
  const server: Server = createServer((asked, response) => {
    if (asked.method === 'GET') {
      const models = [{ name: 'models/gemini-3-flash-preview' }, { name: 'models/gemini-3-flash' }];
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ models }));
      return;
    }
    asked.resume().on('end', () => {
      if (asked.url?.includes('stream') === true) pace(response, 0);
      else response.setHeader('content-type', 'application/json').end(event(true));
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function event(isLast: boolean): string {
  const content = { role: 'model', parts: [{ text: 'some words of an answer ' }] };
  const candidate = { content, index: 0, ...(isLast ? { finishReason: 'STOP' } : {}) };
  return JSON.stringify({ candidates: [candidate] });
}

function pace(response: ServerResponse, told: number): void {
  if (told === 0) response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${event(told + 1 === EVENTS)}\r\n\r\n`);
  if (told + 1 === EVENTS) response.end();
  else setTimeout(() => pace(response, told + 1), PACE_MS);
}

interface Body {
  readonly path: string;
  readonly start: string;
  /** Repeated until the body has its size. */
  readonly unit: string;
  readonly end: string;
}

const TURN = (role: string) => `{"role":"${role}","content":"${'question '.repeat(33)}"},`;
const MESSAGES = '{"model":"gemini-3-flash","max_tokens":9,';
const IMAGE = '{"type":"image_url","image_url":{"url":"data:image/png;base64,';

const KINDS = {
  text: {
    path: '/v1/messages',
    start: `${MESSAGES}"messages":[{"role":"user","content":"`,
    unit: 'The quick brown fox says \\"no\\".\\n',
    end: '"}]}',
  },
  wideText: {
    path: '/v1/messages',
    start: `${MESSAGES}"messages":[{"role":"user","content":"`,
    unit: 'Plain words and one 字 of them. ',
    end: '"}]}',
  },
  media: {
    path: '/v1/chat/completions',
    start: `{"model":"gemini-3-flash","messages":[{"role":"user","content":[${IMAGE}`,
    unit: 'iVBORw0KGgoAAAANSUhEUgAA',
    end: '"}}]}]}',
  },
  native: {
    path: '/v1beta/models/gemini-3-flash:generateContent',
    start: '{"contents":[{"role":"user","parts":[{"text":"',
    unit: 'The quick brown fox says \\"no\\".\\n',
    end: '"}]}]}',
  },
  turns: {
    path: '/v1/messages',
    start: `${MESSAGES}"messages":[`,
    unit: TURN('user') + TURN('assistant'),
    end: '{"role":"user","content":"end"}]}',
  },
  streamedText: {
    path: '/v1/messages',
    start: `${MESSAGES}"stream":true,"messages":[{"role":"user","content":"`,
    unit: 'The quick brown fox says no. ',
    end: '"}]}',
  },
} satisfies Record<string, Body>;

interface Told {
  readonly status: number | string;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

const CHUNK_BYTES = 65_536;

/** The answer, which may come before the body is sent; how the connection ends then is the sender's own affair. */
function send(url: string, { path, start, unit, end }: Body, bytes: number): Promise<Told> {
  const units = Math.floor((bytes - start.length - end.length) / Buffer.byteLength(unit));
  const chunk = Buffer.from(unit.repeat(Math.ceil(CHUNK_BYTES / Buffer.byteLength(unit))));
  let left = units * Buffer.byteLength(unit);
  const length = Buffer.byteLength(start) + left + Buffer.byteLength(end);
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': length };
    const asked = request(url + path, { method: 'POST', headers }, (answer) => {
      let text = '';
      const done = (): void => {
        left = 0;
        const retryAfter = answer.headers['retry-after'];
        resolve({ status: answer.statusCode ?? 0, retryAfter, text });
      };
      answer.setEncoding('utf8').on('data', (piece) => (text += piece));
      answer.on('end', done).on('error', done);
    });
    asked.on('error', (error) => resolve({ status: error.message, retryAfter: '', text: '' }));
    const write = (): void => {
      while (left > 0) {
        const piece = chunk.subarray(0, Math.min(chunk.length, left));
        left -= piece.length;
        if (!asked.write(piece)) return void asked.once('drain', write);
      }
      asked.end(end);
    };
    asked.write(start);
    write();
  });
}

/** So many streams, one after the other, until it is ended; resolves with those that were cut or refused. */
function keepStreaming(url: string, count: number): () => Promise<readonly Told[]> {
  let isOver = false;
  const bad: Told[] = [];
  const loops = Array.from({ length: count }, async () => {
    while (!isOver) {
      const told = await send(url, KINDS.streamedText, 20_000);
      const isWhole = told.status === 200 && told.text.includes('event: message_stop');
      if (!isWhole) bad.push(told);
      if (typeof told.status === 'string') return;
    }
  });
  return async () => {
    isOver = true;
    await Promise.all(loops);
    return bad;
  };
}

const isFair = ({ status, retryAfter }: Told): boolean =>
  status === 200 ||
  status === 413 ||
  ((status === 503 || status === 529) && retryAfter !== undefined);

const SIZES = [
  ['text', 20],
  ['text', 30],
  ['text', 70],
  ['text', 99],
  ['wideText', 20],
  ['wideText', 60],
  ['media', 30],
  ['media', 60],
  ['media', 99],
  ['native', 30],
  ['native', 99],
  ['turns', 10],
  ['turns', 15],
  ['turns', 40],
  ['turns', 99],
] as const;

test.runIf(process.env.ISTHMUS_SLOW === '1' && mayGroup).each([
  [256, 50],
  [256, 200],
  [512, 50],
  [1024, 50],
])(
  'A3: in a container of %s MB no body takes anything from %s streams, nor do ten at once',
  { timeout: 600_000 },
  async (megabytes, streams) => {
    expect(buildStale('server')).toBe(true);
    const { url, child } = await startContained(megabytes, await startUpstream());
    const endStreams = keepStreaming(url, streams);
    const unfair: unknown[] = [];
    const taken: string[] = [];
    for (const [kind, size] of SIZES) {
      const told = await send(url, KINDS[kind], size * MEGABYTE);
      if (!isFair(told)) unfair.push([kind, size, told.status, told.text.slice(0, 300)]);
      if (told.status === 200) taken.push(`${kind} ${size}`);
    }
    const many = await Promise.all(
      Array.from({ length: 10 }, () => send(url, KINDS.streamedText, 20 * MEGABYTE)),
    );
    unfair.push(...many.filter((told) => !isFair(told)));
    const cut = await endStreams();
    expect(unfair).toEqual([]);
    expect(cut).toEqual([]);
    expect(child.exitCode ?? child.signalCode).toBeNull();
    expect(taken).toEqual(
      expect.arrayContaining([
        'text 20',
        'text 30',
        'wideText 20',
        'media 30',
        'native 30',
        'turns 10',
      ]),
    );
    expect(many.some(({ status }) => status === 200)).toBe(true);
  },
);
