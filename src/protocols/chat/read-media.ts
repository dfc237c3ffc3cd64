// Reads media a client sends inline or by address: data URIs, bare base64, public http(s) URLs.

import { invalidRequest } from '../../canonical/error.ts';
import { modalityOf, sniffMediaType, spellMediaType } from '../../canonical/media-type.ts';
import { findUrlFault, type UrlFault } from '../../canonical/public-url.ts';
import type { MediaSource, Modality } from '../../canonical/request.ts';
import { tidyBase64 } from '../../lib/base64.ts';

export interface ReadMedia {
  /** Absent only for URLs. */
  readonly mediaType?: string | undefined;
  readonly source: MediaSource;
}

const URL_FAULTS: Readonly<Record<UrlFault, string>> = {
  malformed: 'is not a valid URL.',
  credentials: 'must not hold credentials.',
  private: 'must be on a public host; send the data as a data URI.',
};

/**
 * Media by address: a data URI, or an http(s) URL of a public host.
 * @throws GatewayError 400 for anything else: local files are never read for a request.
 */
export function readMediaUrl(url: string, path: string): ReadMedia {
  const scheme = url.slice(0, 8).toLowerCase();
  if (scheme.startsWith('data:')) return readDataUri(url, path);
  if (scheme.startsWith('https://') || scheme.startsWith('http://')) {
    const fault = findUrlFault(url);
    if (fault !== undefined) throw invalidRequest(path, `${path} ${URL_FAULTS[fault]}`);
    return { source: { kind: 'url', url, path } };
  }
  throw invalidRequest(
    path,
    `${path} must be a data URI (data:<type>;base64,…) or an https URL; files are not read.`,
  );
}

/** `data:<type>;base64,<data>`; the type is taken from the bytes when the URI does not say. */
function readDataUri(uri: string, path: string): ReadMedia {
  const comma = uri.indexOf(',');
  const header = comma < 0 ? '' : uri.slice('data:'.length, comma).toLowerCase();
  if (!header.endsWith(';base64')) {
    throw invalidRequest(path, `${path} must be a base64 data URI: data:<type>;base64,<data>.`);
  }
  const declared = header.slice(0, header.indexOf(';')).trim();
  return readInline(uri.slice(comma + 1), { declared, path });
}

/** Bare base64 with an optional declared type. */
export function readInline(
  text: string,
  { declared, path }: { readonly declared: string; readonly path: string },
): ReadMedia {
  const base64 = readBase64(text, path);
  const isSilent = declared === '' || declared === 'application/octet-stream';
  const mediaType = isSilent ? sniffMediaType(base64) : declared;
  if (mediaType === undefined) {
    throw invalidRequest(path, `${path}: the media type is missing and not recognisable.`);
  }
  return { mediaType: spellMediaType(mediaType), source: { kind: 'base64', base64 } };
}

/** Base64 without white space and with its padding. @throws GatewayError 400 */
export function readBase64(text: string, path: string): string {
  const base64 = tidyBase64(text);
  if (base64 === undefined) throw invalidRequest(path, `${path} does not hold valid base64.`);
  return base64;
}

/** What kind of media a type is. @throws GatewayError 400 for types no upstream takes. */
export function readModality(mediaType: string, path: string): Modality {
  const modality = modalityOf(mediaType);
  if (modality !== undefined) return modality;
  throw invalidRequest(path, `${path}: media type "${mediaType}" is not supported.`, 'unsupported');
}
