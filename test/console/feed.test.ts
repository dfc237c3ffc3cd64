// What the live feed says makes the answers old that pages show.

import { QueryClient } from '@tanstack/react-query';
import { afterEach, expect, test, vi } from 'vitest';
import { openFeed } from '../../console/src/api/events.ts';
import { refreshTopics } from '../../console/src/api/queries/overview.ts';

/** The connection that was opened last. */
let source: EventTarget | undefined;

class FakeSource extends EventTarget {
  constructor() {
    super();
    source = this;
  }
  close(): void {}
}

afterEach(() => vi.unstubAllGlobals());

test.each([
  ['key', 'keys'],
  ['address-rule', 'address-rules'],
  ['account', 'accounts'],
  ['config', 'config'],
])('an event of the kind %s makes the answers under "%s" old, and no others', (kind, key) => {
  const waiting: (() => void)[] = [];
  vi.stubGlobal('setTimeout', (run: () => void) => waiting.push(run));
  vi.stubGlobal('EventSource', FakeSource);
  const client = new QueryClient();
  for (const one of [key, 'untouched']) client.setQueryData([one], {});
  const feed = openFeed({
    onState: () => {},
    onTopics: (topics) => refreshTopics(client, topics),
  });
  source?.dispatchEvent(new Event(kind));
  for (const run of waiting) run();
  const isOld = (one: string) => client.getQueryState([one])?.isInvalidated;
  expect([isOld(key), isOld('untouched')]).toEqual([true, false]);
  feed.close();
});
