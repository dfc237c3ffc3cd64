import { expect, test } from 'vitest';
import { assistant, contextOf, requestOf, text, user } from '../../test/support/canonical.ts';
import type { MediaPart, Part } from '../canonical/request.ts';
import { applyTransforms } from './index.ts';

const GIF =
  'R0lGODlhEAARAIEAAP8AAAAA/wD/AP///yH5BAEAAAMALAAAAAAQABEAAAhGAAEEGEiwoEEAAg0qNCigocOHDgdIHICwosWKDCFC' +
  'vJhwYQCOHRWCDOkxI8SJKCdyLDlw40iMBF9ajCkTJkuGKXOmvGkwIAA7';

const pictureOf = (base64: string, mediaType = 'image/gif'): MediaPart => ({
  kind: 'media',
  modality: 'image',
  mediaType,
  source: { kind: 'base64', base64 },
});

const sent = (...parts: readonly Part[]) => {
  const context = contextOf();
  const { turns } = applyTransforms(requestOf({ turns: [user(...parts)] }), context);
  return { parts: turns[0]?.parts, entries: context.receipt.entries };
};

const PNG = { mediaType: 'image/png', source: { base64: expect.stringMatching(/^iVBORw0KGgo/) } };

test.each(['image/gif', 'image/png'])(
  'a GIF is sent as PNG, also one that is called %s',
  (type) => {
    const { parts, entries } = sent(text('What is this?'), pictureOf(GIF, type));
    expect(parts).toMatchObject([{ kind: 'text' }, PNG]);
    expect(entries).toMatchObject([{ action: 'approximated', path: 'messages' }]);
  },
);

test('a GIF of a tool result is sent as PNG too', () => {
  const context = contextOf();
  const call = { kind: 'tool-call', id: 'c', name: 'look', input: {} } as const;
  const content = [text('see'), pictureOf(GIF)];
  const result = { kind: 'tool-result', callId: 'c', content, isError: false } as const;
  const turns = [user('go'), assistant(call), user(result)];
  const { turns: sentTurns } = applyTransforms(requestOf({ turns }), context);
  expect(sentTurns[2]?.parts).toMatchObject([{ content: [{ text: 'see' }, PNG] }]);
});

test('other pictures, and what is no whole GIF, go as they came', () => {
  const others = [pictureOf('iVBORw0KGgo=', 'image/png'), pictureOf(GIF.slice(0, 40))];
  expect(sent(...others)).toEqual({ parts: others, entries: [] });
});

test('GIFs of more pixels than a request may hold in all go as they came, cut ones counted', () => {
  const bytes = Buffer.from(GIF, 'base64');
  const size = bytes.indexOf(',') + 5;
  bytes.writeUInt16LE(2048, size);
  bytes.writeUInt16LE(2048, size + 2);
  const parts = [pictureOf(GIF.slice(0, 40)), pictureOf(bytes.toString('base64')), pictureOf(GIF)];
  expect(sent(...parts)).toEqual({ parts, entries: [] });
});
