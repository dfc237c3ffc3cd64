// What may be wrong with the bytes of an answer, whatever wire it is of: its status line, its framing, its events.

import { gzipSync } from 'node:zlib';
import type { Wire } from './wires.ts';

/** `open`: the upstream leaves its answer there. */
type Close = 'end' | 'open';

export interface WireFault {
  readonly what: string;
  readonly form: 'stream' | 'whole';
  /**
   * What becomes of the request whose first call meets it: the answer of this call, of another one, or a stream that
   * has begun and ends in an error.
   */
  readonly becomes: 'answer' | 'answer of another call' | 'broken stream';
  readonly bytes: string | Buffer | readonly Buffer[];
  readonly close?: Close;
}

type Fault = Omit<WireFault, 'bytes' | 'form'> & {
  readonly bytes: (text: string, type: string) => WireFault['bytes'];
};

type Row = Omit<Fault, 'becomes'>;

const OTHER = 'answer of another call';
const SSE = 'text/event-stream';

const headOf = (type: string, ...lines: readonly string[]): string =>
  `${['HTTP/1.1 200 OK', `content-type: ${type}`, ...lines].join('\r\n')}\r\n\r\n`;
const sized = (text: string, type: string, bytes = Buffer.byteLength(text)): string =>
  headOf(type, `content-length: ${bytes}`) + text;
const CHUNKED = 'transfer-encoding: chunked';
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const LAST_CHUNK = '0\r\n\r\n';
const chunked = (text: string, type: string): string =>
  headOf(type, CHUNKED) + chunk(text) + LAST_CHUNK;
const half = (text: string): string => text.slice(0, text.length * 0.6);

/** Whole answers that came in an unusual way. */
const UNUSUAL: readonly Row[] = [
  {
    what: 'interim answers before it',
    bytes: (text, type) =>
      `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${sized(text, type)}`,
  },
  {
    what: 'one byte at a time',
    bytes: (text, type) => Array.from(Buffer.from(chunked(text, type)), (byte) => Buffer.of(byte)),
  },
  {
    what: 'extensions of its chunks',
    bytes: (text, type) =>
      `${headOf(type, CHUNKED)}${chunk(text).replace('\r\n', ';a="b";c\r\n')}0;last\r\n\r\n`,
  },
  {
    what: 'chunk sizes in capitals behind zeros',
    bytes: (text, type) =>
      `${headOf(type, CHUNKED)}000${chunk(text).replace(/^\w+/, (size) => size.toUpperCase())}000\r\n\r\n`,
  },
  {
    what: 'trailers',
    bytes: (text, type) => `${headOf(type, CHUNKED)}${chunk(text)}0\r\nx-sum: 1\r\n\r\n`,
  },
  {
    what: 'no length, until the connection ends',
    bytes: (text, type) => `HTTP/1.0 200 OK\r\ncontent-type: ${type}\r\n\r\n${text}`,
  },
  {
    what: 'another answer behind it',
    bytes: (text, type) => `${sized(text, type)}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno`,
  },
  { what: 'garbage behind it', bytes: (text, type) => `${sized(text, type)}\r\n\u0000garbage` },
  { what: 'the type of a plain text', bytes: (text) => sized(text, 'text/plain') },
  { what: 'no type', bytes: (text, type) => sized(text, type).replace(/content-type.*\r\n/, '') },
  { what: 'a byte order mark', bytes: (text, type) => sized(`\ufeff${text}`, type) },
];

