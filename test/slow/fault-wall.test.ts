// Every fault of an upstream × four surfaces × whole and streamed × one account and three × once and always:
// what the client gets, that a neighbour on another model and key notices nothing, and that it ends with the fault.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseJson } from '../../src/lib/json.ts';
import type { RawConnection } from '../../src/server/raw-socket.test-support.ts';
import { type Extent, startWall, type WallAnswer, type WallBench } from '../faults/wall/bench.ts';
import { FAULTS, type Fault } from '../faults/wall/faults.ts';
import { until } from '../support/passing-clock.ts';
import { frameOf, type ScriptedReply } from '../support/scripted-upstream.ts';
import { checkStreamText } from '../support/stream-grammar/check-stream-text.ts';
import { SURFACE_CALLS, type SurfaceCall } from '../support/surface-calls.ts';

const SURFACES = SURFACE_CALLS.filter(({ name }) =>
  ['chat', 'responses', 'messages', 'generate'].includes(name),
);
/** The victim goes on asking, as clients do, with other words each time. */
const REQUESTS_IN_TROUBLE = 3;
const STEP_MS = 2_500;
/** Enough for a call over loopback to be sent and read. */
const LOOP_TURNS = 20;

let bench: WallBench;
let passed = 0;
let total = 0;
afterAll(() => {
  process.stdout.write(`fault wall: ${passed}/${total}\n`);
});

describe.each([1, 3] as const)('%i account(s)', (accounts) => {
  beforeAll(async () => {
    bench = await startWall(accounts);
  });
  afterAll(() => bench.close());

  describe.each(SURFACES)('$name', (call) => {
    describe.each(['whole', 'stream'] as const)('%s', (form) => {
      const faults = FAULTS.filter(({ only }) => only === undefined || only === form);
      test.each(faults)('once: $what', (fault) => judge({ call, form, fault, accounts }, 'once'));
      test.each(faults)('always: $what', (fault) =>
        judge({ call, form, fault, accounts }, 'always'),
      );
      const departures = DEPARTURES.filter(({ only }) => only === undefined || only === form);
      test.each(departures)('a client that $what', (departure) =>
        judgeDeparture({ call, form, departure, accounts }),
      );
      test('the same request twice at once is served twice', () => judgeTwice(call, form));
    });
  });
});

interface Cell {
  readonly call: SurfaceCall;
  readonly form: 'whole' | 'stream';
  readonly fault: Fault;
  readonly accounts: 1 | 3;
}

async function judge(cell: Cell, extent: Exclude<Extent, 'never'>): Promise<void> {
  total += 1;
  const { fault } = cell;
  await bench.heal();
  judgeSuccess(cell, await askVictim(cell, 'Before'));
  await judgeNeighbour(cell, 'before');
  bench.meet(fault.reply, extent);
  const requests = extent === 'once' ? 1 : REQUESTS_IN_TROUBLE;
  let answer: WallAnswer | undefined;
  for (let nth = 1; nth <= requests; nth += 1) {
    const [victim] = await Promise.all([
      askVictim(cell, `In trouble ${nth}`),
      ...(fault.takesTime ? [] : [judgeNeighbour(cell, `beside request ${nth}`)]),
    ]);
    answer = victim;
    judgeTrouble(cell, extent, answer);
    await judgeNeighbour(cell, `after request ${nth}`);
  }
  bench.meet(fault.reply, 'never');
  await judgeRecovery(cell, answer);
  passed += 1;
}

async function askVictim({ call, form, fault }: Cell, text: string): Promise<WallAnswer> {
  const asked = bench.askVictim(call, { text, stream: form === 'stream' });
  return fault.takesTime ? throughLongWait(asked) : asked;
}

/** Lets time pass until the answer is there, in steps that no keep-alive and no limit is finer than. */
async function throughLongWait<Result>(work: Promise<Result>): Promise<Result> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  done.catch(() => {});
  while (!isDone) {
    await bench.gateway.clock.advance(STEP_MS);
    await turnLoop(LOOP_TURNS);
  }
  return done;
}

