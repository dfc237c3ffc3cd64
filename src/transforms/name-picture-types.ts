// Gives pictures the type their bytes are of: clients go by the ending of a file's name, upstreams look at the bytes.

import { mapMedia } from '../canonical/map-media.ts';
import { sniffMediaType } from '../canonical/media-type.ts';
import { told } from '../canonical/receipt.ts';
import type { MediaPart } from '../canonical/request.ts';
import type { Transform, TransformContext } from './transform.ts';

/** Types whose first bytes are of no other; those of the HEIF family begin alike. */
const PLAIN_TYPES: ReadonlySet<string | undefined> = new Set([
  'image/png',
  'image/jpeg',
  'image/webp',
]);

/** A JPEG that is called PNG is a 400 ("Unhandled generated data mime type", open-webui/open-webui#25127). */
export const namePictureTypes: Transform = (request, context) =>
  mapMedia(request, (part) => named(part, context));

function named(part: MediaPart, { receipt }: TransformContext): MediaPart {
  const { modality, mediaType, source } = part;
  if (modality !== 'image' || source.kind !== 'base64') return part;
  const found = sniffMediaType(source.base64);
  if (found === undefined || found === mediaType || !PLAIN_TYPES.has(found)) return part;
  receipt.add('repaired', 'messages', told`A picture is of type ${found}, as its bytes tell.`);
  return { ...part, mediaType: found };
}
