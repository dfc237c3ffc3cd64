// Folds a stream of events into one answer, the single decode path of unary replies, and unfolds one for writers of streams.

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
  /** That of its end; a call may bring one with its opening. */
  signature?: Signature | undefined;
}

/** The answer of all its events. @throws GatewayError of an `error` event; Error when there is no `finish` */
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
        return { upstreamId, modelVersion, choices, usage };
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

/** The events of a folded answer, those about the whole answer first; `fold(unfold(reply))` is the reply again. */
export function* unfold(reply: Reply): Generator<CanonicalEvent> {
  const { upstreamId, modelVersion, usage, choices } = reply;
  yield { kind: 'start', upstreamId, modelVersion, usage };
  for (const { grounding } of choices) if (grounding !== undefined) yield grounding;
  let index = 0;
  for (const { end, blocks } of choices) {
    for (const block of blocks) {
      yield* unfoldBlock(block, index, end.choice);
      index += 1;
    }
  }
  yield { kind: 'usage', usage };
  yield { kind: 'finish', choices: choices.map(({ end }) => end) };
}

function* unfoldBlock(block: ReplyBlock, index: number, choice: number): Generator<CanonicalEvent> {
  const { signature } = block;
  switch (block.kind) {
    case 'text':
    case 'thinking':
      yield { kind: 'block-start', index, choice, block: { kind: block.kind } };
      if (block.text !== '') {
        yield { kind: 'block-delta', index, delta: { kind: block.kind, text: block.text } };
      }
      yield { kind: 'block-end', index, signature };
      return;
    case 'tool-call': {
      const { kind, id, name, input } = block;
      yield { kind: 'block-start', index, choice, block: { kind, id, name, signature } };
      const json = JSON.stringify(input);
      if (json !== '{}') yield { kind: 'block-delta', index, delta: { kind: 'arguments', json } };
      yield { kind: 'block-end', index };
      return;
    }
    default: {
      const { signature: _signature, ...opening } = block;
      yield { kind: 'block-start', index, choice, block: opening };
      yield { kind: 'block-end', index, signature };
    }
  }
}
