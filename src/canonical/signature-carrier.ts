// How a signature travels through a client: one opaque text that names its family and its part.

import type { Signature } from './request.ts';

const PREFIX = 'gw1';
const PARTS = ['thinking', 'text', 'tool-call', 'media'] as const;

/** Values documented as stand-ins for a signature that never existed; never real signatures. */
const SENTINELS = new Set([
  'skip_thought_signature_validator',
  'context_engineering_is_the_way_to_go',
  btoa('skip_thought_signature_validator'),
  btoa('context_engineering_is_the_way_to_go'),
]);

/** The documented stand-in for calls that never had a signature (ai.google.dev, "Thought signatures"). */
export const SIGNATURE_SENTINEL = 'skip_thought_signature_validator';

/** The text a client is given: `gw1:<family>:<part>:<value>`. */
export function writeCarrier(signature: Signature): string {
  return `${PREFIX}:${signature.family ?? ''}:${signature.on ?? ''}:${signature.value}`;
}

/** Upstreams keep signatures in a field of bytes: anything else refuses the whole request. */
export function isSignatureValue(text: string): boolean {
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
}

/**
 * The signature in a text a client handed back. A bare value (not issued by this gateway, or issued
 * by the upstream directly) has neither family nor part; stand-ins, '' and a bare value that
 * cannot be one give undefined, so that what was remembered counts.
 */
export function readCarrier(text: string | undefined | null): Signature | undefined {
  if (text === undefined || text === null || text === '' || SENTINELS.has(text)) return undefined;
  const [prefix, family, on, ...rest] = text.split(':');
  if (prefix !== PREFIX || family === undefined || on === undefined) {
    return isSignatureValue(text) ? { value: text } : undefined;
  }
  const value = rest.join(':');
  if (value === '') return undefined;
  return {
    value,
    family: family === '' ? undefined : family,
    on: PARTS.find((part) => part === on),
  };
}
