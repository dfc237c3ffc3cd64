// Reads members of JSON nobody has checked; what is missing or of another kind is simply not there.

export function at(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return Object.entries(value).find(([name]) => name === key)?.[1];
}

export function textAt(value: unknown, key: string): string {
  const text = at(value, key);
  return typeof text === 'string' ? text : '';
}

export function listAt(value: unknown, key: string): readonly unknown[] {
  const list = at(value, key);
  return Array.isArray(list) ? list : [];
}