/** No answers, or none that could be read. */
const NO_ANSWERS: readonly Row[] = [
  { what: 'half a status line', bytes: () => 'HTTP/1.1 20' },
  { what: 'half of its headers', bytes: () => 'HTTP/1.1 200 OK\r\ncontent-ty' },
  { what: 'the greeting of another protocol', bytes: () => 'SSH-2.0-OpenSSH_9.2\r\n' },
  { what: 'an alert of TLS', bytes: () => Buffer.of(21, 3, 1, 0, 2, 2, 70) },
  {
    what: 'headers of 100 KB',
    bytes: (text, type) => sized(text, type).replace('\r\n', `\r\nx-a: ${'a'.repeat(100_000)}\r\n`),
  },
  {
    what: 'two lengths',
    bytes: (text, type) => sized(text, type).replace('content-length', 'content-length: 7\r\n$&'),
  },
  {
    what: 'another protocol from here on',
    bytes: () => 'HTTP/1.1 101 Go on\r\nupgrade: x\r\n\r\n',
  },
  {
    what: 'an encoding not asked for',
    bytes: (text, type) => {
      const body = gzipSync(text);
      const lines = ['content-encoding: gzip', `content-length: ${body.length}`];
      return Buffer.concat([Buffer.from(headOf(type, ...lines)), body]);
    },
  },
  {
    what: 'an encoding that it does not have',
    bytes: (text, type) =>
      sized(text, type).replace('content-length', 'content-encoding: br\r\n$&'),
  },
  {
    what: 'a chunk size that is no number',
    bytes: (_text, type) => `${headOf(type, CHUNKED)}zz\r\n`,
  },
  {
    what: 'a chunk size beyond all numbers',
    bytes: (text, type) => `${headOf(type, CHUNKED)}${'f'.repeat(20)}\r\n${text}`,
  },
  { what: 'headers alone', bytes: (_text, type) => headOf(type, CHUNKED) },
  { what: 'no body', bytes: () => 'HTTP/1.1 204 No Content\r\n\r\n' },
  { what: 'an empty body', bytes: (_text, type) => sized('', type) },
  { what: 'a page', bytes: () => sized('<!doctype html><title>Log in</title>', 'text/html') },
  { what: 'a page that calls itself an answer', bytes: (_text, type) => sized('<html>', type) },
  ...['null', '42', '"text"', '[]', '{}', '{"error":"Out of order."}'].map((body) => ({
    what: `the body ${body}`,
    bytes: () => sized(body, 'application/json'),
  })),
];

/** Answers that lost their end. */
const CUT: readonly Row[] = [
  { what: 'cut off, in chunks', bytes: (text, type) => headOf(type, CHUNKED) + chunk(half(text)) },
  {
    what: 'cut off, before its length',
    bytes: (text, type) => sized(half(text), type, Buffer.byteLength(text)),
  },
  { what: 'longer than its length', bytes: (text, type) => sized(text, type, half(text).length) },
  {
    what: 'cut off, without a length',
    bytes: (text, type) => `HTTP/1.0 200 OK\r\ncontent-type: ${type}\r\n\r\n${half(text)}`,
  },
];

type EventFault = Pick<WireFault, 'becomes' | 'close' | 'what'> & {
  readonly edit: (events: readonly string[]) => readonly string[];
};

/** Streams as other servers write them. */
const EVENTS: readonly Omit<EventFault, 'becomes'>[] = [
  { what: 'CR and LF', edit: (events) => events.map((one) => one.replaceAll('\n', '\r\n')) },
  { what: 'CR alone', edit: (events) => events.map((one) => one.replaceAll('\n', '\r')) },
  {
    what: 'no space behind its fields',
    edit: (events) => events.map((one) => one.replaceAll(/^(\w+): /gm, '$1:')),
  },
  {
    what: 'data in several lines',
    edit: (events) => events.map((one) => one.replace('data: {', 'data: {\ndata: ')),
  },
  { what: 'no names', edit: (events) => events.map((one) => one.replace(/^event: .*\n/, '')) },
  { what: 'no line break at its end', edit: (events) => [events.join('').trimEnd()] },
  {
    what: 'comments, empty and unknown fields between its events',
    edit: (events) => events.flatMap((one) => [': ping\n\n', 'data:\n\n', 'x: y\nid: 7\n\n', one]),
  },
];

