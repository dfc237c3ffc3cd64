// Stands before a token endpoint: passes everything on and counts what comes.

import { createServer } from 'node:http';
import { serveOnLoopback } from '../support/loopback.ts';

export interface ProviderFront {
  readonly url: string;
  /** Bodies of the refresh requests so far. */
  readonly refreshes: readonly string[];
  close(): Promise<void>;
}

/** `target` is asked for at each request, as the sandbox behind it starts later. */
export async function startProviderFront(target: () => string): Promise<ProviderFront> {
  const refreshes: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      if (body.includes('grant_type=refresh_token')) refreshes.push(body);
      const { authorization } = request.headers;
      const answer = await fetch(target(), {
        method: 'POST',
        headers: {
          'content-type': String(request.headers['content-type']),
          ...(authorization === undefined ? {} : { authorization }),
        },
        body,
      });
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(await answer.text());
    })();
  });
  const { url, close } = await serveOnLoopback(server);
  return {
    url: `${url}/token`,
    refreshes,
    close,
  };
}
