// The models the sandbox offers over the Messages and the Chat wire, as data.

import { type ModelThinking, SANDBOX_MODELS, type SandboxModel } from './models.ts';

export interface MessagesModel extends SandboxModel {
  /** Takes `thinking: {type: "adaptive"}`, and refuses a conversation that ends with the assistant. */
  readonly isAdaptive: boolean;
}

export interface ChatModel extends SandboxModel {
  /** Thinks unseen, and refuses what steers sampling. */
  readonly hidesReasoning?: true;
  /** Thinks in `reasoning_content`. */
  readonly showsReasoning?: true;
  /** Wants the `reasoning_content` of the running tool loop back. */
  readonly wantsReasoning?: true;
  /** The one endpoint at which it is asked; absent for those of conversations and of vectors. */
  readonly endpoint?: 'images' | 'transcriptions' | 'speech';
  /** The only sizes in which it draws; absent for one that draws in any. */
  readonly sizes?: readonly string[];
  /** Tells times, translates too, and has no streams. */
  readonly tellsTimes?: true;
  /** Speaks in one piece, and takes no instructions. */
  readonly speaksInOne?: true;
}

const BUDGET: ModelThinking = { minBudget: 1024, maxBudget: 127_999, levels: [] };
const EFFORT: ModelThinking = { minBudget: 1, maxBudget: 127_999, levels: [] };

function messagesModel(id: string, isAdaptive: boolean): MessagesModel {
  const line = id.replace(/^claude-/, '').replace(/-(\d)-(\d)$/, ' $1.$2');
  return {
    id,
    isAdaptive,
    realIds: [],
    family: 'beta',
    displayName: `Claude ${line.charAt(0).toUpperCase()}${line.slice(1)}`,
    description: 'Over the Messages wire.',
    inputTokenLimit: 200_000,
    outputTokenLimit: isAdaptive ? 128_000 : 64_000,
    thinking: BUDGET,
  };
}

export const MESSAGES_MODELS: readonly MessagesModel[] = [
  messagesModel('claude-haiku-4-5', false),
  messagesModel('claude-sonnet-4-5', false),
  messagesModel('claude-opus-4-5', false),
  messagesModel('claude-sonnet-4-6', true),
  messagesModel('claude-opus-4-6', true),
];

function chatModel(id: string, more: Partial<ChatModel> = {}): ChatModel {
  return {
    id,
    realIds: [],
    family: 'alpha',
    displayName: id,
    description: 'Over the Chat wire.',
    inputTokenLimit: 272_000,
    outputTokenLimit: 128_000,
    ...more,
  };
}

export const CHAT_MODELS: readonly ChatModel[] = [
  chatModel('gpt-4.1'),
  chatModel('gpt-4o'),
  chatModel('gpt-4o-mini'),
  chatModel('gpt-5', { hidesReasoning: true, thinking: EFFORT }),
  chatModel('gpt-5-mini', { hidesReasoning: true, thinking: EFFORT }),
  chatModel('gpt-oss-120b', { showsReasoning: true, thinking: EFFORT }),
  chatModel('deepseek-reasoner', { showsReasoning: true, wantsReasoning: true, thinking: EFFORT }),
  chatModel('text-embedding-3-small', { embeds: true, inputTokenLimit: 8192, outputTokenLimit: 1 }),
  chatModel('text-embedding-3-large', { embeds: true, inputTokenLimit: 8192, outputTokenLimit: 1 }),
  chatModel('gpt-image-1.5', {
    endpoint: 'images',
    sizes: ['1024x1024', '1536x1024', '1024x1536'],
  }),
  chatModel('gpt-image-2', { endpoint: 'images' }),
  chatModel('whisper-1', { endpoint: 'transcriptions', tellsTimes: true }),
  chatModel('gpt-4o-transcribe', { endpoint: 'transcriptions' }),
  chatModel('gpt-4o-mini-tts', { endpoint: 'speech' }),
  chatModel('tts-1', { endpoint: 'speech', speaksInOne: true }),
];

/** Every model with a quota of its own, whatever the wire. */
export const ALL_MODELS: readonly SandboxModel[] = [
  ...SANDBOX_MODELS,
  ...MESSAGES_MODELS,
  ...CHAT_MODELS,
];
