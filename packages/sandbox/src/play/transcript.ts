// What the sandbox "hears" in a recording: true facts of its file, as words or as timed segments.

import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { describeMedia, readSound } from '../media-facts.ts';
import { findPeak } from '../wav-facts.ts';
import type { Blob } from '../wire.ts';
import type { LastTurn } from './last-turn.ts';
import { smallestInstance } from './smallest-instance.ts';

/** Seconds from the beginning. */
type Span = { readonly start: number; readonly end: number };
type TimedText = Span & { readonly text: string };

const ASKED = /\b(?:write down|transcri)/i;
const LANGUAGE = 'English';

/** The recordings of the turn, when it asks for what is said in them. */
export function recordingsToWriteDown(turn: LastTurn): readonly Blob[] {
  if (!ASKED.test(turn.text)) return [];
  return turn.media.filter(({ mimeType = '' }) => mimeType.startsWith('audio/'));
}

/** One sentence a recording, in order. */
export function writeTranscript(recordings: readonly Blob[]): string {
  return recordings.map(describeRecording).join(' ');
}

/**
 * Fits a schema whose object holds `segments`: one segment a recording, spanning its length, with words
 * spread evenly over it where the schema has `words`. Undefined for any other schema.
 */
export function writeTimedTranscript(
  schema: JsonValue,
  recordings: readonly Blob[],
): JsonObject | undefined {
  const properties = isJsonObject(schema) ? schema.properties : undefined;
  if (!isJsonObject(properties) || !isJsonObject(properties.segments)) return undefined;
  const pieces = placeInTime(recordings);
  const words = pieces.flatMap(({ text, ...span }) => spreadWords(text, span));
  const known: JsonObject = {
    language: LANGUAGE,
    duration: pieces.at(-1)?.end ?? 0,
    segments: fitItems(properties.segments, pieces),
    ...(isJsonObject(properties.words) && {
      words: fitItems(
        properties.words,
        words.map(({ text, ...span }) => ({ ...span, word: text })),
      ),
    }),
  };
  const smallest = smallestInstance(schema);
  const fitting = Object.entries(known).filter(([name]) => name in properties);
  return { ...(isJsonObject(smallest) ? smallest : {}), ...Object.fromEntries(fitting) };
}

function describeRecording(blob: Blob): string {
  const sound = readSound(blob);
  if (sound === undefined) return `A recording: ${describeMedia(blob)}.`;
  const { durationSeconds, sampleRate, channels, bitsPerSample } = sound;
  const seconds = round(durationSeconds);
  const kind = channels === 1 ? 'one channel' : `${channels} channels`;
  return (
    `A recording of ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, ${sampleRate} Hz, ${kind}, ` +
    `${bitsPerSample} bits a sample; ${describePeak(findPeak(sound))}.`
  );
}

function describePeak(peak: number | undefined): string {
  if (peak === undefined) return 'its loudness cannot be told';
  if (peak === 0) return 'it is silent';
  return `its peak is ${Math.max(1, Math.round(peak * 100))} % of full scale`;
}

function placeInTime(recordings: readonly Blob[]): readonly TimedText[] {
  let start = 0;
  return recordings.map((blob) => {
    const end = round(start + (readSound(blob)?.durationSeconds ?? 0));
    const piece = { start, end, text: describeRecording(blob) };
    start = end;
    return piece;
  });
}

function spreadWords(text: string, { start, end }: Span): readonly TimedText[] {
  const words = text.split(' ');
  const share = (end - start) / words.length;
  return words.map((word, index) => ({
    start: round(start + index * share),
    end: round(start + (index + 1) * share),
    text: word,
  }));
}

/** What the items of the list must hold beside what is known of each. */
function fitItems(list: JsonObject, items: readonly JsonObject[]): JsonObject[] {
  const smallest = smallestInstance(list.items ?? {});
  return items.map((item) => ({ ...(isJsonObject(smallest) ? smallest : {}), ...item }));
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
