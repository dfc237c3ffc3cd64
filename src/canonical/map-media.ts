// Maps the media of a conversation, those of tool results too.

import type { CanonicalRequest, MediaPart, Part, ToolResultContent, Turn } from './request.ts';

/** The same request when `map` gave every medium back as it was. */
export function mapMedia(
  request: CanonicalRequest,
  map: (part: MediaPart) => MediaPart,
): CanonicalRequest {
  const turns = mapItems(request.turns, (turn) => mapTurn(turn, map));
  return turns === request.turns ? request : { ...request, turns };
}

function mapTurn(turn: Turn, map: (part: MediaPart) => MediaPart): Turn {
  if (turn.role === 'system' || !turn.parts.some(holdsMedia)) return turn;
  const parts = mapItems(turn.parts, (part) => mapPart(part, map));
  return parts === turn.parts ? turn : { ...turn, parts };
}

function holdsMedia(part: Part): boolean {
  if (part.kind !== 'tool-result') return part.kind === 'media';
  return part.content.some((item) => item.kind === 'media');
}

function mapPart(part: Part, map: (part: MediaPart) => MediaPart): Part {
  if (part.kind === 'media') return map(part);
  if (part.kind !== 'tool-result') return part;
  const content = mapItems(part.content, (item: ToolResultContent) =>
    item.kind === 'media' ? map(item) : item,
  );
  return content === part.content ? part : { ...part, content };
}

function mapItems<T>(items: readonly T[], map: (item: T) => T): readonly T[] {
  const mapped = items.map(map);
  return mapped.every((item, index) => item === items[index]) ? items : mapped;
}
