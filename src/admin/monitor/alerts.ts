// `/api/alerts`: what webhooks were told, and a test of one.

import type { AlertSettings, Alerts } from '../../alerts/alerts.ts';
import { WEBHOOK_FORMATS } from '../../config/values.ts';
import { told } from '../../lib/localized-message.ts';
import { COUNT, named, object, optional, TEXT } from '../../lib/object-schema.ts';
import { type ApiRoute, answerJson, defineRoute, refuseUnknown } from '../route.ts';
import { TIME } from '../schemas.ts';

const SEVERITY = { enum: ['warning', 'error'] } as const;

const DELIVERY = named('AlertDelivery', {
  at: TIME,
  channel: TEXT,
  kinds: { type: 'array', items: TEXT, description: 'Of what it told.' },
  outcome: {
    enum: ['delivered', 'retried', 'failed'],
    description: '`retried`: it failed and is tried again; `failed`: it was given up.',
  },
  tries: COUNT,
  status: optional({ type: 'integer', description: 'HTTP; absent where nothing answered.' }),
  fault: optional(TEXT),
});

export const ALERTS_SCHEMA = named('Alerts', {
  channels: {
    type: 'array',
    items: object({
      name: TEXT,
      host: { ...TEXT, description: 'Of its webhook, whose address is a secret.' },
      format: { enum: WEBHOOK_FORMATS },
      severity: SEVERITY,
    }),
  },
  firing: {
    type: 'array',
    description: 'What was told and is not over.',
    items: object({ kind: TEXT, severity: SEVERITY, message: TEXT, since: TIME }),
  },
  deliveries: { type: 'array', items: DELIVERY, description: 'The last 50, the latest first.' },
});

const TEST_SCHEMA = object({ channel: { ...TEXT, minLength: 1, maxLength: 256 } });

interface AlertRouteOptions {
  readonly alerts: Pick<Alerts, 'check' | 'deliveries' | 'firing' | 'test'>;
  readonly settings: () => AlertSettings;
}

export function createAlertRoutes({ alerts, settings }: AlertRouteOptions): readonly ApiRoute[] {
  return [
    defineRoute({
      at: 'GET /api/alerts',
      access: 'viewer',
      title: 'shows the webhooks of alerts and what they were told',
      answers: { 200: { description: 'Channels and deliveries.', schema: ALERTS_SCHEMA } },
      async run() {
        alerts.check();
        return answerJson({
          channels: Object.entries(settings().channels).map(
            ([name, { webhook, format, severity }]) => ({
              ...{ name, format, severity },
              host: new URL(webhook).host,
            }),
          ),
          firing: alerts
            .firing()
            .map(({ kind, severity, message, since }) => ({ kind, severity, message, since })),
          deliveries: alerts.deliveries(),
        });
      },
    }),
    defineRoute({
      at: 'POST /api/alerts/test',
      access: 'operator',
      shows: 'nothing',
      title: 'sends a test to one webhook of alerts',
      body: TEST_SCHEMA,
      answers: { 200: { description: 'How it went.', schema: DELIVERY } },
      async run({ body: { channel: name } }) {
        const channel = settings().channels[name];
        if (channel === undefined) {
          refuseUnknown(told`There is no channel of this name. GET /api/alerts lists them.`);
        }
        return answerJson(await alerts.test(name, channel));
      },
    }),
  ];
}
