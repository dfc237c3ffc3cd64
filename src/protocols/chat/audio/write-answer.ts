// Writes transcriptions, whole in five forms and streamed (`openai` resources/audio/transcriptions.d.ts).

import type { GatewayError } from '../../../canonical/error.ts';
import type { CanonicalEvent } from '../../../canonical/event.ts';
import type { Reply } from '../../../canonical/fold.ts';
import {
  inputTokens,
  NO_USAGE,
  outputTokens,
  totalTokens,
  type Usage,
} from '../../../canonical/usage.ts';
import { EVENT_STREAM_TYPE, eventFrame, FRAME_END } from '../../../lib/event-stream.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { StreamWriter } from '../../protocol.ts';
import { writeErrorBody } from '../errors.ts';
import type { AudioFormat, AudioSettings } from './read-request.ts';
import { plainText, readTimedText, type TimedText, writeSrt, writeVtt } from './timed-text.ts';
import { unfinishedError } from './unfinished.ts';

/** The official client gives text forms as they are, and knows them by their type. */
export function textTypeOf(format: AudioFormat): string | undefined {
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
export function writeTranscription(
  reply: Reply,
  { task, format, hasWords }: AudioSettings,
): JsonObject {
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

export function createTranscriptionWriter(): StreamWriter {
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
