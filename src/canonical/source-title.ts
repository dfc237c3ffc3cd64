// What a search source is called where a client shows it.

import type { GroundingSource } from './event.ts';

/** Its title, else its address: an empty link cannot be read. */
export function sourceTitle({ title, url }: GroundingSource): string {
  return title === '' ? url : title;
}
