// Every row of the mapping from what clients ask to what the upstream is sent, in both vocabularies.

import { afterAll, describe, expect, test } from 'vitest';
import { asGatewayError } from '../../src/canonical/error.ts';
import { targets } from '../golden/targets.ts';
import { askUpstream, inWords } from './ask.ts';
import { type Entry, PROTOCOLS } from './row.ts';
import { REQUEST_SECTIONS } from './rows/index.ts';
import { VOCABULARIES } from './words.ts';

afterAll(async () => {
  for (const { upstream } of Object.values(targets)) await upstream.close();
});

type Told = Exclude<Entry, { kind: 'unsaid' }>;

const CASES = Object.entries(REQUEST_SECTIONS).flatMap(([section, rows]) =>
  rows.flatMap(({ name, entries }) =>
    PROTOCOLS.flatMap((protocol) =>
      VOCABULARIES.flatMap((words) => {
        const entry = entries[protocol];
        const title = `${section}: ${name}, ${protocol}, ${words.vocabulary} words`;
        return entry.kind === 'unsaid' ? [] : [{ title, protocol, words, entry }];
      }),
    ),
  ),
);

describe('what a client asks is sent, refused or noted', () => {
  test.each(CASES)('$title', ({ protocol, words, entry }) => {
    const { ask, model } = entry;
    const asked = { protocol, words, ask, model: modelIn(entry, words.vocabulary) ?? model };
    if (entry.kind === 'refused') {
      expect(fieldRefused(() => askUpstream(asked))).toBe(entry.field);
      return;
    }
    const { body, noted } = askUpstream(asked);
    const { fields, without = [] } = entry.expected;
    expect(body).toMatchObject(fields === undefined ? {} : inWords(fields, words));
    for (const field of without) expect(body).not.toHaveProperty(field);
    const expected = typeof entry.noted === 'function' ? entry.noted(words) : entry.noted;
    expect(noted).toEqual(expected.map((entryNoted) => entryNoted.join(' ')));
  });
});

describe('the table is whole', () => {
  const rows = Object.values(REQUEST_SECTIONS).flat();

  test('every row has its own name', () => {
    const names = rows.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(rows)('$name: every protocol has an entry that says something', ({ entries }) => {
    for (const protocol of PROTOCOLS) {
      const entry = entries[protocol];
      if (entry.kind === 'unsaid') expect(entry.why).toMatch(/^[A-Z].{10,}\.$/);
      else if (entry.kind === 'refused') expect(entry.field).not.toBe('');
      else {
        const { fields, without = [] } = entry.expected;
        expect(fields !== undefined || without.length > 0).toBe(true);
      }
    }
    expect(PROTOCOLS.some((protocol) => entries[protocol].kind !== 'unsaid')).toBe(true);
  });
});

/** A row may ask for a model of one generation, under its neutral name. */
function modelIn({ model }: Told, vocabulary: 'real' | 'neutral'): string | undefined {
  if (model === undefined || vocabulary === 'neutral') return model;
  return model.replace(/^alpha-/, 'gemini-').replace(/^beta-/, 'claude-');
}

function fieldRefused(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    const { kind, field, cause } = asGatewayError(error);
    if (kind === 'internal') throw cause;
    return field;
  }
  return undefined;
}
