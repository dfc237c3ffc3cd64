// The words of an answer in the format asked for, cut where a stop sequence or the output limit ends it.

import type { JsonValue } from '../json.ts';
import { charactersFor, cutToTokens } from '../tokens.ts';
import type { GenerateRequest } from '../wire.ts';
import type { LastTurn } from './last-turn.ts';
import { GREETING, writeReflection, writeReflectionJson } from './reflection.ts';
import { smallestInstance } from './smallest-instance.ts';
import { writeToolResult } from './tool-result.ts';
import { recordingsToWriteDown, writeTimedTranscript, writeTranscript } from './transcript.ts';

export interface TextOrder {
  readonly request: GenerateRequest;
  readonly turn: LastTurn;
  /** What a plain answer reflects. */
  readonly sentences: readonly string[];
  /** Answer with so many numbered words instead. */
  readonly words: number | undefined;
  /** Room for the answer, in tokens; Infinity for no limit. */
  readonly maxTokens: number;
}

export interface ComposedText {
  readonly text: string;
  readonly finishReason: 'STOP' | 'MAX_TOKENS';
}

export function composeText(order: TextOrder): ComposedText {
  const whole = writeWhole(order);
  const within = cutToTokens(whole, order.maxTokens);
  const stopped = cutAtStop(within, order.request.generationConfig?.stopSequences ?? []);
  const isLimited = stopped.length === within.length && within.length < whole.length;
  return { text: stopped, finishReason: isLimited ? 'MAX_TOKENS' : 'STOP' };
}

function writeWhole(order: TextOrder): string {
  const config = order.request.generationConfig ?? {};
  if (config.responseMimeType === 'application/json') return JSON.stringify(writeJson(order));
  if (config.responseMimeType === 'text/x.enum') return config.responseSchema?.enum?.[0] ?? '';
  return writePlain(order);
}

function writePlain({ turn, words, sentences, maxTokens }: TextOrder): string {
  if (turn.results.length > 0) return writeToolResult(turn);
  const recordings = recordingsToWriteDown(turn);
  if (recordings.length > 0) return writeTranscript(recordings);
  if (words !== undefined) {
    return Array.from({ length: words }, (_, index) => `word-${index + 1}`).join(' ');
  }
  return writeReflection(sentences, charactersFor(maxTokens));
}

/** Free strings of a schema carry the plain answer, so that it still shows what arrived. */
function writeJson({ request, turn, sentences }: TextOrder): JsonValue {
  const { responseSchema, responseJsonSchema } = request.generationConfig ?? {};
  const hasResults = turn.results.length > 0;
  const schema = responseSchema ?? responseJsonSchema;
  if (schema !== undefined) {
    const plain: JsonValue = JSON.parse(JSON.stringify(schema));
    const recordings = recordingsToWriteDown(turn);
    const timed = recordings.length > 0 ? writeTimedTranscript(plain, recordings) : undefined;
    if (timed !== undefined) return timed;
    return smallestInstance(plain, hasResults ? writeToolResult(turn) : GREETING);
  }
  return hasResults ? { result: writeToolResult(turn) } : writeReflectionJson(sentences);
}

function cutAtStop(text: string, sequences: readonly string[]): string {
  const ends = sequences.map((sequence) => text.indexOf(sequence)).filter((at) => at >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}
