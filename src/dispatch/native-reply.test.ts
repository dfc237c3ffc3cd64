import { expect, test } from 'vitest';
import type { Script } from '../../test/support/fake-upstream.ts';
import type { RelayCall } from '../protocols/relayed-request.ts';
import { benchOf, collect, type DispatchBench } from './dispatch.test-support.ts';

const useless: Script = { frames: ['Some', 'malformed'] };
const atOnce: Script = { frames: ['malformed'] };

function relayOf({ upstream }: DispatchBench): RelayCall {
  return {
    wire: upstream.wire,
    body: {},
    declaredNames: () => new Set<string>(),
    renameCalls: (frame) => frame,
    openingText: () => undefined,
    createStreamWriter: () => ({
      contentType: 'text/event-stream',
      write: (frame) => `<${frame.word}>`,
      end: () => '<end>',
      error: () => '<error>',
      keepAlive: () => ':',
    }),
    writeReply: (bodies) => Object.assign({}, ...bodies),
  };
}

/** With time for every attempt. */
async function ask(bench: DispatchBench, stream: boolean) {
  const pending = bench.generate({ stream, relay: relayOf(bench) });
  pending.catch(() => {});
  await bench.clock.advance(60_000);
  return pending;
}

test('a native client gets a useless answer as it came once no attempt gave a better one', async () => {
  const bench = benchOf(() => useless);
  expect(await ask(bench, false)).toEqual({ kind: 'reply', body: { word: 'malformed' } });
  expect(bench.upstream.calls).toHaveLength(4);
  expect(bench.context.record.attempts.at(-1)?.outcome).toBe('unusable-answer');
  expect(bench.context.record.error?.failure?.finishReason).toBe('MALFORMED');
  expect(bench.context.record.answers).toHaveLength(1);
  expect(bench.lent.size).toBe(0);
});

test('a native stream that says nothing but that it is useless is asked for again, then passed on', async () => {
  const bench = benchOf(() => atOnce);
  expect(await collect(await ask(bench, true))).toBe('<malformed><end>');
  expect(bench.upstream.calls).toHaveLength(4);
  expect(bench.lent.size).toBe(0);
});

test('a native stream that has begun ends as it came, without an error of the gateway’s', async () => {
  const bench = benchOf(() => useless);
  expect(await collect(await ask(bench, true))).toBe('<Some><malformed><end>');
  expect(bench.context.record.error?.failure?.kind).toBe('unusable-answer');
  expect(bench.ends).toEqual(['a failure']);
});

test('a better answer of another attempt wins, and so does the fault of an answer cut off', async () => {
  const better = benchOf((account) => (account === 'a' ? useless : { frames: ['Hi', 'end'] }));
  expect(await ask(better, false)).toEqual({ kind: 'reply', body: { word: 'end' } });
  const broken = benchOf((_account, call) => (call === 0 ? useless : { fail: { kind: 'path' } }));
  await expect(ask(broken, false)).rejects.toMatchObject({ failure: { kind: 'path' } });
});

test('clients of the other protocols are told of it as an error', async () => {
  const bench = benchOf(() => useless);
  const pending = bench.generate();
  pending.catch(() => {});
  await bench.clock.advance(60_000);
  await expect(pending).rejects.toMatchObject({ failure: { kind: 'unusable-answer' } });
});

test('a part of a kind unknown here is an answer to a native client alone', async () => {
  const bench = benchOf(() => ({ frames: ['Hi', 'end'] }));
  const { createDecoder } = bench.upstream;
  const passes: unknown[] = [];
  bench.upstream.createDecoder = (context) => {
    passes.push(context.passesParts);
    return createDecoder(context);
  };
  await ask(bench, false);
  await bench.generate();
  expect(passes).toEqual([true, false]);
});
