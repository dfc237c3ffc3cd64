// The settings in a database that several gateways share, in place of the config file.

import type { Clock, Timer } from '../lib/clock.ts';
import type { LineLog } from '../lib/log.ts';
import {
  type ConfigSource,
  checkText,
  readConfig,
  requireGood,
  requireLoaded,
  textOfConfig,
} from './file.ts';
import { ConfigError, StaleConfigError } from './values.ts';

/** Keeps one document. Every method may throw StoreError. */
export interface SettingsStore {
  /** Undefined before the first one. The revision rises with every change. */
  read(): Promise<{ readonly revision: number; readonly document: string } | undefined>;
  /** False, and nothing is changed, when something else stands there than `over`; undefined for nothing. */
  replace(document: string, over: string | undefined): Promise<boolean>;
}

interface StoredSourceOptions {
  readonly store: SettingsStore;
  /** What messages call the database. */
  readonly name: string;
  /** A config file from before there was the database: its content is taken over when that has none. */
  readonly filePath: string;
  readonly clock: Pick<Clock, 'startTimer'>;
  readonly log: LineLog;
}

/** How long a change by another gateway may go unnoticed where no notice of it arrives. */
const POLL_MS = 2000;

export function storedSource(options: StoredSourceOptions): ConfigSource {
  const { store, name, clock } = options;
  const path = `settings of ${name}`;
  let revision = 0;
  const read: ConfigSource['read'] = async () => {
    const stored = await store.read();
    if (stored === undefined) return { kind: 'missing' };
    revision = stored.revision;
    return checkText(stored.document);
  };
  return {
    path,
    read,
    async load() {
      let found = await read();
      if (found.kind === 'missing') {
        await importFile(options);
        found = await read();
      }
      return requireLoaded(path, found);
    },
    async write(raw, over) {
      const good = await requireGood(path, raw);
      const known = over.kind === 'good' ? over.text : undefined;
      if (!(await store.replace(textOfConfig(raw), known))) throw new StaleConfigError(path);
      return good;
    },
    // What is written there was checked before, and the database keeps it.
    keepLastGood: async () => undefined,
    follow(onChange) {
      let isClosed = false;
      const look = async (): Promise<void> => {
        // A lost database is told of elsewhere; what changed meanwhile is seen when it is back.
        const stored = await store.read().catch(() => undefined);
        if (isClosed) return;
        if (stored !== undefined && stored.revision !== revision) onChange();
        poll = clock.startTimer(POLL_MS, () => void look());
      };
      let poll: Timer = clock.startTimer(POLL_MS, () => void look());
      return {
        close() {
          isClosed = true;
          poll.cancel();
        },
      };
    },
  };
}

async function importFile({ store, name, filePath, log }: StoredSourceOptions): Promise<void> {
  const file = await readConfig(filePath);
  if (file.kind === 'missing') return;
  if (file.kind === 'bad') throw new ConfigError(filePath, file.problems);
  // Of several gateways that start at once, one is first.
  if (await store.replace(textOfConfig(file.raw), undefined)) {
    log.info(
      { path: filePath, database: name },
      'The settings of the config file were taken into the database. From now on they are read and changed there alone.',
    );
  }
}
