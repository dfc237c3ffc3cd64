import type OpenAI from 'openai';
import { expectTypeOf, test } from 'vitest';
import type {
  ChatAnnotation,
  ChatCompletion,
  ChatFinishReason,
  ChatToolCall,
  ChatUsage,
} from '../../wire/chat.ts';

test('our wire types fit the official ones', () => {
  expectTypeOf<ChatCompletion>().toExtend<OpenAI.ChatCompletion>();
  expectTypeOf<ChatToolCall>().toExtend<OpenAI.ChatCompletionMessageToolCall>();
  expectTypeOf<ChatAnnotation>().toExtend<OpenAI.ChatCompletionMessage.Annotation>();
  expectTypeOf<ChatUsage>().toExtend<OpenAI.CompletionUsage>();
  expectTypeOf<ChatFinishReason>().toEqualTypeOf<OpenAI.ChatCompletion.Choice['finish_reason']>();
});
