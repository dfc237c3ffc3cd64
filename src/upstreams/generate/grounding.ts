// Reads grounding metadata: searches, sources, and citations placed in the choice's whole text.

import type { CanonicalEvent } from '../../canonical/event.ts';
import {
  type FetchedPage,
  type GroundingEvent,
  type GroundingSource,
  MAX_EARLY_SEARCHES,
} from '../../canonical/grounding.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
  sizeOf,
} from '../../lib/json.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../../lib/read-values.ts';

type Grounding = Pick<GroundingEvent, 'queries' | 'sources' | 'citations'>;

/** A choice's text as it was decoded. */
interface GroundedText {
  /** The answer's text, thoughts left out; of a very long one its beginning. Put together when it is asked for. */
  readonly text: string;
  /** Where in `text` each part begins, by part index; adjoining fragments are one part. */
  readonly partStarts: readonly number[];
}

/** A choice, and what its frames told of its sources so far. */
export interface GroundedChoice extends GroundedText {
  readonly choice: number;
  grounding: JsonObject | undefined;
  /** Queries told before the first words. */
  searches: Set<string> | undefined;
  pages: Map<string, FetchedPage> | undefined;
  recited: Set<string> | undefined;
  /** What these take of memory until the answer ends; of the grounding, which is replaced, its own. */
  lateBytes: number;
  groundingBytes: number;
}

const LISTS = ['webSearchQueries', 'groundingChunks', 'groundingSupports'] as const;

export function gatherSources(choice: GroundedChoice, candidate: JsonObject): void {
  const { citationMetadata, groundingMetadata, urlContextMetadata } = candidate;
  if (isJsonObject(citationMetadata)) {
    choice.recited ??= new Set();
    addRecited(choice.recited, citationMetadata);
    choice.lateBytes += sizeOf(citationMetadata);
  }
  if (isJsonObject(groundingMetadata)) {
    choice.grounding = mergeGrounding(choice.grounding, groundingMetadata);
    choice.groundingBytes = sizeOf(choice.grounding);
  }
  if (isJsonObject(urlContextMetadata)) {
    choice.pages ??= new Map();
    addFetchedPages(choice.pages, urlContextMetadata);
    choice.lateBytes += sizeOf(urlContextMetadata);
  }
}

