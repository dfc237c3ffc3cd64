import { expect, test } from 'vitest';
import { createReceipt } from '../canonical/receipt.ts';
import { told } from '../lib/localized-message.ts';
import { benchOf, collect, type DispatchBench, good } from './dispatch.test-support.ts';

/** The first piece of a streamed answer; `leave` gives up what comes behind it. */
async function begin(bench: DispatchBench, signal?: AbortSignal) {
  const answer = await bench.generate({ stream: true }, signal && { signal });
  if (answer.kind !== 'stream') throw new Error('not a stream');
  const chunks = answer.chunks[Symbol.asyncIterator]();
  expect(await chunks.next()).toEqual({ done: false, value: 'Hel' });
  return { leave: () => chunks.return?.() };
}

test('a whole answer gives its account back as it is made', async () => {
  const bench = benchOf(() => good);
  await bench.generate();
  expect(bench.ends).toEqual(['a success']);
  expect(bench.lent.size).toBe(0);
});

test('a streamed answer keeps its account until its end, which alone is its success', async () => {
  const bench = benchOf(() => good);
  const answer = await bench.generate({ stream: true });
  expect(bench.ends).toEqual([]);
  expect(bench.lent.get('a')).toBe(1);
  await collect(answer);
  expect(bench.ends).toEqual(['a success']);
});

test.each(['cut', 'error'])(
  'a stream that breaks (%s) is a failure of its account',
  async (how) => {
    const bench = benchOf(() => ({ frames: ['Hel', how] }));
    await collect(await bench.generate({ stream: true }));
    expect(bench.ends).toEqual(['a failure']);
    expect(bench.context.record.error).toMatchObject({ failure: {} });
  },
);

test.each([true, false])(
  'a client that leaves a stream blames nobody (aborted %s)',
  async (aborts) => {
    const bench = benchOf(() => good);
    const leaving = new AbortController();
    const stream = await begin(bench, leaving.signal);
    if (aborts) leaving.abort();
    await stream.leave();
    expect(bench.ends).toEqual(['a neutral']);
    const { error } = bench.context.record;
    expect(error?.kind).toBe(aborts ? 'client-gone' : undefined);
  },
);

test('a stream that breaks because its client has left blames nobody', async () => {
  const bench = benchOf(() => ({ frames: ['Hel', 'cut'] }));
  const leaving = new AbortController();
  const answer = await bench.generate({ stream: true }, { signal: leaving.signal });
  leaving.abort();
  await collect(answer);
  expect(bench.ends).toEqual(['a neutral']);
  expect(bench.context.record.error?.kind).toBe('client-gone');
});

test.each(['cut', 'error', 'left', 'whole'])(
  'what the upstream told last is known of a stream however it ends (%s)',
  async (how) => {
    const end = { cut: ['cut'], error: ['error'], left: ['lo', 'end'], whole: ['end'] }[how] ?? [];
    const bench = benchOf(() => ({ frames: ['Hel', 'used 3', 'lo', 'used 7', 'x', ...end] }));
    const answer = await bench.generate({ stream: true });
    if (answer.kind !== 'stream') throw new Error('not a stream');
    for await (const text of answer.chunks) if (text === 'x' && how === 'left') break;
    expect(bench.context.record.answers).toMatchObject([{ usage: { answerTokens: 7 } }]);
  },
);

test('a stream of which nothing was told has an estimate for its usage, not zero', async () => {
  const bench = benchOf(() => ({ frames: ['Hel', 'cut'] }));
  await collect(await bench.generate({ stream: true }));
  const [answer] = bench.context.record.answers ?? [];
  expect(answer?.usage).toMatchObject({ isEstimate: true });
  expect(answer?.usage?.promptTokens).toBeGreaterThan(0);
  expect(answer?.usage?.answerTokens).toBeGreaterThan(0);
});

test('what strict mode refuses is nobody’s fault, and gives the account back', async () => {
  const bench = benchOf(() => good);
  const receipt = createReceipt();
  receipt.add('dropped', 'seed', told`no counterpart`);
  await bench.generate({}, { strict: true, receipt }).catch(() => {});
  expect(bench.ends).toEqual(['a neutral']);
});

test('a look at what would be sent gives the account back', async () => {
  const bench = benchOf(() => good);
  await bench.explain();
  expect(bench.ends).toEqual(['a neutral']);
});

test('counted tokens say nothing of the limits of answers', async () => {
  let isRefused = true;
  const bench = benchOf(
    (_account, call) =>
      isRefused && call >= 0 ? { fail: { kind: 'quota-exhausted', status: 429 } } : good,
    ['a'],
  );
  const cooling = (): number =>
    (bench.book.find('a')?.health.models.get('m')?.coolUntil ?? 0) - bench.clock.now();
  await bench.generate().catch(() => {});
  expect(cooling()).toBe(60_000);
  await bench.clock.advance(60_000);
  isRefused = false;
  expect(await bench.countTokens()).toEqual({ input_tokens: 42 });
  expect(bench.lent.size).toBe(0);
  isRefused = true;
  await bench.generate().catch(() => {});
  expect(cooling()).toBe(300_000);
});

test.each(['rate-limited', 'quota-exhausted'] as const)(
  'a limit of counting (%s) rests no account for answers',
  async (kind) => {
    let isLimited = true;
    const bench = benchOf(() => (isLimited ? { fail: { kind, status: 429 } } : good), ['a', 'b']);
    expect(await bench.countTokens()).toEqual({ input_tokens: 100 });
    expect(bench.ends).toEqual(['a neutral', 'b neutral']);
    isLimited = false;
    expect(await bench.generate()).toMatchObject({ kind: 'reply', body: { text: 'Hello' } });
    expect(bench.upstream.calls).toHaveLength(3);
  },
);
