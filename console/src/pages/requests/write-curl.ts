// A recorded request as a command for curl; the secret is a variable of the shell.

import type { RequestDetail } from '../../../../src/admin/contract.ts';

type Sent = Pick<RequestDetail, 'protocol' | 'method' | 'path' | 'clientRequest' | 'surface'>;

/** In the headers that each protocol's clients send. */
const CREDENTIALS: Readonly<Record<string, readonly string[]>> = {
  messages: ['x-api-key: $ISTHMUS_API_KEY', 'anthropic-version: 2023-06-01'],
  generate: ['x-goog-api-key: $ISTHMUS_API_KEY'],
};
const BEARER = ['authorization: Bearer $ISTHMUS_API_KEY'] as const;

/**
 * Undefined where the body is not known as a whole.
 * @param origin of the gateway, such as `http://127.0.0.1:8045`
 */
export function writeCurl(sent: Sent, origin: string): string | undefined {
  const { protocol, method, path, clientRequest, surface } = sent;
  if (clientRequest?.isWhole !== true) return undefined;
  const query = surface === 'streamGenerateContent' ? '?alt=sse' : '';
  const headers = [...(CREDENTIALS[protocol] ?? BEARER), 'content-type: application/json'];
  return [
    `curl ${quote(`${origin}${path}${query}`)}`,
    ...(method === 'POST' ? [] : [`--request ${method}`]),
    // Double quotes, in which the shell puts the variable's value.
    ...headers.map((header) => `--header "${header}"`),
    `--data-raw ${quote(clientRequest.text)}`,
  ].join(' \\\n  ');
}

/** As a shell takes it as one word, whatever it holds. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
