import { describe, expect, test } from 'vitest';
import { threadMs } from '../../../test/security/measure.ts';
import type { JsonObject } from '../../lib/json.ts';
import { ContentText } from './answer-parts.ts';
import { canonical, refusal, USER } from './reading.test-support.ts';

test('V081 a data URI becomes inline media of its declared type', () => {
  const content = [{ type: 'image_url', image_url: { url: 'data:image/jpeg;base64,AA==' } }];
  expect(canonical({ messages: [{ role: 'user', content }] }).turns[0]?.parts).toEqual([
    {
      kind: 'media',
      modality: 'image',
      mediaType: 'image/jpeg',
      source: { kind: 'base64', base64: 'AA==' },
    },
  ]);
});

describe('V082 pictures that are not inline and not on a public host are refused', () => {
  test.each([
    ...['file:///etc/passwd', '/etc/passwd', 'C:\\secret.png', 'ftp://example.com/a.png', ''],
    ...['http://127.0.0.1/a.png', 'http://localhost:8045/', 'https://10.0.0.1/', 'http://[::1]/'],
    ...['http://2130706433/', 'http://0x7f.1/', 'http://0177.0.0.1/', 'http://[::ffff:10.1.2.3]/'],
    ...['http://169.254.169.254/latest', 'http://printer.local/', 'http://intranet/', 'http://0/'],
    ...['https://user:secret@example.com/a.png', 'http://[64:ff9b::a00:1]/', 'http://localhost./'],
  ])('%s', (url) => {
    const error = refusal({
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    });
    expect(error.field).toBe('messages[0].content[0].image_url.url');
  });
});

test('a public https URL stays a URL, with the detail as resolution', () => {
  const image_url = { url: 'https://example.com/cat.png', detail: 'low' };
  const content = [{ type: 'image_url', image_url }];
  expect(canonical({ messages: [{ role: 'user', content }] }).turns[0]?.parts[0]).toMatchObject({
    source: {
      kind: 'url',
      url: 'https://example.com/cat.png',
      path: 'messages[0].content[0].image_url.url',
    },
    resolution: 'low',
  });
});

test('P068 pictures given as a bare string or in the Responses spelling are read', () => {
  const url = 'data:;base64,iVBORw0KGgo=';
  const content = [
    { type: 'image_url', image_url: url },
    { type: 'input_image', image_url: url },
    { type: 'input_text', text: 'x' },
  ];
  const parts = canonical({ messages: [{ role: 'user', content }] }).turns[0]?.parts;
  expect(parts).toMatchObject([
    { mediaType: 'image/png' },
    { mediaType: 'image/png' },
    { kind: 'text', text: 'x' },
  ]);
});

test('audio and files become media, named files behind their name, text files a text with it', () => {
  const content = [
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
    { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
    {
      type: 'file',
      file: { filename: 'a.txt', file_data: `data:text/plain;base64,${btoa('hi')}` },
    },
  ];
  expect(canonical({ messages: [{ role: 'user', content }] }).turns[0]?.parts).toMatchObject([
    { modality: 'audio', mediaType: 'audio/mp3' },
    { kind: 'text', text: 'a.pdf' },
    { modality: 'document', mediaType: 'application/pdf' },
    { kind: 'text', text: 'a.txt\nhi' },
  ]);
});

test.each([
  ['bad base64', { type: 'image_url', image_url: { url: 'data:image/png;base64,@@@' } }],
  ['no base64', { type: 'image_url', image_url: { url: 'data:image/png,abc' } }],
  ['a foreign type', { type: 'image_url', image_url: { url: 'data:image/svg+xml;base64,AAAA' } }],
  ['a stored file', { type: 'file', file: { file_id: 'file-1' } }],
  ['an unknown audio format', { type: 'input_audio', input_audio: { data: 'AA==', format: 'x' } }],
  ['an unknown part', { type: 'hologram', hologram: {} }],
])('a part with %s is a 400 naming the part', (_what, part) => {
  const error = refusal({ messages: [{ role: 'user', content: [part] }] });
  expect(error.field).toMatch(/^messages\[0\]\.content\[0\]/);
});

test('P066 a picture inside markdown text becomes a picture, the text around it stays', () => {
  const content = 'before ![image](data:image/png;base64,AAAA) after ![x](data:image/png;base64,@)';
  const request = canonical({ messages: [USER, { role: 'assistant', content }] });
  expect(request.turns[1]?.parts).toMatchObject([
    { kind: 'text', text: 'before ' },
    { kind: 'media', mediaType: 'image/png', source: { base64: 'AAAA' } },
    { kind: 'text', text: ' after ![x](data:image/png;base64,@)' },
  ]);
});

test('the paragraph a drawn picture was put into goes with it: texts come back as the model wrote them', () => {
  const written = new ContentText();
  const picture = '![image](data:image/png;base64,AAAA)';
  const content =
    written.addText('Look:\n\n') +
    written.addBlock(picture) +
    written.addBlock(picture) +
    written.addText(' Nice.');
  const request = canonical({ messages: [USER, { role: 'assistant', content }] });
  expect(request.turns[1]?.parts).toMatchObject([
    { kind: 'text', text: 'Look:\n\n' },
    { kind: 'media' },
    { kind: 'media' },
    { kind: 'text', text: ' Nice.' },
  ]);
});

test('P066 hostile markdown is split in linear time', () => {
  const content = '](data:image/)'.repeat(100_000);
  const spentMs = threadMs(() => {
    expect(canonical({ messages: [{ role: 'user', content }] }).turns[0]?.parts).toHaveLength(1);
  });
  expect(spentMs).toBeLessThan(2000);
});

test('the highest detail is the highest resolution; sound in an Ogg file is named by the file', () => {
  const url = 'data:image/png;base64,AA==';
  const content = [
    { type: 'image_url', image_url: { url, detail: 'original' } },
    { type: 'input_audio', input_audio: { data: 'AA==', format: 'opus' } },
  ];
  expect(canonical({ messages: [{ role: 'user', content }] }).turns[0]?.parts).toMatchObject([
    { resolution: 'high' },
    { mediaType: 'audio/ogg' },
  ]);
});

test.each([
  ['an address in an object', { url: 'data:video/mp4;base64,AA==' }],
  ['a bare address', 'data:video/mp4;base64,AA=='],
])('C7: a video is taken by %s, as a file with the same bytes is', (_how, video_url) => {
  const video = [{ type: 'video_url', video_url }];
  const file = [{ type: 'file', file: { file_data: 'data:video/mp4;base64,AA==' } }];
  const partsOf = (content: JsonObject[]) =>
    canonical({ messages: [{ role: 'user', content }] }).turns[0]?.parts;
  expect(partsOf(video)).toEqual(partsOf(file));
});

test('C7: videos on public hosts go by their address, others are refused naming it', () => {
  const ask = (url: string) => ({
    messages: [{ role: 'user', content: [{ type: 'video_url', video_url: { url } }] }],
  });
  const [part] = canonical(ask('https://example.com/a.mp4')).turns[0]?.parts ?? [];
  const path = 'messages[0].content[0].video_url.url';
  expect(part).toMatchObject({ modality: 'video', source: { kind: 'url', path } });
  expect(refusal(ask('http://127.0.0.1/a.mp4')).field).toBe(path);
});
