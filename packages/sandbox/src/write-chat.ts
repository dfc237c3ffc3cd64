// Writes an answer in the form of the Chat wire, whole or as a stream.
// Source: the types of `openai` (resources/chat/completions); api-docs.deepseek.com, "Thinking Mode", for `reasoning_content`.

import type { JsonObject } from './json.ts';
import { type Answer, type Candidate, countOutputTokens, type IssuedCall } from './simulate.ts';
import type { Fault, Seals } from './state.ts';
import { cutIntoTokens, sumTokens } from './tokens.ts';
import { writeChatError } from './wire-errors.ts';
import { damage, type Frames, splitText } from './write-answer.ts';

export interface ChatForm {
  readonly seals: Seals;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly showsReasoning: boolean;
  /** Tools that take free text instead of arguments. */
  readonly customTools: ReadonlySet<string>;
  /** True where one function was named: the answer then ends as any other. */
  readonly isNamed: boolean;
  readonly includesUsage: boolean;
  /** How many other tokens each place is told with; undefined without logprobs. */
  readonly topLogprobs: number | undefined;
  readonly refuses: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

const BROKEN = 'data: {"id":"chatcmpl-\n\n';
const REFUSAL = "I'm sorry, I can't help with that.";

/** A fault's damage included. */
export function writeChatFrames(
  answer: Answer,
  form: ChatForm,
  { isStream, fault }: { isStream: boolean; fault: Fault },
): Frames {
  const { headers } = form;
  if (!isStream) {
    const text = fault.garbage === true ? BROKEN : JSON.stringify(writeWhole(answer, form, fault));
    return { contentType: 'application/json', headers, list: [text] };
  }
  const chunks = fault.emptyStream === true ? [] : writeChunks(answer, form);
  const list = damage(chunks.map(writeEvent), fault, {
    error: writeChatError,
    frame: writeEvent,
    broken: BROKEN,
  });
  const isEnded = fault.emptyStream !== true && fault.errorAfterEvents === undefined;
  return {
    contentType: 'text/event-stream; charset=utf-8',
    headers,
    list: isEnded ? [...list, 'data: [DONE]\n\n'] : list,
  };
}

function writeEvent(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

function writeBase({ responseId, modelId }: Answer, { created }: ChatForm, object: string) {
  return { id: responseId, object, created, model: modelId, system_fingerprint: 'fp_sandbox' };
}

/** What an answer holds; a blocked prompt has one that ends at once. */
const BLOCKED: Candidate = { thoughts: '', calls: [], text: '', finishReason: 'SAFETY' };

function candidatesOf({ candidates }: Answer): readonly Candidate[] {
  return candidates.length === 0 ? [BLOCKED] : candidates;
}

function writeWhole(answer: Answer, form: ChatForm, { emptyStream }: Fault): JsonObject {
  const choices = candidatesOf(answer).map((candidate, index) => ({
    index,
    message: writeMessage(candidate, form),
    logprobs: writeLogprobs(candidate.text, form),
    finish_reason: writeFinish(candidate, form),
  }));
  return {
    ...writeBase(answer, form, 'chat.completion'),
    choices: emptyStream === true ? [] : choices,
    usage: writeUsage(answer),
  };
}

function writeMessage(candidate: Candidate, form: ChatForm): JsonObject {
  const { calls, text } = candidate;
  if (form.refuses) return { role: 'assistant', content: null, refusal: REFUSAL };
  const thought = writeThought(candidate, form);
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(thought !== '' && { reasoning_content: thought }),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => writeCall(call, form)) }),
  };
}

