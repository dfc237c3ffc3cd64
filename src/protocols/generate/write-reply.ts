// A finished answer as one generateContent response.

import type { Reply, ReplyChoice } from '../../canonical/fold.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ReplyContext } from '../protocol.ts';
import { createPendingSignature } from './pending-signature.ts';
import { writeFinish, writePromptFeedback } from './write-finish.ts';
import { type CitedText, writeGrounding } from './write-grounding.ts';
import { signPart, writeBlock } from './write-parts.ts';
import { writeUsage } from './write-usage.ts';

export interface WriteOptions {
  /** Whether the client asked to see thoughts; their signatures are written in any case. */
  readonly showThoughts: boolean;
}

export function writeReply(reply: Reply, context: ReplyContext, options: WriteOptions): JsonObject {
  const blocked = reply.choices.find((choice) => choice.end.reason === 'prompt-blocked');
  const outcome: JsonObject =
    blocked === undefined
      ? { candidates: reply.choices.map((choice) => writeCandidate(choice, options)) }
      : { promptFeedback: writePromptFeedback(blocked.end) };
  return {
    ...outcome,
    usageMetadata: writeUsage(reply.usage),
    modelVersion: reply.modelVersion ?? context.model,
    responseId: reply.upstreamId ?? context.createId(''),
  };
}

function writeCandidate(choice: ReplyChoice, options: WriteOptions): JsonObject {
  const { parts, texts } = writeParts(choice, options);
  const candidate: JsonObject = {
    content: { role: 'model', parts: parts.length === 0 ? [{ text: '' }] : parts },
    ...writeFinish(choice.end),
    index: choice.end.choice,
  };
  if (choice.grounding !== undefined) {
    Object.assign(candidate, writeGrounding(choice.grounding, texts));
  }
  return candidate;
}

function writeParts(
  choice: ReplyChoice,
  options: WriteOptions,
): { parts: JsonObject[]; texts: CitedText[] } {
  const parts: JsonObject[] = [];
  const texts: CitedText[] = [];
  const pending = createPendingSignature();
  for (const block of choice.blocks) {
    const signature = pending.sign(block.kind, block.signature);
    if (block.kind === 'thinking' && !options.showThoughts) {
      if (signature !== undefined) parts.push(signPart({ text: '', thought: true }, signature));
      continue;
    }
    if (block.kind === 'text') texts.push({ text: block.text, partIndex: parts.length });
    parts.push(signPart(writeBlock(block), signature));
  }
  const left = pending.take();
  if (left !== undefined) parts.push(signPart({ text: '' }, left));
  return { parts, texts };
}
