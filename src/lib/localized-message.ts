// Sentences of the gateway that the console shows in the language of its reader.

import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { named, TEXT } from './object-schema.ts';

/** What is put into a sentence: a name, a value, a number, or another sentence. */
type SentenceParam = string | number | Sentence;

/** A text for people: a message, or a clause of one. Plain JSON. */
export interface Sentence {
  /** Its English template, with `{}` for each param, as gettext has it; null of a text from elsewhere. */
  readonly code: string | null;
  /** A list of `SentenceParam`; it may come from JSON. */
  readonly params: unknown;
  /** In English. */
  readonly text: string;
}

/** In the JSON of the admin API. */
export const MESSAGE_SCHEMA = named(
  'Message',
  {
    code: {
      type: ['string', 'null'],
      description:
        'Its English template, with `{}` for each param; null of a text from elsewhere, such as an upstream.',
    },
    // A list that may hold messages again has no type that can be read from its schema.
    params: {
      type: 'array',
      items: { anyOf: [TEXT, { type: 'number' }, { type: 'object', description: 'A `Message`.' }] },
      description: 'What stands in the template: names, values, and messages.',
    } as object,
    text: { ...TEXT, description: 'In English.' },
  },
  {
    description: 'A text for people, and what it is made of, for who says it in another language.',
  },
);

/** A message, with what it says at this place. */
export const messageSchema = (description: string) =>
  ({ description, allOf: [MESSAGE_SCHEMA] }) as const;

/** Makes a sentence, or a clause of one, from a template literal. Words that are put in stay English. */
export function told(parts: TemplateStringsArray, ...params: readonly SentenceParam[]): Sentence {
  const text = String.raw({ raw: parts }, ...params.map(textOf));
  return { code: parts.join('{}'), params, text };
}

/** The English text. */
export function textOf(value: SentenceParam): string {
  return typeof value === 'object' ? value.text : String(value);
}

/** A text from elsewhere as a sentence; a sentence stays as it is. */
export function asSentence(value: string | Sentence): Sentence {
  return typeof value === 'string' ? { code: null, params: [], text: value } : value;
}

/** What is wrong with a field, a clause without an end mark, as a sentence. */
export function onField(field: string, clause: string | Sentence): Sentence {
  return told`${field}: ${clause}.`;
}

/** Sentences of one list, with semicolons between those that have no end of their own. */
export function listed(sentences: readonly Sentence[]): Sentence {
  const [first = asSentence(''), ...others] = sentences;
  return others.reduce(
    (list, next) => (list.text.endsWith('.') ? told`${list} ${next}` : told`${list}; ${next}`),
    first,
  );
}

/** Whole sentences, one behind the other. */
export function inRow(sentences: readonly Sentence[]): Sentence {
  const [first = asSentence(''), ...others] = sentences;
  return others.reduce((row, next) => told`${row} ${next}`, first);
}

/** Each text once. */
export function distinct(sentences: readonly Sentence[]): Sentence[] {
  return [...new Map(sentences.map((sentence) => [sentence.text, sentence])).values()];
}

/** The sentence with every text of it changed: shortened, or without secrets. */
export function changeTexts(sentence: Sentence, change: (text: string) => string): Sentence {
  const params = paramsOf(sentence).map((param) => {
    if (typeof param === 'number') return param;
    return typeof param === 'string' ? change(param) : changeTexts(param, change);
  });
  return { code: sentence.code, params, text: change(sentence.text) };
}

/** An error whose message is for people. */
export class SpokenError extends Error {
  readonly sentence: Sentence;

  constructor(message: string | Sentence, cause?: unknown) {
    super(textOf(message), cause === undefined ? undefined : { cause });
    this.sentence = asSentence(message);
  }
}

/** What an error says to people. */
export function sentenceOf(error: Error): Sentence {
  return error instanceof SpokenError ? error.sentence : asSentence(error.message);
}

/** What went wrong, in English, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Of the operating system or of node, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

export function writeSentence(sentence: Sentence): JsonObject {
  const { code, text } = sentence;
  const params = paramsOf(sentence).map((one) =>
    typeof one === 'object' ? writeSentence(one) : one,
  );
  return { code, params, text };
}

/** What `writeSentence` wrote, or a text alone, as earlier versions stored it; undefined for anything else. */
export function readSentence(stored: JsonValue): Sentence | undefined {
  if (typeof stored === 'string') return asSentence(stored);
  if (!isJsonObject(stored) || typeof stored.text !== 'string') return undefined;
  const { code, params = [], text } = stored;
  return typeof code === 'string' ? { code, params, text } : asSentence(text);
}

/** Those that can be shown. */
export function paramsOf({ params }: Sentence): readonly SentenceParam[] {
  return Array.isArray(params) ? params.filter(isParam) : [];
}

function isParam(value: unknown): value is SentenceParam {
  if (typeof value === 'string' || typeof value === 'number') return true;
  return (
    typeof value === 'object' &&
    value !== null &&
    'text' in value &&
    typeof value.text === 'string' &&
    'code' in value &&
    'params' in value
  );
}
