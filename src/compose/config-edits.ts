// Tells the audit log of edits of the config file that were made while the gateway runs.

import { basename } from 'node:path';
import type { AccessControl } from '../access/access.ts';
import type { Change } from '../access/audit-log.ts';
import { showSettings } from '../admin/config/sections.ts';
import type { LiveConfig } from '../config/live.ts';
import { differenceOf, fieldNames } from '../lib/difference.ts';

interface RecordEditsOptions {
  readonly config: Pick<LiveConfig, 'followEdits'>;
  readonly audit: Pick<AccessControl['audit'], 'add'>;
  readonly path: string;
}

/**
 * Where several processes have the same file, each sees what the others write as an edit: for one alone.
 * @returns what ends it, when all is told
 */
export function recordEdits({ config, audit, path }: RecordEditsOptions): () => Promise<void> {
  let told = Promise.resolve();
  const end = config.followEdits(({ before, after }) => {
    const differing = differenceOf(before, after);
    const names = [differing.before, differing.after].flatMap((side) => fieldNames(side));
    const change: Change = {
      actor: 'file',
      action: 'file',
      subject: basename(path),
      status: 0,
      session: undefined,
      address: undefined,
      requestId: undefined,
      fields: [...new Set(names)],
      before: showSettings(before),
      after: showSettings(after),
    };
    told = told.then(() => audit.add(change));
  });
  return () => {
    end();
    return told;
  };
}