/** Metadata known so far with what a later frame adds: a list it repeats replaces the former. */
function mergeGrounding(known: JsonObject | undefined, added: JsonObject): JsonObject {
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
function readGrounding(metadata: JsonObject, grounded: GroundedText): Grounding | undefined {
  const queries = queriesIn(metadata.webSearchQueries);
  const { sources, sourceOfChunk } = readSources(itemsOf(metadata.groundingChunks));
  const places = createPlaces(grounded);
  const citations = objectsOf(metadata.groundingSupports).flatMap((support) => {
    const range = readRange(support.segment, places);
    if (range === undefined) return [];
    const cited = itemsOf(support.groundingChunkIndices).flatMap((index) => {
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
    const url = stringOf(place?.uri);
    if (url === undefined) return;
    sourceOfChunk.set(index, sources.length);
    sources.push({ url, title: stringOf(place?.title) ?? url });
  });
  return { sources, sourceOfChunk };
}

interface Range {
  readonly start: number;
  readonly end: number;
}

type Places = ReturnType<typeof createPlaces>;

/** Each goes through the whole text; what needs more was not said by this answer. */
const MAX_QUOTES = 200;

/** Finds places in the text of a choice, which is walked once for all of them. */
function createPlaces({ text, partStarts }: GroundedText) {
  const ruler = new ByteRuler(text);
  const bytesBefore: number[] = [];
  let quotes = 0;
  for (const [part, start] of partStarts.entries()) {
    const before = text.slice(partStarts[part - 1] ?? 0, start);
    bytesBefore.push((bytesBefore.at(-1) ?? 0) + Buffer.byteLength(before));
  }
  return {
    text,
    /** By bytes within a part. */
    range(part: number, start: number, end: number): Range {
      const before = bytesBefore[part] ?? 0;
      return { start: ruler.unitsIn(before + start), end: ruler.unitsIn(before + end) };
    },
    find(quoted: string): Range | undefined {
      quotes += 1;
      const start = quoted === '' || quotes > MAX_QUOTES ? -1 : text.indexOf(quoted);
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
  const quoted = stringOf(segment.text);
  if (quoted !== undefined && places.text.slice(start, end) !== quoted) return places.find(quoted);
  return end > start ? { start, end } : undefined;
}

function stringOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Source: ai.google.dev, "URL context"; `@google/genai`, `UrlRetrievalStatus`. */
const OUTCOMES: ReadonlyMap<JsonValue | undefined, FetchedPage['outcome']> = new Map([
  ['URL_RETRIEVAL_STATUS_SUCCESS', 'read'],
  ['URL_RETRIEVAL_STATUS_ERROR', 'unreachable'],
  ['URL_RETRIEVAL_STATUS_PAYWALL', 'unreachable'],
  ['URL_RETRIEVAL_STATUS_UNSAFE', 'refused'],
]);

/** Adds the pages of a candidate's `urlContextMetadata` by their addresses: of one told again the later word counts. */
function addFetchedPages(pages: Map<string, FetchedPage>, metadata: JsonObject): void {
  for (const { retrievedUrl, urlRetrievalStatus: status } of objectsOf(metadata.urlMetadata)) {
    const url = textOf(retrievedUrl);
    if (url !== undefined) pages.set(url, { url, outcome: OUTCOMES.get(status) ?? 'unknown' });
  }
}

/**
 * Adds the addresses of a candidate's `citationMetadata`, of books the titles, to those known so far. The public API
 * lists them in `citationSources`, Vertex AI in `citations`.
 */
function addRecited(recited: Set<string>, { citationSources, citations }: JsonObject): void {
  for (const source of [...objectsOf(citationSources), ...objectsOf(citations)]) {
    const name = textOf(source.uri) ?? textOf(source.title);
    if (name !== undefined) recited.add(name);
  }
}

/** `GOOGLE_SEARCH_WEB` of `@google/genai`, in whichever vocabulary. */
const WEB_SEARCH = /_SEARCH_WEB$/;

/**
 * The queries a candidate of one frame names: in its metadata, and in the traces of tools that run
 * upstream, which stand before the text that is built on them (ai.google.dev, "Combine built-in tools
 * and function calling"). What was found is told at the end.
 */
function readSearches({ content, groundingMetadata }: JsonObject): readonly string[] {
  const lists = objectsOf(objectOf(content)?.parts).map(({ toolCall }) => {
    const { toolType, args } = objectOf(toolCall) ?? {};
    return WEB_SEARCH.test(textOf(toolType) ?? '') ? objectOf(args)?.queries : undefined;
  });
  lists.push(objectOf(groundingMetadata)?.webSearchQueries);
  return lists.flatMap(queriesIn);
}

/** The service tells empty ones, too. */
function queriesIn(list: JsonValue | undefined): readonly string[] {
  return itemsOf(list).flatMap((query) => textOf(query) ?? []);
}

const NOT_SEARCHED: Grounding = { queries: [], sources: [], citations: [] };

/** A search is told as soon as it is known: some clients show it before the words it led to. */
export function addSearches(
  choice: GroundedChoice,
  candidate: JsonObject,
  events: CanonicalEvent[],
): void {
  const known = choice.searches?.size ?? 0;
  for (const query of readSearches(candidate)) {
    choice.searches ??= new Set();
    choice.searches.add(query);
  }
  const queries = [...(choice.searches ?? [])];
  if (queries.length === known || known > MAX_EARLY_SEARCHES) return;
  events.push({
    kind: 'grounding',
    choice: choice.choice,
    ...NOT_SEARCHED,
    queries,
    isEarly: true,
  });
}

/** Grounding is placed when the whole text is known, while its last block is still open. */
export function addGrounding(choice: GroundedChoice, events: CanonicalEvent[]): void {
  const { grounding, searches = [], pages } = choice;
  const found = grounding && readGrounding(grounding, choice);
  const opened = pages?.size ? { pages: [...pages.values()] } : undefined;
  if (found === undefined && opened === undefined) return;
  const told = found ?? NOT_SEARCHED;
  // What is told last counts alone: an end without queries takes none back that were told before.
  const queries = told.queries.length === 0 ? [...searches] : told.queries;
  events.push({ kind: 'grounding', choice: choice.choice, ...told, queries, ...opened });
}

interface Mark {
  readonly bytes: number;
  readonly units: number;
}

/** In UTF-16 units; so much of the text is walked for each place at most. */
const BETWEEN_MARKS = 1024;

/** Long answers cite often: marks are left on the way, so that the text is walked once. */
class ByteRuler {
  readonly #text: string;
  readonly #marks: Mark[] = [{ bytes: 0, units: 0 }];

  constructor(text: string) {
    this.#text = text;
  }

  /** How many UTF-16 units the text's first `bytes` bytes are; a character that is cut counts. */
  unitsIn(bytes: number): number {
    let { units, bytes: walked } = this.#lastMarkBefore(bytes);
    let marked = this.#marks.at(-1)?.units ?? 0;
    while (walked < bytes && units < this.#text.length) {
      const point = this.#text.codePointAt(units) ?? 0;
      walked += utf8Length(point);
      units += point > 0xffff ? 2 : 1;
      if (units < marked + BETWEEN_MARKS) continue;
      this.#marks.push({ bytes: walked, units });
      marked = units;
    }
    return units;
  }

  #lastMarkBefore(bytes: number): Mark {
    let low = 0;
    let high = this.#marks.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#marks[middle]?.bytes ?? 0) <= bytes) low = middle;
      else high = middle - 1;
    }
    return this.#marks[low] ?? { bytes: 0, units: 0 };
  }
}

function utf8Length(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

/** Every tool but functions and code brings sources. */
export function findsSources(tool: JsonValue): boolean {
  return (
    isJsonObject(tool) &&
    Object.keys(tool).some((key) => key !== 'functionDeclarations' && key !== 'codeExecution')
  );
}
