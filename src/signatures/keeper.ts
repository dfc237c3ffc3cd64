// Remembers thought signatures between turns, for clients that cannot carry them.

import { hash as digest } from 'node:crypto';
import type { Signature } from '../canonical/request.ts';
import type { Clock } from '../lib/clock.ts';

/** Every entry is scoped by client key: one key never sees another's signatures. */
export interface SignatureKeeper {
  rememberCall(scope: string, call: RememberedCall): void;
  rememberThought(scope: string, text: string, signature: Signature): void;
  /** A signature of a part that is recalled by its value alone, such as a text. */
  rememberValue(scope: string, signature: Signature): void;
  findCall(scope: string, id: string, name: string): Signature | undefined;
  findThought(scope: string, text: string): Signature | undefined;
  /** The model family that issued this value, on whatever part; undefined when it is not known. */
  familyOf(scope: string, value: string): string | undefined;
}

export interface RememberedCall {
  readonly id: string;
  readonly name: string;
  readonly signature: Signature;
}

export interface KeeperOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly maxEntries?: number;
  readonly lifetimeMs?: number;
}

const DAY_MS = 86_400_000;

/** Least recently used entries go first; none lives longer than `lifetimeMs` (24 h). */
export function createSignatureKeeper(options: KeeperOptions): SignatureKeeper {
  const { clock, maxEntries = 50_000, lifetimeMs = DAY_MS } = options;
  const entries = new Map<string, { signature: Signature; expiresAt: number }>();

  const remember = (key: string, signature: Signature): void => {
    entries.delete(key);
    entries.set(key, { signature, expiresAt: clock.now() + lifetimeMs });
    if (entries.size <= maxEntries) return;
    for (const oldest of entries.keys()) {
      entries.delete(oldest);
      return;
    }
  };
  const find = (key: string): Signature | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    entries.delete(key);
    if (entry.expiresAt <= clock.now()) return undefined;
    entries.set(key, entry);
    return entry.signature;
  };

  return {
    rememberCall(scope, { id, name, signature }) {
      remember(key(scope, 'call', `${id} ${name}`), signature);
      remember(key(scope, 'value', signature.value), signature);
    },
    rememberThought(scope, text, signature) {
      if (text !== '') remember(key(scope, 'thought', text), signature);
      remember(key(scope, 'value', signature.value), signature);
    },
    rememberValue: (scope, signature) => remember(key(scope, 'value', signature.value), signature),
    findCall: (scope, id, name) => find(key(scope, 'call', `${id} ${name}`)),
    findThought: (scope, text) => find(key(scope, 'thought', text)),
    familyOf: (scope, value) => find(key(scope, 'value', value))?.family,
  };
}

/** Long texts are hashed, so that an entry's size does not depend on them. */
function key(scope: string, kind: string, text: string): string {
  const short = text.length <= 64 ? text : digest('sha256', text, 'base64url');
  return `${scope} ${kind} ${short}`;
}
