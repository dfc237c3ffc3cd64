// Sound: how a text is to be spoken, and what is to become of a recording.

import type { JsonValue } from '../lib/json.ts';

export const SOUND_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;

/** How a text is to be spoken, in the words of the OpenAI-style protocol. */
export interface SpokenText {
  /** A name, or the id of a voice of one's own. */
  readonly voice: string | { readonly id: string };
  readonly format: (typeof SOUND_FORMATS)[number];
  /** From 0.25 to 4; absent for the usual one. */
  readonly speed?: number | undefined;
  /** How to speak, in words. */
  readonly instructions?: string | undefined;
}

/** What is to become of the recording of a turn. */
export interface Transcription {
  readonly task: 'transcribe' | 'translate';
  /** What may be spoken; empty where nobody knows. */
  readonly languages: readonly string[];
  /** Words that may occur, spelt as they are to be written. */
  readonly keywords: readonly string[];
  /** What goes before the recording, or helps with names and spelling. */
  readonly prompt?: string | undefined;
  /** How the recording is cut, in the words of the public API. */
  readonly chunking?: JsonValue | undefined;
  /** Of what the times are told; those of what one speaker says with the speaker. */
  readonly times: 'nothing' | 'segments' | 'words' | 'speakers';
  /** Who may speak: names, and recordings of each as data URIs. */
  readonly speakers?:
    | { readonly names: readonly string[]; readonly heard: readonly string[] }
    | undefined;
}
