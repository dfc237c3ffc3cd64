// The metrics of model requests, as the GenAI semantic conventions name them.

import type { Attributes, Meter } from '@opentelemetry/api';
import type { RequestRecord } from '../monitor/record.ts';
import { type ModelOperation, present } from './request-spans.ts';

/** The boundaries the conventions ask for. */
const SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const TOKENS = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
  67_108_864,
];

export function createRequestMetrics(meter: Meter) {
  const duration = meter.createHistogram('gen_ai.client.operation.duration', {
    description: 'GenAI operation duration.',
    unit: 's',
    advice: { explicitBucketBoundaries: SECONDS },
  });
  const firstChunk = meter.createHistogram('gen_ai.client.operation.time_to_first_chunk', {
    description: 'Time to receive the first chunk of a streamed answer.',
    unit: 's',
    advice: { explicitBucketBoundaries: SECONDS },
  });
  const tokens = meter.createHistogram('gen_ai.client.token.usage', {
    description: 'Number of input and output tokens used.',
    unit: '{token}',
    advice: { explicitBucketBoundaries: TOKENS },
  });
  return {
    add({ row, details }: RequestRecord, operation: ModelOperation, totalMs: number): void {
      const attributes = metricAttributes(operation);
      const { errorType, firstChunkSeconds } = operation;
      duration.record(totalMs / 1000, present({ ...attributes, 'error.type': errorType }));
      if (firstChunkSeconds !== undefined) firstChunk.record(firstChunkSeconds, attributes);
      // Only what the upstream itself counted.
      if (details.isEstimate) return;
      const usage = { input: row.inputTokens, output: row.outputTokens };
      for (const [type, count = 0] of Object.entries(usage)) {
        if (count > 0) tokens.record(count, { ...attributes, 'gen_ai.token.type': type });
      }
    },
  };
}

/** Of few values each: the model is the one a request led to, as clients may name any. */
function metricAttributes(operation: ModelOperation): Attributes {
  const { destination, routedModel, responseModel } = operation;
  return present({
    'gen_ai.operation.name': operation.name,
    'gen_ai.provider.name': destination.provider,
    'gen_ai.request.model': routedModel,
    'gen_ai.response.model': responseModel,
    'server.address': destination.address,
    'server.port': destination.port,
  });
}
