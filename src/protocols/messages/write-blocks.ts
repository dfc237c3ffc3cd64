// Writes answer blocks that are complete at once: searches and pages, images, code and its output.

import { writeCodeText } from '../../canonical/code-text.ts';
import type { BlockOpening, GroundingEvent } from '../../canonical/event.ts';
import { searchCount } from '../../canonical/search-count.ts';
import { sourceTitle } from '../../canonical/source-title.ts';
import type {
  MessagesBlock,
  MessagesCitation,
  MessagesImageBlock,
  MessagesTextBlock,
} from '../../wire/messages.ts';
import { writeFetchedPages } from './write-fetched-pages.ts';

type WholeOpening = Exclude<BlockOpening, { kind: 'text' | 'thinking' | 'tool-call' }>;

/** Images are an extension of the protocol; other media have no place in it and are only named. */
export function writeWholeBlock(opening: WholeOpening): MessagesImageBlock | MessagesTextBlock {
  switch (opening.kind) {
    case 'media': {
      const { mediaType, base64 } = opening;
      if (!mediaType.startsWith('image/')) return text(`[${mediaType} cannot be shown here]`);
      return { type: 'image', source: { type: 'base64', media_type: mediaType, data: base64 } };
    }
    case 'code':
    case 'code-result':
      return text(writeCodeText(opening));
    default:
      return opening satisfies never;
  }
}

interface SearchContext {
  readonly createId: (prefix: string) => string;
  /** True when the text of the answer has the form the client asked for, and no other text stands beside it. */
  readonly isFormatted?: boolean | undefined;
}

/**
 * Pages that were opened and a web search as the protocol shows them, behind the text they served: calls, their
 * results, and a text naming query and sources for clients that read text only. Empty when there were none.
 */
export function writeSearch(
  grounding: GroundingEvent | undefined,
  { createId, isFormatted = false }: SearchContext,
): readonly MessagesBlock[] {
  if (grounding === undefined) return [];
  const { queries, sources, pages = [], isEarly = false } = grounding;
  // Of a step that ends in a call only the queries are known: there is nothing to read yet.
  const isToldInText = !isFormatted && !isEarly && queries.length + sources.length > 0;
  return [
    ...writeFetchedPages(pages, createId),
    ...(searchCount(grounding) === 0 ? [] : writeSearchCall(grounding, createId)),
    ...(isToldInText ? [writeSources(grounding)] : []),
  ];
}

function writeSearchCall(
  { queries, sources }: GroundingEvent,
  createId: (prefix: string) => string,
): readonly MessagesBlock[] {
  const id = createId('srvtoolu_');
  return [
    {
      type: 'server_tool_use',
      id,
      caller: { type: 'direct' },
      name: 'web_search',
      input: { query: queries.join('; ') },
    },
    {
      type: 'web_search_tool_result',
      tool_use_id: id,
      caller: { type: 'direct' },
      content: sources.map((source) => ({
        type: 'web_search_result',
        url: source.url,
        title: sourceTitle(source),
        encrypted_content: '',
        page_age: null,
      })),
    },
  ];
}

/** What of it the client asked for; undefined when there is nothing to report. */
export function shownGrounding(
  grounding: GroundingEvent | undefined,
  { fetchesPages = false }: { readonly fetchesPages?: boolean | undefined },
): GroundingEvent | undefined {
  if (grounding === undefined) return undefined;
  const { pages, ...search } = grounding;
  if (fetchesPages && pages !== undefined) return grounding;
  return search.queries.length + search.sources.length === 0 ? undefined : search;
}

function writeSources(grounding: GroundingEvent): MessagesTextBlock {
  const { queries, sources, pages } = grounding;
  const read = pages === undefined ? 'Searched the web' : 'Read on the web';
  const searched = queries.length === 0 ? read : `Searched: ${queries.join('; ')}`;
  const list = sources.map(
    (source, index) => `${index + 1}. ${sourceTitle(source)} - ${source.url}`,
  );
  const citations = writeCitations(grounding);
  return {
    type: 'text',
    text: ['\n', searched, ...list].join('\n'),
    ...(citations.length === 0 ? {} : { citations }),
  };
}

/** The passages of the answer, each with the sources that support it. */
function writeCitations({ citations, sources }: GroundingEvent): MessagesCitation[] {
  return citations.flatMap((citation) =>
    citation.sources.flatMap((index) => {
      const source = sources[index];
      if (source === undefined) return [];
      return {
        type: 'web_search_result_location' as const,
        url: source.url,
        title: sourceTitle(source),
        encrypted_index: '',
        cited_text: citation.text,
      };
    }),
  );
}

function text(content: string): MessagesTextBlock {
  return { type: 'text', text: content };
}
