// Transcriptions with times: read from the model's JSON, written as subtitles.

import { GatewayError } from '../../../canonical/error.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  readNumber,
} from '../../../lib/json.ts';

const FENCE = '```';

export interface TimedText {
  readonly language: string;
  /** Seconds. */
  readonly duration: number;
  readonly segments: readonly TimedPiece[];
  readonly words: readonly TimedPiece[];
}

interface TimedPiece {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** @throws GatewayError when the model's answer is not the JSON it was asked for */
export function readTimedText(text: string): TimedText {
  const value = parse(text);
  if (!isJsonObject(value)) throw unreadable();
  const segments = readPieces(value.segments, 'text');
  const last = segments.at(-1)?.end ?? 0;
  return {
    language: typeof value.language === 'string' ? value.language.toLowerCase() : 'unknown',
    duration: Math.max(readNumber(value.duration) ?? 0, last),
    segments,
    words: readPieces(value.words, 'word'),
  };
}

export function plainText({ segments }: TimedText): string {
  return segments
    .map(({ text }) => text.trim())
    .filter((text) => text !== '')
    .join(' ');
}

/** SubRip: numbered blocks, a comma before the milliseconds. */
export function writeSrt({ segments }: TimedText): string {
  return segments
    .map(({ start, end, text }, index) => {
      const times = `${timeOf(start, ',')} --> ${timeOf(end, ',')}`;
      return `${index + 1}\n${times}\n${cueText(text)}\n\n`;
    })
    .join('');
}

/** WebVTT (W3C): a header, a point before the milliseconds. */
export function writeVtt({ segments }: TimedText): string {
  const cues = segments.map(({ start, end, text }) => {
    const escaped = cueText(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    return `${timeOf(start, '.')} --> ${timeOf(end, '.')}\n${escaped}\n\n`;
  });
  return `WEBVTT\n\n${cues.join('')}`;
}

/** An empty line would end the cue. */
function cueText(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n');
}

function timeOf(seconds: number, point: string): string {
  const total = Math.round(seconds * 1000);
  const pad = (value: number, width = 2): string => String(value).padStart(width, '0');
  const [hours, minutes] = [Math.floor(total / 3_600_000), Math.floor(total / 60_000) % 60];
  const rest = Math.floor(total / 1000) % 60;
  return `${pad(hours)}:${pad(minutes)}:${pad(rest)}${point}${pad(total % 1000, 3)}`;
}

function readPieces(value: JsonValue | undefined, key: 'text' | 'word'): readonly TimedPiece[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).flatMap((piece) => readPiece(piece, key));
}

function readPiece(piece: JsonObject, key: 'text' | 'word'): readonly TimedPiece[] {
  const start = readNumber(piece.start);
  const end = readNumber(piece.end);
  const text = piece[key];
  if (start === undefined || end === undefined || typeof text !== 'string') return [];
  return [{ start: Math.max(0, start), end: Math.max(start, end), text }];
}

function parse(text: string): JsonValue {
  try {
    return parseJson(withoutFence(text.trim()));
  } catch {
    throw unreadable();
  }
}

function withoutFence(text: string): string {
  const begun = text.startsWith(FENCE) ? text.slice(FENCE.length).replace(/^json/, '') : text;
  return begun.endsWith(FENCE) ? begun.slice(0, -FENCE.length) : begun;
}

function unreadable(): GatewayError {
  return new GatewayError({
    kind: 'upstream-unavailable',
    source: 'upstream',
    message: 'The model gave no times with its transcription; ask for json or text, or try again.',
  });
}
