// Brings what happens outside requests to whoever watches: accounts, quotas, settings, keys, rules, the overview.

import type { LiveConfig } from '../../config/live.ts';
import type { Door } from '../../door/door.ts';
import type { Timer } from '../../lib/clock.ts';
import type { LogFiles } from '../../monitor/log-files.ts';
import { readLogLine } from '../../monitor/log-line.ts';
import type { MonitorRouteOptions } from './options.ts';
import { writeOverview } from './overview.ts';

export interface FeedSourceOptions extends MonitorRouteOptions {
  readonly config: Pick<LiveConfig, 'subscribe'>;
  readonly door: {
    readonly keys: Pick<Door['keys'], 'subscribe'>;
    readonly addresses: Pick<Door['addresses'], 'subscribe'>;
  };
  readonly logFiles: Pick<LogFiles, 'read' | 'subscribe'> | undefined;
}

const OVERVIEW_MS = 5000;

/** @returns what ends it */
export function connectFeed(options: FeedSourceOptions): () => void {
  const { book, pool, config, door, clock, monitor, logFiles } = options;
  const { feed } = monitor;
  const endBook = book.subscribe((change) => {
    feed.publish(change.kind === 'quotas' ? 'quota' : 'account', { id: change.account.record.id });
  });
  const endRests = pool.rests.subscribe((upstream) => feed.publish('account', { upstream }));
  const endConfig = config.subscribe(() => feed.publish('config', {}));
  const endKeys = door.keys.subscribe((id) => feed.publish('key', { id }));
  const endRules = door.addresses.subscribe((id) => feed.publish('address-rule', { id }));
  const endLog = logFiles?.subscribe((text) => {
    const line = feed.readers > 0 ? readLogLine(text) : undefined;
    if (line !== undefined) feed.publish('log', line);
  });
  let timer: Timer | undefined;
  const pulse = (): void => {
    if (feed.readers > 0) feed.publish('overview', writeOverview(options));
    timer = clock.startTimer(OVERVIEW_MS, pulse);
  };
  pulse();
  return () => {
    endBook();
    endRests();
    endConfig();
    endKeys();
    endRules();
    endLog?.();
    timer?.cancel();
  };
}
