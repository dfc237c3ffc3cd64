// Writes a request as a command line that sends the same.

import type { WireRequest } from './write-request.ts';

/** @param key the name of a shell variable stands where the key goes: commands end up in histories */
export function writeCurl(
  address: string,
  { path, headers, body }: WireRequest,
  needsKey: boolean,
): string {
  const lines = [`curl ${quote(`${address}${path}`)}`];
  for (const [name, value] of Object.entries(headers))
    lines.push(`-H ${quote(`${name}: ${value}`)}`);
  if (needsKey) lines.push('-H "authorization: Bearer $ISTHMUS_KEY"');
  if (body.stream === true || path.includes('alt=sse')) lines.push('--no-buffer');
  lines.push(`-d ${quote(JSON.stringify(body, null, 2))}`);
  return lines.join(' \\\n  ');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
