// What a person chose on a page, remembered in this browser.

import { useCallback, useState } from 'react';

/**
 * @param name under which it is stored
 * @param read what was stored, as JSON has it; the same function each time
 * @returns the value, and what sets and stores it; undefined is as if nothing was ever chosen
 */
export function useStored<Value>(
  name: string,
  read: (stored: unknown) => Value | undefined,
): readonly [Value | undefined, (value: Value | undefined) => void] {
  const [value, setValue] = useState(() => read(readStored(name)));
  const set = useCallback(
    (next: Value | undefined): void => {
      setValue(next);
      store(name, next);
    },
    [name],
  );
  return [value, set];
}

function readStored(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(name) ?? 'null');
  } catch {
    // Storage that is forbidden or damaged remembers nothing.
    return null;
  }
}

function store(name: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // As above: the choice counts until the page is left.
  }
}
