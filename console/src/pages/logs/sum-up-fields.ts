// The fields of a line of the log in one line.

const MAX_CHARACTERS = 200;

/** What happened before the id of the request, which is long and says nothing to a person. */
export function sumUpFields(fields: object): string {
  const entries = Object.entries(fields);
  const ids = entries.filter(([name]) => isRequestId(name));
  const parts = [...entries.filter(([name]) => !isRequestId(name)), ...ids].map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return ` ${name}=${text}`;
  });
  return parts.join('').slice(0, MAX_CHARACTERS);
}

export function findRequestId(fields: object): string | undefined {
  const found = Object.entries(fields).find(([name]) => isRequestId(name));
  return typeof found?.[1] === 'string' ? found[1] : undefined;
}

const isRequestId = (name: string): boolean => name === 'requestId' || name === 'request_id';
