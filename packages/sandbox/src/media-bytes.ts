// What base64 is, and which medium its bytes are.

export const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A `data:` address in base64: its media type, then its data. */
export const DATA_URL = /^data:([^;,]*);base64,([\s\S]*)$/;

const BEGINNING = 64;

/** The media type that the beginning of a picture or a PDF tells, given in base64. */
export function sniffMediaType(base64: string): string | undefined {
  const text = Buffer.from(base64.slice(0, BEGINNING), 'base64').toString('latin1');
  if (text.startsWith('\xff\xd8')) return 'image/jpeg';
  if (text.startsWith('\x89PNG')) return 'image/png';
  if (text.startsWith('GIF8')) return 'image/gif';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp';
  return text.startsWith('%PDF-') ? 'application/pdf' : undefined;
}
