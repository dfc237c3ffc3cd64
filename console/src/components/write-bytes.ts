// Writes an amount of bytes for people.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** In binary units, with at most one decimal. */
export function writeBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${Number(amount.toFixed(1))} ${UNITS[power]}`;
}
