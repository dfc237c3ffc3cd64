// Code the model ran, and what came of it, as markdown for protocols without such blocks.

import type { BlockOpening } from './event.ts';

type CodeBlock = Extract<BlockOpening, { kind: 'code' | 'code-result' }>;

export function writeCodeText(block: CodeBlock): string {
  switch (block.kind) {
    case 'code':
      return fence(block.code, block.language.toLowerCase());
    case 'code-result': {
      const heading = block.outcome === 'ok' ? '' : `Code execution: ${block.outcome}\n`;
      return heading + fence(block.output, '');
    }
    default:
      return block satisfies never;
  }
}

/** A fenced block whose fence no line of the text can close. */
export function fence(text: string, language: string): string {
  const longest = text.match(/`{3,}/g)?.reduce((max, run) => Math.max(max, run.length), 0) ?? 2;
  const marks = '`'.repeat(longest + 1);
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  return `${marks}${language}\n${text}${end}${marks}`;
}
