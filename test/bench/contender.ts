// A measured server in front of the upstream, and what it is asked.

import type { Shot } from './load.ts';
import type { Child } from './process.ts';
import type { Dialect, Workload } from './workloads.ts';

export interface Contender {
  readonly name: string;
  /** The dialect it is asked in. */
  readonly dialect: Dialect;
  readonly child: Child;
  /** Put before every path. */
  readonly prefix?: string;
  /** Sent besides the request's own. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a workload asks of a contender. */
export function shotAt(contender: Contender, requests: Workload['requests']): Shot {
  const request = requests[contender.dialect];
  return {
    ...request,
    url: contender.child.url,
    path: `${contender.prefix ?? ''}${request.path}`,
    headers: { ...request.headers, ...contender.headers },
  };
}
