// Names that tell things apart and say nothing of them.

import { createHmac } from 'node:crypto';

const CHARACTERS = 16;

/** @returns the same word for the same name, which nobody without the key finds out */
export function createPseudonyms(key: string | Uint8Array): (name: string) => string {
  return (name) => createHmac('sha256', key).update(name).digest('hex').slice(0, CHARACTERS);
}
