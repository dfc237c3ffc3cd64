// A file that an answer only names by its address, as the words of a link.

import type { JsonObject } from '../../lib/json.ts';

/** What would end the address of a Markdown link too early. */
const ENDS_LINK = /[\s<>()]/g;

/**
 * Markdown for `{fileUri, mimeType}`; undefined without an address. No other wire has a form for
 * files of the upstream, and fetching them is the client's business.
 */
export function fileLink({ fileUri, mimeType }: JsonObject): string | undefined {
  if (typeof fileUri !== 'string' || fileUri === '') return undefined;
  const [name = ''] = typeof mimeType === 'string' ? mimeType.split('/') : [];
  const address = fileUri.replace(ENDS_LINK, percentEncode);
  return `${name === 'image' ? '!' : ''}[${/^\w+$/.test(name) ? name : 'file'}](${address})`;
}

function percentEncode(sign: string): string {
  return Array.from(Buffer.from(sign), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}
