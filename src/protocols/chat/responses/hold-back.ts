// What an answer's events have to wait for before they are written, by what its request asked for.

import type { CanonicalEvent } from '../../../canonical/event.ts';
import type { ReplyContext } from '../../protocol.ts';
import { createCitationHold } from './hold-for-citations.ts';
import { createDrawingHold } from './hold-for-drawing.ts';
import type { ResponseSettings } from './response-settings.ts';

/** Takes one event and gives those that are to be written now, in order. */
export type Hold = (event: CanonicalEvent) => readonly CanonicalEvent[];

/** Undefined where nothing waits. */
export function createHold(
  { drafts, mayCite }: Pick<ResponseSettings, 'drafts' | 'mayCite'>,
  { isSearchNamed = false }: Pick<ReplyContext, 'isSearchNamed'>,
): Hold | undefined {
  const forCitations = mayCite || isSearchNamed ? createCitationHold() : undefined;
  if (drafts === 0) return forCitations;
  const forDrawing = createDrawingHold();
  if (forCitations === undefined) return forDrawing;
  return (event) => forDrawing(event).flatMap((due) => forCitations(due));
}
