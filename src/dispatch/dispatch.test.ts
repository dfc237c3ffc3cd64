import { expect, test } from 'vitest';
import { requestOf, user } from '../../test/support/canonical.ts';
import type { Script } from '../../test/support/fake-upstream.ts';
import { GatewayError, invalidRequest } from '../canonical/error.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import { createReceipt } from '../canonical/receipt.ts';
import { told } from '../lib/localized-message.ts';
import type { GenerateCall } from '../protocols/protocol.ts';
import { benchOf, callOf, collect, type DispatchBench, good } from './dispatch.test-support.ts';

const triedAccounts = (bench: DispatchBench): string[] =>
  bench.upstream.calls.map((call) => call.access.accountId);

test.each([false, true])(
  '429, then 401, then an answer: the client sees one answer (V146, stream %s)',
  async (stream) => {
    const failures = { a: 'rate-limited', b: 'unauthenticated' } as const;
    const bench = benchOf((account) =>
      account === 'c' ? good : { fail: { kind: failures[account as 'a' | 'b'] } },
    );
    const answer = await bench.generate({ stream });
    if (stream) expect(await collect(answer)).toBe('Hello<end>');
    else expect(answer).toEqual({ kind: 'reply', body: { text: 'Hello' } });
    expect(bench.context.record.attempts.map((one) => one.outcome)).toEqual([
      'rate-limited',
      'unauthenticated',
      'ok',
    ]);
  },
);

test('a stream that closes before any content is retried on the next account (V068)', async () => {
  const bench = benchOf((account) => (account === 'a' ? { frames: ['silence', 'silence'] } : good));
  const pending = bench.generate({ stream: true });
  await bench.clock.advance(500);
  expect(await collect(await pending)).toBe('Hello<end>');
  expect(triedAccounts(bench)).toEqual(['a', 'b']);
});

test('after the commit point a cut is an in-band error and nothing is retried (P081)', async () => {
  const bench = benchOf(() => ({ frames: ['Hel', 'cut'] }));
  expect(await collect(await bench.generate({ stream: true }))).toBe('Hel<error>');
  expect(bench.upstream.calls).toHaveLength(1);
});

test('a stream without its terminal event ends in the error event, never in silence', async () => {
  const bench = benchOf(() => ({ frames: ['Hel', 'lo'] }));
  expect(await collect(await bench.generate({ stream: true }))).toBe('Hello<error>');
});

test('a writer can have the prompt estimated before the upstream counts it', async () => {
  const estimates: (number | undefined)[] = [];
  const createStreamWriter: GenerateCall['createStreamWriter'] = (context) => {
    estimates.push(context.estimatePrompt?.());
    return callOf().createStreamWriter(context);
  };
  await collect(await benchOf(() => good).generate({ stream: true, createStreamWriter }));
  expect(estimates).toEqual([expect.any(Number)]);
  expect(estimates[0]).toBeGreaterThan(0);
});

test('a 400 is never retried and reaches the client as it is', async () => {
  const bench = benchOf(() => ({ fail: { kind: 'rejected', status: 400 } }));
  await expect(bench.generate()).rejects.toMatchObject({ kind: 'invalid-request' });
  expect(bench.upstream.calls).toHaveLength(1);
});

test('a signature error is tried on the same account with remembered ones, then without any (P013)', async () => {
  const bench = benchOf((_account, call) =>
    call < 2 ? { fail: { kind: 'bad-signature', status: 400 } } : good,
  );
  await bench.generate();
  expect(triedAccounts(bench)).toEqual(['a', 'a', 'a']);
  expect(bench.upstream.calls.map((call) => call.body.signatures)).toEqual([
    'carried',
    'remembered',
    'stripped',
  ]);
});

test('a refusal where nothing remembered differs is answered with one more request, not two (P013)', async () => {
  const bench = benchOf(() => ({ fail: { kind: 'bad-signature', status: 400 } }), ['a'], {
    encode: () => ({}),
  });
  await expect(bench.generate()).rejects.toThrow('bad-signature');
  expect(triedAccounts(bench)).toEqual(['a', 'a']);
});

test('a missed signature is tried once more on the same account with stand-ins (P001, P012)', async () => {
  const bench = benchOf((_account, call) =>
    call === 0 ? { fail: { kind: 'missing-signature', status: 400 } } : good,
  );
  await bench.generate();
  expect(triedAccounts(bench)).toEqual(['a', 'a']);
  expect(bench.upstream.calls.map((call) => call.body.usesPlaceholders)).toEqual([false, true]);
});

