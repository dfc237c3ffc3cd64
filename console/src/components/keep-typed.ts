// Brings together what a person typed into a form and what others saved meanwhile.

/** Field by field: what was typed where that differs from what the form began with, else what was read anew. */
export function keepTyped<Values extends object>(
  before: Values,
  typed: Values,
  read: Values,
): Values {
  const entries = Object.entries(read).map(([name, fresh]) => {
    const [known, now] = [fieldOf(before, name), fieldOf(typed, name)];
    if (isFields(known) && isFields(now) && isFields(fresh)) {
      return [name, keepTyped(known, now, fresh)];
    }
    return [name, isSame(known, now) ? fresh : now];
  });
  // The same fields as before, each with one of its own values.
  return Object.fromEntries(entries) as Values;
}

function fieldOf(values: object, name: string): unknown {
  return new Map<string, unknown>(Object.entries(values)).get(name);
}

function isFields(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
