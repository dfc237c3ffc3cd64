// Values that processes share for a while, sealed with a key of the tests.

import type { Cluster } from '../../src/cluster/cluster.ts';
import { createMemoryCluster } from '../../src/cluster/memory.ts';
import { SealedValues } from '../../src/cluster/sealed-values.ts';
import type { Clock } from '../../src/lib/clock.ts';

interface Options {
  /** Those of a process alone when absent. */
  readonly values?: Cluster['values'];
  readonly clock: Pick<Clock, 'monotonic' | 'now'>;
  readonly secretKey?: string;
}

export function openSealedValues<Value = string>({
  clock,
  values,
  secretKey = 'one',
}: Options): SealedValues<Value> {
  const turn = (text: string): string => Buffer.from(text).toString('base64');
  const sealer = {
    seal: (text: string, context: string) => turn(`${secretKey} ${context} ${text}`),
    open(sealed: string, context: string): string {
      const text = Buffer.from(sealed, 'base64').toString();
      const start = `${secretKey} ${context} `;
      if (!text.startsWith(start)) throw new Error('It was sealed with another key.');
      return text.slice(start.length);
    },
  };
  return new SealedValues<Value>({
    values: values ?? alone(clock),
    sealer,
    clock,
    purpose: 'test',
  });
}

function alone(clock: Options['clock']): Cluster['values'] {
  const onFault = (error: unknown): never => {
    throw error;
  };
  return createMemoryCluster({ replica: 'alone', clock, onFault }).values;
}
