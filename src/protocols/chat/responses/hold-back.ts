// Which events of an answer wait for later ones, as an item that is done changes no more.

import type { CanonicalEvent } from '../../../canonical/event.ts';
import type { ReplyContext } from '../../protocol.ts';
import type { ResponseSettings } from './read-request.ts';

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

/**
 * An item that is done does not change any more, and the next one begins behind it; upstreams tell
 * what a text cites at the end of the answer. So everything behind the first message waits for the
 * citations or for the end. Call with the events of one answer, in order.
 */
function createCitationHold(): Hold {
  let hasMessage = false;
  let isSettled = false;
  const held: CanonicalEvent[] = [];
  return (event) => {
    if (isSettled) return [event];
    if (event.kind === 'grounding' && event.isEarly !== true) {
      isSettled = true;
      return [event, ...held];
    }
    if (event.kind === 'finish' || event.kind === 'error') {
      isSettled = true;
      return [...held, event];
    }
    if (held.length > 0 || (hasMessage && closesMessage(event))) {
      held.push(event);
      return [];
    }
    hasMessage ||= event.kind === 'block-start' && !closesMessage(event);
    return [event];
  };
}

/** Code stands inside the message; everything else is an item of its own. */
function closesMessage(event: CanonicalEvent): boolean {
  if (event.kind !== 'block-start') return false;
  const { kind } = event.block;
  return kind === 'thinking' || kind === 'tool-call' || kind === 'media';
}

/**
 * Items follow one another, and a model may speak while it draws: its words wait for the picture, or
 * for the end. Call with the events of one answer, in order.
 */
function createDrawingHold(): Hold {
  let isDrawing = false;
  let held: CanonicalEvent[] = [];
  const release = (): CanonicalEvent[] => {
    isDrawing = false;
    const due = held;
    held = [];
    return due;
  };
  return (event) => {
    if (event.kind === 'finish' || event.kind === 'error') return [...release(), event];
    const media =
      event.kind === 'block-start' && event.block.kind === 'media' ? event.block : undefined;
    if (media?.isDraft === true) isDrawing = true;
    else if (media !== undefined) return [event, ...release()];
    if (!isDrawing || media !== undefined) return [event];
    held.push(event);
    return [];
  };
}