test('the receipt tells what the last body sent lost, and not what a refused one did', async () => {
  const bench = benchOf(
    (_account, call) => (call < 2 ? { fail: { kind: 'bad-signature', status: 400 } } : good),
    ['a'],
    {
      encode: (_request, { signatures, receipt }) => {
        receipt.add('dropped', 'seed', told`no counterpart`);
        receipt.add('approximated', signatures, told`not as it came`);
        return { signatures };
      },
    },
  );
  const { receipt } = bench.context;
  receipt.add('dropped', 'user', told`no counterpart`);
  receipt.add('approximated', 'carried', told`not as it came`);
  await bench.generate();
  expect(receipt.entries.map(({ path }) => path)).toEqual(['user', 'carried', 'seed', 'stripped']);
});

test('in strict mode a body that was sent is not refused later for what its answers lost', async () => {
  const receipt = createReceipt();
  const bench = benchOf((_account, call) => {
    if (call > 0) return good;
    receipt.add('repaired', 'answer', told`not whole`);
    return { fail: { kind: 'rate-limited', status: 429 } };
  });
  await bench.generate({}, { strict: true, receipt });
  expect(triedAccounts(bench)).toEqual(['a', 'b']);
});

test('a connection lost before any byte is repeated once, fresh, and counts as no attempt', async () => {
  const bench = benchOf((_account, call) =>
    call === 0 ? { fail: { kind: 'connection-lost' } } : good,
  );
  await bench.generate();
  expect(bench.upstream.calls.map((call) => call.freshConnection)).toEqual([false, true]);
  expect(triedAccounts(bench)).toEqual(['a', 'a']);
});

test('all accounts at their limit give 429 with the soonest recovery (V147)', async () => {
  const waits = { a: 9000, b: 4000, c: 7000 };
  const bench = benchOf((account) => ({
    fail: { kind: 'rate-limited', status: 429, retryAfterMs: waits[account as 'a' | 'b' | 'c'] },
  }));
  await expect(bench.generate()).rejects.toMatchObject({
    kind: 'rate-limited',
    retryAfterMs: 4000,
  });
  await expect(bench.generate()).rejects.toMatchObject({ kind: 'rate-limited' });
  expect(bench.upstream.calls).toHaveLength(3);
});

test('credential trouble on every account is 503-like, never the client’s 401 (P146)', async () => {
  const bench = benchOf(() => ({ fail: { kind: 'unauthenticated', status: 401 } }));
  await expect(bench.generate()).rejects.toMatchObject({ kind: 'upstream-auth' });
});

test('at most four attempts for faults of the path', async () => {
  const bench = benchOf(() => ({ fail: { kind: 'path', status: 500 } }), ['a', 'b', 'c', 'd', 'e']);
  const pending = bench.generate().catch((error: unknown) => error);
  await bench.clock.advance(2000);
  expect(await pending).toBeInstanceOf(GatewayError);
  expect(bench.upstream.calls).toHaveLength(4);
});

test('a useless answer is asked for on the next account, and once more where there is no other', async () => {
  const useless: Script = { fail: { kind: 'unusable-answer' } };
  const two = benchOf((_account, call) => (call === 0 ? useless : good), ['a', 'b']);
  const onNext = two.generate();
  await two.clock.advance(500);
  await onNext;
  expect(triedAccounts(two)).toEqual(['a', 'b']);

  const one = benchOf((_account, call) => (call === 0 ? useless : good), ['a']);
  const again = one.generate();
  await one.clock.advance(500);
  expect(await again).toEqual({ kind: 'reply', body: { text: 'Hello' } });
  expect(triedAccounts(one)).toEqual(['a', 'a']);
});

test('a fault of the path is met once more where there is no other account (decision 022)', async () => {
  const fault: Script = { fail: { kind: 'path', status: 502 } };
  const passing = benchOf((_account, call) => (call === 0 ? fault : good), ['a']);
  const again = passing.generate();
  await passing.clock.advance(500);
  expect(await again).toEqual({ kind: 'reply', body: { text: 'Hello' } });
  expect(triedAccounts(passing)).toEqual(['a', 'a']);
});

test('a client that leaves while an attempt waits ends the request and blames no account', async () => {
  const leaving = new AbortController();
  const bench = benchOf(() => ({ fail: { kind: 'path', status: 500 } }));
  const pending = bench.generate({}, { signal: leaving.signal }).catch((error: unknown) => error);
  await bench.clock.advance(10);
  leaving.abort();
  expect(await pending).toMatchObject({ kind: 'client-gone' });
});

