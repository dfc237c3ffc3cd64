import { expect, test } from 'vitest';
import { modalityOf, sniffMediaType, spellMediaType } from './media.ts';

test.each([
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff\xe0', 'image/jpeg'],
  ['GIF89a', 'image/gif'],
  ['%PDF-1.7', 'application/pdf'],
  ['RIFF\0\0\0\0WEBP', 'image/webp'],
  ['RIFF\0\0\0\0WAVE', 'audio/wav'],
  ['\0\0\0\x18ftypheic', 'image/heic'],
  ['\0\0\0\x18ftypisom', 'video/mp4'],
  ['hello', undefined],
])('bytes that begin with %j are %s', (bytes, mediaType) => {
  expect(sniffMediaType(btoa(bytes))).toBe(mediaType);
});

test.each([
  ['image/JPG', 'image/jpeg', 'image'],
  ['audio/mpeg', 'audio/mp3', 'audio'],
  ['video/mp4', 'video/mp4', 'video'],
  ['application/pdf', 'application/pdf', 'document'],
  ['image/svg+xml', 'image/svg+xml', undefined],
  ['text/plain', 'text/plain', undefined],
])('%s is spelled %s and is %s', (given, spelled, modality) => {
  expect(spellMediaType(given)).toBe(spelled);
  expect(modalityOf(spelled)).toBe(modality);
});
