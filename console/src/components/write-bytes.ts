// Writes an amount of bytes for people.

import { writeGrouped } from './read-amount.ts';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** In binary units, with at most one decimal. */
export function writeBytes(bytes: number): string {
  const { amount, power } = roundBytes(bytes);
  return `${amount} ${UNITS[power]}`;
}

/** The same where that rounds nothing; a limit rounded up would name an amount that is refused. */
export function writeExactly(bytes: number, unitText: string): string {
  const { amount, power } = roundBytes(bytes);
  return amount * 1024 ** power === bytes
    ? writeBytes(bytes)
    : `${writeGrouped(bytes)} ${unitText}`;
}

/** The end of a range, as it can be typed. */
export function writeLimit(value: number, unit: string | undefined, bytesText: string): string {
  return unit === 'bytes' ? writeExactly(value, bytesText) : writeGrouped(value);
}

function roundBytes(bytes: number): { readonly amount: number; readonly power: number } {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return { amount: Number((bytes / 1024 ** power).toFixed(1)), power };
}