test('requests of one session stay on one account, and another key’s same session does not follow', async () => {
  const bench = benchOf(() => good);
  await bench.generate({}, { headerSession: 's', preferredAccount: 'c@example.org' });
  for (let turn = 0; turn < 4; turn += 1) await bench.generate({}, { headerSession: 's' });
  expect(triedAccounts(bench)).toEqual(['c', 'c', 'c', 'c', 'c']);
  await bench.generate({}, { headerSession: 's', clientKeyId: 'other' });
  await bench.generate({}, { headerSession: 't' });
  expect(triedAccounts(bench).slice(5)).toEqual(['a', 'a']);
});

test('strict mode refuses what cannot be carried, before any attempt', async () => {
  const bench = benchOf(() => good);
  const receipt = createReceipt();
  receipt.add('dropped', 'seed', told`no counterpart`);
  await expect(bench.generate({}, { strict: true, receipt })).rejects.toMatchObject({
    kind: 'invalid-request',
    message: expect.stringContaining('seed'),
  });
  expect(bench.upstream.calls).toHaveLength(0);
});

test('strict mode refuses half a character in the body, and a dry run shows what is sent of it', async () => {
  const bench = benchOf(() => good);
  const body = { contents: ['😀'.slice(0, 1), 12] };
  bench.upstream.encode = () => body;
  await expect(bench.generate({}, { strict: true })).rejects.toMatchObject({
    kind: 'invalid-request',
    message: expect.stringContaining('body (repaired)'),
  });
  expect(bench.upstream.calls).toHaveLength(0);
  expect(await bench.explain()).toMatchObject({
    upstreamBody: { contents: ['\uFFFD', 12] },
    receipt: [{ action: 'repaired', path: 'body' }],
  });
});

test('citations get their places in every translated answer, searched for or not', async () => {
  const bench = benchOf(() => good);
  const { createDecoder } = bench.upstream;
  const places: unknown[] = [];
  bench.upstream.createDecoder = (context) => {
    places.push(context.placesCitations);
    return createDecoder(context);
  };
  await bench.generate();
  await bench.generate({ stream: true });
  expect(places).toEqual([true, true]);
});

test('a preferred account that cannot be used is noted in the receipt, and the request goes on', async () => {
  const bench = benchOf(() => good);
  await bench.generate({}, { preferredAccount: 'nobody@example.org' });
  expect(bench.context.receipt.entries[0]?.path).toBe('X-Preferred-Account');
  await bench.generate({}, { preferredAccount: 'C@example.org', receipt: createReceipt() });
  expect(triedAccounts(bench).at(-1)).toBe('c');
});

test('token counts rotate like answers', async () => {
  const bench = benchOf((account) => (account === 'a' ? { fail: { kind: 'rate-limited' } } : good));
  expect(await bench.countTokens()).toEqual({ input_tokens: 42 });
});

test('a count in the words of the upstream goes as its client sent it, and notes name where it stood', async () => {
  const bench = benchOf(() => good);
  bench.upstream.patch = (body, { receipt }) => {
    receipt.add('dropped', 'tools[0]', told`not taken`);
    return { ...body, isPatched: true };
  };
  const body = { contents: [] };
  const counted = async (field?: string) => {
    const relay = { wire: bench.upstream.wire, body, field };
    expect(await bench.countTokens({ relay })).toEqual({ input_tokens: 42 });
    expect(bench.upstream.calls.at(-1)?.body).toEqual({ ...body, isPatched: true });
    return bench.context.receipt.entries.at(-1)?.path;
  };
  expect(await counted()).toBe('tools[0]');
  expect(await counted('request')).toBe('request.tools[0]');
});

test('what a count is refused for is named by the field of the client’s request', async () => {
  const bench = benchOf(() => good);
  bench.upstream.patch = () => {
    throw invalidRequest('tools[0].name', 'tools[0].name: not taken.');
  };
  const relay = { wire: bench.upstream.wire, body: {}, field: 'request' };
  await expect(bench.countTokens({ relay })).rejects.toMatchObject({
    field: 'request.tools[0].name',
    message: 'request.tools[0].name: not taken.',
  });
});

test.each(['generate', 'countTokens'] as const)(
  'who served is noted, and a preference that could not be followed (%s)',
  async (operation) => {
    const bench = benchOf(() => good);
    const { record, receipt } = Object.assign(bench.context, { preferredAccount: 'z@example.org' });
    await bench[operation]();
    expect(record).toMatchObject({ upstreamModel: 'm', accountLabel: 'a@example.org' });
    expect(receipt.entries.map(({ path }) => path)).toEqual(['X-Preferred-Account']);
  },
);

test('what the upstream leaves out of a count is estimated and added, marked as an estimate', async () => {
  const bench = benchOf(() => ({ ...good, uncounted: 'word '.repeat(80) }));
  expect(await bench.countTokens()).toEqual({ input_tokens: 42 + 100 });
  expect(bench.context.record.isEstimate).toBe(true);
});

