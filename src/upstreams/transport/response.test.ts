import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import type { GatewayError } from '../../canonical/error.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AnswerRoom } from '../../stream/held-memory.ts';
import { endingOf as lastOf } from '../generate/endings.ts';
import { classifyFailure } from '../generate/errors.ts';
import { findTextPart } from '../generate/plain-text.ts';
import { RepeatedTexts } from './repeated-texts.ts';
import { AnswerStream } from './response.ts';

const SSE = { 'content-type': 'text/event-stream' };

/** A stream fed by hand, as undici would feed it. */
function feed(
  options: {
    readonly drawsImages?: boolean;
    readonly isKept?: boolean;
    readonly takesBytes?: boolean;
    readonly holdsVectors?: boolean;
    readonly most?: number;
    readonly takeRoom?: (bytes: number) => void;
    readonly endingOf?: typeof lastOf;
  } = {},
) {
  const clock = createFakeClock();
  const abort = new AbortController();
  const log: string[] = [];
  let isPaused = false;
  const controller = {
    aborted: false,
    reason: null,
    get paused() {
      return isPaused;
    },
    abort: () => void log.push('abort'),
    pause: () => {
      isPaused = true;
      log.push('pause');
    },
    resume: () => {
      isPaused = false;
      log.push('resume');
    },
  };
  const limits = {
    firstFrameMs: 305_000,
    refusalMs: 5_000,
    maxRefusalBytes: 1000,
    maxFrameBytes: options.most ?? 10_000,
    maxAnswerBytes: options.most ?? 50_000,
    maxWaitingBytes: 100,
  };
  const room: AnswerRoom = {
    take(holder, bytes) {
      options.takeRoom?.(bytes);
      holder.heldBytes = bytes;
    },
    release(holder) {
      holder.heldBytes = 0;
      log.push('release');
    },
  };
  const { endingOf = lastOf, most: _most, takeRoom: _takeRoom, ...asked } = options;
  const wire = { classifyFailure, endingOf, createMemory: () => new RepeatedTexts(findTextPart) };
  const request = { signal: abort.signal, secrets: [], ...asked };
  const stream = new AnswerStream(
    request,
    { wire, clock, limits, room },
    () => void log.push('closed'),
  );
  stream.onRequestStart(controller);
  const send = (text: string) => stream.onResponseData(controller, Buffer.from(text));
  const open = () => {
    stream.onResponseStarted();
    stream.onResponseStart(controller, 200, SSE);
    return stream;
  };
  return { clock, abort, log, controller, stream, send, open };
}

const failureOf = (promise: Promise<unknown>) => promise.catch((error: GatewayError) => error);

test('unread frames stop the reading at a byte cap, taking them starts it again', async () => {
  const { open, send, log } = feed();
  const stream = open();
  for (let n = 0; n < 3; n += 1) send(`data: {"n":${n},"pad":"xxxxxxxxxx"}\n\n`);
  expect(log).toEqual(['pause']);
  const { value } = await stream.next();
  expect(value?.length).toBe(3);
  expect(log).toEqual(['pause', 'resume']);
});

test('a reader that waits gets each batch without any pause', async () => {
  const { open, send, log } = feed();
  const stream = open();
  for (let n = 0; n < 10; n += 1) {
    const next = stream.next();
    send(`data: {"n":${n},"pad":"${'x'.repeat(200)}"}\n\n`);
    expect((await next).value?.[0]?.value.n).toBe(n);
  }
  expect(log).toEqual([]);
});

test('A11: what a reader that is behind has not asked for stops the reading, and the silence limit begins anew behind that', async () => {
  const { open, send, clock, log } = feed();
  const stream = open();
  const first = stream.next();
  for (let n = 0; n < 2; n += 1) {
    send(`data: {"n":${n},"pad":"${'x'.repeat(200)}"}\n\n`);
    expect(log).toEqual(n === 0 ? [] : ['pause']);
  }
  await first;
  await clock.advance(1_000_000);
  await stream.next();
  const next = failureOf(stream.next());
  await clock.advance(89_999);
  expect(log).toEqual(['pause', 'resume']);
  await clock.advance(1);
  expect(await next).toMatchObject({ kind: 'timeout' });
});

