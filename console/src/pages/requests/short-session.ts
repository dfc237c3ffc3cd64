// A session as lists show it: one that nobody named has a hash, of which the beginning tells it apart.

const HASH_CHARACTERS = 8;

export function shortSession(session: string): string {
  const [, hash] = /^text ([\w-]{20,})$/.exec(session) ?? [];
  return hash === undefined ? session : `#${hash.slice(0, HASH_CHARACTERS)}`;
}
