// The one command that sets a coding client up, or starts it, on the machine where it is.

import type { SetUp } from './client-settings.ts';
import { type Shell, writeWord } from './write-quoted.ts';

/** `connect` writes the client's settings; `launch` starts it and changes none. */
export type SetUpVerb = 'connect' | 'launch';

/** @param id of the client */
export function writeSetUpCommand(
  verb: SetUpVerb,
  id: string,
  { address, key, model }: SetUp,
  shell: Shell,
): string {
  const words = [address, key, model].map((one) => writeWord(one, shell));
  const [url, secret, name] = words;
  return `isthmus ${verb} ${id} --url ${url} --key ${secret} --model ${name}`;
}
