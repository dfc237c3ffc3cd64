// Every row of the retry table and every fault of the upstream that concerns accounts, in each protocol,
// whole and streamed: what the client gets, after how many attempts, and how the account stands afterwards.
// Every day each row is tried in some of the protocols.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countOf } from '../support/counts.ts';
import {
  type Answer,
  PROTOCOL_CALLS,
  type ProtocolCall,
  send,
  withoutIds,
} from '../support/protocol-calls.ts';
import type { ScriptedReply } from '../support/scripted-upstream.ts';
import { type FaultBench, SIGNED_IN, standing, startFaultBench, WITH_KEY } from './bench.ts';
import { ROWS } from './rows/index.ts';
import type { Place, Row } from './rows/row.ts';

const PLACES: readonly Place[] = ['first', 'second', 'third'];

/** One of so many protocols. */
const SHARE = countOf({ slow: 1, everyday: 2 });

let bench: FaultBench;
let passed = 0;
let total = 0;
beforeAll(async () => {
  bench = await startFaultBench();
});
afterAll(async () => {
  await bench.close();
  process.stdout.write(`faults: ${passed}/${total}\n`);
});

describe.each(PROTOCOL_CALLS)('$name', (call) => {
  const turn = PROTOCOL_CALLS.indexOf(call);
  describe.each([false, true])('stream=%s', (stream) => {
    let expected: Answer;
    beforeAll(async () => {
      await bench.prepare(SIGNED_IN);
      expected = await send(bench.gateway.url, call, { stream, text: 'Fine' });
    });
    const rows = ROWS.filter(
      ({ only }, nth) =>
        (only === undefined || (only === 'stream') === stream) && (turn + nth) % SHARE === 0,
    );
    test.each(rows)('$what', async (row) => {
      total += 1;
      const labels = labelsOf(row);
      await bench.prepare(labels);
      script(row, labels);
      const answer = await ask(row, call, stream);
      judgeAnswer(row, { call, stream, answer, expected });
      // Where two accounts refuse alike, requests of one token decide afterwards.
      await expect.poll(() => stand(labels[0], call)).toBe(row.first);
      if (row.second !== undefined)
        await expect.poll(() => stand(labels[1], call)).toBe(row.second);
      expect(answer.headers.get('x-isthmus-attempts')).toBe(String(row.attempts));
      passed += 1;
    });
  });
});

function stand(label = '', { model }: ProtocolCall): string {
  return standing(bench.health(label), model, bench.gateway.clock.now());
}

function labelsOf({ accounts = 'oauth' }: Row): readonly string[] {
  if (accounts === 'oauth') return SIGNED_IN;
  return accounts === 'api-key' ? WITH_KEY : [accounts, ...WITH_KEY];
}

function script(row: Row, labels: readonly string[]): void {
  const placeOf = (label: string) => PLACES[labels.indexOf(label)] ?? 'third';
  const pick = (replies: Row['meets'], label: string, nth: number): ScriptedReply | undefined => {
    const found = replies[placeOf(label)] ?? replies.all;
    if (found === undefined) return undefined;
    return 'kind' in found ? found : found[nth - 1];
  };
  bench.upstream.script({
    model: ({ account }, nth) => pick(row.meets, account, nth),
    token: (account, nth) => pick(row.tokens ?? {}, account, nth),
  });
}

async function ask(row: Row, call: ProtocolCall, stream: boolean): Promise<Answer> {
  const { requests = 1, betweenMs = 0 } = row;
  let answer = await send(bench.gateway.url, call, { stream, text: 'Fine' });
  for (let nth = 2; nth <= requests; nth += 1) {
    bench.gateway.clock.skip(betweenMs);
    answer = await send(bench.gateway.url, call, { stream, text: 'Fine' });
  }
  return answer;
}

interface Judged {
  readonly call: ProtocolCall;
  readonly stream: boolean;
  readonly answer: Answer;
  readonly expected: Answer;
}

function judgeAnswer(row: Row, { call, stream, answer, expected }: Judged): void {
  const { error, retryAfter } = row;
  const status = call.name === 'messages' ? (row.messagesStatus ?? error?.status) : error?.status;
  expect(answer.status, answer.text).toBe(status ?? 200);
  if (retryAfter !== undefined) {
    const seconds = Number(answer.headers.get('retry-after'));
    expect(Math.abs(seconds - retryAfter)).toBeLessThanOrEqual(1);
    expect(answer.headers.get('x-should-retry')).toBe(seconds > 60 ? 'false' : null);
  }
  if (error !== undefined) {
    expect(answer.body).toEqual(call.error(error));
  } else if (row.answer === 'begun') {
    expect(call.hasError(answer.text)).toBe(true);
    expect(call.isComplete(answer.text)).toBe(false);
  } else if (row.answer === undefined) {
    expect(withoutIds(answer)).toEqual(withoutIds(expected));
    if (stream) expect(call.isComplete(answer.text)).toBe(true);
  }
}
