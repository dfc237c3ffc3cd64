// What the sandbox answers to: the texts and results behind the model's last turn, and the prompt they belong to.

import {
  type Blob,
  type Content,
  type FunctionResponse,
  functionCallsOf,
  functionResponsesOf,
  partsOf,
} from '../wire.ts';

export interface LastTurn {
  /** Text of the trailing user contents. */
  readonly text: string;
  readonly results: readonly FunctionResponse[];
  /** Media of the trailing user contents, those inside results included. */
  readonly media: readonly Blob[];
  /** Text of the user contents that began the current turn. */
  readonly prompt: string;
  /** Steps with function calls made since that prompt. */
  readonly stepsDone: number;
}

/** A model turn at the end is a beginning the answer goes on from; what is answered stands before it. */
export function readLastTurn(conversation: readonly Content[]): LastTurn {
  const hasPrefill = conversation.at(-1)?.role === 'model';
  const contents = hasPrefill ? conversation.slice(0, -1) : conversation;
  const trailing = contents.slice(contents.findLastIndex(({ role }) => role === 'model') + 1);
  const results = trailing.flatMap((content) => functionResponsesOf(content));
  const promptEnd = contents.findLastIndex(
    (content) => content.role === 'user' && functionResponsesOf(content).length === 0,
  );
  const earlier = contents.slice(0, promptEnd + 1);
  const promptStart = earlier.findLastIndex(({ role }) => role === 'model') + 1;
  return {
    text: textOf(trailing),
    results,
    media: trailing.flatMap(mediaOf),
    prompt: textOf(earlier.slice(promptStart)),
    stepsDone: contents
      .slice(promptEnd + 1)
      .filter((content) => functionCallsOf(content).length > 0).length,
  };
}

function textOf(contents: readonly Content[]): string {
  return contents
    .flatMap((content) => partsOf(content))
    .flatMap((part) => part.text ?? [])
    .join('\n');
}

function mediaOf(content: Content): Blob[] {
  return partsOf(content).flatMap((part) => [
    ...(part.inlineData === undefined ? [] : [part.inlineData]),
    ...(part.functionResponse?.parts ?? []).flatMap(({ inlineData }) => inlineData ?? []),
  ]);
}
