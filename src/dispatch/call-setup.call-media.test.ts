import { expect, test } from 'vitest';
import { requestOf, user } from '../../test/support/canonical.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { FetchedMedia } from '../media/fetch-media.ts';
import { createCallMedia } from './call-setup.ts';

const REQUEST = requestOf({
  turns: [
    user({
      kind: 'media',
      modality: 'image',
      source: { kind: 'url', url: 'https://a.example/1' },
    }),
  ],
});
const READS_NOTHING = { wire: 'w', readsUri: () => false };
const READS_ALL = { wire: 'w', readsUri: () => true };
const { signal } = new AbortController();

function fetcherOf(isEnabled: boolean) {
  const asked: string[] = [];
  return {
    asked,
    isEnabled: () => isEnabled,
    fetch: async (url: string): Promise<FetchedMedia> => {
      asked.push(url);
      return { mediaType: 'image/png', base64: 'AAAA' };
    },
    close: async () => {},
  };
}

const call = { request: REQUEST };

test('nothing is fetched unless the operator allows it', async () => {
  const fetcher = fetcherOf(false);
  const media = createCallMedia(call, { fetcher, signal });
  await media.load(READS_NOTHING);
  expect(media.request).toBe(REQUEST);
  expect(fetcher.asked).toEqual([]);
});

test('each upstream gets what it does not read itself, fetched once', async () => {
  const fetcher = fetcherOf(true);
  const media = createCallMedia(call, { fetcher, signal });
  await media.load(READS_ALL);
  expect(media.request).toBe(REQUEST);
  await media.load(READS_NOTHING);
  expect(JSON.stringify(media.request)).toContain('"base64":"AAAA"');
  await media.load(READS_ALL);
  expect(media.request).toBe(REQUEST);
  await media.load(READS_NOTHING);
  expect(fetcher.asked).toEqual(['https://a.example/1']);
});

test('a relayed call has no canonical form built for it', async () => {
  const relayed = {
    get request(): CanonicalRequest {
      throw new Error('not needed');
    },
    relay: { wire: 'w', body: {} },
  };
  const media = createCallMedia(relayed, { fetcher: fetcherOf(true), signal });
  await media.load(READS_NOTHING);
});
