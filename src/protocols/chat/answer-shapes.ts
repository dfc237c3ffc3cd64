// The pieces stream and unary answers share: usage, finish reasons, tool calls, blocks as markdown.

import { writeCodeText } from '../../canonical/code-text.ts';
import type { BlockOpening, ChoiceEnd } from '../../canonical/event.ts';
import type { Signature } from '../../canonical/request.ts';
import { writeCarrier } from '../../canonical/signature-carrier.ts';
import { inputTokens, outputTokens, totalTokens, type Usage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ChatExtensionKey, ChatFinishReason, ChatImage, ChatUsage } from '../../wire/chat.ts';

export type ShownBlock = Extract<BlockOpening, { kind: 'media' | 'code' | 'code-result' }>;

export function writeUsage(usage: Usage): ChatUsage {
  return {
    prompt_tokens: inputTokens(usage),
    completion_tokens: outputTokens(usage),
    total_tokens: totalTokens(usage),
    prompt_tokens_details: { cached_tokens: usage.cachedTokens, ...writeMedia(usage.media) },
    completion_tokens_details: { reasoning_tokens: usage.thoughtTokens },
  };
}

/** Sound and pictures in the prompt, where the upstream tells them. */
function writeMedia(media: Usage['media']): Partial<ChatUsage['prompt_tokens_details']> {
  return media === undefined ? {} : { audio_tokens: media.audio, image_tokens: media.image };
}

/** `hasCalls` guards against agents that stop at "stop" although the answer holds calls. */
export function writeFinishReason(
  end: ChoiceEnd,
  hasCalls: boolean,
  callForm: 'tool_calls' | 'function_call',
): ChatFinishReason {
  switch (end.reason) {
    case 'stop':
    case 'stop-sequence':
      return hasCalls ? callForm : 'stop';
    case 'tool-calls':
      return callForm;
    case 'max-tokens':
      return 'length';
    case 'safety':
    case 'prompt-blocked':
      return 'content_filter';
    default:
      return end.reason satisfies never;
  }
}

/** `{google: {thought_signature}}`, or the same under the neutral word. */
export function writeExtraContent(signature: Signature, key: ChatExtensionKey): JsonObject {
  return { [key]: { thought_signature: writeCarrier(signature) } };
}

/** The free text of a call to a custom tool: its one argument `input`, else the arguments as they are, if any. */
export function writeFreeformInput(input: JsonObject): string {
  if (Object.keys(input).length === 0) return '';
  return typeof input.input === 'string' ? input.input : JSON.stringify(input);
}

/** A block that is neither text nor thought nor call, as markdown. */
export function writeMarkdown(block: ShownBlock): string {
  switch (block.kind) {
    case 'media': {
      const name = block.mediaType.slice(0, block.mediaType.indexOf('/'));
      return `${name === 'image' ? '!' : ''}[${name}](${dataUri(block)})`;
    }
    case 'code':
    case 'code-result':
      return writeCodeText(block);
    default:
      return block satisfies never;
  }
}

/** The picture a block draws; undefined when it draws none. */
export function writeImage(block: ShownBlock, index: number): ChatImage | undefined {
  if (block.kind !== 'media' || !block.mediaType.startsWith('image/')) return undefined;
  return { type: 'image_url', index, image_url: { url: dataUri(block) } };
}

function dataUri({ mediaType, base64 }: Extract<ShownBlock, { kind: 'media' }>): string {
  return `data:${mediaType};base64,${base64}`;
}
