// The live feed of the gateway: keeps one connection, and says which answers have become old.

/** What the feed speaks of. */
const TOPICS = [
  'request',
  'account',
  'quota',
  'config',
  'key',
  'address-rule',
  'log',
  'overview',
] as const;
export type Topic = (typeof TOPICS)[number];

export type FeedState = 'connecting' | 'open' | 'lost';

export interface Feed {
  close(): void;
}

export interface FeedOptions {
  onState(state: FeedState): void;
  /** Topics heard since the last call; at most once in `GATHER_MS`. */
  onTopics(topics: ReadonlySet<Topic>): void;
}

/** Under load hundreds of events come in a second; the page follows at a pace that can be read. */
const GATHER_MS = 1000;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 15_000;

/** Opens `/api/events` and opens it again whenever it breaks. */
export function openFeed(options: FeedOptions): Feed {
  const heard = new Set<Topic>();
  let source: EventSource | undefined;
  let gatherTimer: ReturnType<typeof setTimeout> | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;

  const gather = (topics: readonly Topic[]): void => {
    for (const topic of topics) heard.add(topic);
    gatherTimer ??= setTimeout(() => {
      gatherTimer = undefined;
      const topics = new Set(heard);
      heard.clear();
      options.onTopics(topics);
    }, GATHER_MS);
  };

  const connect = (): void => {
    options.onState('connecting');
    const opened = new EventSource('/api/events');
    source = opened;
    opened.addEventListener('open', () => {
      const wasLost = failures > 0;
      failures = 0;
      options.onState('open');
      // Whatever happened in between went unheard.
      if (wasLost) options.onTopics(new Set(TOPICS));
    });
    for (const topic of TOPICS) opened.addEventListener(topic, () => gather([topic]));
    // Some events were lost because they came too fast.
    opened.addEventListener('missed', () => gather(TOPICS));
    opened.addEventListener('error', () => {
      opened.close();
      failures += 1;
      options.onState('lost');
      const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
      retryTimer = setTimeout(connect, waitMs);
    });
  };

  connect();
  return {
    close() {
      clearTimeout(gatherTimer);
      clearTimeout(retryTimer);
      source?.close();
    },
  };
}