async function turnLoop(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((done) => setImmediate(done));
}

function judgeTrouble(cell: Cell, extent: Extent, answer: WallAnswer): void {
  const { fault, accounts } = cell;
  if (fault.kind === 'late') {
    judgeBroken(cell, answer);
    return;
  }
  const another = accounts > 1;
  // A silence lasts as long as a request may, where no other account is left to ask.
  const mayRepeat = (fault.kind === 'path' || fault.kind === 'overload') && !fault.takesTime;
  const isSaved = extent === 'once' && (another || mayRepeat);
  if (isSaved && fault.kind !== 'request') {
    judgeSuccess(cell, answer);
  } else if (answer.status === 200) {
    // It had begun to answer with keep-alives while it waited.
    judgeBroken(cell, answer);
  } else {
    judgeRefusal(cell, answer);
  }
}

function judgeRefusal({ fault, call }: Cell, answer: WallAnswer): void {
  if (fault.kind === 'late') return;
  const expected = STATUSES[fault.kind];
  expect(expected, answer.text).toContain(answer.status);
  judgeErrorShape(call, answer);
  const isClients = answer.status === 400 || answer.status === 404;
  const wait = Number(answer.headers.get('retry-after') ?? Number.NaN);
  if (isClients) expect(wait).toBeNaN();
  else expect(wait, `Retry-After of ${answer.status}`).toBeGreaterThanOrEqual(1);
}

const STATUSES: Readonly<Record<Exclude<Fault['kind'], 'late'>, readonly number[]>> = {
  path: [502, 504],
  overload: [503, 529],
  limit: [429],
  credential: [503],
  forbidden: [400],
  missing: [404],
  account: [400, 503],
  verify: [400, 503],
  request: [400],
};

function judgeSuccess({ call, form }: Cell, { status, text }: WallAnswer): void {
  expect(status, text).toBe(200);
  expect(text).toContain('answer.');
  if (form === 'stream') expect(endOf(call, text), text).toBe('success');
}

/** The stream had begun: it ends in its protocol's error, and never in its sign of success. */
function judgeBroken({ call, form }: Cell, { status, text }: WallAnswer): void {
  expect(status, text).toBe(200);
  expect(form).toBe('stream');
  expect(endOf(call, text), text).toBe('error');
}

/** Keep-alives of a long wait stand before the first event; the SDKs pass over them. */
function endOf({ grammar, name }: SurfaceCall, text: string): 'success' | 'error' {
  if (grammar === undefined) throw new Error(`${name} does not stream.`);
  return checkStreamText(grammar, text.replaceAll(/^event: ping\ndata: [^\n]*\n\n/gm, ''));
}

function judgeErrorShape(call: SurfaceCall, { text, headers }: WallAnswer): void {
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  const body = parseJson(text);
  expect(body, text).toMatchObject(
    call.name === 'messages'
      ? { type: 'error', error: { type: expect.any(String), message: expect.any(String) } }
      : { error: { message: expect.any(String) } },
  );
}

/** At the same accounts, with another model and key: at once, and at the first attempt. */
async function judgeNeighbour({ fault, accounts }: Cell, when: string): Promise<void> {
  // One suspended account of one serves nobody.
  const isOut = accounts === 1 && (fault.kind === 'account' || fault.kind === 'verify');
  if (isOut && when !== 'before') return;
  const { status, headers, text } = await bench.askNeighbour();
  expect(status, `the neighbour ${when}: ${text}`).toBe(200);
  expect(headers.get('x-isthmus-attempts'), `the neighbour ${when}`).toBe('1');
}

