// What a webhook is sent: JSON of our own, or what Slack and Discord take.

import type { WebhookFormat } from '../config/values.ts';

/** What holds, or held until now. */
export interface Alert {
  readonly status: 'firing' | 'resolved' | 'test';
  readonly kind: string;
  readonly severity: 'info' | 'warning' | 'error';
  readonly message: string;
  readonly wayOut: string;
  /** A path of the console. */
  readonly link: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

interface Sender {
  /** Where the gateway listens, to tell it from others. */
  readonly gateway: string;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
}

/** Discord refuses longer texts. */
const MAX_DISCORD = 2000;
const MAX_SLACK = 30_000;

const HEADS = { firing: '🔴', resolved: '🟢', test: '🔵' } as const;

export function writePayload(
  format: WebhookFormat,
  alerts: readonly Alert[],
  sender: Sender,
): object {
  switch (format) {
    case 'json':
      return {
        version: 1,
        gateway: sender.gateway,
        sentAt: new Date(sender.sentAt).toISOString(),
        alerts: alerts.map(({ since, ...alert }) => ({
          ...alert,
          since: new Date(since).toISOString(),
        })),
      };
    case 'slack':
      // Three signs mean something there (https://api.slack.com/reference/surfaces/formatting).
      return { text: shorten(say(alerts, sender, escapeSlack), MAX_SLACK) };
    case 'discord':
      return {
        content: shorten(say(alerts, sender, escapeMarkdown), MAX_DISCORD),
        // A name with an at sign calls nobody.
        allowed_mentions: { parse: [] },
      };
    default:
      return format satisfies never;
  }
}

function say(
  alerts: readonly Alert[],
  { gateway }: Sender,
  quote: (text: string) => string,
): string {
  const lines = alerts.map(({ status, message, wayOut }) =>
    status === 'resolved'
      ? `${HEADS.resolved} Resolved: ${quote(message)}`
      : `${HEADS[status]} ${quote(message)} ${quote(wayOut)}`,
  );
  return [`isthmus (${quote(gateway)})`, ...lines].join('\n');
}

function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\*_~`|>#[\]()]/g, (sign) => `\\${sign}`);
}

function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
