// The headers of a client that go along with its relayed body.

/** Names, or their beginnings: who the client is, which version and features it speaks, what it says of its work. */
const FORWARDED = [
  ...['anthropic-', 'vendorb-', 'openai-', 'x-stainless-', 'x-claude-', 'x-app'],
  ...['user-agent', 'http-referer', 'x-title'],
];

/** Credentials and what belongs to one connection or to this gateway stay here, with all that is not listed. */
export function forwardedHeaders(
  headers: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const forwarded: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && FORWARDED.some((begin) => name.startsWith(begin))) {
      forwarded[name] = value;
    }
  }
  return forwarded;
}