test('90 s of silence after a frame is a timeout, and comments do not put it off', async () => {
  const { open, send, clock, log } = feed();
  const stream = open();
  send('data: {"a":1}\n\n');
  await stream.next();
  const next = failureOf(stream.next());
  await clock.advance(89_000);
  send(': ping\n\n');
  await clock.advance(999);
  expect(log).toEqual([]);
  await clock.advance(1);
  expect(await next).toMatchObject({ kind: 'timeout', failure: { kind: 'path' } });
  expect(log).toEqual(['closed', 'abort']);
  expect(clock.pendingTimers).toBe(0);
});

test('pings do not put the limit off, nor make that of a thought shorter', async () => {
  const endingOf = ({ type }: JsonObject) =>
    type === 'ping' || type === 'thought' ? type : undefined;
  for (const [type, limitMs] of [
    ['text', 90_000],
    ['thought', 180_000],
  ] as const) {
    const { open, send, clock, log } = feed({ endingOf });
    const stream = open();
    send(`data: {"type":"${type}"}\n\ndata: {"type":"ping"}\n\n`);
    await stream.next();
    await clock.advance(limitMs - 1000);
    send('data: {"type":"ping"}\n\n');
    await stream.next();
    const next = failureOf(stream.next());
    await clock.advance(999);
    expect(log).toEqual([]);
    await clock.advance(1);
    expect(await next).toMatchObject({ kind: 'timeout' });
  }
});

test('after a thought, or from a model that draws, 180 s of silence are borne', async () => {
  const thought = '{"candidates":[{"content":{"parts":[{"text":"a","thought":true}]}}]}';
  for (const [drawsImages, frame] of [
    [false, thought],
    [true, '{"a":1}'],
  ] as const) {
    const { open, send, clock, log } = feed({ drawsImages });
    const stream = open();
    send(`data: ${frame}\n\n`);
    await stream.next();
    const next = failureOf(stream.next());
    await clock.advance(179_999);
    expect(log).toEqual([]);
    await clock.advance(1);
    expect(await next).toMatchObject({ kind: 'timeout' });
  }
});

const FINISHED = '{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}';

test.each([false, true])(
  'an upstream that leaves a finished answer open is left after 30 s, and the answer is whole (draws: %s)',
  async (drawsImages) => {
    const { open, send, clock, log } = feed({ drawsImages });
    const stream = open();
    send(`data: ${FINISHED}\n\n`);
    await stream.next();
    const next = stream.next();
    await clock.advance(29_999);
    send(': still here\n\n: half a com');
    expect(log).toEqual([]);
    await clock.advance(1);
    expect(await next).toEqual({ done: true, value: undefined });
    expect(log).toEqual(['closed', 'abort']);
    expect(clock.pendingTimers).toBe(0);
  },
);

const OVER = {
  endingOf: ({ type }: JsonObject) => (type === 'stop' ? ('over' as const) : undefined),
};

test('an answer whose last frame came is whole, whatever breaks or comes behind it', async () => {
  for (const { behind = '', isBroken = false } of [
    { isBroken: true },
    { behind: 'data: {"half', isBroken: true },
    { behind: 'data: no JSON\n\n' },
    { behind: 'data: {"half' },
  ]) {
    const { open, send, controller, log, clock } = feed(OVER);
    const stream = open();
    send('data: {"type":"stop"}\n\n');
    expect((await stream.next()).value).toHaveLength(1);
    const next = stream.next();
    if (behind !== '') send(behind);
    if (isBroken) stream.onResponseError(controller, new Error('read ECONNRESET'));
    else stream.onResponseEnd();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(log).toEqual(['closed']);
    expect(clock.pendingTimers).toBe(0);
  }
});

