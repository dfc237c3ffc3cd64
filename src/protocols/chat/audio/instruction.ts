// The words that ask a model for a transcription, and the shape of one with times.

import type { JsonObject } from '../../../lib/json.ts';

export interface InstructionOptions {
  readonly task: 'transcribe' | 'translate';
  readonly isTimed: boolean;
  readonly hasWords: boolean;
  /** What may be spoken; empty when the client does not say. */
  readonly languages: readonly string[];
  /** Words that may occur, spelt as they are to be written. */
  readonly keywords: readonly string[];
  /** The client's own prompt: names and style to expect. */
  readonly hint: string | undefined;
}

const TIMED = { start: { type: 'number' }, end: { type: 'number' } } as const;

/** Times in seconds from the beginning of the recording. */
export const SEGMENTS_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    language: { type: 'string', description: 'Name of the spoken language, in English.' },
    duration: { type: 'number', description: 'Length of the recording in seconds.' },
    segments: {
      type: 'array',
      items: {
        type: 'object',
        properties: { ...TIMED, text: { type: 'string' } },
        required: ['start', 'end', 'text'],
      },
    },
    words: {
      type: 'array',
      items: {
        type: 'object',
        properties: { ...TIMED, word: { type: 'string' } },
        required: ['start', 'end', 'word'],
      },
    },
  },
  required: ['language', 'duration', 'segments'],
};

export function instructionOf(options: InstructionOptions): string {
  const { task, isTimed, hasWords, languages, keywords, hint } = options;
  const lines = [
    task === 'translate'
      ? 'Write down what is said in this recording, translated into English.'
      : 'Write down what is said in this recording, word for word, in its own language.',
    isTimed
      ? 'Divide it into segments of a sentence or a few seconds, with their times in seconds.'
      : 'Answer with these words alone, without comments, names of speakers or times.',
  ];
  if (isTimed && hasWords) lines.push('Give the times of every single word too.');
  if (languages.length === 1) lines.push(`The language is: ${languages[0]}`);
  if (languages.length > 1) lines.push(`The language is one of these: ${languages.join(', ')}`);
  if (keywords.length > 0) {
    lines.push(`These words may occur, and are spelt like this: ${keywords.join(', ')}`);
  }
  if (hint !== undefined && hint !== '') {
    lines.push(`What may help with names and spelling, not part of the recording: ${hint}`);
  }
  return lines.join('\n');
}
