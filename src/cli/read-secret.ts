// Secrets for commands: from a file, the standard input or a hidden prompt, never from the arguments.

import { readFileSync } from 'node:fs';
import type { Terminal } from './terminal.ts';

export interface SecretSource {
  /** A path; `-` is the standard input. */
  readonly file: string | undefined;
  readonly question: string;
  /** Named when there is nobody to ask. */
  readonly flag: string;
}

/** One line. @throws Error when nothing was given */
export async function readSecretLine(terminal: Terminal, source: SecretSource): Promise<string> {
  const secret = (await readSource(terminal, source)).trim();
  if (secret === '') throw new Error(`Nothing was given. Name a file with ${source.flag}.`);
  return secret;
}

/** A file, or the standard input for `-`. @throws Error in words for people */
export async function readFileOrInput(terminal: Terminal, path: string): Promise<string> {
  if (path === '-') return terminal.readInput();
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The file cannot be read: ${why}`, { cause: error });
  }
}

function readSource(terminal: Terminal, { file, question }: SecretSource): Promise<string> {
  if (file !== undefined) return readFileOrInput(terminal, file);
  return terminal.isInteractive ? terminal.askSecret(question) : terminal.readInput();
}
