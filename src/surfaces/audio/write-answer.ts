// The audio routes of the OpenAI-style protocol, and their responses (`openai` resources/audio/transcriptions.d.ts).

import { GatewayError } from '../../canonical/error.ts';
import type { CanonicalEvent, ChoiceEnd } from '../../canonical/event.ts';
import type { Reply } from '../../canonical/fold.ts';
import { blockMessage } from '../../canonical/text-forms.ts';
import {
  inputTokens,
  NO_USAGE,
  outputTokens,
  totalTokens,
  type Usage,
} from '../../canonical/usage.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  readNumber,
} from '../../lib/json.ts';
import { writeErrorBody } from '../../protocols/chat/errors.ts';
import type { GenerateCall, RouteInput, StreamWriter } from '../../protocols/protocol.ts';
import { EVENT_STREAM_TYPE, eventFrame, FRAME_END } from '../../stream/sse.ts';
import { type AudioFormat, type AudioSettings, type AudioTask, readAudio } from './read-request.ts';

/** The official client gives text forms as they are, and knows them by their type. */
function textTypeOf(format: AudioFormat): string | undefined {
  switch (format) {
    case 'text':
    case 'srt':
      return 'text/plain; charset=utf-8';
    case 'vtt':
      return 'text/vtt; charset=utf-8';
    case 'json':
    case 'verbose_json':
      return undefined;
    default:
      return format satisfies never;
  }
}

/** @throws GatewayError for an unfinished one, and when the model gave no times for a timed form */
function writeTranscription(reply: Reply, { task, format, hasWords }: AudioSettings): JsonObject {
  const error = unfinishedError(reply.choices.map(({ end }) => end));
  if (error !== undefined) throw error;
  const text = textOf(reply);
  switch (format) {
    case 'json':
      return { text, usage: writeUsage(reply.usage) };
    case 'text':
      return { text: `${text}\n` };
    case 'srt':
      return { text: writeSrt(readTimedText(text)) };
    case 'vtt':
      return { text: writeVtt(readTimedText(text)) };
    case 'verbose_json':
      return writeVerbose(readTimedText(text), { task, hasWords });
    default:
      return format satisfies never;
  }
}

/** Figures the model does not give are neutral, not invented. */
function writeVerbose(
  timed: TimedText,
  { task, hasWords }: Pick<AudioSettings, 'task' | 'hasWords'>,
): JsonObject {
  return {
    task,
    language: timed.language,
    duration: timed.duration,
    text: plainText(timed),
    segments: timed.segments.map(({ start, end, text }, id) => ({
      id,
      seek: 0,
      start,
      end,
      text,
      tokens: [],
      temperature: 0,
      avg_logprob: 0,
      compression_ratio: 1,
      no_speech_prob: 0,
    })),
    ...(hasWords
      ? { words: timed.words.map(({ start, end, text }) => ({ word: text, start, end })) }
      : {}),
  };
}

function createTranscriptionWriter(): StreamWriter {
  let whole = '';
  let usage: Usage = NO_USAGE;
  const frame = (type: string, fields: JsonObject): string =>
    eventFrame(type, JSON.stringify({ type, ...fields }));
  const fail = (error: GatewayError): string => frame('error', writeErrorBody(error));
  const write = (event: CanonicalEvent): string => {
    switch (event.kind) {
      case 'start':
        usage = event.usage ?? usage;
        return '';
      case 'usage':
        usage = event.usage;
        return '';
      case 'block-delta': {
        if (event.delta.kind !== 'text' || event.delta.text === '') return '';
        whole += event.delta.text;
        return frame('transcript.text.delta', { delta: event.delta.text });
      }
      case 'finish': {
        const error = unfinishedError(event.choices);
        if (error !== undefined) return fail(error);
        return frame('transcript.text.done', { text: whole, usage: writeUsage(usage) });
      }
      case 'error':
        return fail(event.error);
      case 'block-start':
      case 'block-end':
      case 'grounding':
        return '';
      default:
        return event satisfies never;
    }
  };
  return { contentType: EVENT_STREAM_TYPE, write, keepAlive: () => `: keep-alive${FRAME_END}` };
}

function textOf({ choices }: Reply): string {
  const blocks = choices[0]?.blocks ?? [];
  return blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('');
}

function writeUsage(usage: Usage): JsonObject {
  const input = inputTokens(usage);
  const audio = usage.media?.audio;
  const details =
    audio === undefined
      ? {}
      : { input_token_details: { audio_tokens: audio, text_tokens: Math.max(0, input - audio) } };
  return {
    type: 'tokens',
    input_tokens: input,
    ...details,
    output_tokens: outputTokens(usage),
    total_tokens: totalTokens(usage),
  };
}

const FENCE = '```';

interface TimedText {
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
function readTimedText(text: string): TimedText {
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

function plainText({ segments }: TimedText): string {
  return segments
    .map(({ text }) => text.trim())
    .filter((text) => text !== '')
    .join(' ');
}

/** SubRip: numbered blocks, a comma before the milliseconds. */
function writeSrt({ segments }: TimedText): string {
  return segments
    .map(({ start, end, text }, index) => {
      const times = `${timeOf(start, ',')} --> ${timeOf(end, ',')}`;
      return `${index + 1}\n${times}\n${cueText(text)}\n\n`;
    })
    .join('');
}

/** WebVTT (W3C): a header, a point before the milliseconds. */
function writeVtt({ segments }: TimedText): string {
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

/**
 * This surface has no word for an answer that ends early: a part of the words would pass for all of
 * them. Undefined for a whole transcription.
 */
function unfinishedError(ends: readonly ChoiceEnd[]): GatewayError | undefined {
  for (const end of ends) {
    switch (end.reason) {
      case 'safety':
      case 'prompt-blocked':
        return new GatewayError({
          kind: 'upstream-rejected',
          source: 'upstream',
          reason: 'content-policy',
          field: 'file',
          message: blockMessage(end)?.text ?? 'The model refused to write this recording down.',
        });
      case 'max-tokens':
        return new GatewayError({
          kind: 'upstream-rejected',
          source: 'upstream',
          field: 'file',
          message: 'file: there is more to write down than one answer holds; split the recording.',
        });
      case 'stop':
      case 'stop-sequence':
      case 'tool-calls':
        break;
      default:
        end.reason satisfies never;
    }
  }
  return undefined;
}

/** @throws GatewayError 400 naming the field, 413 for a file that is too large */
export function readAudioCall(input: RouteInput, task: AudioTask): GenerateCall {
  const { model, stream, canonical: request, settings } = readAudio(input, task);
  return {
    protocol: 'chat',
    model,
    stream,
    bodySession: undefined,
    textType: textTypeOf(settings.format),
    request,
    createStreamWriter: () => createTranscriptionWriter(),
    writeReply: (reply) => writeTranscription(reply, settings),
  };
}
