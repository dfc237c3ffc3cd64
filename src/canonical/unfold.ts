// Unfolds one answer into events, for writers of streams.

import type { CanonicalEvent } from './event.ts';
import type { Reply, ReplyBlock } from './fold.ts';

/** The events of a folded answer, those about the whole answer first; `fold(unfold(reply))` is the reply again. */
export function* unfold(reply: Reply): Generator<CanonicalEvent> {
  const { upstreamId, modelVersion, serviceTier, usage, choices } = reply;
  yield { kind: 'start', upstreamId, modelVersion, serviceTier, usage };
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
