// The names of sessions: as the pool binds them to accounts, and as people read them.

/** What a session is known by in the pool: who named it, and its name. */
export function headerName(name: string): string {
  return `header ${name}`;
}

export function bodyName(name: string): string {
  return `body ${name}`;
}

/** Of a conversation that nobody names: a hash of how it begins. */
export function textName(hash: string): string {
  return `text ${hash}`;
}

/** As records have it: the client's own word for it, where there is one. */
export function recordedSession(name: string): string {
  return name.replace(/^(?:header|body) /, '');
}

/** What a session of records may be known by in the pool. */
export function namesOfRecorded(session: string): readonly string[] {
  const named = [headerName(session), bodyName(session)];
  return session.startsWith(textName('')) ? [session, ...named] : named;
}
