// The route that speaks a text, of the OpenAI-style protocol (`openai` resources/audio/speech.d.ts).

import type { GatewayError } from '../canonical/error.ts';
import type { BlockOpening } from '../canonical/event.ts';
import type { Reply, ReplyBlock } from '../canonical/fold.ts';
import { SOUND_FORMATS, type SpokenText } from '../canonical/request.ts';
import { inputTokens, outputTokens, totalTokens, type Usage } from '../canonical/usage.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../lib/json.ts';
import { ANYTHING, numberIn, objectOf, STRING, wordOf } from '../protocols/body-schema.ts';
import { check, each, missingField, noteUnread, wrongType } from '../protocols/chat/schema.ts';
import type { GenerateCall, RouteInput, StreamWriter } from '../protocols/protocol.ts';
import {
  askOnce,
  createPieceWriter,
  rejected,
  requireModel,
  type Unfinished,
  unfinishedError,
} from './requests.ts';

const BODY = objectOf({
  ...each(['model', 'input', 'instructions'], STRING),
  voice: ANYTHING,
  response_format: wordOf(SOUND_FORMATS),
  speed: numberIn({ min: 0.25, max: 4 }),
  stream_format: wordOf(['audio', 'sse']),
});

/** The answer is the sound itself, or events with `stream_format: "sse"`. @throws GatewayError 400 naming the field */
export function readSpeechCall({ body: sent, receipt }: RouteInput): GenerateCall {
  const { value: body, unknown } = check(sent, BODY, '');
  const model = requireModel(body.model);
  const input = body.input ?? '';
  if (input.trim() === '') throw missingField('input');
  noteUnread(unknown, { path: '', receipt });
  const spoken: SpokenText = {
    voice: readVoice(body.voice),
    format: body.response_format ?? 'mp3',
    speed: readNumber(body.speed),
    instructions: body.instructions || undefined,
  };
  return {
    protocol: 'chat',
    model,
    stream: body.stream_format === 'sse',
    bodySession: undefined,
    answersBytes: true,
    request: askOnce([{ kind: 'text', text: input }], {
      outputModalities: ['audio'],
      spoken,
      clientNames: { messages: 'input', system: 'instructions' },
    }),
    createStreamWriter: () => createSpeechWriter(spoken),
    writeReply: (reply) => writeSpeech(reply, spoken),
  };
}

/** A name, or the id of a voice of one's own. */
function readVoice(voice: JsonValue | undefined): string {
  const name = isJsonObject(voice) ? voice.id : voice;
  if (name === undefined || name === null || name === '') throw missingField('voice');
  if (typeof name !== 'string') throw wrongType('voice', 'a string or an object with an id');
  return name;
}

/** `{mediaType, base64}`. @throws GatewayError for an answer without sound, or with a part of it */
function writeSpeech({ choices }: Reply, { format }: SpokenText): JsonObject {
  const error = unfinishedError(
    choices.map(({ end }) => end),
    UNFINISHED,
  );
  if (error !== undefined) throw error;
  const sound = joined(soundsIn(choices[0]?.blocks ?? []));
  if (sound === undefined) throw silent();
  return { ...soundAs(format, sound) };
}

function soundsIn(blocks: readonly (ReplyBlock | BlockOpening)[]): readonly Sound[] {
  return blocks.flatMap((block) =>
    block.kind === 'media' && block.mediaType.startsWith('audio/') ? [block] : [],
  );
}

/** Samples come in several pieces, and a file is written of all of them. */
function joined(sounds: readonly Sound[]): Sound | undefined {
  const [first] = sounds;
  if (first === undefined || sounds.length === 1) return first;
  const bytes = sounds.map(({ base64 }) => Buffer.from(base64, 'base64'));
  return { ...first, base64: Buffer.concat(bytes).toString('base64') };
}

function silent(): GatewayError {
  return rejected('input', 'input: the model answered without speaking; ask one that speaks.');
}

/** Samples of 16 bits, of one channel. */
const SAMPLES = /^audio\/(?:l16|pcm)\b/i;
const DEFAULT_RATE = 24_000;
const TYPES: ReadonlyMap<string, string> = new Map([['audio/mp3', 'audio/mpeg']]);

interface Sound {
  readonly mediaType: string;
  readonly base64: string;
}

/** Bare samples come in a file, as nothing but `pcm` says what they are; everything else comes as it is. */
function soundAs(format: SpokenText['format'], { mediaType, base64 }: Sound): Sound {
  if (!SAMPLES.test(mediaType)) return { mediaType: TYPES.get(mediaType) ?? mediaType, base64 };
  if (format === 'pcm') return { mediaType: 'audio/pcm', base64 };
  const rate = Number(/\brate=(\d+)/i.exec(mediaType)?.[1] ?? DEFAULT_RATE);
  const samples = Buffer.from(base64, 'base64');
  const file = Buffer.concat([wavHeader(samples.length, rate), samples]);
  return { mediaType: 'audio/wav', base64: file.toString('base64') };
}

/** RIFF, "WAVE": one channel of 16 bits. */
function wavHeader(length: number, rate: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(2 * rate, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(length, 40);
  return header;
}

function createSpeechWriter({ format }: SpokenText): StreamWriter {
  const sounds: Sound[] = [];
  return createPieceWriter({
    unfinished: UNFINISHED,
    pieceOf(event) {
      if (event.kind === 'block-start') sounds.push(...soundsIn([event.block]));
      return undefined;
    },
    last(usage) {
      const sound = joined(sounds);
      if (sound === undefined) return silent();
      return [
        { type: 'speech.audio.delta', audio: soundAs(format, sound).base64 },
        { type: 'speech.audio.done', usage: writeUsage(usage) },
      ];
    },
  });
}

function writeUsage(usage: Usage): JsonObject {
  return {
    input_tokens: inputTokens(usage),
    output_tokens: outputTokens(usage),
    total_tokens: totalTokens(usage),
  };
}

const UNFINISHED: Unfinished = {
  field: 'input',
  refused: 'The model refused to speak this text.',
  tooLong: 'there is more to say than one answer holds; split it.',
};
