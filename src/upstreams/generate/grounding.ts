// Reads grounding metadata: searches, sources, and citations placed in the choice's whole text.

import type { Citation, GroundingSource } from '../../canonical/event.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { ByteRuler } from './byte-ruler.ts';

export interface Grounding {
  readonly queries: readonly string[];
  readonly sources: readonly GroundingSource[];
  readonly citations: readonly Citation[];
}

/** A choice's text as it was decoded. */
export interface GroundedText {
  /** The answer's text, thoughts left out; of a very long one its beginning. Put together when it is asked for. */
  readonly text: string;
  /** Where in `text` each part begins, by part index; adjoining fragments are one part. */
  readonly partStarts: readonly number[];
}

const LISTS = ['webSearchQueries', 'groundingChunks', 'groundingSupports'] as const;

/** Metadata known so far with what a later frame adds: a list it repeats replaces the former. */
export function mergeGrounding(known: JsonObject | undefined, added: JsonObject): JsonObject {
  const merged: JsonObject = { ...known };
  for (const key of LISTS) {
    const list = added[key];
    if (Array.isArray(list) && list.length > 0) merged[key] = list;
  }
  return merged;
}

/**
 * Segment offsets are UTF-8 bytes inside their part; an absent start is 0. Citations that point
 * nowhere are left out.
 * Source: ai.google.dev, "Grounding with Google Search"; API reference, `GroundingSupport`.
 */
export function readGrounding(metadata: JsonObject, grounded: GroundedText): Grounding | undefined {
  const queries = listAt(metadata, 'webSearchQueries').filter((query) => typeof query === 'string');
  const { sources, sourceOfChunk } = readSources(listAt(metadata, 'groundingChunks'));
  const places = createPlaces(grounded);
  const citations = objectsAt(metadata, 'groundingSupports').flatMap((support) => {
    const range = readRange(support.segment, places);
    if (range === undefined) return [];
    const cited = listAt(support, 'groundingChunkIndices').flatMap((index) => {
      const source = sourceOfChunk.get(readNumber(index) ?? -1);
      return source === undefined ? [] : [source];
    });
    const { start, end } = range;
    const text = places.text.slice(start, end);
    return cited.length === 0 ? [] : [{ startIndex: start, endIndex: end, text, sources: cited }];
  });
  if (queries.length === 0 && sources.length === 0) return undefined;
  return { queries, sources, citations };
}

function readSources(chunks: readonly JsonValue[]) {
  const sources: GroundingSource[] = [];
  const sourceOfChunk = new Map<number, number>();
  chunks.forEach((chunk, index) => {
    if (!isJsonObject(chunk)) return;
    const place = [chunk.web, chunk.retrievedContext, chunk.maps].find(isJsonObject);
    const url = textAt(place, 'uri');
    if (url === undefined) return;
    sourceOfChunk.set(index, sources.length);
    sources.push({ url, title: textAt(place, 'title') ?? url });
  });
  return { sources, sourceOfChunk };
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Finds places in the text of a choice, which is walked once for all of them. */
interface Places {
  readonly text: string;
  /** By bytes within a part. */
  range(part: number, start: number, end: number): Range;
  find(quoted: string): Range | undefined;
}

/** Each goes through the whole text; what needs more was not said by this answer. */
const MOST_QUOTES_LOOKED_FOR = 200;

function createPlaces({ text, partStarts }: GroundedText): Places {
  const ruler = new ByteRuler(text);
  const bytesBefore: number[] = [];
  let quotes = 0;
  for (const [part, start] of partStarts.entries()) {
    const before = text.slice(partStarts[part - 1] ?? 0, start);
    bytesBefore.push((bytesBefore.at(-1) ?? 0) + Buffer.byteLength(before));
  }
  return {
    text,
    range(part, start, end) {
      const before = bytesBefore[part] ?? 0;
      return { start: ruler.unitsIn(before + start), end: ruler.unitsIn(before + end) };
    },
    find(quoted) {
      quotes += 1;
      const start = quoted === '' || quotes > MOST_QUOTES_LOOKED_FOR ? -1 : text.indexOf(quoted);
      return start === -1 ? undefined : { start, end: start + quoted.length };
    },
  };
}

/** Where offsets and quotation disagree, the quotation is what the source supports. */
function readRange(segment: JsonValue | undefined, places: Places): Range | undefined {
  if (!isJsonObject(segment)) return undefined;
  const [part = -1, from = 0, to = 0] = [
    segment.partIndex,
    segment.startIndex,
    segment.endIndex,
  ].map(readNumber);
  const { start, end } = places.range(part, from, to);
  const quoted = textAt(segment, 'text');
  if (quoted !== undefined && places.text.slice(start, end) !== quoted) return places.find(quoted);
  return end > start ? { start, end } : undefined;
}

function listAt(object: JsonObject, key: string): readonly JsonValue[] {
  const value = object[key];
  return Array.isArray(value) ? value : [];
}

function objectsAt(object: JsonObject, key: string): JsonObject[] {
  return listAt(object, key).filter(isJsonObject);
}

function textAt(object: JsonObject | undefined, key: string): string | undefined {
  const value = object?.[key];
  return typeof value === 'string' ? value : undefined;
}
