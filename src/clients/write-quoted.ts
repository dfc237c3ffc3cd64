// Puts any text into a shell, a program or a file so that it stays one text and nothing in it is run.

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
