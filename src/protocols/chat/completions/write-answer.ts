// Writes answers as text completions, whole and streamed (`openai` resources/completions.d.ts).

import type { CanonicalEvent, ChoiceEnd, Logprobs } from '../../../canonical/event.ts';
import type { Reply, ReplyBlock, ReplyChoice } from '../../../canonical/fold.ts';
import { NO_USAGE, type Usage } from '../../../canonical/usage.ts';
import { dataFrame, EVENT_STREAM_TYPE, FRAME_END } from '../../../lib/event-stream.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ReplyContext, StreamWriter } from '../../protocol.ts';
import { type ShownBlock, writeFinishReason, writeMarkdown, writeUsage } from '../answer-shapes.ts';
import { writeErrorBody } from '../errors.ts';
import type { CompletionSettings } from './read-request.ts';

export function writeCompletion(
  reply: Reply,
  context: ReplyContext,
  settings: CompletionSettings,
): JsonObject {
  return {
    ...headOf(context),
    choices: reply.choices.map((choice) => writeChoice(choice, settings)),
    usage: writeUsage(reply.usage),
  };
}

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
function textOf(block: ReplyBlock): string {
  switch (block.kind) {
    case 'text':
      return block.text;
    case 'thinking':
    case 'tool-call':
      return '';
    default:
      return writeMarkdown(block);
  }
}

export function createCompletionWriter(
  context: ReplyContext,
  settings: CompletionSettings,
): StreamWriter {
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
        return isShown(event.block) ? text(event.choice, writeMarkdown(event.block)) : '';
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
        return event.choices.map(finish).join('') + last() + dataFrame('[DONE]');
      case 'error':
        return dataFrame(JSON.stringify(writeErrorBody(event.error)));
      default:
        return event satisfies never;
    }
  };
  return { contentType: EVENT_STREAM_TYPE, write, keepAlive: () => `: keep-alive${FRAME_END}` };
}

function isShown(block: { readonly kind: string }): block is ShownBlock {
  return block.kind === 'media' || block.kind === 'code' || block.kind === 'code-result';
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
