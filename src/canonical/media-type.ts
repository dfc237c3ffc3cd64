// Media types: one spelling each, what kind of media they are, and how bytes betray theirs.

import type { Modality } from './request.ts';

const ALIASES = new Map([
  ['image/jpg', 'image/jpeg'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
  ['audio/mpeg', 'audio/mp3'],
]);

/** Pictures some upstream takes; the newest list is the upstream's own business. */
const IMAGE_TYPES = new Set(
  ['png', 'jpeg', 'webp', 'gif', 'heic', 'heif', 'avif', 'bmp'].map((name) => `image/${name}`),
);

/** File signatures (magic numbers) as the base64 text of their first bytes. */
const SIGNATURES: readonly (readonly [prefix: string, mediaType: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['JVBERi', 'application/pdf'],
  ['SUQz', 'audio/mp3'],
  ['//uQ', 'audio/mp3'],
  ['ZkxhQ', 'audio/flac'],
  ['T2dnUw', 'audio/ogg'],
];

/** The type in lower case, in the spelling upstreams know. */
export function spellMediaType(mediaType: string): string {
  const type = mediaType.trim().toLowerCase();
  return ALIASES.get(type) ?? type;
}

/** What kind of media a spelled type is; undefined for types no upstream takes. */
export function modalityOf(mediaType: string): Modality | undefined {
  if (IMAGE_TYPES.has(mediaType)) return 'image';
  if (mediaType === 'application/pdf') return 'document';
  if (mediaType.startsWith('audio/')) return 'audio';
  return mediaType.startsWith('video/') ? 'video' : undefined;
}

/** The type the first bytes tell; `base64` is tidy. */
export function sniffMediaType(base64: string): string | undefined {
  for (const [prefix, mediaType] of SIGNATURES) {
    if (base64.startsWith(prefix)) return mediaType;
  }
  const head = atob(base64.slice(0, 16));
  if (head.startsWith('RIFF')) return head.endsWith('WEBP') ? 'image/webp' : 'audio/wav';
  if (head.slice(4, 8) !== 'ftyp') return undefined;
  return head.startsWith('hei', 8) || head.startsWith('mif1', 8) ? 'image/heic' : 'video/mp4';
}
