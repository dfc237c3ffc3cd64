// What a monitor shares with those of other processes: the events of requests and logs, and the running figures.

import type { Cluster } from '../cluster/cluster.ts';
import type { Clock } from '../lib/clock.ts';
import { EventRelay, type RelayedEvent, type RelaySharing } from './event-relay.ts';
import type { LiveFeed, LiveFigures } from './live.ts';
import type { RequestRow } from './record.ts';
import { SharedFigures } from './shared-figures.ts';

interface SharedLiveOptions {
  readonly cluster: Pick<Cluster, 'replica' | 'notices' | 'state'>;
  readonly siblings?: RelaySharing['cluster'] | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'startTimer'>;
  readonly figures: Pick<LiveFigures, 'inFlight' | 'own' | 'others'>;
}

/** What this process has of its own. */
interface OwnLive {
  readonly feed: LiveFeed;
  /** Told of requests that failed elsewhere. */
  readonly onFailed: (row: RequestRow) => void;
  /** Stores the requests that wait for it. */
  readonly save: () => Promise<void>;
}

/** Accounts, quotas, settings, keys and rules are no events of one process: each tells of them as it learns of them. */
export function shareLive({ cluster, siblings, clock, figures }: SharedLiveOptions) {
  let feed: LiveFeed | undefined;
  let onFailed: OwnLive['onFailed'] = () => undefined;
  let save: OwnLive['save'] = async () => undefined;
  const common = {
    clock,
    hasReaders: () => (feed?.readers ?? 0) > 0,
    onGap: () => feed?.skip(),
  };
  const requests = new EventRelay({
    ...{ ...common, cluster, topic: 'live requests 1' },
    take({ content }) {
      // The one narrowing of this file: a topic with this number has rows of this shape.
      const row = content as RequestRow;
      if (row.outcome === 'error') onFailed(row);
      feed?.take('request', row);
    },
    onWatched: () => sums.begin(),
    beforeSending: () => save(),
  });
  const logs =
    siblings &&
    new EventRelay({
      ...{ ...common, cluster: siblings, topic: 'live log 1' },
      take: ({ content }) => feed?.take('log', content),
    });
  const sums = new SharedFigures({
    ...{ cluster, clock, figures },
    isWatched: () => requests.isWatched,
  });
  return {
    connect(own: OwnLive): void {
      ({ feed, onFailed, save } = own);
    },
    tell(event: RelayedEvent): void {
      if (event.kind === 'request') requests.tell(event);
      if (event.kind === 'log') logs?.tell(event);
    },
    /** Somebody looks here. True where the others begin to tell by that. */
    watch(): boolean {
      logs?.watch();
      const isNew = requests.watch();
      if (isNew) sums.expect();
      return isNew;
    },
    get isLogWatched(): boolean {
      return logs?.isWatched === true;
    },
    get inFlight(): number {
      return sums.inFlight;
    },
    told: () => sums.told(),
    close(): void {
      requests.close();
      logs?.close();
      sums.close();
    },
  };
}
