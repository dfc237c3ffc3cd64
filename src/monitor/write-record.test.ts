import { expect, test } from 'vitest';
import { KeptText } from '../canonical/transcript.ts';
import { NO_USAGE, type Usage } from '../canonical/usage.ts';
import { asSentence } from '../lib/localized-message.ts';
import { createRedactors } from '../lib/redact.ts';
import type { EndedRequest, RequestRecord, RequestRow } from './record.ts';
import { writeRecord } from './write-record.ts';

const TOLD = {
  ...NO_USAGE,
  ...{ promptTokens: 9, cachedTokens: 4, answerTokens: 5, thoughtTokens: 2 },
  cacheWrites: { tokens: 3 },
};

/** The row of a request whose answers had this usage. */
const rowOf = (...usages: readonly (Usage | undefined)[]): RequestRow =>
  recordOf(usages.map((usage) => ({ usage, imageCount: 1 }))).row;

function recordOf(
  answers: EndedRequest['facts']['answers'],
  more: Partial<EndedRequest['facts']> = {},
  secrets: readonly string[] = [],
): RequestRecord {
  const ended = {
    ...{ requestId: 'r', isIdGiven: false, protocol: 'chat', route: '/v1/chat/completions' },
    ...{ pathModel: '', method: 'POST', path: '/v1/chat/completions', body: undefined },
    ...{ call: { model: 'm', stream: true }, status: 499, clientKeyId: 'main' },
    ...{ clientAddress: '127.0.0.1', userAgent: undefined, session: undefined },
    ...{ credentials: [], receipt: [], totalMs: 1, firstEventMs: undefined },
    ...{ endedAt: 0, endedAtMonotonic: 0 },
    facts: { attempts: [], timings: {}, answers, ...more },
  };
  const context = {
    redactorFor: createRedactors(() => secrets),
    keyOf: () => undefined,
    targetOf: () => undefined,
    priceOf: () => undefined,
    createId: (prefix: string) => prefix,
  };
  return writeRecord(ended, context, more.sentBody !== undefined);
}

test('tokens that nobody told are not known, and are not taken for none', () => {
  const { inputTokens, outputTokens, cachedTokens, thoughtTokens, images } = rowOf(undefined);
  expect([inputTokens, outputTokens, cachedTokens, thoughtTokens]).toEqual(
    Array.from({ length: 4 }),
  );
  expect(images).toBe(1);
  expect(rowOf(NO_USAGE)).toMatchObject({ inputTokens: 0, outputTokens: 0 });
});

test('of several answers those that told theirs are counted', () => {
  expect(rowOf(TOLD, undefined, TOLD)).toMatchObject({
    ...{ inputTokens: 18, outputTokens: 14, cachedTokens: 8, thoughtTokens: 4, images: 3 },
    cacheWriteTokens: 6,
  });
});

test('the targets that were left are told with the reason', () => {
  const left = { from: 'ant/sonnet', to: 'flash', reason: 'limited', afterAttempts: 1 } as const;
  expect(recordOf([], { fallbacks: [left] }).details.fallbacks).toEqual([left]);
  expect(recordOf([]).details.fallbacks).toBeUndefined();
});

test('an answer that was held back says why, and how each of the answers ended', () => {
  const { row, details } = recordOf([
    { usage: TOLD, imageCount: 0, finishReasons: ['stop', 'stop'] },
    {
      usage: TOLD,
      imageCount: 0,
      finishReasons: ['safety'],
      withheld: asSentence('Held back: SPII.'),
    },
  ]);
  expect(row.error?.text).toBe('Held back: SPII.');
  expect(details.finishReasons).toEqual(['stop', 'safety']);
  expect(recordOf([{ usage: TOLD, imageCount: 0 }]).details.finishReasons).toBeUndefined();
});

test('of a body that was cut nothing is left of a credential that begins at its end', () => {
  const sentBody = new KeptText();
  sentBody.add('x'.repeat(262_134));
  sentBody.add('secret-key-0123456789');
  expect(sentBody.text.endsWith('secret-key')).toBe(true);
  const { bodies } = recordOf([], { sentBody }, ['secret-key-0123456789']);
  expect(bodies?.clientResponse).toMatchObject({
    text: expect.not.stringContaining('sec'),
    isWhole: false,
  });
});
