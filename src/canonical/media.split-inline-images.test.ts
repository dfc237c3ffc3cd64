import { expect, test } from 'vitest';
import { splitInlineImages } from './media.ts';

const kindsIn = (text: string) => splitInlineImages({ kind: 'text', text }).map(({ kind }) => kind);

test('P066 only pictures some upstream takes are taken out of a text', () => {
  expect(kindsIn('a ![x](data:image/jpg;base64,AAAA) b')).toEqual(['text', 'media', 'text']);
  expect(kindsIn('a ![x](data:image/svg+xml;base64,AAAA) b')).toEqual(['text']);
});
