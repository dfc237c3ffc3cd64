// Decodes what endpoints for pictures, recordings and speech answer, whole or as a stream, into canonical events.

import type { BlockOpening, CanonicalEvent } from '../../canonical/event.ts';
import { sniffMediaType } from '../../canonical/media.ts';
import type { Usage } from '../../canonical/usage.ts';
import { type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { DONE } from '../../wire/chat.ts';
import { answerFault, pathFault } from '../errors.ts';
import { countOf, itemsOf, objectOf, objectsOf, textOf } from '../read-values.ts';
import type { DecodeContext, Decoder } from '../upstream.ts';
import { classifyErrorFrame } from './errors.ts';

/** Samples of 16 bits, 24,000 a second (`openai` resources/audio/speech). */
const PCM_TYPE = 'audio/L16;codec=pcm;rate=24000';

/** The last event of a stream is recognized by its type; a whole answer is one frame. */
export class MediaDecoder implements Decoder {
  readonly #context: DecodeContext;
  readonly #now: () => number;
  /** True once anything came. */
  #hasArrived = false;
  /** True once something was answered, be it a silence. */
  #hasAnswer = false;
  /** True once the answer is known to be whole. */
  #isWhole = false;
  #hasStarted = false;
  #hasEnded = false;
  #nextIndex = 0;
  /** The index of the text that goes on. */
  #openText: number | undefined;
  #sound: Buffer[] = [];
  #usage: Usage | undefined;

  constructor(context: DecodeContext, now: () => number) {
    this.#context = context;
    this.#now = now;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  push(frame: JsonObject): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.#hasEnded || frame === DONE) return events;
    const { type, error } = frame;
    if (type === 'error' || (error !== undefined && error !== null)) {
      this.#hasEnded = true;
      const fault = classifyErrorFrame(error ?? frame, this.#now(), this.#secrets());
      return [{ kind: 'error', error: fault }];
    }
    this.#hasArrived = true;
    this.#usage = readUsage(frame.usage) ?? this.#usage;
    switch (this.#context.body?.endpoint) {
      case 'audio/speech':
        this.#readSound(frame);
        break;
      case 'audio/transcriptions':
      case 'audio/translations':
        this.#readWords(frame, events);
        break;
      default:
        this.#readPictures(frame, events);
    }
    return events;
  }

  end(): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.#hasEnded) return events;
    this.#hasEnded = true;
    this.#giveSound(events);
    this.#closeText(events);
    if (this.#usage !== undefined) events.push({ kind: 'usage', usage: this.#usage });
    if (!this.#hasArrived) {
      const error = pathFault(told`The upstream closed without an answer.`);
      return [...events, { kind: 'error', error }];
    }
    if (!this.#isWhole) {
      const error = pathFault(told`The upstream cut its answer off.`);
      return [...events, { kind: 'error', error }];
    }
    if (!this.#hasAnswer) {
      const said = { finishReason: undefined, finishMessage: undefined, secrets: this.#secrets() };
      const error = answerFault(told`The model gave an empty answer.`, said);
      return [...events, { kind: 'error', error }];
    }
    const end = { choice: 0, reason: 'stop', rawReason: 'stop' } as const;
    return [...events, { kind: 'finish', choices: [end] }];
  }

  /** `{data: [{b64_json}]}`, or events that end in `partial_image` and `completed`. */
  #readPictures(frame: JsonObject, events: CanonicalEvent[]): void {
    const { type, data, output_format: format } = frame;
    const name = textOf(type) ?? '';
    if (Array.isArray(data)) {
      this.#isWhole = true;
      for (const { b64_json, url } of objectsOf(data)) {
        this.#addPicture({ base64: b64_json, url, format }, events);
      }
      this.#start(events);
    } else if (name.endsWith('.partial_image')) {
      if (this.#context.showsDrafts !== true) return;
      const base64 = textOf(frame.b64_json) ?? '';
      const mediaType = pictureType(base64, format);
      this.#addBlock({ kind: 'media', mediaType, base64, isDraft: true }, events);
    } else if (name.endsWith('.completed')) {
      this.#isWhole = true;
      this.#addPicture({ base64: frame.b64_json, url: undefined, format }, events);
    }
  }

  /** Some servers give addresses whatever is asked for: data URIs hold the picture, others lead to it. */
  #addPicture(
    given: Readonly<Record<'base64' | 'url' | 'format', JsonValue | undefined>>,
    events: CanonicalEvent[],
  ): void {
    const url = textOf(given.url) ?? '';
    const base64 = textOf(given.base64) ?? /^data:[\w.+/-]+;base64,(.*)$/s.exec(url)?.[1] ?? '';
    if (base64 !== '') {
      this.#hasAnswer = true;
      this.#addBlock(
        { kind: 'media', mediaType: pictureType(base64, given.format), base64 },
        events,
      );
    } else if (/^https?:\/\/[^\s<>()]+$/.test(url)) this.#addText(`![image](${url})`, events);
  }

  /** `{text}`, with times where they were asked for, or deltas and the whole text behind them. */
  #readWords(frame: JsonObject, events: CanonicalEvent[]): void {
    const { type, text, delta } = frame;
    if (type === 'transcript.text.delta') {
      this.#addText(textOf(delta) ?? '', events);
      return;
    }
    if (typeof text !== 'string') return;
    if (type !== undefined && type !== 'transcript.text.done') return;
    this.#isWhole = true;
    const isTimed = this.#context.body?.response_format === 'verbose_json';
    // What is behind the deltas repeats them.
    if (this.#openText === undefined) this.#addText(isTimed ? timedText(frame) : text, events);
    this.#hasAnswer = true;
    this.#start(events);
  }

  /** The sound itself, pieces of it and a last event, or `{audio_data}` (docs.mistral.ai, "Audio & Speech"). */
  #readSound({ type, audio, audio_data: whole, done }: JsonObject): void {
    const piece = textOf(audio) ?? textOf(whole);
    if (piece !== undefined) this.#sound.push(Buffer.from(piece, 'base64'));
    if (type === 'speech.audio.done' || done === true || whole !== undefined) this.#isWhole = true;
  }

  #giveSound(events: CanonicalEvent[]): void {
    const sound = Buffer.concat(this.#sound);
    if (sound.length === 0) return;
    this.#hasAnswer = true;
    const format = textOf(this.#context.body?.response_format) ?? 'mp3';
    const mediaType = format === 'pcm' ? PCM_TYPE : `audio/${format}`;
    this.#addBlock({ kind: 'media', mediaType, base64: sound.toString('base64') }, events);
  }

  #addText(text: string, events: CanonicalEvent[]): void {
    if (text === '') return;
    this.#hasAnswer = true;
    this.#start(events);
    if (this.#openText === undefined) {
      this.#openText = this.#nextIndex;
      this.#nextIndex += 1;
      const index = this.#openText;
      events.push({ kind: 'block-start', index, choice: 0, block: { kind: 'text' } });
    }
    events.push({ kind: 'block-delta', index: this.#openText, delta: { kind: 'text', text } });
  }

  #closeText(events: CanonicalEvent[]): void {
    if (this.#openText === undefined) return;
    events.push({ kind: 'block-end', index: this.#openText });
    this.#openText = undefined;
  }

  #addBlock(block: BlockOpening, events: CanonicalEvent[]): void {
    this.#start(events);
    this.#closeText(events);
    const index = this.#nextIndex;
    this.#nextIndex += 1;
    events.push({ kind: 'block-start', index, choice: 0, block }, { kind: 'block-end', index });
  }

  #start(events: CanonicalEvent[]): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    events.push({ kind: 'start', usage: this.#usage });
  }

  #secrets(): readonly string[] {
    const { access } = this.#context;
    return access === undefined ? [] : [access.credential];
  }
}

/** Its bytes tell, else the upstream. */
function pictureType(base64: string, format: JsonValue | undefined): string {
  return sniffMediaType(base64) ?? `image/${textOf(format) ?? 'png'}`;
}

/** As models write it that are asked for it in words: the surfaces read the same form. */
function timedText({ language, duration, segments, words }: JsonObject): string {
  const seconds = readNumber(duration) ?? Number(textOf(duration) ?? 0);
  return JSON.stringify({
    language: language ?? 'unknown',
    duration: Number.isFinite(seconds) ? seconds : 0,
    segments: [...itemsOf(segments)],
    words: [...itemsOf(words)],
  });
}

/** Those in tokens; some models count seconds, which nothing here does. */
function readUsage(value: JsonValue | undefined): Usage | undefined {
  const usage = objectOf(value);
  const input = countOf(usage?.input_tokens) ?? countOf(usage?.prompt_tokens);
  const output = countOf(usage?.output_tokens) ?? countOf(usage?.completion_tokens);
  if (usage === undefined || (input === undefined && output === undefined)) return undefined;
  const details = objectOf(usage.input_tokens_details) ?? objectOf(usage.input_token_details);
  const image = countOf(details?.image_tokens) ?? 0;
  const audio = countOf(details?.audio_tokens) ?? 0;
  const drawn = countOf(objectOf(usage.output_tokens_details)?.image_tokens) ?? 0;
  return {
    promptTokens: input ?? 0,
    cachedTokens: 0,
    toolPromptTokens: 0,
    answerTokens: output ?? 0,
    thoughtTokens: 0,
    ...(image + audio > 0 ? { media: { image, audio } } : {}),
    ...(drawn > 0 ? { answerMedia: { image: drawn, audio: 0 } } : {}),
  };
}