function writeCall({ id, name, args }: IssuedCall, { customTools }: ChatForm) {
  return customTools.has(name)
    ? { id, type: 'custom', custom: { name, input: String(args.input ?? JSON.stringify(args)) } }
    : { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
}

function writeThought({ thoughts }: Candidate, { showsReasoning, seals }: ChatForm): string {
  return showsReasoning && thoughts !== '' ? `${thoughts} ${markOf(thoughts, seals)}` : '';
}

/** This wire has no signatures, so the thought itself ends with its mark. */
function markOf(thought: string, seals: Seals): string {
  return `[${Buffer.from(seals.issue('thinking', thought), 'base64').toString('hex').slice(2, 10)}]`;
}

/** The thought itself; undefined for one that was not issued here, or changed. */
export function readSealedThought(text: string, seals: Seals): string | undefined {
  const thought = text.slice(0, text.lastIndexOf(' '));
  return text === `${thought} ${markOf(thought, seals)}` ? thought : undefined;
}

function writeChunks(answer: Answer, form: ChatForm): JsonObject[] {
  const base = writeBase(answer, form, 'chat.completion.chunk');
  const usage = form.includesUsage ? { usage: null } : {};
  const chunks = candidatesOf(answer).flatMap((candidate, index) => {
    const chunk = (delta: JsonObject, finish_reason: string | null = null): JsonObject => {
      const text = typeof delta.content === 'string' ? delta.content : '';
      const logprobs = writeLogprobs(text, form);
      return { ...base, choices: [{ index, delta, logprobs, finish_reason }], ...usage };
    };
    return [
      ...listDeltas(candidate, form).map((delta) => chunk(delta)),
      chunk({}, writeFinish(candidate, form)),
    ];
  });
  const last = { ...base, choices: [], usage: writeUsage(answer) };
  return form.includesUsage ? [...chunks, last] : chunks;
}

function listDeltas(candidate: Candidate, form: ChatForm): JsonObject[] {
  const { text, calls } = candidate;
  const start: JsonObject = { role: 'assistant', content: calls.length > 0 ? null : '' };
  if (form.refuses) return [start, ...splitText(REFUSAL).map((refusal) => ({ refusal }))];
  return [
    { ...start, refusal: null },
    ...splitText(writeThought(candidate, form)).map((reasoning_content) => ({
      reasoning_content,
    })),
    ...splitText(text).map((content) => ({ content })),
    ...calls.flatMap((call, index) => listCallDeltas(call, index, form)),
  ];
}

/** The call with its name first, then the pieces of its arguments. */
function listCallDeltas(call: IssuedCall, index: number, form: ChatForm): JsonObject[] {
  const { id, type, function: plain, custom } = writeCall(call, form);
  const [words, piece] =
    plain === undefined
      ? [custom?.input ?? '', (input: string) => ({ custom: { input } })]
      : [plain.arguments, (text: string) => ({ function: { arguments: text } })];
  const opening =
    plain === undefined
      ? { custom: { name: call.name, input: '' } }
      : { function: { name: call.name, arguments: '' } };
  return [
    { tool_calls: [{ index, id, type, ...opening }] },
    ...splitText(words).map((text): JsonObject => ({ tool_calls: [{ index, ...piece(text) }] })),
  ];
}

/** Endings of the simulation in the words of this wire; others keep their own, in lower case. */
const FINISH_REASONS = new Map([
  ['MAX_TOKENS', 'length'],
  ['END_TURN', 'stop'],
  ['TOOL_USE', 'tool_calls'],
  ...['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'].map(
    (word) => [word, 'content_filter'] as const,
  ),
]);

function writeFinish({ finishReason, calls }: Candidate, { isNamed }: ChatForm): string {
  if (finishReason === 'STOP') return calls.length > 0 && !isNamed ? 'tool_calls' : 'stop';
  return FINISH_REASONS.get(finishReason) ?? finishReason.toLowerCase();
}

function writeUsage(answer: Answer): JsonObject {
  const { candidates, thinkingTokens, cachedTokens } = answer;
  const prompt = sumTokens(answer.prompt);
  const words = candidates.reduce(
    (sum, { text, calls }) => sum + thinkingTokens + countOutputTokens(text, calls),
    0,
  );
  const completion = Math.max(1, words);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cachedTokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: thinkingTokens * candidates.length,
      ...{ audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
    },
  };
}

/** The same request always gets the same words: each is certain, and the others are made up behind it. */
function writeLogprobs(text: string, { topLogprobs }: ChatForm): JsonObject | null {
  if (topLogprobs === undefined || text === '') return null;
  const content = cutIntoTokens(text).map((token) => {
    const bytes = [...Buffer.from(token)];
    const others = Array.from({ length: topLogprobs }, (_, rank) => ({
      ...{ token: rank === 0 ? token : `${token}${rank}`, logprob: -rank, bytes },
    }));
    return { token, logprob: 0, bytes, top_logprobs: others };
  });
  return { content, refusal: null };
}
