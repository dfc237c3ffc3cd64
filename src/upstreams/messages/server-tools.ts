// What the tools of the real service did, as canonical blocks and as one grounding of the answer.

import {
  type BlockOpening,
  type Citation,
  type FetchedPage,
  type GroundingEvent,
  type GroundingSource,
  MAX_CITED_LENGTH,
  MAX_EARLY_SEARCHES,
} from '../../canonical/event.ts';
import type { JsonObject } from '../../lib/json.ts';
import { KeptText } from '../../lib/long-text.ts';
import { objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import { SERVER_TOOLS } from '../../wire/messages.ts';

/** Code that was run; undefined for calls that run none. Source: Messages API, "Code execution tool". */
export function readServerCall(
  { id, name }: JsonObject,
  input: JsonObject,
): BlockOpening | undefined {
  const own = textOf(id);
  switch (name) {
    case 'code_execution':
      return { kind: 'code', language: 'python', code: textOf(input.code) ?? '', id: own };
    case 'bash_code_execution':
      return { kind: 'code', language: 'bash', code: textOf(input.command) ?? '', id: own };
    case 'text_editor_code_execution':
      return { kind: 'code', language: 'json', code: JSON.stringify(input), id: own };
    default:
      return undefined;
  }
}

/** What came of it; undefined for results of other tools. */
export function readServerResult(type: string, block: JsonObject): BlockOpening | undefined {
  if (!type.endsWith('code_execution_tool_result')) return undefined;
  const id = textOf(block.tool_use_id);
  const content = objectOf(block.content) ?? {};
  const error = textOf(content.error_code);
  if (error !== undefined) {
    const outcome = error === 'execution_time_exceeded' ? 'timeout' : 'failed';
    return { kind: 'code-result', outcome, output: error, id };
  }
  const { stdout, stderr, return_code: code } = content;
  const output = [textOf(stdout), textOf(stderr)].filter((text) => text !== undefined).join('\n');
  const isPrinted = stdout !== undefined || stderr !== undefined;
  return {
    kind: 'code-result',
    outcome: typeof code === 'number' && code !== 0 ? 'failed' : 'ok',
    output: isPrinted ? output : (textOf(content.content) ?? ''),
    id,
  };
}

const FETCH_OUTCOMES: ReadonlyMap<string, FetchedPage['outcome']> = new Map([
  ['url_not_accessible', 'unreachable'],
  ['url_not_allowed', 'refused'],
]);

/** Searches, pages and citations of one answer, as they come. */
export class Research {
  readonly #placesCitations: boolean;
  readonly #queries: string[] = [];
  /** By address; the first title counts. */
  readonly #sources = new Map<string, GroundingSource & { readonly index: number }>();
  readonly #citations: Citation[] = [];
  readonly #pages = new Map<string, FetchedPage>();
  /** Addresses that were asked for, by the id of the call. */
  readonly #asked = new Map<string, string>();
  /** Of the text block that is being sent: its words, and the sources it cites. */
  #text = new KeptText(MAX_CITED_LENGTH);
  #cited = new Set<number>();
  /** Of the passages that are cited. */
  #citedBytes = 0;
  /** How many searches told what they found. */
  #results = 0;

  constructor(placesCitations: boolean) {
    this.#placesCitations = placesCitations;
  }

  /** What sources and pages are is small beside what came with them, which is kept elsewhere. */
  get heldBytes(): number {
    return this.#text.heldBytes + this.#citedBytes;
  }

  /** A search is told as soon as it is known: some clients show it before the words it led to. */
  call({ id, name }: JsonObject, input: JsonObject): GroundingEvent | undefined {
    const query = textOf(input.query);
    const url = textOf(input.url);
    if (name === SERVER_TOOLS['web-search'].name && query !== undefined) {
      this.#queries.push(query);
      return this.#tellEarly();
    }
    if (name === SERVER_TOOLS['url-context'].name && url !== undefined) {
      this.#asked.set(textOf(id) ?? '', url);
      this.#pages.set(url, { url, outcome: 'unknown' });
    }
    return undefined;
  }

  /** A result block of any tool. What a search found is told at once, as the search is. */
  result({ type, tool_use_id: id, content }: JsonObject): GroundingEvent | undefined {
    if (type === 'web_search_tool_result') {
      for (const { url, title } of objectsOf(content)) this.#source(textOf(url), textOf(title));
      this.#results += 1;
      return this.#tellEarly();
    }
    if (type === 'web_fetch_tool_result') {
      const page = objectOf(content) ?? {};
      const url = textOf(page.url) ?? this.#asked.get(textOf(id) ?? '');
      if (url === undefined) return undefined;
      const error = textOf(page.error_code);
      const outcome = error === undefined ? 'read' : (FETCH_OUTCOMES.get(error) ?? 'unknown');
      this.#pages.set(url, { url, outcome });
    }
    return undefined;
  }

  addText(text: string): void {
    if (this.#placesCitations) this.#text.add(text);
  }

  /** A source of the text block that is being sent; what the client sent itself is no source of the web. */
  cite({ url, title }: JsonObject): void {
    const index = this.#source(textOf(url), textOf(title));
    if (index !== undefined) this.#cited.add(index);
  }

  /** Each cited passage is a block of its own. */
  endText(place: Pick<Citation, 'startIndex' | 'endIndex'>): void {
    if (this.#cited.size > 0 && this.#text.length > 0) {
      this.#citations.push({ ...place, text: this.#text.toString(), sources: [...this.#cited] });
      this.#citedBytes += this.#text.heldBytes;
    }
    if (this.#text.length > 0) this.#text = new KeptText(MAX_CITED_LENGTH);
    if (this.#cited.size > 0) this.#cited = new Set();
  }

  /** Undefined where nothing was looked for. */
  grounding(): GroundingEvent | undefined {
    const isNothing = this.#queries.length + this.#sources.size + this.#pages.size === 0;
    return isNothing ? undefined : this.#event();
  }

  #tellEarly(): GroundingEvent | undefined {
    const searches = Math.max(this.#queries.length, this.#results);
    if (!this.#placesCitations || searches > MAX_EARLY_SEARCHES) return undefined;
    return { ...this.#event(), citations: [], isEarly: true };
  }

  #event(): GroundingEvent {
    const pages = this.#pages.size === 0 ? undefined : [...this.#pages.values()];
    return {
      kind: 'grounding',
      choice: 0,
      queries: [...this.#queries],
      sources: [...this.#sources.values()].map(({ url, title }) => ({ url, title })),
      citations: [...this.#citations],
      ...(pages === undefined ? {} : { pages }),
    };
  }

  #source(url: string | undefined, title: string | undefined): number | undefined {
    if (url === undefined) return undefined;
    const known = this.#sources.get(url);
    if (known !== undefined) return known.index;
    const index = this.#sources.size;
    this.#sources.set(url, { url, title: title ?? '', index });
    return index;
  }
}
