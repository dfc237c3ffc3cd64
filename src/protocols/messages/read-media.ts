// Reads image, document and search-result blocks: where the bytes are, and what of them is plain text.

import { modalityOf, spellMediaType } from '../../canonical/media-type.ts';
import { findUrlFault } from '../../canonical/public-url.ts';
import type { MediaPart, MediaSource, TextPart } from '../../canonical/request.ts';
import { tidyBase64 } from '../../lib/base64.ts';
import {
  asScope,
  bracketPath,
  fieldAt,
  fieldError,
  nonEmptyStringAt,
  objectAt,
  optionalArrayAt,
  optionalStringAt,
  pathOf,
  type Scope,
  stringAt,
  tagOf,
  unknownTag,
} from './fields.ts';

/** What a block of the prompt's own content can become. */
type ContentPart = TextPart | MediaPart;

const PDF = 'application/pdf';
const NO_FILES = 'Files cannot be stored here; send the content as base64 or as text';

/** `{cacheHint: true}` for a block with `cache_control`, else nothing. */
export function cacheHintOf(scope: Scope): { readonly cacheHint?: true } {
  return fieldAt(scope, 'cache_control') === undefined ? {} : { cacheHint: true };
}

/** An `image` block: base64 or an https address. */
export function readImage(scope: Scope): MediaPart {
  const source = objectAt(scope, 'source');
  const hint = cacheHintOf(scope);
  switch (tagOf(source)) {
    case 'base64': {
      const mediaType = spellMediaType(nonEmptyStringAt(source, 'media_type'));
      if (modalityOf(mediaType) !== 'image') {
        const path = pathOf(source, 'media_type');
        throw fieldError(path, "Input should be the type of a picture, such as 'image/png'");
      }
      return { kind: 'media', modality: 'image', mediaType, source: readBase64(source), ...hint };
    }
    case 'url':
      return { kind: 'media', modality: 'image', source: readUrl(source), ...hint };
    case 'file':
      throw fieldError(pathOf(source, 'type'), NO_FILES, 'unsupported');
    default:
      throw unknownTag(source, "'base64' or 'url'");
  }
}

/**
 * A `document` block: a PDF stays media, everything else is text. Title and context are for the model to read,
 * so they stand before either as text: the upstream has no field for them.
 */
export function readDocument(scope: Scope): readonly ContentPart[] {
  const source = objectAt(scope, 'source');
  const title = optionalStringAt(scope, 'title');
  const context = optionalStringAt(scope, 'context');
  const heading = [title, context].filter((line) => line !== undefined && line !== '').join('\n');
  const hint = cacheHintOf(scope);
  switch (tagOf(source)) {
    case 'base64':
    case 'url': {
      const media: MediaPart = { ...readPdf(source), ...hint };
      return heading === '' ? [media] : [{ kind: 'text', text: heading }, media];
    }
    case 'text':
      return [{ kind: 'text', text: underHeading(heading, stringAt(source, 'data')), ...hint }];
    case 'content':
      return readContentSource(source, heading).map((part) => ({ ...part, ...hint }));
    case 'file':
      throw fieldError(pathOf(source, 'type'), NO_FILES, 'unsupported');
    default:
      throw unknownTag(source, "'base64', 'text', 'url' or 'content'");
  }
}

/** A `search_result` block as text: title, address, passages. */
export function readSearchResult(scope: Scope): TextPart {
  const heading = `${stringAt(scope, 'title')}\n${stringAt(scope, 'source')}`;
  const items = optionalArrayAt(scope, 'content') ?? [];
  const passages = items.map((item, index) =>
    stringAt(asScope(item, `${pathOf(scope, 'content')}.${index}`), 'text'),
  );
  return { kind: 'text', text: underHeading(heading, passages.join('\n')), ...cacheHintOf(scope) };
}

function readPdf(source: Scope): MediaPart {
  const document = { kind: 'media', modality: 'document', mediaType: PDF } as const;
  if (tagOf(source) === 'url') return { ...document, source: readUrl(source) };
  const mediaType = optionalStringAt(source, 'media_type') ?? PDF;
  if (mediaType.toLowerCase() !== PDF) {
    throw fieldError(pathOf(source, 'media_type'), `Input should be '${PDF}'`);
  }
  return { ...document, source: readBase64(source) };
}

function readContentSource(source: Scope, heading: string): readonly ContentPart[] {
  const content = fieldAt(source, 'content');
  if (typeof content === 'string') return [{ kind: 'text', text: underHeading(heading, content) }];
  const parts = (optionalArrayAt(source, 'content') ?? []).map((item, index): ContentPart => {
    const block = asScope(item, `${pathOf(source, 'content')}.${index}`);
    const tag = tagOf(block);
    if (tag === 'text') return { kind: 'text', text: stringAt(block, 'text') };
    if (tag === 'image') return readImage(block);
    throw unknownTag(block, "'text' or 'image'");
  });
  return heading === '' ? parts : [{ kind: 'text', text: heading }, ...parts];
}

/** Plain base64. Line breaks and the URL-safe alphabet are put right; anything else is a 400. */
function readBase64(source: Scope): MediaSource {
  const base64 = tidyBase64(nonEmptyStringAt(source, 'data'));
  if (base64 === undefined) {
    throw fieldError(pathOf(source, 'data'), 'Input should be base64 without a data: prefix');
  }
  return { kind: 'base64', base64 };
}

/** Only public web addresses: never a file of this machine or a host of its network. */
function readUrl(source: Scope): MediaSource {
  const url = nonEmptyStringAt(source, 'url');
  const path = pathOf(source, 'url');
  if (findUrlFault(url) === undefined) return { kind: 'url', url, path: bracketPath(path) };
  throw fieldError(path, 'Input should be a public http or https address');
}

function underHeading(heading: string, text: string): string {
  return heading === '' ? text : `${heading}\n\n${text}`;
}
