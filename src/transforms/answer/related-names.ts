// Says whether two argument names clearly mean the same argument.

/** Shorter names stand inside too many others by chance. */
const MIN_CONTAINED = 4;

/** Words models take for one another when they guess the name of an argument. */
const SYNONYMS: readonly ReadonlySet<string>[] = [
  new Set(['pattern', 'query', 'regex', 'regexp', 'glob', 'expression']),
  new Set(['command', 'cmd', 'script']),
  new Set(['path', 'file', 'filename', 'filepath']),
  new Set(['path', 'dir', 'directory', 'folder']),
  new Set(['content', 'contents', 'text', 'body']),
  new Set(['url', 'uri', 'link', 'address']),
];

/** How a name is written that differs from others in nothing but its spelling. */
export function spellingOf(name: string): string {
  return wordsOf(name).join('');
}

/** True for an argument's name in the plural (`paths`), in whatever spelling. */
export function isPlural(name: string, of: string): boolean {
  return spellingOf(name) === `${spellingOf(of)}s`;
}

/** Spelling variants (`filePath`, `file_path`), synonyms, or one name's words inside the other's (`path`). */
export function areRelated(left: string, right: string): boolean {
  const [short, long] = [wordsOf(left), wordsOf(right)].sort(
    (one, other) => one.join('').length - other.join('').length,
  );
  if (short === undefined || long === undefined) return false;
  const shortText = short.join('');
  const longText = long.join('');
  if (shortText === '') return false;
  if (shortText === longText) return true;
  if (SYNONYMS.some((words) => words.has(shortText) && words.has(longText))) return true;
  if (shortText.length >= MIN_CONTAINED && longText.includes(shortText)) return true;
  return ` ${long.join(' ')} `.includes(` ${short.join(' ')} `);
}

function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}
