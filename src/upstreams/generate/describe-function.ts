// The description of a function together with words that have no other place.

/** Undefined when there is nothing to be said. */
export function describeFunction(
  description: string | undefined,
  said: string | undefined,
): string | undefined {
  if (said === undefined) return description;
  return description === undefined || description === '' ? said : `${description}\n\n${said}`;
}
