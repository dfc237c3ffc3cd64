// When two labels of accounts are one: the rule of sign-ins and of the store.

/** Labels that differ by case only, or by how an accent is written, have the same key. */
export function labelKey(label: string): string {
  return label.normalize('NFC').toLowerCase();
}

export function isSameLabel(one: string, other: string): boolean {
  return labelKey(one) === labelKey(other);
}
