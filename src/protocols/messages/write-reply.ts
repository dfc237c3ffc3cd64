// Writes a whole answer as one Messages object, equal to what the stream of it folds to.

import type { CanonicalEvent, ChoiceEnd } from '../../canonical/event.ts';
import type { Reply, ReplyBlock } from '../../canonical/fold.ts';
import type { Signature } from '../../canonical/request.ts';
import { writeCarrier } from '../../canonical/signatures.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import { EVENT_STREAM_TYPE, eventFrame } from '../../stream/sse.ts';
import type {
  MessagesBlock,
  MessagesCompactionBlock,
  MessagesCompactionReply,
  MessagesReply,
} from '../../wire/messages.ts';
import type { ReplyContext, StreamWriter } from '../protocol.ts';
import { writeStreamError } from './errors.ts';
import {
  isCarried,
  PING,
  shownGrounding,
  type WriterOptions,
  writeFinalUsage,
  writeMessageStart,
  writeReplyUsage,
  writeSearch,
  writeStop,
  writeWholeBlock,
} from './write-events.ts';

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

/** Source: Messages API, "Compaction on demand"; TypeScript SDK `lib/BetaMessageStream.js`. */
type Summary = Pick<
  MessagesCompactionReply,
  'content' | 'stop_reason' | 'stop_sequence' | 'stop_details'
>;

const NO_END: ChoiceEnd = { choice: 0, reason: 'stop' };

export function writeSummaryReply(reply: Reply, context: ReplyContext): JsonObject {
  const choice = reply.choices[0];
  const texts = (choice?.blocks ?? []).map((block) => (block.kind === 'text' ? block.text : ''));
  return {
    id: context.createId('msg_'),
    type: 'message',
    role: 'assistant',
    model: context.model,
    ...summaryOf(texts.join(''), choice?.end ?? NO_END),
    usage: writeReplyUsage(reply.usage, undefined),
  } satisfies MessagesCompactionReply;
}

/** The block comes whole at the end, as clients replace what they have of it with each delta. */
export function createSummaryWriter(context: ReplyContext): StreamWriter {
  let text = '';
  let usage = NO_USAGE;
  return {
    contentType: EVENT_STREAM_TYPE,
    keepAlive: () => PING,
    write(event: CanonicalEvent): string {
      switch (event.kind) {
        case 'start':
          usage = event.usage ?? NO_USAGE;
          return writeMessageStart(context, usage);
        case 'block-delta':
          if (event.delta.kind === 'text') text += event.delta.text;
          return '';
        case 'usage':
          usage = event.usage;
          return '';
        case 'block-start':
        case 'block-end':
        case 'grounding':
          return '';
        case 'finish': {
          const { content, ...stop } = summaryOf(text, event.choices[0] ?? NO_END);
          const delta = {
            type: 'message_delta',
            delta: stop,
            usage: writeFinalUsage(usage, undefined),
          };
          return (
            content.map(writeSummaryBlock).join('') + frame(delta) + frame({ type: 'message_stop' })
          );
        }
        case 'error':
          return writeStreamError(event.error);
        default:
          return event satisfies never;
      }
    },
  };
}

/** Half a summary is none: the conversation could not go on from it. Null says that there is none. */
function summaryOf(text: string, end: ChoiceEnd): Summary {
  const stop = writeStop(end, false);
  if (stop.stop_reason === 'refusal') return { content: [], ...stop };
  const content = end.reason === 'stop' && text.trim() !== '' ? text : null;
  return {
    content: [{ type: 'compaction', content, encrypted_content: null }],
    stop_reason: 'compaction',
    stop_sequence: null,
    stop_details: null,
  };
}

function writeSummaryBlock({ type, ...summary }: MessagesCompactionBlock, index: number): string {
  const block = { type, content: null, encrypted_content: null };
  const delta = { type: 'compaction_delta', ...summary };
  return (
    frame({ type: 'content_block_start', index, content_block: block }) +
    frame({ type: 'content_block_delta', index, delta }) +
    frame({ type: 'content_block_stop', index })
  );
}

function frame(event: JsonObject & { readonly type: string }): string {
  return eventFrame(event.type, JSON.stringify(event));
}
