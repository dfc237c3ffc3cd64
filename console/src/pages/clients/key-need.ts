// Whether the clients that are set up here need a key.

export interface KeyNeedInput {
  readonly authMode: string;
  /** The name under which this page is open: its clients are taken to run on the same machine. */
  readonly hostname: string;
  /** Whether the gateway has a key, of its own or of a person. */
  readonly hasKeys: boolean;
}

/**
 * `never`: nobody is asked; `elsewhere`: any word does on this machine; `noWrong`: none is needed on this
 * machine, but one that is sent has to be right; `always`.
 */
export type KeyNeed = 'never' | 'elsewhere' | 'noWrong' | 'always';

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|localhost|\[::1\])$/i;

export function findKeyNeed({ authMode, hostname, hasKeys }: KeyNeedInput): KeyNeed {
  if (authMode === 'off') return 'never';
  if (authMode !== 'auto' || !LOOPBACK.test(hostname)) return 'always';
  return hasKeys ? 'noWrong' : 'elsewhere';
}

/** What stands in the snippets until a key is given: a gap to fill, or a word that does. */
export function placeholderKey(need: KeyNeed): string {
  return isGap(need) ? 'YOUR_KEY' : 'any-key';
}

export function isGap(need: KeyNeed): boolean {
  return need === 'always' || need === 'noWrong';
}
