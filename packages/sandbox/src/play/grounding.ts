// Search grounding: made-up but consistent sources for an answer, with UTF-8 byte offsets.
// Source: generate-content API, `groundingMetadata` (segment indices are byte offsets inside the part).

import type { JsonObject, JsonValue } from '../json.ts';

const QUERY_LENGTH = 80;
const SENTENCE = /[^.;]+[.;]?/g;
const MAX_SUPPORTS = 3;

/** Grounding of `answer` by a search for the user's words. */
export function writeGrounding(userText: string, answer: string): JsonObject {
  const words = userText.replace(/\s+/g, ' ').trim().toWellFormed();
  const query = [...words].slice(0, QUERY_LENGTH).join('') || 'sandbox';
  const slug = encodeURIComponent(query.toLowerCase().replaceAll(' ', '-'));
  return {
    webSearchQueries: [query],
    searchEntryPoint: { renderedContent: `<div>${escapeHtml(query)}</div>` },
    groundingChunks: [
      writeSource('www.example.com', `guide/${slug}`, `Guide: ${query}`),
      writeSource('www.example.org', `news/${slug}`, `News: ${query}`),
    ],
    groundingSupports: writeSupports(answer),
  };
}

function writeSource(domain: string, path: string, title: string): JsonObject {
  return { web: { uri: `https://${domain}/${path}`, title, domain } };
}

/** One support per sentence, up to three. A start of 0 is left out, as proto JSON does. */
function writeSupports(answer: string): JsonValue[] {
  const supports: JsonValue[] = [];
  for (const match of answer.matchAll(SENTENCE)) {
    if (supports.length === MAX_SUPPORTS) break;
    const startIndex = Buffer.byteLength(answer.slice(0, match.index));
    const endIndex = startIndex + Buffer.byteLength(match[0]);
    supports.push({
      segment: { ...(startIndex > 0 && { startIndex }), endIndex, text: match[0] },
      groundingChunkIndices: supports.length === 0 ? [0, 1] : [supports.length % 2],
    });
  }
  return supports;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
