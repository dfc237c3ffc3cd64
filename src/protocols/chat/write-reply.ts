// Writes one finished answer as a chat completion.

import type { Reply, ReplyChoice } from '../../canonical/fold.ts';
import { blockMessage } from '../../canonical/text-forms.ts';
import type { ChatChoice, ChatCompletion, ChatMessage, ChatToolCall } from '../../wire/chat.ts';
import type { ReplyContext } from '../writers.ts';
import {
  type AnswerOptions,
  ContentText,
  writeAnnotations,
  writeCall,
  writeFinishReason,
  writeFreeformInput,
  writeImage,
  writeLogprobs,
  writeMarkdown,
  writeTier,
  writeUsage,
} from './answer-parts.ts';

/** The shape of `openai` resources/chat/completions/completions.d.ts, `ChatCompletion`. */
export function writeReply(
  reply: Reply,
  context: ReplyContext,
  options: AnswerOptions,
): ChatCompletion {
  return {
    id: context.createId('chatcmpl-'),
    object: 'chat.completion',
    created: context.createdAt,
    model: context.model,
    choices: reply.choices.map((choice) => writeChoice(choice, options)),
    ...writeTier(reply.serviceTier),
    usage: writeUsage(reply.usage),
  };
}

function writeChoice(choice: ReplyChoice, options: AnswerOptions): ChatChoice {
  const hasCalls = choice.blocks.some((block) => block.kind === 'tool-call');
  const { stopSequence: stop } = choice.end;
  return {
    index: choice.end.choice,
    message: writeMessage(choice, options),
    logprobs: writeLogprobs(choice.end),
    finish_reason: writeFinishReason(choice.end, hasCalls, options.callForm),
    ...(stop === undefined ? {} : { stop_reason: stop }),
  };
}

function writeMessage(choice: ReplyChoice, options: AnswerOptions): ChatMessage {
  const content = new ContentText();
  const message: ChatMessage = {
    role: 'assistant',
    content: null,
    refusal: blockMessage(choice.end)?.text ?? null,
    annotations: [],
  };
  let text = '';
  const calls: ChatToolCall[] = [];
  for (const block of choice.blocks) {
    switch (block.kind) {
      case 'text':
        text += content.addText(block.text);
        break;
      case 'thinking':
        if (block.text === '') break;
        message.reasoning_content = (message.reasoning_content ?? '') + block.text;
        break;
      case 'tool-call': {
        const isFree = options.freeformTools.has(block.name);
        const given = isFree ? writeFreeformInput(block.input) : JSON.stringify(block.input);
        calls.push(writeCall(block, given, options));
        break;
      }
      default: {
        text += content.addBlock(writeMarkdown(block));
        const image = writeImage(block, message.images?.length ?? 0);
        if (image === undefined) break;
        message.images ??= [];
        message.images.push(image);
      }
    }
  }
  const [first] = calls;
  // Clients read null as "only calls"; an answer cut before its first word is an empty text.
  if (text !== '' || first === undefined) message.content = text;
  message.annotations = writeAnnotations(choice.grounding, content);
  if (first === undefined) return message;
  const isLegacy = options.callForm === 'function_call' && first.type === 'function';
  return isLegacy
    ? { ...message, function_call: first.function }
    : { ...message, tool_calls: calls };
}
