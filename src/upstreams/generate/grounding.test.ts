import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { decode, frame, signed, stop } from './decode.test-support.ts';
import { GenerateDecoder } from './decode.ts';

const CHUNKS = [{ web: { uri: 'https://a', title: 'A' } }, { web: { uri: 'https://b' } }];

/** What an answer of these texts is said to be grounded in, where its frames tell this. */
function grounded(texts: readonly string[], ...told: readonly JsonObject[]) {
  // Each is signed, so that it stays a part of its own.
  const parts = texts.map((text, index) => ({ text, ...signed(String(index)) }));
  const frames = told.map((groundingMetadata) => frame([], { groundingMetadata }));
  const events = decode(frame(parts), ...frames, stop());
  const found = events.find((event) => event.kind === 'grounding');
  return found && { queries: found.queries, sources: found.sources, citations: found.citations };
}

function cite(text: string, ...segments: readonly Record<string, string | number>[]) {
  return citeParts([text], ...segments);
}

function citeParts(
  texts: readonly string[],
  ...segments: readonly Record<string, string | number>[]
) {
  const supports = segments.map((segment) => ({ segment, groundingChunkIndices: [1] }));
  return grounded(texts, { groundingChunks: CHUNKS, groundingSupports: supports })?.citations;
}

test('V055: queries and sources are read; a source without a title is called by its address', () => {
  const metadata = { webSearchQueries: ['q'], groundingChunks: CHUNKS };
  expect(grounded(['a'], metadata)).toEqual({
    queries: ['q'],
    sources: [
      { url: 'https://a', title: 'A' },
      { url: 'https://b', title: 'https://b' },
    ],
    citations: [],
  });
});

test('byte offsets become UTF-16 positions', () => {
  const text = 'Grüße 😀! Sieg.';
  const start = Buffer.byteLength('Grüße 😀! ');
  const end = Buffer.byteLength(text);
  expect(cite(text, { startIndex: start, endIndex: end })).toEqual([
    { startIndex: 10, endIndex: 15, text: 'Sieg.', sources: [1] },
  ]);
});

test('an absent start is the beginning', () => {
  expect(cite('abc def', { endIndex: 3 })).toMatchObject([{ startIndex: 0, endIndex: 3 }]);
});

test('offsets count inside their part', () => {
  expect(citeParts(['one', 'two'], { partIndex: 1, startIndex: 1, endIndex: 3 })).toMatchObject([
    { startIndex: 4, endIndex: 6, text: 'wo' },
  ]);
});

test('a quotation that stands elsewhere is found; one that stands nowhere is left out', () => {
  expect(cite('abc def', { startIndex: 0, endIndex: 3, text: 'def' })).toMatchObject([
    { startIndex: 4, endIndex: 7 },
  ]);
  expect(cite('abc def', { startIndex: 0, endIndex: 3, text: 'xyz' })).toEqual([]);
  expect(cite('abc', { startIndex: 50, endIndex: 60 })).toEqual([]);
});

test('chunks that are no addresses leave the numbering of the others right', () => {
  const metadata = {
    groundingChunks: [{ image: {} }, { retrievedContext: { uri: 'u', title: 'T' } }],
    groundingSupports: [{ segment: { endIndex: 1 }, groundingChunkIndices: [0, 1, 9] }],
  };
  expect(grounded(['ab'], metadata)).toMatchObject({
    sources: [{ url: 'u', title: 'T' }],
    citations: [{ sources: [0] }],
  });
});

test('metadata without searches and sources is none', () => {
  expect(grounded(['a'], { searchEntryPoint: {} })).toBeUndefined();
});

test('later frames add to earlier ones', () => {
  const later = { groundingChunks: CHUNKS, webSearchQueries: [] };
  expect(grounded(['a'], { webSearchQueries: ['q'] }, later)).toMatchObject({
    queries: ['q'],
    sources: [{ url: 'https://a' }, { url: 'https://b' }],
  });
});

test('where nobody asks for places, the text is not kept and no citation points anywhere', () => {
  const decoder = new GenerateDecoder(
    { signatureFamily: 'alpha', createId: (prefix) => prefix, placesCitations: false },
    () => 0,
  );
  const groundingMetadata = {
    webSearchQueries: ['q'],
    groundingChunks: [{ web: { title: 'T', uri: 'https://u.example' } }],
    groundingSupports: [{ segment: { endIndex: 2 }, groundingChunkIndices: [0] }],
  };
  const parts = [{ text: 'Hi' }];
  decoder.push({ candidates: [{ content: { parts }, groundingMetadata, finishReason: 'STOP' }] });
  expect(decoder.end().find((event) => event.kind === 'grounding')).toMatchObject({
    queries: ['q'],
    sources: [{ title: 'T', url: 'https://u.example' }],
    citations: [],
  });
});

test('places are those of the bytes, in any order they are asked for', () => {
  const text = fc
    .array(fc.constantFrom('a', 'é', '日', '😀'), { minLength: 1, maxLength: 60 })
    .map((characters) => characters.join('').repeat(60));
  fc.assert(
    fc.property(text, fc.array(fc.nat(8000), { maxLength: 20 }), (given, places) => {
      const before = places
        .map((units) => given.slice(0, units).replace(/[\ud800-\udbff]$/u, ''))
        .filter((said) => said !== '');
      const ends = before.map((said) => ({ endIndex: Buffer.byteLength(said) }));
      const found = cite(given, ...ends)?.map(({ endIndex }) => endIndex);
      expect(found).toEqual(before.map(({ length }) => length));
    }),
    { numRuns: 50 },
  );
});

test('a character that is cut counts, and nothing is behind the end', () => {
  const ends = [1, 2, 3, 4, 5, 8, 9].map((endIndex) => ({ endIndex }));
  expect(cite('a日😀', ...ends)?.map(({ endIndex }) => endIndex)).toEqual([1, 2, 2, 2, 4, 4, 4]);
});
