// What the monitor's routes need of the rest of the gateway.

import type { Dispatcher } from '../../dispatch/dispatcher.ts';
import type { Sentence } from '../../lib/localized-message.ts';
import type { LogFiles } from '../../monitor/log-files.ts';
import type { Monitor } from '../../monitor/monitor.ts';
import type { AccountFacts } from '../account-view.ts';
import type { AdminOptions } from '../options.ts';

export interface MonitorRouteOptions
  extends Pick<
    AdminOptions,
    'book' | 'clock' | 'isProtected' | 'pool' | 'protocols' | 'trials' | 'version'
  > {
  readonly upstreams: AccountFacts['upstreams'];
  readonly monitor: Monitor;
  readonly dispatcher: Pick<Dispatcher, 'generate'>;
  readonly createId: (prefix: string) => string;
  /** Undefined where no log is kept in files. */
  readonly logFiles: Pick<LogFiles, 'read'> | undefined;
  readonly keyName: (keyId: string) => string | undefined;
  readonly facts: () => GatewayFacts;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** What the overview says of the gateway itself. */
export interface GatewayFacts {
  readonly isSandbox: boolean;
  /** Where it listens, such as `http://127.0.0.1:8045`. */
  readonly address: string;
  readonly authMode: 'off' | 'auto' | 'strict';
  readonly isLoopback: boolean;
  /** What opens the console: a password of its own, the gateway key for want of one, or nothing is asked. */
  readonly consolePassword: 'own' | 'gateway-key' | 'none';
  /** What is wrong with the config file while older settings stay in force; no secrets. */
  readonly configProblems: readonly Sentence[];
  /** What was set but does nothing, a sentence each; no secrets. */
  readonly warnings: readonly Sentence[];
  /** False while everything is in memory, because the disk had no room at the start. */
  readonly isLasting: boolean;
}
