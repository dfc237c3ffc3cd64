// Writes the pages an upstream opened as the protocol shows its own fetches: a call and a result for each.

import type { FetchedPage } from '../../canonical/event.ts';
import type { MessagesBlock, MessagesWebFetchResult } from '../../wire/messages.ts';

/** Upstreams tell that a page was read, and not what it says: its document is empty. */
export function writeFetchedPages(
  pages: readonly FetchedPage[],
  createId: (prefix: string) => string,
): readonly MessagesBlock[] {
  return pages.flatMap((page): MessagesBlock[] => {
    const id = createId('srvtoolu_');
    const caller = { type: 'direct' } as const;
    return [
      { type: 'server_tool_use', id, caller, name: 'web_fetch', input: { url: page.url } },
      { type: 'web_fetch_tool_result', tool_use_id: id, caller, content: writeResult(page) },
    ];
  });
}

function writeResult({ url, outcome }: FetchedPage): MessagesWebFetchResult {
  const type = 'web_fetch_tool_result_error';
  switch (outcome) {
    case 'read':
      return { type: 'web_fetch_result', url, retrieved_at: null, content: EMPTY };
    case 'unreachable':
      return { type, error_code: 'url_not_accessible' };
    case 'refused':
      return { type, error_code: 'url_not_allowed' };
    case 'unknown':
      return { type, error_code: 'unavailable' };
    default:
      return outcome satisfies never;
  }
}

const EMPTY: Extract<MessagesWebFetchResult, { type: 'web_fetch_result' }>['content'] = {
  type: 'document',
  source: { type: 'text', media_type: 'text/plain', data: '' },
  title: null,
  citations: { enabled: false },
};
