// Folds a stream of events into one answer: the single decode path of unary replies.

import {
  type BlockOpening,
  type CanonicalEvent,
  type ChoiceEnd,
  type GroundingEvent,
  readCallInput,
} from './event.ts';
import type { Signature, ToolCallPart } from './request.ts';
import { NO_USAGE, type Usage } from './usage.ts';

export interface Reply {
  readonly upstreamId: string | undefined;
  readonly modelVersion: string | undefined;
  /** By rising choice; never empty. */
  readonly choices: readonly ReplyChoice[];
  readonly usage: Usage;
}

export interface ReplyChoice {
  readonly end: ChoiceEnd;
  readonly blocks: readonly ReplyBlock[];
  readonly grounding: GroundingEvent | undefined;
}

export type ReplyBlock = (
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  | Omit<ToolCallPart, 'trace' | 'native'>
  | Exclude<BlockOpening, { kind: 'text' | 'thinking' | 'tool-call' }>
) & { readonly signature?: Signature | undefined };

interface OpenBlock {
  readonly choice: number;
  readonly opening: BlockOpening;
  text: string;
  signature: Signature | undefined;
}

/**
 * The answer a finished event sequence amounts to.
 * @throws GatewayError carried by an `error` event; Error when the sequence does not end in `finish`.
 */
export function fold(events: Iterable<CanonicalEvent>): Reply {
  const blocks: OpenBlock[] = [];
  const groundings = new Map<number, GroundingEvent>();
  let upstreamId: string | undefined;
  let modelVersion: string | undefined;
  let usage = NO_USAGE;
  for (const event of events) {
    switch (event.kind) {
      case 'start':
        ({ upstreamId, modelVersion } = event);
        usage = event.usage ?? usage;
        break;
      case 'block-start':
        blocks[event.index] = openBlock(event.choice, event.block);
        break;
      case 'block-delta':
        blockAt(blocks, event.index).text +=
          'json' in event.delta ? event.delta.json : event.delta.text;
        break;
      case 'block-end':
        blockAt(blocks, event.index).signature ??= event.signature;
        break;
      case 'grounding':
        groundings.set(event.choice, event);
        break;
      case 'usage':
        usage = event.usage;
        break;
      case 'error':
        throw event.error;
      case 'finish': {
        const choices = event.choices.map((end) => ({
          end,
          blocks: blocks.filter((block) => block.choice === end.choice).map(closeBlock),
          grounding: groundings.get(end.choice),
        }));
        return { upstreamId, modelVersion, choices, usage };
      }
      default:
        event satisfies never;
    }
  }
  throw new Error('The event sequence ended without finish or error.');
}

function openBlock(choice: number, opening: BlockOpening): OpenBlock {
  const signature = opening.kind === 'tool-call' ? opening.signature : undefined;
  return { choice, opening, text: '', signature };
}

function blockAt(blocks: readonly OpenBlock[], index: number): OpenBlock {
  const block = blocks[index];
  if (block === undefined) throw new Error(`Event for block ${index}, which was never opened.`);
  return block;
}

function closeBlock(block: OpenBlock): ReplyBlock {
  const { opening, text, signature } = block;
  switch (opening.kind) {
    case 'text':
    case 'thinking':
      return { kind: opening.kind, text, signature };
    case 'tool-call': {
      const { kind, id, name } = opening;
      return { kind, id, name, input: readCallInput(text), signature };
    }
    default:
      return signature === undefined ? opening : { ...opening, signature };
  }
}
