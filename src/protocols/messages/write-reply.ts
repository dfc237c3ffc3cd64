// Writes a whole answer as one Messages object, equal to what the stream of it folds to.

import type { CanonicalEvent } from '../../canonical/event.ts';
import { fold, type Reply, type ReplyBlock } from '../../canonical/fold.ts';
import { writeCarrier } from '../../canonical/signatures.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import { EVENT_STREAM_TYPE, eventFrame } from '../../stream/sse.ts';
import type { ReplyContext, StreamWriter } from '../writers.ts';
import { writeStreamError } from './errors.ts';
import {
  CALLER,
  callCarrier,
  MESSAGE_STOP,
  NO_END,
  PING,
  shownGrounding,
  type WriterOptions,
  writeCacheWrites,
  writeFinalUsage,
  writeMessageStart,
  writeSearch,
  writeStop,
  writeTier,
  writeWholeBlock,
} from './write-events.ts';

/** Only choice 0 is written: the protocol has one answer. */
export function writeMessagesReply(reply: Reply, context: ReplyContext, options: WriterOptions) {
  const choice = reply.choices[0];
  const blocks = choice?.blocks ?? [];
  const grounding = shownGrounding(choice?.grounding, options);
  const hasToolCall = blocks.some((block) => block.kind === 'tool-call');
  return {
    id: context.createId('msg_'),
    ...MESSAGE,
    model: context.model,
    content: [
      ...writeContent(blocks, options),
      ...(grounding === undefined ? [] : writeSearch(grounding, context, options)),
    ],
    ...writeStop(choice?.end ?? NO_END, hasToolCall),
    usage: {
      ...writeFinalUsage(reply.usage, grounding),
      ...writeCacheWrites(reply.usage),
      ...writeTier(reply.serviceTier),
    },
  };
}

const MESSAGE = { type: 'message', role: 'assistant' } as const;

function writeContent(blocks: readonly ReplyBlock[], options: WriterOptions) {
  let carried: string | undefined;
  return blocks.flatMap((block) => {
    const written = writeBlock(block, carried, options);
    carried = block.kind === 'thinking' ? block.signature?.value : undefined;
    return written;
  });
}

/** Nothing for a text or thinking block that says nothing: clients refuse or mishandle empty ones. */
function writeBlock(
  block: ReplyBlock,
  carried: string | undefined,
  { omitsThinking }: WriterOptions,
) {
  switch (block.kind) {
    case 'text':
      return block.text === '' ? [] : ({ type: 'text', text: block.text } as const);
    case 'thinking': {
      if (block.text === '' && block.signature === undefined) return [];
      const thinking = omitsThinking ? '' : block.text;
      const signature = block.signature === undefined ? '' : writeCarrier(block.signature);
      return { type: 'thinking', thinking, signature } as const;
    }
    case 'tool-call': {
      const { id, name, input, signature } = block;
      const carrier = callCarrier(signature, carried);
      const extension = carrier === undefined ? {} : { signature: carrier };
      return { type: 'tool_use', id, caller: CALLER, name, input, ...extension } as const;
    }
    default:
      return writeWholeBlock(block);
  }
}

/** Source: Messages API, "Compaction on demand"; TypeScript SDK `lib/BetaMessageStream.js`. */
export function writeSummaryReply(reply: Reply, { createId, model }: ReplyContext) {
  const usage = {
    ...writeFinalUsage(reply.usage, undefined),
    ...writeCacheWrites(reply.usage),
    ...writeTier(reply.serviceTier),
  };
  return { id: createId('msg_'), ...MESSAGE, model, ...summaryOf(reply), usage };
}

/** The block comes whole at the end, as clients replace what they have of it with each delta. */
export function createSummaryWriter(context: ReplyContext): StreamWriter {
  const events: CanonicalEvent[] = [];
  return {
    contentType: EVENT_STREAM_TYPE,
    keepAlive: () => PING,
    write(event: CanonicalEvent): string {
      events.push(event);
      if (event.kind === 'start')
        return writeMessageStart(context, event.usage ?? NO_USAGE, event.serviceTier);
      if (event.kind === 'error') return writeStreamError(event.error);
      if (event.kind !== 'finish') return '';
      const reply = fold(events);
      const { content, ...delta } = summaryOf(reply);
      const usage = writeFinalUsage(reply.usage, undefined);
      const end = frame({ type: 'message_delta', delta, usage });
      return content.map(writeSummaryBlock).join('') + end + MESSAGE_STOP;
    },
  };
}

/** Half a summary is none: the conversation could not go on from it. Null says that there is none. */
function summaryOf({ choices }: Reply) {
  const { blocks, end } = choices[0] ?? { blocks: [], end: NO_END };
  const stop = writeStop(end, false);
  if (stop.stop_reason === 'refusal') return { content: [], ...stop };
  const text = blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('');
  const content = end.reason === 'stop' && text.trim() !== '' ? text : null;
  return {
    content: [{ type: 'compaction', content, encrypted_content: null }],
    stop_reason: 'compaction',
    stop_sequence: null,
    stop_details: null,
  };
}

function writeSummaryBlock(summary: JsonObject, index: number): string {
  const block = { ...summary, content: null };
  const delta = { ...summary, type: 'compaction_delta' };
  return (
    frame({ type: 'content_block_start', index, content_block: block }) +
    frame({ type: 'content_block_delta', index, delta }) +
    frame({ type: 'content_block_stop', index })
  );
}

function frame(event: JsonObject & { readonly type: string }): string {
  return eventFrame(event.type, JSON.stringify(event));
}
