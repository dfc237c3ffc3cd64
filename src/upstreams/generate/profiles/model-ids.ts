// Which real models stand for the catalogue's names, as data.

import { neutralModelName, realModelName, type Vocabulary } from '../../../wire/vocabulary.ts';

const FLASH = [
  'gemini-3-flash-preview',
  'gemini-3-flash',
  'gemini-3.8-flash',
  'gemini-3.7-flash',
  'gemini-3.6-flash',
  'gemini-3.5-flash',
  'gemini-2.5-flash',
  'gemini-flash-latest',
];

const PRO = [
  'gemini-3.1-pro-preview',
  'gemini-3.1-pro',
  'gemini-3-pro-preview',
  'gemini-3-pro',
  'gemini-2.5-pro',
  'gemini-pro-latest',
];

const IMAGE = [
  'gemini-3-pro-image-preview',
  'gemini-3-pro-image',
  'gemini-nano-banana-2.1',
  'gemini-3.1-flash-image-preview',
  'gemini-3.1-flash-image',
  'gemini-2.5-flash-image',
];

/** Catalogue name → real ids, best first. */
const REAL_IDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['alpha-3-flash', FLASH],
  ['alpha-3-pro-high', PRO],
  ['alpha-3-pro-low', PRO],
  ['alpha-3-pro-image', IMAGE],
  ['beta-sonnet-4-6', PRO],
  ['beta-sonnet-4-6-thinking', PRO],
  ['beta-opus-4-6-thinking', PRO],
]);

/**
 * Ids of a model at an upstream that knows the real models, best first. The name's own spellings
 * come last: an upstream may offer exactly them.
 */
export function realModelIds(name: string): readonly string[] {
  const candidates = REAL_IDS.get(neutralModelName(name)) ?? [];
  return unique([...candidates, realModelName(name), name]);
}

/** Ids of a model at an upstream of the given vocabulary whose models are not known beforehand. */
export function genericModelIds(name: string, vocabulary: Vocabulary): readonly string[] {
  if (vocabulary === 'real') return realModelIds(name);
  return unique([neutralModelName(name), name, ...realModelIds(name)]);
}

function unique(ids: readonly string[]): readonly string[] {
  return [...new Set(ids)];
}
