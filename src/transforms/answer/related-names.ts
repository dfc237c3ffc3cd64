// Says whether two argument names clearly mean the same argument.

/** Shorter names stand inside too many others by chance. */
const MIN_CONTAINED = 4;

/** Spelling variants (`filePath`, `file_path`), or one name's words inside the other's (`path`). */
export function areRelated(left: string, right: string): boolean {
  const [short, long] = [wordsOf(left), wordsOf(right)].sort(
    (one, other) => one.join('').length - other.join('').length,
  );
  if (short === undefined || long === undefined) return false;
  const shortText = short.join('');
  const longText = long.join('');
  if (shortText === '') return false;
  if (shortText === longText) return true;
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
