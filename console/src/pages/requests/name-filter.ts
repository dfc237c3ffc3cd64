// Between a name typed into a filter and the one the API looks for, with `*` for any run of characters.

/** The one known name that was typed whole, in any case; for anything else all names that hold it. */
export function writeName(typed: string, known: readonly string[]): string {
  const text = typed.trim();
  if (text === '' || text.includes('*')) return text;
  const folded = text.toLowerCase();
  const whole = known.includes(text) ? text : known.find((name) => name.toLowerCase() === folded);
  return whole ?? `*${text}*`;
}

/** What the field shows of it. */
export function readName(wanted: string): string {
  return /^\*([^*]+)\*$/.exec(wanted)?.[1] ?? wanted;
}