test('what came with the last frame, behind it, is no part of the answer', async () => {
  const { open, send, log } = feed(OVER);
  const stream = open();
  send('data: {"n":1}\n\ndata: {"type":"stop"}\n\ndata: {"n":2}\n\n');
  const { value } = await stream.next();
  expect(value?.map((frame) => frame.value)).toEqual([{ n: 1 }, { type: 'stop' }]);
  stream.onResponseEnd();
  expect(await stream.next()).toMatchObject({ done: true });
  expect(log).toEqual(['closed']);
});

test('an event that cannot be read is a fault at once, also behind a good one of the same chunk', async () => {
  const { open, send, log, clock } = feed();
  const stream = open();
  send('data: {"a":1}\n\nevent: error\ndata: internal error\n\n');
  expect((await stream.next()).value).toHaveLength(1);
  expect(await failureOf(stream.next())).toMatchObject({ failure: { kind: 'path' } });
  expect(log).toEqual(['closed', 'abort']);
  expect(clock.pendingTimers).toBe(0);
});

test('a line of prose behind a begun answer is a fault at once, though the body stays open', async () => {
  const { open, send, log, clock } = feed();
  const stream = open();
  send('data: {"a":1}\n\n');
  await stream.next();
  const next = failureOf(stream.next());
  send('Internal Server Error\n');
  expect(await next).toMatchObject({ failure: { kind: 'path' } });
  expect(log).toEqual(['closed', 'abort']);
  expect(clock.pendingTimers).toBe(0);
});

test('an upstream that leaves its answer open behind the last frame is left after a second', async () => {
  const { open, send, clock, log } = feed(OVER);
  const stream = open();
  send('data: {"type":"stop"}\n\n');
  await stream.next();
  const next = stream.next();
  await clock.advance(999);
  expect(log).toEqual([]);
  await clock.advance(1);
  expect(await next).toEqual({ done: true, value: undefined });
  expect(log).toEqual(['closed', 'abort']);
});

test('what comes behind a finish reason counts: silence after it is a fault again', async () => {
  const { open, send, clock, stream } = feed();
  open();
  send(`data: ${FINISHED}\n\n`);
  await clock.advance(20_000);
  send('data: {"candidates":[{"content":{"parts":[{"text":"b"}]}}]}\n\n');
  expect((await stream.next()).value).toHaveLength(2);
  const next = failureOf(stream.next());
  await clock.advance(90_000);
  expect(await next).toMatchObject({ kind: 'timeout' });
});

test.each([
  ['90 s behind a word for none', '{"text":"a"}', 'FINISH_REASON_UNSPECIFIED', 90_000],
  ['90 s behind an empty one', '{"text":"a"}', '', 90_000],
  ['180 s behind one with a thought', '{"text":"a","thought":true}', 'STOP', 180_000],
])(
  'silence is a fault where a reason in every frame ends nothing: %s',
  async (_name, part, reason, limitMs) => {
    const { open, send, clock, log } = feed();
    const stream = open();
    const ended = `"finishReason":"${reason}"`;
    send(`data: {"candidates":[{"content":{"parts":[${part}]},${ended}}]}\n\n`);
    await stream.next();
    const next = failureOf(stream.next());
    await clock.advance(limitMs - 1);
    expect(log).not.toContain('closed');
    await clock.advance(1);
    expect(await next).toMatchObject({ kind: 'timeout' });
  },
);

test('a slow reader is not mistaken for a silent upstream', async () => {
  const { open, send, clock, stream } = feed();
  open();
  send(`data: {"pad":"${'x'.repeat(200)}"}\n\n`);
  await clock.advance(1_000_000);
  expect((await stream.next()).done).toBe(false);
});

