import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GenerateDecoder } from './decode.ts';
import { ByteRuler, mergeGrounding, readGrounding } from './grounding.ts';

const CHUNKS = [{ web: { uri: 'https://a', title: 'A' } }, { web: { uri: 'https://b' } }];

function cite(text: string, segment: Record<string, string | number>, partStarts = [0]) {
  const metadata = {
    groundingChunks: CHUNKS,
    groundingSupports: [{ segment, groundingChunkIndices: [1] }],
  };
  return readGrounding(metadata, { text, partStarts })?.citations;
}

test('V055: queries and sources are read; a source without a title is called by its address', () => {
  const metadata = { webSearchQueries: ['q'], groundingChunks: CHUNKS };
  expect(readGrounding(metadata, { text: '', partStarts: [] })).toEqual({
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
  expect(cite('onetwo', { partIndex: 1, startIndex: 1, endIndex: 3 }, [0, 3])).toMatchObject([
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
  expect(readGrounding(metadata, { text: 'ab', partStarts: [0] })).toMatchObject({
    sources: [{ url: 'u', title: 'T' }],
    citations: [{ sources: [0] }],
  });
});

test('metadata without searches and sources is none', () => {
  expect(readGrounding({ searchEntryPoint: {} }, { text: 'a', partStarts: [] })).toBeUndefined();
});

test('later frames add to earlier ones', () => {
  const early = mergeGrounding(undefined, { webSearchQueries: ['q'] });
  expect(mergeGrounding(early, { groundingChunks: CHUNKS, webSearchQueries: [] })).toEqual({
    webSearchQueries: ['q'],
    groundingChunks: CHUNKS,
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
      const ruler = new ByteRuler(given);
      for (const units of places) {
        const before = given.slice(0, units).replace(/[\ud800-\udbff]$/u, '');
        expect(ruler.unitsIn(Buffer.byteLength(before))).toBe(before.length);
      }
    }),
    { numRuns: 50 },
  );
});

test('a character that is cut counts, and nothing is behind the end', () => {
  const ruler = new ByteRuler('a日😀');
  expect([0, 1, 2, 3, 4, 5, 8, 9, -1].map((bytes) => ruler.unitsIn(bytes))).toEqual([
    0, 1, 2, 2, 2, 4, 4, 4, 0,
  ]);
});
