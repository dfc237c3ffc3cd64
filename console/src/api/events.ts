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
  /** The browser's document. */
  readonly page: EventTarget & { readonly visibilityState: string };
  /** A try is no news: it may fail like the last one, or follow a page that was out of sight. */
  onState(state: Exclude<FeedState, 'connecting'>): void;
  /** Topics heard since the last call; at most once in `GATHER_MS`. */
  onTopics(topics: ReadonlySet<Topic>): void;
}

/** Under load hundreds of events come in a second; the page follows at a pace that can be read. */
const GATHER_MS = 1000;
/** As far back as the gateway looks. */
const MAX_AGE_MS = 999_999;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 15_000;

/**
 * Opens `/api/events` and opens it again whenever it breaks. A page that nobody sees gives its connection
 * back: a browser has six for one address in all its tabs (HTTP/1.1), and a seventh tab would load for ever.
 */
export function openFeed(options: FeedOptions): Feed {
  const { page } = options;
  const heard = new Set<Topic>();
  let source: EventSource | undefined;
  let gatherTimer: ReturnType<typeof setTimeout> | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  /** Whatever happened meanwhile went unheard. */
  let hasMissed = false;
  /** What came between the first read of a page and this connection; later ones read all anew. */
  let query = `?ageMs=${Math.min(MAX_AGE_MS, Math.ceil(performance.now()))}`;

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
    const opened = new EventSource(`/api/events${query}`);
    query = '';
    source = opened;
    opened.addEventListener('open', () => {
      failures = 0;
      options.onState('open');
      if (hasMissed) options.onTopics(new Set(TOPICS));
      hasMissed = false;
    });
    for (const topic of TOPICS) opened.addEventListener(topic, () => gather([topic]));
    // Some events were lost because they came too fast.
    opened.addEventListener('missed', () => gather(TOPICS));
    opened.addEventListener('error', () => {
      opened.close();
      hasMissed = true;
      failures += 1;
      options.onState('lost');
      const waitMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
      retryTimer = setTimeout(connect, waitMs);
    });
  };

  const disconnect = (): void => {
    clearTimeout(retryTimer);
    source?.close();
    source = undefined;
    hasMissed = true;
  };
  const follow = (): void => {
    if (page.visibilityState === 'hidden') disconnect();
    else if (source === undefined) connect();
  };

  page.addEventListener('visibilitychange', follow);
  follow();
  return {
    close() {
      page.removeEventListener('visibilitychange', follow);
      clearTimeout(gatherTimer);
      disconnect();
    },
  };
}