/** All of what may be wrong with an answer of this wire. */
export function wireFaults(wire: Wire): readonly WireFault[] {
  const stream = wire.events.join('');
  const whole = JSON.stringify(wire.whole);
  const ofBoth = [
    ...UNUSUAL.map((row): Fault => ({ ...row, becomes: 'answer' })),
    ...NO_ANSWERS.map((row): Fault => ({ ...row, becomes: OTHER })),
  ].flatMap((fault) => inBothForms(fault, stream, whole));
  const cut = CUT.flatMap((fault): readonly WireFault[] => [
    { ...fault, form: 'stream', bytes: fault.bytes(stream, SSE), becomes: 'broken stream' },
    { ...fault, form: 'whole', bytes: fault.bytes(whole, 'application/json'), becomes: OTHER },
  ]);
  const unusual = EVENTS.map((row): EventFault => ({ ...row, becomes: 'answer' }));
  const events = [...unusual, ...brokenStreams(wire)].map(
    ({ edit, ...fault }): WireFault => ({
      ...{ ...fault, form: 'stream', bytes: headOf(SSE, CHUNKED) + written(edit(wire.events)) },
    }),
  );
  const atOnce: WireFault = {
    ...{ what: 'one body of JSON', form: 'stream', becomes: 'answer' },
    bytes: sized(whole, 'application/json'),
  };
  return [...ofBoth, ...cut, ...events, ...boundaries(wire), ...behindTheEnd(wire), atOnce];
}

function inBothForms(fault: Fault, stream: string, whole: string): readonly WireFault[] {
  return [
    { ...fault, form: 'stream', bytes: fault.bytes(stream, SSE) },
    { ...fault, form: 'whole', bytes: fault.bytes(whole, 'application/json') },
  ];
}

const written = (events: readonly string[]): string => events.map(chunk).join('') + LAST_CHUNK;

function brokenStreams({ beforeText, errors }: Wire): readonly EventFault[] {
  const told = Object.entries(errors).flatMap(([what, error]): readonly EventFault[] => [
    { what: `an error as ${what}, at once`, becomes: OTHER, edit: () => [error] },
    {
      ...{ what: `an error as ${what}, before a text`, becomes: OTHER },
      edit: (events) => [...events.slice(0, beforeText), error],
    },
    {
      ...{ what: `an error as ${what}, in the middle`, becomes: 'broken stream' },
      edit: (events) => [...events.slice(0, beforeText + 1), error],
    },
  ]);
  const garbage: EventFault = {
    ...{ what: 'garbage in the middle', becomes: 'broken stream' },
    edit: (events) => events.toSpliced(beforeText + 1, 0, 'data: {"choices":[{\n\n'),
  };
  return [...told, garbage];
}

/** Cut off behind every event and within it, with and without the end of its body. */
function boundaries(wire: Wire): readonly WireFault[] {
  return wire.events.flatMap((event, at): readonly WireFault[] => {
    const before = wire.events.slice(0, at);
    const within = [...before, event.slice(0, event.length * 0.6)];
    return [
      cutStream(`cut off before event ${at + 1}, as if it were over`, wire, before, true),
      cutStream(`cut off before event ${at + 1}`, wire, before, false),
      cutStream(`cut off within event ${at + 1}`, wire, within, false),
    ];
  });
}

function cutStream(
  what: string,
  { beforeText, untilEnd }: Wire,
  events: readonly string[],
  isEnded: boolean,
): WireFault {
  const isWhole = isEnded && events.length >= untilEnd;
  const hasBegun = events.filter((event) => event.endsWith('\n\n')).length > beforeText;
  const bytes = headOf(SSE, CHUNKED) + events.map(chunk).join('') + (isEnded ? LAST_CHUNK : '');
  const begun = hasBegun ? 'broken stream' : OTHER;
  return { what, form: 'stream', becomes: isWhole ? 'answer' : begun, bytes };
}

/** Behind the last event nothing matters; where none is the last by its nature, the end of the body does. */
function behindTheEnd({ events, hasLastEvent }: Wire): readonly WireFault[] {
  const begun = headOf(SSE, CHUNKED) + events.map(chunk).join('');
  const lost = { what: 'no end of its body', form: 'stream', bytes: begun } as const;
  if (!hasLastEvent) return [{ ...lost, becomes: 'broken stream' }];
  const rows = [
    lost,
    { ...lost, what: 'a body that is left open', close: 'open' },
    { ...lost, what: 'half an event behind its last one', bytes: `${begun}${chunk('data: {"a')}` },
    {
      ...{ ...lost, what: 'garbage behind its last event' },
      bytes: `${begun}${chunk('data: {{\n\n')}${LAST_CHUNK}`,
    },
  ] as const;
  return rows.map((row) => ({ ...row, becomes: 'answer' }));
}
