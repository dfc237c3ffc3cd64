// `/api/body-recording`: keeps the bodies of requests for some minutes, at all replicas; it ends by itself.

import { named, object } from '../../lib/object-schema.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute } from '../route.ts';
import { orNull, TIME } from '../schemas.ts';

export const BODY_RECORDING_SCHEMA = named('BodyRecording', {
  until: { ...orNull(TIME), description: 'Null while no such time is set, or it is over.' },
});

const ASKED_SCHEMA = object({
  minutes: {
    type: 'integer',
    minimum: 0,
    maximum: 60,
    description: 'From now on; 0 ends it.',
  },
});

const MINUTE_MS = 60_000;

export function createBodyRecordingRoutes({
  bodyRecording,
  clock,
}: Pick<MonitorRouteOptions, 'bodyRecording' | 'clock'>): readonly ApiRoute[] {
  const answer = () => {
    const until = bodyRecording.until();
    return answerJson({ until: until > clock.now() ? until : null });
  };
  const answers = { 200: { description: 'Until when.', schema: BODY_RECORDING_SCHEMA } };
  return [
    defineRoute({
      at: 'GET /api/body-recording',
      access: 'viewer',
      title: 'says until when bodies are kept for a while',
      answers,
      run: async () => answer(),
    }),
    defineRoute({
      at: 'PUT /api/body-recording',
      access: 'operator',
      title: 'keeps the bodies of requests for some minutes',
      body: ASKED_SCHEMA,
      answers,
      async run({ body: { minutes } }) {
        await bodyRecording.setUntil(minutes === 0 ? 0 : clock.now() + minutes * MINUTE_MS);
        return answer();
      },
    }),
  ];
}
