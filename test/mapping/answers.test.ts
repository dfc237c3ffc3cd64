// Every row of the mapping from what the upstream answers to what each client is told, whole and streamed.

import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/canonical/error.ts';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { readAnswer, writeStream, writeUnary } from '../golden/answer-case.ts';
import { endingOf, viewOfReply, viewOfStream } from '../golden/client-views.ts';
import { describeError, protocolOf } from '../golden/request-case.ts';
import type { AnswerRow } from './answer.ts';
import { ANSWER_SECTIONS } from './answers/index.ts';
import { type Asked, callOf, inWords, requestOf } from './ask.ts';
import { PROTOCOLS, type Protocol } from './row.ts';
import { VOCABULARIES, type Words } from './words.ts';

const CASES = Object.entries(ANSWER_SECTIONS).flatMap(([section, rows]) =>
  rows.flatMap((row) =>
    PROTOCOLS.flatMap((protocol) =>
      VOCABULARIES.map((words) => ({
        title: `${section}: ${row.name}, ${protocol}, ${words.vocabulary} words`,
        row,
        protocol,
        words,
      })),
    ),
  ),
);

describe('a whole answer', () => {
  test.each(CASES)('$title', ({ row, protocol, words }) => {
    const told = row.told[protocol];
    const asked = askedFor(row, protocol, words);
    const run = () => writeUnary(callOf(asked), answerOf(row));
    if (told.kind === 'error') {
      expect(refusalOf(run, asked)).toMatchObject({ status: told.status, body: told.body });
      return;
    }
    expect(run()).toMatchObject(inWords(told.body, words));
  });
});

describe('a stream adds up to the whole answer, or ends with the error', () => {
  test.each(CASES)('$title', ({ row, protocol, words }) => {
    const asked = { ...askedFor(row, protocol, words), stream: true };
    const call = callOf(withUsage(asked));
    const run = () => writeStream(protocol, call, answerOf(row));
    if (row.told[protocol].kind === 'error') {
      const text = attempt(run);
      if (typeof text === 'string') expect(endingOf(protocol, text)).toBe('error');
      return;
    }
    const body = JSON.parse(JSON.stringify(writeUnary(call, answerOf(row))));
    expect(viewOfStream(protocol, run())).toEqual(viewOfReply(protocol, body));
  });
});

function askedFor(row: AnswerRow, protocol: Protocol, words: Words): Asked {
  return { protocol, words, ask: row.ask?.[protocol] ?? {} };
}

/** Chat clients get figures in a stream only when they ask for them. */
function withUsage(asked: Asked): Asked {
  if (asked.protocol !== 'chat') return asked;
  const ask = { ...inWords(asked.ask, asked.words), stream_options: { include_usage: true } };
  return { ...asked, ask };
}

function answerOf({ frames }: AnswerRow) {
  const text = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('');
  return readAnswer([Buffer.from(text)]);
}

function attempt(run: () => string): string | GatewayError {
  try {
    return run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

function refusalOf(run: () => unknown, asked: Asked): JsonObject {
  try {
    run();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { response } = describeError(error, protocolOf(requestOf(asked)));
    if (isJsonObject(response)) return response;
  }
  throw new Error('The answer was taken as a success.');
}
