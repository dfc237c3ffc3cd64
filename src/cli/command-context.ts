// What a command that works on a gateway is given.

import type { Clock } from '../lib/clock.ts';
import type { AdminClient } from './admin-client.ts';
import type { Terminal } from './terminal.ts';

export interface CommandContext {
  readonly client: AdminClient;
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** The answer as JSON instead of words. */
  readonly isJson: boolean;
}
