// What a client is told when a limit of its key or a budget refuses a call.

import { clientError, type GatewayError } from '../canonical/error.ts';
import { type Sentence, told } from '../lib/localized-message.ts';

/** What waiting does not help. */
export function rejected(message: Sentence): GatewayError {
  const wayOut = told`Ask whoever gave you the key.`;
  return clientError('forbidden', told`${message} ${wayOut}`, { reason: 'key-rejected' });
}

/** What a person waits a day for is no matter of seconds. */
export function sayWait(ms: number): Sentence {
  const seconds = Math.ceil(ms / 1000);
  if (seconds <= 120) return told`${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return told`${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 72) return told`${hours} h ${minutes % 60} min`;
  return told`${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const COUNTED = {
  address: (count: number) =>
    count === 1 ? told`1 other address` : told`${count} other addresses`,
  image: (count: number) => (count === 1 ? told`1 image` : told`${count} images`),
  request: (count: number) => (count === 1 ? told`1 request` : told`${count} requests`),
  token: (count: number) => (count === 1 ? told`1 token` : told`${count} tokens`),
};

export function sayCount(count: number, noun: keyof typeof COUNTED): Sentence {
  return COUNTED[noun](count);
}
