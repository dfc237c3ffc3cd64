// What holds for every recorded stream: however the bytes are split, wherever they end, streamed or whole.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/canonical/error.ts';
import {
  type Callers,
  LANES,
  type LaneName,
  readAnswer,
  readCallers,
  showStream,
  TRANSLATED_LANES,
  type UpstreamAnswer,
  writeStream,
  writeUnary,
} from './answer-case.ts';
import { endingOf, isErrorClean, viewOfReply, viewOfStream } from './client-views.ts';
import { caseNames } from './golden-file.ts';

const folder = join(import.meta.dirname, 'streams');
/** Above this size not every position is tried, but one in `STRIDE` and all around line ends. */
const SMALL_BYTES = 600;
const STRIDE = 13;

describe.each(caseNames(folder, '.sse'))('%s', (name) => {
  const bytes = readFileSync(join(folder, `${name}.sse`));
  const callers = readCallers(join(folder, `${name}.json`));
  const whole = readAnswer([bytes]);

  test('any split of the bytes gives the same frames, so the same client text', () => {
    const expected = keyOf(whole);
    for (const at of positionsOf(bytes)) {
      expect(keyOf(readAnswer([bytes.subarray(0, at), bytes.subarray(at)]))).toBe(expected);
    }
    expect(keyOf(readAnswer(singleBytes(bytes)))).toBe(expected);
  });

  test('random splits into many chunks give the same client text', () => {
    const expected = LANES.map((lane) => showStream(lane, callers[lane], whole));
    const cuts = fc.array(fc.nat(bytes.length), { maxLength: 20 });
    fc.assert(
      fc.property(cuts, (positions) => {
        const answer = readAnswer(splitAt(bytes, positions));
        const texts = LANES.map((lane) => showStream(lane, callers[lane], answer));
        expect(texts).toEqual(expected);
      }),
      { numRuns: 8 },
    );
  });

  test('a cut at any byte ends in the whole answer or in an error, never in a false success', () => {
    // What is written depends on the frames and on the fault alone: each pair is tried once.
    const tried = new Set<string>();
    for (const at of positionsOf(bytes)) {
      const answer = readAnswer([bytes.subarray(0, at)]);
      const key = keyOf(answer);
      if (tried.has(key)) continue;
      tried.add(key);
      for (const lane of LANES) expectHonestEnd(lane, callers, answer);
    }
  });

  test('the stream put together is the whole answer', () => {
    for (const lane of TRANSLATED_LANES) {
      const body = attempt(() => writeUnary(callers[lane], whole));
      const text = attempt(() => writeStream(lane, callers[lane], whole));
      if (body instanceof GatewayError) {
        if (!(text instanceof GatewayError)) expect(endingOf(lane, text)).toBe('error');
        continue;
      }
      if (text instanceof GatewayError) throw text;
      const view = viewOfReply(lane, JSON.parse(JSON.stringify(body)));
      expect(viewOfStream(lane, text)).toEqual(expectedView(lane, view, name));
    }
  });
});

/** A chat client that did not ask for usage gets none in its stream. */
function expectedView(
  lane: LaneName,
  view: ReturnType<typeof viewOfReply>,
  name: string,
): ReturnType<typeof viewOfReply> {
  return lane === 'chat' && name === 'no-usage-wish' ? { ...Object(view), usage: null } : view;
}

function expectHonestEnd(lane: LaneName, callers: Callers, answer: UpstreamAnswer): void {
  const text = attempt(() => writeStream(lane, callers[lane], answer));
  if (text instanceof GatewayError) return;
  const ending = endingOf(lane, text);
  const isGood = isComplete(answer, lane) && !(lane === 'responses' && isBlocked(answer));
  expect(ending).toBe(isGood ? 'success' : 'error');
  if (ending === 'error') expect(isErrorClean(lane, text)).toBe(true);
}

/** Responses tell of a refused prompt as a failure. */
function isBlocked({ frames }: UpstreamAnswer): boolean {
  return frames.some(({ text }) => text.includes('"promptFeedback"'));
}

/** True when the upstream itself said that every choice it began has ended, and has an answer. */
function isComplete({ frames, fault }: UpstreamAnswer, lane: LaneName): boolean {
  if (fault !== undefined) return false;
  const text = frames.map((frame) => frame.text).join('\n');
  if (/"promptFeedback"/.test(text)) return true;
  if (/"error"/.test(text)) return false;
  // Native clients read for themselves that a call cannot be used.
  if (lane !== 'relay' && /"MALFORMED_|_TOOL_CALLS?"/.test(text)) return false;
  const open = new Set<number>();
  let isEnded = false;
  for (const { value } of frames) {
    for (const candidate of Array.isArray(value.candidates) ? value.candidates : []) {
      const { index = 0, finishReason } = Object(candidate);
      if (finishReason === undefined) open.add(index);
      else open.delete(index);
      isEnded ||= finishReason !== undefined;
    }
  }
  return isEnded && open.size === 0 && !isThoughtOnly(text);
}

/** Thoughts and then `STOP` are no answer, unlike thoughts that used up the limit. */
function isThoughtOnly(text: string): boolean {
  if (!text.includes('"STOP"')) return false;
  const isSaid =
    /"text":"[^"]+"(?!,"thought")|"functionCall"|"inlineData"|"fileData"|"executableCode"/;
  return !isSaid.test(text);
}

function attempt<Result>(run: () => Result): Result | GatewayError {
  try {
    return run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

/** Everything a client's text can depend on. */
function keyOf({ frames, fault }: UpstreamAnswer): string {
  return JSON.stringify([frames.map((frame) => frame.text), fault?.message ?? null]);
}

function positionsOf(bytes: Buffer): readonly number[] {
  const all = Array.from({ length: bytes.length + 1 }, (_, at) => at);
  if (bytes.length <= SMALL_BYTES) return all;
  const isBreak = (at: number): boolean => bytes[at] === 10 || bytes[at] === 13;
  return all.filter((at) => at % STRIDE === 0 || isBreak(at) || isBreak(at - 1) || isBreak(at - 2));
}

function singleBytes(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (byte) => Buffer.of(byte));
}

function splitAt(bytes: Buffer, positions: readonly number[]): Buffer[] {
  const cuts = [0, ...[...positions].sort((left, right) => left - right), bytes.length];
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
}
