// The grammar of generate-content streams, as events and as one growing array.

import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import type { StreamEnd } from './chat.ts';
import { parseFrame, readFrames } from './frames.ts';
import { check, countIn, idIn, listIn, objectIn } from './rule.ts';

/** What a part is made of; exactly one of them stands in each. */
const PART_KEYS = [
  ...['text', 'functionCall', 'inlineData', 'executableCode', 'codeExecutionResult'],
  ...['functionResponse', 'fileData'],
];

/** Gemini CLI's reader takes no comments and no event lines. */
export function checkGenerateStream(text: string): StreamEnd {
  // Upstreams end lines their own way, and the relay lane hands them on.
  const lines = text.replaceAll('\r\n', '\n');
  const end = lines.endsWith('\n\n') ? lines.length : lines.lastIndexOf('\n\n') + 2;
  const frames = readFrames(lines.slice(0, end), false);
  const isFailed = frames.at(-1)?.data.startsWith('{"error":') === true;
  check(
    lines.slice(end) === (isFailed ? frames.at(-1)?.data : ''),
    'an error, and nothing else, stands behind its event as well',
  );
  check(
    frames.every(({ event, data }) => event === undefined && data !== '[DONE]'),
    'frames have neither an event line nor [DONE]',
  );
  return checkAnswers(frames.map(parseFrame));
}

export function checkGenerateArray(text: string): StreamEnd {
  const values: unknown = JSON.parse(text);
  check(Array.isArray(values), 'the stream is an array');
  return checkAnswers(
    values.map((value: unknown) => {
      check(isJsonObject(value), 'the array holds objects');
      return value;
    }),
  );
}

function checkAnswers(answers: readonly JsonObject[]): StreamEnd {
  check(answers.length > 0, 'a stream says something');
  const last = answers.at(-1) ?? {};
  if ('error' in last) {
    checkParts(answers.slice(0, -1));
    const error = objectIn(last, 'error');
    idIn(error, 'message');
    idIn(error, 'status');
    check(countIn(error, 'code') >= 400, 'code is an HTTP status');
    return 'error';
  }
  const { open, hasBegun } = checkParts(answers);
  const isBlocked = answers.some(({ promptFeedback }) => isJsonObject(promptFeedback));
  check(isBlocked || (hasBegun && open.size === 0), 'every candidate ends with a finishReason');
  return 'success';
}

interface Candidates {
  readonly open: Set<number>;
  readonly ended: Set<number>;
}

function checkParts(answers: readonly JsonObject[]): { open: Set<number>; hasBegun: boolean } {
  const candidates: Candidates = { open: new Set(), ended: new Set() };
  for (const answer of answers) {
    check(!('error' in answer), 'an error is the last word');
    if (answer.candidates === undefined) continue;
    for (const candidate of listIn(answer, 'candidates')) checkCandidate(candidate, candidates);
  }
  const { open, ended } = candidates;
  return { open, hasBegun: open.size + ended.size > 0 };
}

function checkCandidate(candidate: JsonObject, { open, ended }: Candidates): void {
  const index = candidate.index === undefined ? 0 : countIn(candidate, 'index');
  const parts = isJsonObject(candidate.content) ? readParts(candidate.content) : [];
  const saysMore = parts.some(({ text }) => text !== '');
  check(!(ended.has(index) && saysMore), 'no content follows the finishReason');
  if (candidate.finishReason !== undefined) {
    open.delete(index);
    ended.add(index);
  } else if (!ended.has(index)) open.add(index);
}

function readParts(content: JsonObject): readonly JsonObject[] {
  if (content.parts === undefined) return [];
  const parts = listIn(content, 'parts');
  for (const part of parts) {
    const kinds = PART_KEYS.filter((key) => key in part);
    check(kinds.length <= 1, `a part is one thing, not ${kinds.join(' and ')}`);
    if (isJsonObject(part.functionCall)) idIn(part.functionCall, 'name');
  }
  return parts;
}
