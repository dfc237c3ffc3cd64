// The answer to function responses: proof of what the sandbox saw of them.

import { describeMedia } from '../media-facts.ts';
import type { FunctionResponse } from '../wire.ts';
import type { LastTurn } from './last-turn.ts';

const SHOWN_CHARACTERS = 80;
/** Keys that commonly hold the result itself. */
const RESULT_KEYS = ['output', 'result', 'content', 'text', 'error'];
const NONCE = /NONCE-[0-9a-f]+/;

/** `TOOL-RESULT-SEEN: <first 80 characters>`, then a nonce found further in, then attached media. */
export function writeToolResult(turn: LastTurn): string {
  const whole = turn.results.map(readResultText).join('\n');
  const shown = whole.replace(/\s+/g, ' ').trim().slice(0, SHOWN_CHARACTERS);
  const nonce = NONCE.exec(whole)?.[0];
  const further = nonce === undefined || shown.includes(nonce) ? '' : ` ${nonce}`;
  const media = turn.media.map((blob) => ` [${describeMedia(blob)}]`).join('');
  return `TOOL-RESULT-SEEN: ${shown}${further}${media}`;
}

function readResultText({ response = {} }: FunctionResponse): string {
  for (const key of RESULT_KEYS) {
    const value = response[key];
    if (typeof value === 'string') return value;
  }
  return JSON.stringify(response);
}
