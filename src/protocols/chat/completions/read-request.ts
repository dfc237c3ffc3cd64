// Reads one text completion request: each prompt becomes a conversation of one question.

import { invalidRequest } from '../../../canonical/error.ts';
import { objectShape } from '../../../canonical/field-shapes.ts';
import { plainModelName } from '../../../canonical/model-name.ts';
import { type Receipt, told } from '../../../canonical/receipt.ts';
import type { CanonicalRequest, TextPart } from '../../../canonical/request.ts';
import type { JsonObject, JsonValue } from '../../../lib/json.ts';
import {
  missingField,
  readBoolean,
  readNumberIn,
  readObject,
  readString,
  wrongType,
} from '../fields.ts';
import { noteUnreadFields } from '../note-fields.ts';
import { createReadContext } from '../read-context.ts';
import { readStops } from '../read-sampling.ts';
import { refuseCachedContent } from '../refuse-cached-content.ts';

export interface CompletionRequest {
  readonly model: string;
  readonly stream: boolean;
  /** One for each prompt. */
  readonly requests: readonly [CanonicalRequest, ...CanonicalRequest[]];
  readonly settings: CompletionSettings;
}

/** What a request settles about the form of its answer. */
export interface CompletionSettings {
  /** Texts put before the answers, one a prompt; empty when no echo is wanted. */
  readonly echoes: readonly string[];
  /** Answers of each prompt. */
  readonly answersPerPrompt: number;
  readonly includeUsage: boolean;
}

const KNOWN_FIELDS = objectShape([
  ...['model', 'prompt', 'max_tokens', 'suffix', 'echo', 'n', 'best_of', 'logprobs', 'stop'],
  ...['stream', 'stream_options', 'temperature', 'top_p', 'presence_penalty'],
  ...['frequency_penalty', 'seed', 'user'],
]);

const MOST_PROMPTS = 20;
/** The protocol's own default (`openai` resources/completions.d.ts). */
const DEFAULT_MAX_TOKENS = 16;

/** @throws GatewayError (invalid-request) naming the field. */
export function readCompletionRequest(body: JsonObject, receipt: Receipt): CompletionRequest {
  const context = createReadContext(receipt);
  const model = readModel(body);
  refuseCachedContent(body);
  const prompts = readPrompts(body.prompt);
  const answersPerPrompt = readNumberIn(body.n, 'n', { min: 1, max: 128, integer: true }) ?? 1;
  refuseBestOf(body, answersPerPrompt);
  const base = readBase(body, receipt, answersPerPrompt);
  const [first, ...rest] = prompts.map((prompt) => ({
    ...base,
    turns: [{ role: 'user' as const, parts: [{ kind: 'text' as const, text: prompt }] }],
  }));
  if (first === undefined) throw missingField('prompt');
  noteUnreadFields(body, { known: KNOWN_FIELDS, path: '', context });
  const streamOptions = readObject(body, 'stream_options') ?? {};
  return {
    model,
    stream: readBoolean(body, 'stream') ?? false,
    requests: [first, ...rest],
    settings: {
      echoes: readBoolean(body, 'echo') === true ? prompts : [],
      answersPerPrompt,
      includeUsage: readBoolean(streamOptions, 'include_usage', 'stream_options') ?? false,
    },
  };
}

function readModel(body: JsonObject): string {
  const name = plainModelName(readString(body, 'model') ?? '');
  if (name === '') throw missingField('model');
  return name;
}

/** A text or several. @throws GatewayError 400 for prompts of tokens: only their model knows what they say. */
function readPrompts(value: JsonValue | undefined): readonly string[] {
  if (value === undefined || value === null) throw missingField('prompt');
  const prompts = Array.isArray(value) ? value : [value];
  if (prompts.length === 0) throw missingField('prompt');
  if (prompts.length > MOST_PROMPTS) {
    throw invalidRequest('prompt', `prompt may hold at most ${MOST_PROMPTS} texts.`);
  }
  return prompts.map((prompt, index) => {
    const path = Array.isArray(value) ? `prompt[${index}]` : 'prompt';
    if (typeof prompt === 'number' || Array.isArray(prompt)) {
      throw invalidRequest(
        path,
        `${path}: prompts of token numbers are not supported; send the text.`,
        'unsupported',
      );
    }
    if (typeof prompt !== 'string') throw wrongType(path, 'a string');
    if (prompt === '') throw invalidRequest(path, `${path} is empty.`);
    return prompt;
  });
}

function refuseBestOf(body: JsonObject, answers: number): void {
  const bestOf = readNumberIn(body.best_of, 'best_of', { min: 1, max: 20, integer: true });
  if (bestOf === undefined || bestOf === answers) return;
  throw invalidRequest(
    'best_of',
    'best_of: answers are not rated here; leave it out, or ask for several with n.',
    'unsupported',
  );
}

/** Clients of this surface know no thoughts, and their small limits leave no room for any. */
function readBase(
  body: JsonObject,
  receipt: Receipt,
  choices: number,
): Omit<CanonicalRequest, 'turns'> {
  const penalty = { min: -2, max: 2 };
  const alternatives = readNumberIn(body.logprobs, 'logprobs', { min: 0, max: 5, integer: true });
  return {
    system: readSuffix(body, receipt),
    tools: [],
    toolChoice: { kind: 'auto', names: [] },
    sampling: {
      temperature: readNumberIn(body.temperature, 'temperature', { min: 0, max: 2 }),
      topP: readNumberIn(body.top_p, 'top_p', { min: 0, max: 1 }),
      seed: readNumberIn(body.seed, 'seed', { integer: true }),
      presencePenalty: readNumberIn(body.presence_penalty, 'presence_penalty', penalty),
      frequencyPenalty: readNumberIn(body.frequency_penalty, 'frequency_penalty', penalty),
      logprobs: alternatives === undefined ? undefined : { alternatives },
    },
    maxOutputTokens:
      readNumberIn(body.max_tokens, 'max_tokens', { min: 1, integer: true }) ?? DEFAULT_MAX_TOKENS,
    stopSequences: readStops(body, createReadContext(receipt)),
    choices,
    reasoning: { amount: { kind: 'off', isUnasked: true }, showThoughts: false },
    outputFormat: { kind: 'text' },
    safety: [],
  };
}

/** A chat model cannot fill a gap; it can be told what comes behind it. */
function readSuffix(body: JsonObject, receipt: Receipt): readonly TextPart[] {
  const suffix = readString(body, 'suffix');
  if (suffix === undefined || suffix === '') return [];
  receipt.add('approximated', 'suffix', told`The model is told the text that follows its answer.`);
  const text =
    'Answer only with the text that belongs between the given text and this text, ' +
    `which follows it:\n${suffix}`;
  return [{ kind: 'text', text }];
}
