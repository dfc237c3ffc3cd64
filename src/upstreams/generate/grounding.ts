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
  /** All answer text, thoughts left out. */
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
  const rulers = new Map<number, ByteRuler>();
  const citations = objectsAt(metadata, 'groundingSupports').flatMap((support) => {
    const range = readRange(support.segment, grounded, rulers);
    if (range === undefined) return [];
    const cited = listAt(support, 'groundingChunkIndices').flatMap((index) => {
      const source = sourceOfChunk.get(readNumber(index) ?? -1);
      return source === undefined ? [] : [source];
    });
    const { start, end } = range;
    const text = grounded.text.slice(start, end);
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

/** @param rulers by where their parts begin */
function readRange(
  segment: JsonValue | undefined,
  grounded: GroundedText,
  rulers: Map<number, ByteRuler>,
): Range | undefined {
  if (!isJsonObject(segment)) return undefined;
  const { text, partStarts } = grounded;
  const partStart = partStarts[readNumber(segment.partIndex) ?? -1] ?? 0;
  const ruler = rulers.get(partStart) ?? new ByteRuler(text.slice(partStart));
  rulers.set(partStart, ruler);
  const start = partStart + ruler.unitsIn(readNumber(segment.startIndex) ?? 0);
  const end = partStart + ruler.unitsIn(readNumber(segment.endIndex) ?? 0);
  const quoted = textAt(segment, 'text');
  if (quoted !== undefined && text.slice(start, end) !== quoted) return findQuote(text, quoted);
  return end > start ? { start, end } : undefined;
}

/** Where offsets and quotation disagree, the quotation is what the source supports. */
function findQuote(text: string, quoted: string): Range | undefined {
  const start = quoted === '' ? -1 : text.indexOf(quoted);
  return start === -1 ? undefined : { start, end: start + quoted.length };
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
