// Keeps a config file that holds a secret in plain from other users of the machine.

import { existsSync } from 'node:fs';
import type { ConfigLog, LiveConfig } from '../config/live.ts';
import { isJsonObject, type JsonValue } from '../lib/json.ts';
import { makePrivate } from '../sealing/private-file.ts';

const SECRETS: ReadonlySet<string> = new Set(['api_key', 'admin_password', 'client_secret']);

export interface PrivateConfigOptions {
  readonly config: Pick<LiveConfig, 'raw' | 'subscribe'>;
  readonly path: string;
  readonly log: ConfigLog;
}

/** Now and after each change: people make and edit the file themselves, with whatever mode their editor gives it. */
export function keepConfigPrivate({ config, path, log }: PrivateConfigOptions): void {
  const check = (): void => {
    if (!holdsSecret(config.raw()) || !existsSync(path)) return;
    const outcome = makePrivate(path);
    if (outcome === 'repaired') {
      log.info({ path }, 'The config file holds a secret; from now on only its owner may read it.');
    } else if (outcome === 'exposed') {
      const message =
        'The config file holds a secret, and others may read it: run "chmod 600" on it.';
      log.warn({ path }, message);
    }
  };
  config.subscribe(check);
  check();
}

function holdsSecret(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([name, inner]) =>
    SECRETS.has(name) ? typeof inner === 'string' && inner !== '' : holdsSecret(inner),
  );
}
