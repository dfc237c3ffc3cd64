// Puts any text into a shell, a program or a file so that it stays one text and nothing in it is run; and the command that
// sets a coding client up.

import type { SetUp } from './client-settings.ts';

export type Shell = 'posix' | 'powershell';

/** What every shell takes as it stands, wherever it stands. */
const PLAIN = /^[A-Za-z0-9_./:][A-Za-z0-9_./:-]*$/;

/** One word of a command line, in quotes where it needs them. */
export function writeWord(text: string, shell: Shell): string {
  return PLAIN.test(text) ? text : quoteWord(text, shell);
}

/** One word of a command line, in quotes always. */
export function quoteWord(text: string, shell: Shell): string {
  if (shell === 'posix') return `'${text.replaceAll("'", "'\\''")}'`;
  // PowerShell ends a text at curly quotes as well; twice, each stands for itself.
  return `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`;
}

/** A text of JavaScript, in single quotes. */
export function quoteScript(text: string): string {
  return `'${escapeIn(text, "'")}'`;
}

/** A text of Python, TOML and YAML, in double quotes. */
export function quoteText(text: string): string {
  return `"${escapeIn(text, '"')}"`;
}

function escapeIn(text: string, quote: string): string {
  return text.replace(/[\\'"\p{Cc}\u2028\u2029]/gu, (character) => {
    if (character === '\\' || character === quote) return `\\${character}`;
    if (character === "'" || character === '"') return character;
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

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
