// The credentials of the gateway, for whoever keeps them out of what is written down.

import { gatewaySecrets } from '../config/gateway-secrets.ts';
import type { LiveConfig } from '../config/live.ts';

/** Made anew only when the settings change: it is asked for with every request. */
export function createSecretList(config: Pick<LiveConfig, 'current'>): () => readonly string[] {
  let source: unknown;
  let secrets: readonly string[] = [];
  return () => {
    const settings = config.current();
    if (settings !== source) secrets = gatewaySecrets(settings);
    source = settings;
    return secrets;
  };
}
