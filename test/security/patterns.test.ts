// No regular expression of the server takes more than linear time: they read what clients, upstreams and files say.

import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { parseAst } from 'vite';
import { expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { listFiles, SOURCE, TEST_ONLY } from '../support/source-imports.ts';
import { threadMs } from './measure.ts';

interface Found {
  readonly place: string;
  readonly pattern: RegExp;
}

function patternsOf(file: string): Found[] {
  const found: Found[] = [];
  const text = readFileSync(file, 'utf8');
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit);
    else if (typeof node === 'object' && node !== null) {
      const { regex, start } = node as JsonObject;
      if (isJsonObject(regex)) {
        const { pattern, flags } = regex;
        const line = text.slice(0, Number(start)).split('\n').length;
        const place = `${relative(SOURCE, file)}:${line}`;
        found.push({ place, pattern: new RegExp(String(pattern), String(flags)) });
      }
      Object.values(node).forEach(visit);
    }
  };
  visit(parseAst(text, { lang: 'ts' }).body);
  return found;
}

const CHARACTERS = Array.from(`aA01 .-_'"\`:/=+*([{<>@%\\~#&?!,;|$^)]}\n\té`);
const PAIRS = ['a.', 'a ', 'a-', '1,', '1.', "'a", '"a', 'a=', '\r\n'];
const FRONTS = ['', 'a', 'a=b', '"'];
/** What patterns do not expect there: they try everything before they give up. */
const ENDS = ['\u0001', '*', '\n!'];

type Long = (length: number) => string;

/** Runs of what each pattern names itself, and of what many look for. */
function textsFor({ source }: RegExp): Long[] {
  const words = source.replace(/\\[a-z]/gi, ' ').match(/[^()[\]{}|*+?\\^$]{2,}/g) ?? [];
  const own = Array.from(new Set(words)).slice(0, 8);
  const runs = [...CHARACTERS, ...PAIRS, ...own, ...own.map((word) => `${word}a`)];
  return [...FRONTS, ...own.slice(0, 3)].flatMap((front) =>
    runs.flatMap((run) =>
      ENDS.map((end) => (length: number) => front + run.repeat(length / run.length) + end),
    ),
  );
}

function costOf(pattern: RegExp, text: string): number {
  return threadMs(() => {
    pattern.lastIndex = 0;
    pattern.test(text);
  });
}

const LENGTH = 1_500;
/** Reading that length once takes microseconds, and every start of it anew a millisecond and more. */
const SUSPICIOUS_MS = 0.5;
const SURE_LENGTH = 12_000;
/** Of some ten ticks of the clock that counts a thread's time, where it has such; a quadratic pattern takes more. */
const SURE_MS = 40;
const TRIES = 5;

function isSlow(pattern: RegExp, textOf: Long): boolean {
  if (costOf(pattern, textOf(LENGTH)) < SUSPICIOUS_MS) return false;
  const least = (length: number): number =>
    Math.min(...Array.from({ length: TRIES }, () => costOf(pattern, textOf(length))));
  const double = least(2 * SURE_LENGTH);
  return double >= SURE_MS && double > 3 * least(SURE_LENGTH);
}

test('regular expressions take linear time, whatever they read', () => {
  const files = listFiles(SOURCE, /\.ts$/).filter((file) => !TEST_ONLY.test(file));
  const found = files.flatMap(patternsOf);
  const slow = found.filter(({ pattern }) =>
    textsFor(pattern).some((textOf) => isSlow(pattern, textOf)),
  );
  expect(found.length).toBeGreaterThan(400);
  expect(slow.map(({ place, pattern }) => `${place} ${String(pattern)}`)).toEqual([]);
});
