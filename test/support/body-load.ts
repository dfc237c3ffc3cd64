// Bodies of every size and kind and streams beside them, for gateways in little memory, with the upstream that takes them.

import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { serveOnLoopback } from './loopback.ts';

const MEGABYTE = 1_048_576;

const EVENTS = 20;
const PACE_MS = 100;

/** Of this one answers are a call with arguments of as many megabytes as its prompt says. */
const CALLING = 'gemini-3-flash-preview';

/** Takes any body, and answers a stream at the pace of a model. */
export async function startPacedUpstream() {
  const server: Server = createServer((asked, response) => {
    if (asked.method === 'GET') {
      const models = [{ name: 'models/gemini-3-flash-preview' }, { name: 'models/gemini-3-flash' }];
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ models }));
      return;
    }
    if (asked.url?.includes(CALLING) === true) {
      void sendCall(asked, response);
      return;
    }
    asked.resume().on('end', () => {
      if (asked.url?.includes('stream') === true) pace(response, 0);
      else response.setHeader('content-type', 'application/json').end(event(true));
    });
  });
  return serveOnLoopback(server);
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

const callFrame = (functionCall: object, finishReason?: 'STOP'): string =>
  JSON.stringify({
    candidates: [{ content: { role: 'model', parts: [{ functionCall }] }, index: 0, finishReason }],
  });

/** In a stream its arguments come in pieces, as fast as they are taken. */
async function sendCall(asked: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await asked.toArray()).toString();
  const bytes = Number(/(\d+) megabytes/.exec(body)?.[1]) * MEGABYTE;
  if (asked.url?.includes('stream') !== true) {
    const args = { text: 'y'.repeat(bytes) };
    response.setHeader('content-type', 'application/json');
    response.end(callFrame({ name: 'write', args }, 'STOP'));
    return;
  }
  const partialArgs = [{ jsonPath: '$.text', stringValue: 'y'.repeat(CHUNK_BYTES) }];
  const piece = `data: ${callFrame({ partialArgs, willContinue: true })}\r\n\r\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${callFrame({ name: 'write', willContinue: true })}\r\n\r\n`);
  for (let sent = 0; sent < bytes && !response.destroyed; sent += CHUNK_BYTES) {
    if (response.write(piece)) continue;
    await new Promise<void>((resolve) => {
      const goOn = (): void => {
        response.off('drain', goOn).off('close', goOn);
        resolve();
      };
      response.on('drain', goOn).on('close', goOn);
    });
  }
  response.end(`data: ${callFrame({}, 'STOP')}\r\n\r\n`);
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
const CALL = String.raw`{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"write","arguments":"{\"text\":\"`;
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
  arguments: {
    path: '/v1/chat/completions',
    start: `{"model":"gemini-3-flash","messages":[{"role":"user","content":"Write."},${CALL}`,
    unit: 'The quick brown fox says no. ',
    end: `\\"}"}}]},{"role":"tool","tool_call_id":"c","content":"written"}]}`,
  },
  stored: {
    path: '/v1/responses',
    start: '{"model":"gemini-3-flash","input":"',
    unit: 'The quick brown fox says no. ',
    end: '"}',
  },
  schema: {
    path: '/v1/chat/completions',
    start:
      '{"model":"gemini-3-flash","messages":[{"role":"user","content":"Hello"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"string","description":"',
    unit: 'The quick brown fox says no. ',
    end: '"}}}}}]}',
  },
  pattern: {
    path: '/v1/messages',
    start: `${MESSAGES}"messages":[{"role":"user","content":"Hello"}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{"a":{"type":"string","pattern":"`,
    unit: 'The quick brown fox says no. ',
    end: '"}}}}]}',
  },
  stop: {
    path: '/v1/messages',
    start: `${MESSAGES}"messages":[{"role":"user","content":"Hello"}],"stop_sequences":["`,
    unit: 'The quick brown fox says no. ',
    end: '"]}',
  },
  several: {
    path: '/v1/chat/completions',
    start: '{"model":"gemini-3-flash","n":8,"messages":[{"role":"user","content":"',
    unit: 'The quick brown fox says no. ',
    end: '"}]}',
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

/** So many streams at a time, one after the other, until it is ended; resolves with those that were cut or refused. */
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
  ['arguments', 30],
  ['stored', 30],
  // Beside what was kept of the one before.
  ['stored', 30],
  ['schema', 10],
  ['schema', 30],
  ['pattern', 15],
  ['stop', 30],
  ['several', 30],
  ['native', 99],
  ['turns', 10],
  ['turns', 15],
  ['turns', 40],
  ['turns', 99],
] as const;

/** What a gateway of any size that is tried here takes, whatever runs beside. */
export const FITS_256_MEGABYTES = [
  'text 20',
  'text 30',
  'wideText 20',
  'media 30',
  'native 30',
  'arguments 30',
  'stored 30',
  'schema 10',
  'pattern 15',
  'stop 30',
  'several 30',
  'turns 10',
];

/** A body of each kind and size, then ten at once, while so many streams run. */
export async function loadWithBodies(url: string, streams: number) {
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
  const isOneOfManyTaken = many.some(({ status }) => status === 200);
  return { unfair, taken, cut: await endStreams(), isOneOfManyTaken };
}

const PARAMETERS = { type: 'object', properties: { text: { type: 'string' } } };
const WRITE = { name: 'write', parameters: PARAMETERS };

/** What a client of each protocol asks, and what a stream that came to its end has. */
const CALLERS = [
  {
    path: '/v1/chat/completions',
    end: '[DONE]',
    ask: (content: string) => ({
      messages: [{ role: 'user', content }],
      tools: [{ type: 'function', function: WRITE }],
    }),
  },
  {
    path: '/v1/responses',
    end: 'event: response.completed',
    ask: (input: string) => ({ input, store: false, tools: [{ type: 'function', ...WRITE }] }),
  },
  {
    path: '/v1/messages',
    end: 'event: message_stop',
    ask: (content: string) => ({
      max_tokens: 9,
      messages: [{ role: 'user', content }],
      tools: [{ name: 'write', input_schema: PARAMETERS }],
    }),
  },
] as const;

/**
 * One call after the other with so many megabytes of arguments, while so many streams run: `whole` are those that came
 * to their end, `unfair` what is neither whole nor an error that says so.
 */
export async function loadWithCalls(url: string, streams: number, megabytes: number) {
  const endStreams = keepStreaming(url, streams);
  const unfair: unknown[] = [];
  let whole = 0;
  for (const { path, end, ask } of CALLERS) {
    for (const stream of [true, false]) {
      const asked = { model: CALLING, stream, ...ask(`${megabytes} megabytes`) };
      const start = JSON.stringify(asked);
      const told = await send(url, { path, start, unit: ' ', end: '' }, start.length);
      const isOk = told.status === 200;
      const hasEnd = stream ? told.text.includes(end) : told.text.includes('yyy');
      const saysError = /memory (?:that the gateway has left|than the memory limit)/.test(
        told.text,
      );
      if (isOk && hasEnd && !saysError) whole += 1;
      else if (!(isOk ? saysError && !hasEnd : isFair(told) && saysError)) {
        unfair.push([path, stream, told.status, told.text.slice(-300)]);
      }
    }
  }
  return { unfair, whole, cut: await endStreams() };
}