test('P066 where the upstream counts nothing, the whole request is estimated, with its pictures', async () => {
  const bench = benchOf(() => good, ['a'], { countTokens: async () => undefined });
  const source = { kind: 'base64', base64: 'A'.repeat(400_000) } as const;
  const picture = { kind: 'media', modality: 'image', mediaType: 'image/png', source } as const;
  const request = requestOf({ turns: [user('x'.repeat(400), picture)] });
  expect(await bench.countTokens({ request })).toEqual({ input_tokens: 100 + 258 });
  expect(bench.context.record.isEstimate).toBe(true);
});

test('a count the upstream cannot give is an estimate, marked as one', async () => {
  const bench = benchOf(() => ({ fail: { kind: 'path', status: 500 } }));
  const pending = bench.countTokens();
  await bench.clock.advance(2000);
  expect(await pending).toEqual({ input_tokens: 100 });
  expect(bench.context.record.isEstimate).toBe(true);
});

test('who does not begin to count in two minutes is left for another account', async () => {
  const asked: string[] = [];
  const bench = benchOf(() => good, ['a', 'b'], {
    countTokens: async ({ access, signal }) => {
      asked.push(access.accountId);
      return access.accountId === 'a' ? untilAborted(signal) : { total: 42, answer: {} };
    },
  });
  const pending = bench.countTokens();
  await bench.clock.advance(120_000 + 400);
  expect(await pending).toEqual({ input_tokens: 42 });
  expect(asked).toEqual(['a', 'b']);
});

test.each([
  ['model-not-found', 404],
  ['path', 404],
  ['path', 405],
  ['path', 501],
] as const)('an upstream that does not count (%s, %i) keeps its models', async (kind, status) => {
  let counts = true;
  const bench = benchOf(() => (counts ? { fail: { kind, status } } : good), ['a']);
  for (let nth = 0; nth < 5; nth += 1) {
    expect(await bench.countTokens()).toEqual({ input_tokens: 100 });
  }
  expect(bench.context.record.isEstimate).toBe(true);
  expect(bench.upstream.calls).toHaveLength(5);
  counts = false;
  expect(await bench.generate()).toMatchObject({ kind: 'reply', body: { text: 'Hello' } });
});

test('a dry run sends nothing and holds no account', async () => {
  const bench = benchOf(() => good);
  const explanation = await bench.explain();
  expect(explanation).toMatchObject({
    accountId: 'a',
    lane: 'translate',
    upstreamBody: { turns: 1 },
  });
  expect(bench.upstream.calls).toHaveLength(0);
});

test.each<readonly [GatewayError['kind'], UpstreamFailure]>([
  ['rate-limited', { kind: 'rate-limited', status: 429 }],
  ['quota-exhausted', { kind: 'quota-exhausted', status: 429 }],
  ['upstream-auth', { kind: 'unauthenticated', status: 401 }],
  ['overloaded', { kind: 'overloaded', status: 503 }],
  ['timeout', { kind: 'path', status: 504 }],
])('where nobody can count (%s), the count is an estimate', async (_kind, fail) => {
  const bench = benchOf(() => ({ fail }));
  const pending = bench.countTokens();
  await bench.clock.advance(60_000);
  expect(await pending).toEqual({ input_tokens: 100 });
  expect(bench.context.record.isEstimate).toBe(true);
});

test('estimates learn from what the upstream counted of prompts before', async () => {
  const bench = benchOf((_account, nth) =>
    nth === 0 ? { frames: ['Hi', 'used 7', 'end'] } : { fail: { kind: 'path', status: 501 } },
  );
  const request = requestOf({ turns: [user('x'.repeat(400))] });
  await bench.generate({ request });
  // By rule of thumb a hundred; it was told as 3, of which a tenth of the way is believed at once.
  const { input_tokens: learned } = await bench.countTokens({ request });
  expect(learned).toBe(93);
});

test('a count the upstream refuses as malformed is refused', async () => {
  const bench = benchOf(() => ({ fail: { kind: 'rejected', status: 400 } }));
  await expect(bench.countTokens()).rejects.toMatchObject({ kind: 'invalid-request' });
});

test('a limit behind faults of the path does not turn an outage into a 429', async () => {
  const bench = benchOf((account) =>
    account === 'c'
      ? { fail: { kind: 'rate-limited', status: 429, retryAfterMs: 3_600_000 } }
      : { fail: { kind: 'path', status: 500 } },
  );
  const pending = bench.generate().catch((error: unknown) => error);
  await bench.clock.advance(2000);
  expect(await pending).toMatchObject({ kind: 'upstream-unavailable', failure: { kind: 'path' } });
});

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
