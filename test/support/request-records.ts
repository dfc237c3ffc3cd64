// Records of model requests for tests of the monitor.

import type { RequestBodies, RequestRecord, RequestRow } from '../../src/monitor/record.ts';

export interface RecordParts extends Partial<RequestRow> {
  readonly bodies?: RequestBodies;
}

export function recordOf({ bodies, ...change }: RecordParts = {}): RequestRecord {
  const id = change.id ?? 'req_1';
  return {
    row: {
      id,
      requestId: id,
      at: 1_700_000_000_000,
      protocol: 'chat',
      surface: 'chat/completions',
      method: 'POST',
      path: '/v1/chat/completions',
      stream: false,
      status: 200,
      outcome: 'ok',
      model: 'm',
      upstreamModel: 'm',
      account: 'ann@example.org',
      keyId: 'main',
      clientAddress: '127.0.0.1',
      attempts: 1,
      retries: 0,
      totalMs: 10,
      inputTokens: 3,
      outputTokens: 2,
      cachedTokens: 1,
      cacheWriteTokens: 1,
      thoughtTokens: 1,
      images: 0,
      receipt: { dropped: 0, approximated: 0, repaired: 0 },
      ...change,
    },
    details: {
      route: '/v1/chat/completions',
      pathModel: '',
      attemptsList: [],
      receiptEntries: [],
      timings: {},
    },
    bodies,
  };
}
