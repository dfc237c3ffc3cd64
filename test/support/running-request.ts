// Requests under way, as the edge tells the monitor of them.

import type { Monitor } from '../../src/monitor/monitor.ts';
import type { EndedRequest, RunningRequest } from '../../src/monitor/record.ts';

export function runningRequest(change: Partial<RunningRequest> = {}): RunningRequest {
  return {
    requestId: 'req_1',
    protocol: 'chat',
    route: '/v1/chat/completions',
    clientKeyId: 'main',
    clientAddress: '127.0.0.1',
    startedAt: 0,
    call: { model: 'm', stream: true },
    facts: { attempts: [], timings: {} },
    credentials: () => [],
    stop: () => undefined,
    listIndex: -1,
    listedAs: 0,
    ...change,
  };
}

/** Lets a request begin and end. */
export function observe({ observer }: Pick<Monitor, 'observer'>, ended: EndedRequest): void {
  const running = runningRequest({ requestId: ended.requestId });
  observer.onBegin(running);
  observer.onEnd(ended, running);
}
