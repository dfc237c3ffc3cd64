// Keeps a conversation over a reload of its tab, and in this browser when a person asks for it; never a key.

import type { Draft, Turn } from '../../wire/write-request.ts';

const STORED_AS = 'isthmus-playground';
/** Browsers have room for five million. */
const MAX_CHARACTERS = 4_000_000;

export interface KeptDraft {
  readonly draft: Partial<Draft>;
  readonly turns: readonly Turn[];
  /** The tools as they were typed. */
  readonly tools?: string;
}

/** Undefined where nothing is kept, or what is kept cannot be read. */
export function readKept(): KeptDraft | undefined {
  return readFrom(() => sessionStorage) ?? readFrom(() => localStorage);
}

export function isKeptInBrowser(): boolean {
  return readFrom(() => localStorage) !== undefined;
}

/** Files go first where there is no room for all of it. */
export function keepDraft(kept: KeptDraft, isInBrowser: boolean): void {
  const whole = JSON.stringify(kept);
  const turns = kept.turns.map(({ files: _files, ...turn }) => turn);
  const text = whole.length <= MAX_CHARACTERS ? whole : JSON.stringify({ ...kept, turns });
  if (text.length > MAX_CHARACTERS) return;
  for (const store of isInBrowser
    ? [() => sessionStorage, () => localStorage]
    : [() => sessionStorage]) {
    try {
      store().setItem(STORED_AS, text);
    } catch {
      // A browser that stores nothing keeps it until the page is left.
    }
  }
}

/** In this browser; the tab keeps it. */
export function forgetDraft(): void {
  try {
    localStorage.removeItem(STORED_AS);
  } catch {
    // Nothing was kept there.
  }
}

const PROMPT_STORED_AS = 'isthmus-playground-prompt';

/** The message that was begun and not sent, as this tab keeps it. */
export function readPrompt(): string {
  try {
    return sessionStorage.getItem(PROMPT_STORED_AS) ?? '';
  } catch {
    return '';
  }
}

export function keepPrompt(prompt: string): void {
  try {
    sessionStorage.setItem(PROMPT_STORED_AS, prompt);
  } catch {
    // A browser that stores nothing keeps it until the page is left.
  }
}

function readFrom(store: () => Storage): KeptDraft | undefined {
  try {
    const stored: unknown = JSON.parse(store().getItem(STORED_AS) ?? 'null');
    return isKept(stored) ? stored : undefined;
  } catch {
    return undefined;
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
