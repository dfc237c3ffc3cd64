// The text completion surface of the OpenAI-style protocol: how a request is read and answered.

import { invalidRequest } from '../canonical/error.ts';
import type { BlockOpening, CanonicalEvent, ChoiceEnd } from '../canonical/event.ts';
import type { ReplyBlock, ReplyChoice } from '../canonical/fold.ts';
import type { Logprobs } from '../canonical/logprobs.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { CanonicalRequest, TextPart } from '../canonical/request.ts';
import { NO_USAGE, type Usage } from '../canonical/usage.ts';
import { type JsonObject, type JsonValue, readNumber } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import {
  ANYTHING,
  BOOLEAN,
  numberIn,
  objectOf,
  STRING,
  type ValueOf,
} from '../protocols/body-schema.ts';
import {
  LAST_FRAME,
  STREAM,
  writeFinishReason,
  writeMarkdown,
  writeUsage,
} from '../protocols/chat/answer-parts.ts';
import { writeStreamError } from '../protocols/chat/errors.ts';
import { readSampling, readStops, refuseCachedContent } from '../protocols/chat/read-request.ts';
import {
  CHOICES,
  COUNT,
  each,
  missingField,
  readAll,
  SAMPLING,
  SEED,
  STREAM_OPTIONS,
  unsupported,
  wrongType,
} from '../protocols/chat/schema.ts';
import type { GenerateCall, RouteInput } from '../protocols/protocol.ts';
import type { ReplyContext, StreamWriter } from '../protocols/writers.ts';
import { dataFrame } from '../stream/sse.ts';
import { askOnce, requireModel } from './requests.ts';

/** What a request settles about the form of its answer. */
interface CompletionSettings {
  /** Texts put before the answers, one a prompt; empty when no echo is wanted. */
  readonly echoes: readonly string[];
  /** Answers of each prompt. */
  readonly answersPerPrompt: number;
  readonly includeUsage: boolean;
}

const BODY = objectOf({
  ...each(['model', 'suffix', 'user'], STRING),
  ...each(['prompt', 'stop'], ANYTHING),
  ...each(['stream', 'echo'], BOOLEAN),
  stream_options: STREAM_OPTIONS,
  n: CHOICES,
  best_of: numberIn({ min: 1, max: 20, integer: true }),
  logprobs: numberIn({ min: 0, max: 5, integer: true }),
  max_tokens: COUNT,
  ...SAMPLING,
  seed: SEED,
});
type Body = ValueOf<typeof BODY>;

const MAX_PROMPTS = 20;
/** The protocol's own default (`openai` resources/completions.d.ts). */
const DEFAULT_MAX_TOKENS = 16;

/** Several prompts are asked at the same time. @throws GatewayError 400 naming the field */
export function readCompletionCall({ body: sent, receipt }: RouteInput): GenerateCall {
  refuseCachedContent(sent);
  const body = readAll(sent, BODY, { path: '', receipt });
  const model = requireModel(body.model);
  const prompts = readPrompts(body.prompt);
  const answersPerPrompt = readNumber(body.n) ?? 1;
  if ((readNumber(body.best_of) ?? answersPerPrompt) !== answersPerPrompt) {
    const text = 'answers are not rated here; leave it out, or ask for several with n.';
    throw unsupported('best_of', text);
  }
  const asked = readAsked(body, receipt, answersPerPrompt);
  const [request, ...others] = prompts.map((text) => askOnce([{ kind: 'text', text }], asked));
  if (request === undefined) throw missingField('prompt');
  const settings = {
    echoes: body.echo === true ? prompts : [],
    answersPerPrompt,
    includeUsage: body.stream_options?.include_usage ?? false,
  };
  return {
    protocol: 'chat',
    model,
    stream: body.stream ?? false,
    bodySession: body.user ?? undefined,
    request,
    fanOut:
      others.length === 0 ? undefined : { requests: [request, ...others], takesPartial: false },
    createStreamWriter: (context) => createCompletionWriter(context, settings),
    writeReply: (reply, context) => ({
      ...headOf(context),
      choices: reply.choices.map((choice) => writeChoice(choice, settings)),
      usage: writeUsage(reply.usage),
    }),
  };
}

/** A text or several. @throws GatewayError 400 for prompts of tokens: only their model knows what they say. */
function readPrompts(value: JsonValue | undefined): readonly string[] {
  if (value === undefined || value === null) throw missingField('prompt');
  const prompts = Array.isArray(value) ? value : [value];
  if (prompts.length > MAX_PROMPTS) {
    throw invalidRequest('prompt', `prompt may hold at most ${MAX_PROMPTS} texts.`);
  }
  return prompts.map((prompt, index) => {
    const path = Array.isArray(value) ? `prompt[${index}]` : 'prompt';
    if (typeof prompt === 'number' || Array.isArray(prompt)) {
      throw unsupported(path, 'prompts of token numbers are not supported; send the text.');
    }
    if (typeof prompt !== 'string') throw wrongType(path, 'a string');
    if (prompt === '') throw invalidRequest(path, `${path} is empty.`);
    return prompt;
  });
}

