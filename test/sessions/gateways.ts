// One sandbox and two gateways before it: moving a session to the other one is a restart that forgot everything.

import { createDefaultAccounts, createSandbox } from '@isthmus/sandbox';
import { parseJson } from '../../src/lib/json.ts';
import { startGateway } from '../support/app.ts';
import { createMiddayClock } from '../support/midday-clock.ts';
import { objectOf, objectsOf } from './client.ts';

export interface Gateways {
  readonly urls: readonly [string, string];
  /** Statuses of the sandbox's last answers to model calls, at most 50. */
  upstreamStatuses(): Promise<readonly number[]>;
  close(): Promise<void>;
}

export async function startGateways(): Promise<Gateways> {
  const accounts = createDefaultAccounts();
  const sandbox = createSandbox({ accounts, clock: createMiddayClock() });
  const { url } = await sandbox.start();
  const environment = {
    UPSTREAM_PROFILE: 'sandbox',
    UPSTREAM_BASE_URL: url,
    UPSTREAM_API_KEYS: accounts.map(({ key }) => key).join(','),
  };
  const first = await startGateway({ environment });
  const second = await startGateway({ environment });
  return {
    urls: [first.url, second.url],
    async upstreamStatuses() {
      const answer = await fetch(`${url}/sandbox/requests`);
      const { requests } = objectOf(parseJson(await answer.text()));
      return objectsOf(requests).map(({ status }) => Number(status));
    },
    async close() {
      await first.close();
      await second.close();
      await sandbox.close();
    },
  };
}
