// Folds a stream of events into one answer, the single decode path of unary replies.

import { type BlockOpening, type CanonicalEvent, type ChoiceEnd, readCallInput } from './event.ts';
import type { GroundingEvent } from './grounding.ts';
import type { Signature, ToolCallPart } from './request.ts';
import { NO_USAGE, type Usage } from './usage.ts';

export interface Reply {
  readonly upstreamId: string | undefined;
  readonly modelVersion: string | undefined;
  /** As `StartEvent` has it. */
  readonly serviceTier?: string | undefined;
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
  /** That of its end; a call may bring one with its opening. */
  signature?: Signature | undefined;
}

/** The answer of all its events. @throws GatewayError of an `error` event; Error when there is no `finish` */
export function fold(events: Iterable<CanonicalEvent>): Reply {
  const blocks: OpenBlock[] = [];
  const groundings = new Map<number, GroundingEvent>();
  let upstreamId: string | undefined;
  let modelVersion: string | undefined;
  let serviceTier: string | undefined;
  let usage = NO_USAGE;
  for (const event of events) {
    switch (event.kind) {
      case 'start':
        ({ upstreamId, modelVersion, serviceTier } = event);
        usage = event.usage ?? usage;
        break;
      case 'block-start':
        blocks[event.index] = { choice: event.choice, opening: event.block, text: '' };
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
        return { upstreamId, modelVersion, serviceTier, choices, usage };
      }
      default:
        event satisfies never;
    }
  }
  throw new Error('The event sequence ended without finish or error.');
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
      const { kind, id, name, signature: early } = opening;
      return { kind, id, name, input: readCallInput(text), signature: early ?? signature };
    }
    default:
      return signature === undefined ? opening : { ...opening, signature };
  }
}
