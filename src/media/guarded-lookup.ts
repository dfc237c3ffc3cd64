// Name resolution for outgoing connections: a name with any address that is not allowed has none.

import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { AddressPolicy } from './address-policy.ts';
import { MediaFault } from './media-fault.ts';

export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>;

/**
 * The connection goes to the very addresses that were checked, so a name that changes its mind
 * between check and use (DNS rebinding) gains nothing. Literal addresses never come here.
 */
export function createGuardedLookup(
  policy: Pick<AddressPolicy, 'allowsAddress'>,
  resolve: ResolveHost = resolveHost,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        const isAllowed = addresses.every(({ address }) => policy.allowsAddress(address));
        if (first === undefined || !isAllowed) callback(new MediaFault('not-public'), '');
        else if (options.all === true) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      () => callback(new MediaFault('unreachable'), ''),
    );
  };
}

function resolveHost(hostname: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses);
      else reject(error);
    });
  });
}
