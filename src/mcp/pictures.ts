// Reads the pictures that a tool is given: data URIs, base64 or https addresses, and never a file of this machine.

import { invalidRequest } from '../canonical/error.ts';
import { modalityOf, sniffMediaType, spellMediaType } from '../canonical/media.ts';
import { tidyBase64 } from '../lib/base64.ts';
import { type FetchedMedia, MediaFault, type MediaFetcher } from '../media/fetch-media.ts';

interface GivenPicture {
  /** The argument, for the error. */
  readonly field: string;
  readonly value: string;
  /** What the client says of bare base64. */
  readonly mediaType: string | undefined;
}

const MAX_BYTES = 20 * 1024 * 1024;
const DATA_URI = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w-]+=[\w-]+)*;base64,/i;
/** Shorter base64 is no picture, and may be the name of a file. */
const MIN_BASE64 = 32;

/** @throws GatewayError invalid-request saying what to send instead; or the signal's reason */
export async function readPicture(
  { field, value, mediaType }: GivenPicture,
  fetcher: Pick<MediaFetcher, 'isEnabled' | 'fetch'>,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const text = value.trim();
  const [head, declared] = DATA_URI.exec(text) ?? [];
  if (head !== undefined) return fromBase64(field, text.slice(head.length), declared ?? mediaType);
  if (/^https?:/i.test(text)) return fetchPicture(field, text, { fetcher, signal });
  if (text.length < MIN_BASE64 || tidyBase64(text) === undefined)
    throw invalidRequest(field, PATH_REFUSED(field));
  return fromBase64(field, text, mediaType);
}

const PATH_REFUSED = (field: string): string =>
  `${field}: pictures are not read from paths or names of files. Send a data URI (data:image/png;base64,…), base64 with its media type, or an https address.`;

function fromBase64(field: string, text: string, declared: string | undefined): FetchedMedia {
  const base64 = tidyBase64(text);
  if (base64 === undefined) throw invalidRequest(field, `${field}: this is not base64.`);
  if (base64.length > (MAX_BYTES / 3) * 4) {
    throw invalidRequest(field, `${field}: the picture is larger than ${MAX_BYTES} bytes.`);
  }
  const mediaType = sniffMediaType(base64) ?? spellMediaType(declared ?? '');
  return checked(field, { mediaType, base64 });
}

async function fetchPicture(
  field: string,
  address: string,
  {
    fetcher,
    signal,
  }: { readonly fetcher: Pick<MediaFetcher, 'isEnabled' | 'fetch'>; readonly signal: AbortSignal },
): Promise<FetchedMedia> {
  if (!fetcher.isEnabled()) {
    const message = `${field}: addresses are not fetched here: the gateway's setting proxy.fetch_remote_media is off. Send the picture as a data URI.`;
    throw invalidRequest(field, message, 'unsupported');
  }
  try {
    return checked(field, await fetcher.fetch(address, signal));
  } catch (error) {
    if (!(error instanceof MediaFault)) throw error;
    throw invalidRequest(field, `${field}: the picture cannot be used: ${error.message}.`);
  }
}

function checked(field: string, picture: FetchedMedia): FetchedMedia {
  if (modalityOf(picture.mediaType) === 'image') return picture;
  const message = `${field}: this is no picture of a known type; name its type in the data URI or in media_type.`;
  throw invalidRequest(field, message);
}
