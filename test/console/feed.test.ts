// What the live feed says makes the answers old that pages show.

import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openFeed } from '../../console/src/api/events.ts';
import { refreshTopics } from '../../console/src/api/queries/overview.ts';

/** The connection that was opened last. */
let source: FakeSource | undefined;

class FakeSource extends EventTarget {
  isClosed = false;
  readonly url: string;
  constructor(url: string) {
    super();
    this.url = url;
    source = this;
  }
  close(): void {
    this.isClosed = true;
  }
}

class FakeDocument extends EventTarget {
  visibilityState = 'visible';
  show(state: 'visible' | 'hidden'): void {
    this.visibilityState = state;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

let page = new FakeDocument();

beforeEach(() => {
  page = new FakeDocument();
  source = undefined;
  vi.stubGlobal('EventSource', FakeSource);
});
afterEach(() => vi.unstubAllGlobals());

test.each([
  ['key', 'keys'],
  ['address-rule', 'address-rules'],
  ['account', 'accounts'],
  ['config', 'config'],
])('an event of the kind %s makes the answers under "%s" old, and no others', (kind, key) => {
  const waiting: (() => void)[] = [];
  vi.stubGlobal('setTimeout', (run: () => void) => waiting.push(run));
  const client = new QueryClient();
  for (const one of [key, 'untouched']) client.setQueryData([one], {});
  const feed = openFeed({
    page,
    onState: () => {},
    onTopics: (topics) => refreshTopics(client, topics),
  });
  source?.dispatchEvent(new Event(kind));
  for (const run of waiting) run();
  const isOld = (one: string) => client.getQueryState([one])?.isInvalidated;
  expect([isOld(key), isOld('untouched')]).toEqual([true, false]);
  feed.close();
});

test('what is read for the first time while an event comes is read once more', async () => {
  const client = new QueryClient();
  const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  let asked = 0;
  const observer = new QueryObserver(client, {
    queryKey: ['requests', 'of a key'],
    queryFn: () => answers[asked++]?.promise ?? 'more',
  });
  const leave = observer.subscribe(() => undefined);
  await expect.poll(() => asked).toBe(1);
  refreshTopics(client, new Set(['request']));
  answers[0]?.resolve('before the event');
  await expect.poll(() => asked).toBe(2);
  answers[1]?.resolve('behind it');
  await expect.poll(() => observer.getCurrentResult().data).toBe('behind it');
  expect(asked).toBe(2);
  leave();
  client.clear();
});

test('a page that nobody sees keeps no connection, and asks for everything when it is seen again', () => {
  const heard: number[] = [];
  const feed = openFeed({ page, onState: () => {}, onTopics: (topics) => heard.push(topics.size) });
  const first = source;
  // What came while the page was read is told it first.
  expect(first?.url).toMatch(/^\/api\/events\?ageMs=[1-9]\d*$/);
  first?.dispatchEvent(new Event('open'));
  page.show('hidden');
  expect(first?.isClosed).toBe(true);
  page.show('visible');
  expect(source).not.toBe(first);
  expect(source?.url).toBe('/api/events');
  expect(heard).toEqual([]);
  source?.dispatchEvent(new Event('open'));
  expect(heard).toEqual([8]);
  const last = source;
  feed.close();
  page.show('hidden');
  page.show('visible');
  expect([source === last, last?.isClosed]).toEqual([true, true]);
});

test('that a page seen again connects anew is no news', () => {
  const told: string[] = [];
  const feed = openFeed({ page, onState: (state) => told.push(state), onTopics: () => {} });
  source?.dispatchEvent(new Event('open'));
  page.show('hidden');
  page.show('visible');
  expect(told).toEqual(['open']);
  source?.dispatchEvent(new Event('error'));
  expect(told).toEqual(['open', 'lost']);
  feed.close();
});

test('a page that is opened where nobody sees it connects when it is seen', () => {
  page.show('hidden');
  const feed = openFeed({ page, onState: () => {}, onTopics: () => {} });
  expect(source).toBeUndefined();
  page.show('visible');
  expect(source?.isClosed).toBe(false);
  feed.close();
});
