// Reads the `UPSTREAM-…` words of a prompt: how the person wants this answer to go wrong, slow or long.

export interface Directives {
  /** `UPSTREAM-STATUS <code>`: answer with this HTTP error. */
  readonly status?: number;
  /** `UPSTREAM-FINISH <REASON>`: end with this finish reason. */
  readonly finishReason?: string;
  /** `UPSTREAM-BLOCK [REASON]`: block the prompt. */
  readonly blockReason?: string;
  /** `UPSTREAM-CUT`: break off before the end. */
  readonly cut: boolean;
  /** `UPSTREAM-SLOW <ms>`: pause between stream events (or before a unary answer). */
  readonly pauseMs: number;
  /** `UPSTREAM-WORDS <n>`: answer with n numbered words. */
  readonly words?: number;
}

const BLOCK_REASONS = [
  'SAFETY',
  'OTHER',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'IMAGE_SAFETY',
  'MODEL_ARMOR',
  'JAILBREAK',
];
const MAX_PAUSE_MS = 60_000;
const MAX_WORDS = 100_000;

export function readDirectives(text: string): Directives {
  const status = readCount(text, 'STATUS', 599);
  const finishReason = /UPSTREAM-FINISH ([A-Z_]+)/.exec(text)?.[1];
  const block = /UPSTREAM-BLOCK(?: ([A-Z_]+))?/.exec(text);
  const words = readCount(text, 'WORDS', MAX_WORDS);
  return {
    ...(status !== undefined && status >= 400 && { status }),
    ...(finishReason !== undefined && { finishReason }),
    ...(block !== null && {
      blockReason: BLOCK_REASONS.find((reason) => reason === block[1]) ?? 'PROHIBITED_CONTENT',
    }),
    cut: text.includes('UPSTREAM-CUT'),
    pauseMs: readCount(text, 'SLOW', MAX_PAUSE_MS) ?? 0,
    ...(words !== undefined && { words }),
  };
}

function readCount(text: string, word: string, max: number): number | undefined {
  const digits = new RegExp(`UPSTREAM-${word} (\\d{1,9})`).exec(text)?.[1];
  return digits === undefined ? undefined : Math.min(Number(digits), max);
}