function readAsked(body: Body, receipt: Receipt, choices: number): Partial<CanonicalRequest> {
  const alternatives = readNumber(body.logprobs);
  if (alternatives !== undefined && body.echo === true) {
    receipt.add('approximated', 'logprobs', told`The echoed prompt has no log-probabilities.`);
  }
  return {
    system: readSuffix(body.suffix ?? '', receipt),
    sampling: {
      ...readSampling(body),
      seed: readNumber(body.seed),
      logprobs: alternatives === undefined ? undefined : { alternatives },
    },
    maxOutputTokens: readNumber(body.max_tokens) ?? DEFAULT_MAX_TOKENS,
    stopSequences: readStops(body.stop, receipt),
    choices,
  };
}

/** A chat model cannot fill a gap; it can be told what comes behind it. */
function readSuffix(suffix: string, receipt: Receipt): readonly TextPart[] {
  if (suffix === '') return [];
  receipt.add('approximated', 'suffix', told`The model is told the text that follows its answer.`);
  const text =
    'Answer only with the text that belongs between the given text and this text, ' +
    `which follows it:\n${suffix}`;
  return [{ kind: 'text', text }];
}

/** Format: `openai` resources/completions.d.ts. */
function writeChoice({ end, blocks }: ReplyChoice, settings: CompletionSettings): JsonObject {
  const echo = echoOf(end.choice, settings);
  return {
    index: end.choice,
    text: echo + blocks.map(textOf).join(''),
    logprobs: writeLogprobs(end.logprobs, echo.length),
    finish_reason: finishOf(end),
  };
}

/** Thoughts have no place in this form, and calls cannot have been asked for. */
function textOf(block: ReplyBlock | BlockOpening): string {
  switch (block.kind) {
    case 'text':
      return 'text' in block ? block.text : '';
    case 'thinking':
    case 'tool-call':
      return '';
    default:
      return writeMarkdown(block);
  }
}

function createCompletionWriter(context: ReplyContext, settings: CompletionSettings): StreamWriter {
  const head = headOf(context);
  const choices = new Map<number, number>();
  const echoed = new Set<number>();
  let usage: Usage = NO_USAGE;
  const chunk = (choice: JsonObject): string =>
    dataFrame(JSON.stringify({ ...head, choices: [choice] }));
  const text = (index: number, piece: string): string => {
    const echo = echoed.has(index) ? '' : echoOf(index, settings);
    echoed.add(index);
    if (echo + piece === '') return '';
    return chunk({ index, text: echo + piece, logprobs: null, finish_reason: null });
  };
  const finish = (end: ChoiceEnd): string =>
    text(end.choice, '') +
    chunk({
      index: end.choice,
      text: '',
      logprobs: writeLogprobs(end.logprobs, echoOf(end.choice, settings).length),
      finish_reason: finishOf(end),
    });
  const last = (): string =>
    settings.includeUsage
      ? dataFrame(JSON.stringify({ ...head, choices: [], usage: writeUsage(usage) }))
      : '';
  const write = (event: CanonicalEvent): string => {
    switch (event.kind) {
      case 'start':
        usage = event.usage ?? usage;
        return '';
      case 'block-start':
        choices.set(event.index, event.choice);
        return text(event.choice, textOf(event.block));
      case 'block-delta':
        return event.delta.kind === 'text'
          ? text(choices.get(event.index) ?? 0, event.delta.text)
          : '';
      case 'usage':
        usage = event.usage;
        return '';
      case 'block-end':
      case 'grounding':
        return '';
      case 'finish':
        return event.choices.map(finish).join('') + last() + LAST_FRAME;
      case 'error':
        return writeStreamError(event.error);
      default:
        return event satisfies never;
    }
  };
  return { ...STREAM, write };
}

function headOf({ createId, createdAt, model }: ReplyContext): JsonObject {
  return { id: createId('cmpl-'), object: 'text_completion', created: createdAt, model };
}

/** There are no calls in this form, and so no word for an end by them. */
function finishOf(end: ChoiceEnd): string {
  const plain = end.reason === 'tool-calls' ? { ...end, reason: 'stop' as const } : end;
  return writeFinishReason(plain, false, 'tool_calls');
}

/** Answers stand prompt by prompt. */
function echoOf(choice: number, { echoes, answersPerPrompt }: CompletionSettings): string {
  return echoes[Math.floor(choice / answersPerPrompt)] ?? '';
}

/** The old form: parallel lists, with offsets into the whole text. */
function writeLogprobs(logprobs: Logprobs | undefined, start: number): JsonObject | null {
  if (logprobs === undefined || logprobs.tokens.length === 0) return null;
  const offsets: number[] = [];
  let offset = start;
  for (const { token } of logprobs.tokens) {
    offsets.push(offset);
    offset += token.length;
  }
  return {
    tokens: logprobs.tokens.map(({ token }) => token),
    token_logprobs: logprobs.tokens.map(({ logprob }) => logprob),
    top_logprobs: logprobs.tokens.map(({ alternatives }) =>
      Object.fromEntries(alternatives.map(({ token, logprob }) => [token, logprob])),
    ),
    text_offset: offsets,
  };
}
