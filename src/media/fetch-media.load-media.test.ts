import { expect, test } from 'vitest';
import { requestOf, user } from '../../test/support/canonical.ts';
import type { MediaPart, MediaSource } from '../canonical/request.ts';
import { type FetchedMedia, loadMedia, MediaFault } from './fetch-media.ts';

const PNG: FetchedMedia = { mediaType: 'image/png', base64: 'AAAA' };

function image(source: MediaSource): MediaPart {
  return { kind: 'media', modality: 'image', source, cacheHint: true };
}

const at = (url: string): MediaPart => image({ kind: 'url', url });

function fetcherOf(answer: (url: string, signal: AbortSignal) => Promise<FetchedMedia>) {
  const asked: string[] = [];
  const run = { asked, active: 0, most: 0 };
  const fetch = async (url: string, signal: AbortSignal): Promise<FetchedMedia> => {
    asked.push(url);
    run.active += 1;
    run.most = Math.max(run.most, run.active);
    try {
      return await answer(url, signal);
    } finally {
      run.active -= 1;
    }
  };
  return { ...run, run, fetcher: { fetch } };
}

function load(parts: readonly MediaPart[], fetcher = fetcherOf(async () => PNG).fetcher) {
  return loadMedia(requestOf({ turns: [user(...parts)] }), {
    fetcher,
    isReadable: (uri) => uri.startsWith('https://files.upstream/'),
    signal: new AbortController().signal,
    fetched: new Map(),
  });
}

test('an address becomes the bytes behind it; the rest of the part stays', async () => {
  const { turns } = await load([at('https://a.example/1'), at('https://files.upstream/2')]);
  expect(turns[0]?.parts).toEqual([
    {
      kind: 'media',
      modality: 'image',
      mediaType: 'image/png',
      source: { kind: 'base64', base64: 'AAAA' },
      cacheHint: true,
    },
    at('https://files.upstream/2'),
  ]);
});

test('what was fetched says what kind of medium it is', async () => {
  const { fetcher } = fetcherOf(async () => ({ mediaType: 'application/pdf', base64: 'JVBERi0=' }));
  const { turns } = await load([at('https://a.example/1')], fetcher);
  expect(turns[0]?.parts).toMatchObject([{ modality: 'document', mediaType: 'application/pdf' }]);
});

test('files by web address and media inside tool results are fetched as well', async () => {
  const { fetcher, asked } = fetcherOf(async () => PNG);
  const result = {
    kind: 'tool-result',
    callId: 'c',
    content: [at('https://a.example/1'), { kind: 'text', text: 'x' }],
    isError: false,
  } as const;
  const request = requestOf({
    turns: [user(result, image({ kind: 'file', uri: 'https://a.example/2' }))],
  });
  const options = { isReadable: () => false, signal: new AbortController().signal };
  const loaded = await loadMedia(request, { ...options, fetcher, fetched: new Map() });
  expect(asked).toEqual(['https://a.example/1', 'https://a.example/2']);
  expect(JSON.stringify(loaded)).not.toContain('a.example');
});

test('a request without addresses is the same object, and files elsewhere are left alone', async () => {
  const request = requestOf({
    turns: [user('x', image({ kind: 'file', uri: 'gs://bucket/1' }))],
  });
  const { fetcher, asked } = fetcherOf(async () => PNG);
  const options = { isReadable: () => false, signal: new AbortController().signal };
  expect(await loadMedia(request, { ...options, fetcher, fetched: new Map() })).toBe(request);
  expect(asked).toEqual([]);
});

test('an address is fetched once, also over several attempts', async () => {
  const { fetcher, asked } = fetcherOf(async () => PNG);
  const request = requestOf({
    turns: [user(at('https://a.example/1'), at('https://a.example/1'))],
  });
  const options = {
    fetcher,
    isReadable: () => false,
    signal: new AbortController().signal,
    fetched: new Map(),
  };
  expect(await loadMedia(request, options)).toEqual(await loadMedia(request, options));
  expect(asked).toEqual(['https://a.example/1']);
});

test('at most four are fetched at once, and at most sixteen at all', async () => {
  const many = (count: number): MediaPart[] =>
    Array.from({ length: count }, (_, index) => at(`https://a.example/${index}`));
  const { fetcher, run } = fetcherOf(async () => PNG);
  await load(many(16), fetcher);
  expect(run).toMatchObject({ most: 4, active: 0 });
  await expect(load(many(17), fetcher)).rejects.toMatchObject({
    kind: 'invalid-request',
    field: 'messages',
    message: expect.stringContaining('16'),
  });
});

test('a fault is a 400 that names the host and not the path, and ends the other fetches', async () => {
  let ended = 0;
  const { fetcher } = fetcherOf((url, signal) => {
    if (url.endsWith('bad')) return Promise.reject(new MediaFault('refused'));
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        ended += 1;
        reject(signal.reason);
      });
    });
  });
  const parts = [at('https://a.example/1'), at('https://b.example/secret/bad')];
  await expect(load(parts, fetcher)).rejects.toMatchObject({
    kind: 'invalid-request',
    message: 'messages: the image at b.example cannot be used: its host did not give it out.',
  });
  expect(ended).toBe(1);
});

test('media too large together are refused', async () => {
  const base64 = 'A'.repeat(24 * 1024 * 1024);
  const { fetcher } = fetcherOf(async () => ({ mediaType: 'image/png', base64 }));
  const parts = [1, 2, 3].map((index) => at(`https://a.example/${index}`));
  await expect(load(parts, fetcher)).rejects.toMatchObject({ kind: 'invalid-request' });
});
