// Keeps a conversation in this browser, when a person asks for it; never a key.

import type { Draft, Turn } from '../../wire/write-request.ts';

const STORED_AS = 'isthmus-playground';
const MAX_CHARACTERS = 500_000;

export interface KeptDraft {
  readonly draft: Partial<Draft>;
  readonly turns: readonly Turn[];
}

/** Undefined where nothing is kept, or what is kept cannot be read. */
export function readKept(): KeptDraft | undefined {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED_AS) ?? 'null');
    return isKept(stored) ? stored : undefined;
  } catch {
    return undefined;
  }
}

export function keepDraft(kept: KeptDraft): void {
  const text = JSON.stringify(kept);
  try {
    if (text.length <= MAX_CHARACTERS) localStorage.setItem(STORED_AS, text);
  } catch {
    // A browser that stores nothing keeps it until the page is left.
  }
}

export function forgetDraft(): void {
  try {
    localStorage.removeItem(STORED_AS);
  } catch {
    // Nothing was kept there.
  }
}

function isKept(value: unknown): value is KeptDraft {
  if (typeof value !== 'object' || value === null) return false;
  if (!('draft' in value) || !('turns' in value)) return false;
  const { draft, turns } = value;
  if (typeof draft !== 'object' || draft === null || !Array.isArray(turns)) return false;
  return turns.every(
    (turn) => typeof turn?.text === 'string' && (turn.role === 'user' || turn.role === 'assistant'),
  );
}
