// Writes a whole answer as one Messages object, equal to what the stream of it folds to.

import type { Reply, ReplyBlock } from '../../canonical/fold.ts';
import type { Signature } from '../../canonical/request.ts';
import { writeCarrier } from '../../canonical/signature-carrier.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { MessagesBlock, MessagesReply } from '../../wire/messages.ts';
import type { ReplyContext } from '../protocol.ts';
import { shownGrounding, writeSearch, writeWholeBlock } from './write-blocks.ts';
import { isCarried, type WriterOptions } from './write-events.ts';
import { writeReplyUsage, writeStop } from './write-usage.ts';

/** Only choice 0 is written: the protocol has one answer. */
export function writeMessagesReply(
  reply: Reply,
  context: ReplyContext,
  options: WriterOptions,
): JsonObject {
  const choice = reply.choices[0];
  const blocks = choice?.blocks ?? [];
  const grounding = shownGrounding(choice?.grounding, options);
  const hasToolCall = blocks.some((block) => block.kind === 'tool-call');
  const { createId } = context;
  const { isFormatted } = options;
  return {
    id: createId('msg_'),
    type: 'message',
    role: 'assistant',
    model: context.model,
    content: [
      ...writeContent(blocks, options),
      ...writeSearch(grounding, { createId, isFormatted }),
    ],
    ...writeStop(choice?.end ?? { choice: 0, reason: 'stop' }, hasToolCall),
    usage: writeReplyUsage(reply.usage, grounding),
  } satisfies MessagesReply;
}

function writeContent(blocks: readonly ReplyBlock[], options: WriterOptions): MessagesBlock[] {
  const content: MessagesBlock[] = [];
  let carried: string | undefined;
  for (const block of blocks) {
    const written = writeBlock(block, { carried, ...options });
    if (written !== undefined) content.push(written);
    carried = block.kind === 'thinking' ? block.signature?.value : undefined;
  }
  return content;
}

/** Undefined for a text or thinking block that says nothing: clients refuse or mishandle empty ones. */
function writeBlock(
  block: ReplyBlock,
  { carried, omitsThinking }: WriterOptions & { readonly carried: string | undefined },
): MessagesBlock | undefined {
  switch (block.kind) {
    case 'text':
      return block.text === '' ? undefined : { type: 'text', text: block.text };
    case 'thinking': {
      if (block.text === '' && block.signature === undefined) return undefined;
      const thinking = omitsThinking ? '' : block.text;
      return { type: 'thinking', thinking, signature: carrierOf(block.signature) };
    }
    case 'tool-call': {
      const { id, name, input, signature } = block;
      const extension = isCarried(signature, carried) ? {} : { signature: carrierOf(signature) };
      return { type: 'tool_use', id, name, input, ...extension };
    }
    default:
      return writeWholeBlock(block);
  }
}

function carrierOf(signature: Signature | undefined): string {
  return signature === undefined ? '' : writeCarrier(signature);
}