test('an abort rejects at once with the signal’s reason', async () => {
  const { open, send, abort, log, stream } = feed();
  open();
  send('data: {"a":1}\n\n');
  const reason = new Error('left');
  abort.abort(reason);
  expect(log).toEqual(['closed', 'abort']);
  await expect(stream.next()).rejects.toBe(reason);
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test('an abort before the connection is there gives the request up when it is', async () => {
  const { abort, log, stream, controller } = feed();
  const reason = new Error('left');
  abort.abort(reason);
  await expect(stream.opened).rejects.toBe(reason);
  stream.onRequestStart(controller);
  expect(log).toEqual(['closed', 'abort', 'abort']);
});

test('leaving the loop early cancels the exchange', async () => {
  const { open, send, log } = feed();
  const stream = open();
  send('data: {"a":1}\n\n');
  for await (const _frames of stream) break;
  expect(log).toEqual(['closed', 'abort']);
});

test('frames that came before a failure are given out first', async () => {
  const { open, send, stream } = feed();
  open();
  send('data: {"a":1}\n\ndata: {broken\n\n');
  expect((await stream.next()).value?.length).toBe(1);
  const failed = failureOf(stream.next());
  stream.onResponseEnd();
  expect(await failed).toMatchObject({ failure: { kind: 'path' } });
});

test('what came in the turn of a failure is given out before it, and nothing behind it', async () => {
  const { open, send, stream, controller } = feed();
  open();
  send('data: {"a":1}\n\n');
  stream.onResponseError(controller, new Error('reset'));
  send('data: {"a":2}\n\n');
  stream.onResponseEnd();
  expect((await stream.next()).value).toMatchObject([{ value: { a: 1 } }]);
  expect(await failureOf(stream.next())).toMatchObject({ failure: { kind: 'path' } });
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test('a refusal whose body never ends is classified by what came', async () => {
  const { stream, controller, clock, send } = feed();
  stream.onResponseStarted();
  stream.onResponseStart(controller, 429, { 'retry-after': '7' });
  send('{"error":');
  const refused = failureOf(stream.opened);
  await clock.advance(5_000);
  expect(await refused).toMatchObject({ failure: { kind: 'rate-limited', retryAfterMs: 7000 } });
});

test('a refusal is read up to its cap only', async () => {
  const { stream, controller, send, log } = feed();
  stream.onResponseStart(controller, 400, {});
  send('x'.repeat(2000));
  await expect(stream.opened).rejects.toMatchObject({ failure: { kind: 'rejected' } });
  expect(log).toEqual(['closed', 'abort']);
});

test('an answer without end is cut off at a byte cap, whatever it is made of', async () => {
  for (const piece of ['data: {"n":1}\n\n', ': nothing\n\n']) {
    const { open, send, log } = feed();
    const stream = open();
    const failure = failureOf(
      (async () => {
        for await (const frames of stream) expect(frames.length).toBeGreaterThan(0);
      })(),
    );
    for (let sent = 0; sent < 60_000; sent += piece.length * 50) {
      send(piece.repeat(50));
      await Promise.resolve();
    }
    expect(await failure).toMatchObject({ message: expect.stringContaining('too long') });
    expect(log.slice(-2)).toEqual(['closed', 'abort']);
  }
});

test('an answer that is larger than the gateway takes is told as such, and blames nobody', async () => {
  const { open, send } = feed();
  const stream = open();
  const failure = failureOf(stream.next());
  send(`data: {"text":"${'x'.repeat(20_000)}"}\n\n`);
  const message = 'The upstream sent an answer that is too long.';
  expect(await failure).toMatchObject({ message, failure: undefined });
});

test.each(['audio/mpeg', 'text/event-stream'])(
  'an answer of %s in an encoding not asked for is none, one whose encoding is left empty is',
  async (type) => {
    const fed = [feed({ takesBytes: true }), feed({ takesBytes: true })] as const;
    for (const [at, encoding] of ['gzip', ''].entries()) {
      const { stream, controller } = fed[at] ?? fed[0];
      stream.onResponseStarted();
      const headers = { 'content-type': type, 'content-encoding': encoding };
      stream.onResponseStart(controller, 200, headers);
    }
    expect(await failureOf(fed[0].stream.opened)).toMatchObject({ failure: { kind: 'path' } });
    expect(await fed[1].stream.opened).toBe(fed[1].stream);
  },
);

test('an upstream that only announces is given up', async () => {
  const { stream, controller, log } = feed();
  const failure = failureOf(stream.opened);
  for (let count = 0; count < 101; count += 1) stream.onResponseStart(controller, 103, {});
  expect(await failure).toMatchObject({ kind: 'upstream-unavailable' });
  expect(log).toEqual(['closed', 'abort']);
});

test('an answer for which there is no memory ends with what the memory says, and small events ask for none', async () => {
  const asked: number[] = [];
  const full = new Error('There is no memory.');
  const { open, send, log } = feed({
    most: 4_000_000,
    takeRoom: (bytes) => {
      asked.push(bytes);
      if (bytes > 2_000_000) throw full;
    },
  });
  const stream = open();
  const failure = failureOf(
    (async () => {
      for await (const frames of stream) expect(frames).toHaveLength(1);
    })(),
  );
  send('data: {"n":1}\n\ndata: "');
  for (let sent = 0; sent < 25; sent += 1) {
    send('x'.repeat(100_000));
    await Promise.resolve();
  }
  expect(await failure).toBe(full);
  expect(Math.min(...asked)).toBeGreaterThan(1_048_576);
  expect(log.slice(-2)).toEqual(['closed', 'abort']);
});

test.each([
  ['an answer that is wanted whole', true, 2],
  ['any other document', false, 1],
])('A3: %s takes memory as it comes for what it becomes: %s', async (_what, isKept, times) => {
  let most = 0;
  const takeRoom = (bytes: number) => {
    most = Math.max(most, bytes);
  };
  const { stream, controller, send } = feed({ isKept, most: 4_000_000, takeRoom });
  stream.onResponseStart(controller, 200, { 'content-type': 'application/json' });
  send(`{"pad":"${'x'.repeat(2_000_000)}`);
  await Promise.resolve();
  expect(Math.round(most / 2_000_000)).toBe(times);
});

test('A3: vectors of short numbers take the memory that their numbers do', async () => {
  let most = 0;
  const takeRoom = (bytes: number) => {
    most = Math.max(most, bytes);
  };
  const { stream, controller, send } = feed({ holdsVectors: true, most: 9_000_000, takeRoom });
  stream.onResponseStart(controller, 200, { 'content-type': 'application/json' });
  send(`{"data":[${`[${'1,'.repeat(999)}1],`.repeat(1000)}`);
  send(' '.repeat(100));
  expect(most).toBeGreaterThan(8_000_000);
});

test('A3: a large event takes memory here until its reader has it, waiting or not', async () => {
  const { open, send, log } = feed({ most: 9_000_000, takeRoom: () => void log.push('take') });
  const stream = open();
  const sendLarge = () => send(`data: {"pad":"${'x'.repeat(2_000_000)}"}\n\n`);
  const first = stream.next();
  sendLarge();
  await first;
  expect(log).toEqual(['take', 'release']);
  sendLarge();
  expect(log.slice(2)).toEqual(['take', 'pause']);
  await stream.next();
  expect(log.slice(4)).toEqual(['release', 'resume']);
});

test.each([
  ['streamed on', false],
  ['kept', true],
])('events that are %s take memory together: %s', async (_how, isKept) => {
  let most = 0;
  const { open, send } = feed({
    isKept,
    most: 4_000_000,
    takeRoom: (bytes) => {
      most = Math.max(most, bytes);
    },
  });
  const stream = open();
  const read = (async () => {
    for await (const frames of stream) expect(frames).toHaveLength(1000);
  })();
  for (let sent = 0; sent < 200; sent += 1) {
    send('data: {}\n\n'.repeat(1000));
    await Promise.resolve();
  }
  stream.onResponseEnd();
  await read;
  // Ten bytes of text each, and the values that are made of them.
  if (isKept) expect(most).toBeGreaterThan(14_000_000);
  else expect(most).toBe(0);
});