/** Whoever waits as long as was said, and at most once more, is served; nobody is out of service for good. */
async function judgeRecovery(cell: Cell, last: WallAnswer | undefined): Promise<void> {
  const { fault, accounts } = cell;
  if (accounts === 1 && (fault.kind === 'account' || fault.kind === 'verify')) return;
  const waitMs = Number(last?.headers.get('retry-after') ?? 2) * 1000;
  bench.gateway.clock.skip(waitMs);
  let answer = await askVictim(cell, 'Afterwards');
  if (answer.status !== 200) {
    bench.gateway.clock.skip(Number(answer.headers.get('retry-after') ?? 1) * 1000);
    answer = await askVictim(cell, 'Afterwards again');
  }
  judgeSuccess(cell, answer);
  if (fault.kind !== 'account' && fault.kind !== 'verify') expect(bench.outOfService()).toEqual([]);
}

interface Departure {
  readonly what: string;
  readonly only?: 'stream';
  /** What the upstream does meanwhile. */
  readonly upstream: ScriptedReply;
  /** How much of the request is sent. */
  readonly share: number;
  /** Resolves when the moment to leave has come. */
  moment(client: RawConnection): Promise<unknown>;
  leave(client: RawConnection): void;
}

const SILENT: ScriptedReply = { kind: 'silence' };
const isAsked = (): Promise<void> => until(() => bench.upstream.open() === 1, 'it was asked');

const DEPARTURES: readonly Departure[] = [
  {
    what: 'leaves before the answer begins',
    upstream: SILENT,
    share: 1,
    moment: isAsked,
    leave: ({ socket }) => void socket.resetAndDestroy(),
  },
  {
    what: 'closes its side before the answer begins',
    upstream: SILENT,
    share: 1,
    moment: isAsked,
    leave: ({ socket }) => void socket.end(),
  },
  {
    what: 'leaves in the middle of the stream',
    only: 'stream',
    upstream: { kind: 'silence', frames: [frameOf('Half')] },
    share: 1,
    moment: (client) => client.until((received) => received.includes('Half')),
    leave: ({ socket }) => void socket.resetAndDestroy(),
  },
  {
    what: 'breaks its upload off',
    upstream: SILENT,
    share: 0.8,
    moment: () => turnLoop(LOOP_TURNS),
    leave: ({ socket }) => void socket.resetAndDestroy(),
  },
];

interface DepartureCell extends Pick<Cell, 'call' | 'form' | 'accounts'> {
  readonly departure: Departure;
}

/** The upstream call ends with the client, nothing is held against the account, and nobody else notices. */
async function judgeDeparture({ call, form, accounts, departure }: DepartureCell): Promise<void> {
  total += 1;
  const cell: Cell = { call, form, accounts, fault: NO_FAULT };
  await bench.heal();
  judgeSuccess(cell, await askVictim(cell, 'Before'));
  bench.meet(departure.upstream, 'always');
  const client = bench.connectVictim(call, {
    text: 'Leaving',
    stream: form === 'stream',
    share: departure.share,
  });
  await departure.moment(client);
  departure.leave(client);
  await until(() => bench.upstream.open() === 0, 'the upstream call ended');
  await judgeNeighbour(cell, 'after it left');
  client.socket.destroy();
  bench.meet(departure.upstream, 'never');
  const answer = await askVictim(cell, 'Afterwards');
  judgeSuccess(cell, answer);
  expect(answer.headers.get('x-isthmus-attempts')).toBe('1');
  passed += 1;
}

async function judgeTwice(call: SurfaceCall, form: Cell['form']): Promise<void> {
  total += 1;
  const cell: Cell = { call, form, accounts: 1, fault: NO_FAULT };
  await bench.heal();
  bench.upstream.script({});
  const answers = await Promise.all([askVictim(cell, 'Twice'), askVictim(cell, 'Twice')]);
  for (const answer of answers) judgeSuccess(cell, answer);
  expect(bench.upstream.calls.length).toBe(2);
  passed += 1;
}

const NO_FAULT: Fault = { what: 'none', kind: 'path', reply: { kind: 'answer' } };
