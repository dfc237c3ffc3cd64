// Writes earlier calls of a function the way the function is declared now.

import { wrapMapArguments } from '../../canonical/map-argument.ts';
import type { CanonicalRequest, Part } from '../../canonical/request.ts';
import { createJsonBudget } from '../../lib/json-survey.ts';

/** Functions whose arguments are declared as one text were called with that text. */
export function wrapMapCalls(
  request: CanonicalRequest,
  names: ReadonlySet<string>,
): CanonicalRequest {
  if (names.size === 0) return request;
  const budget = createJsonBudget();
  const wrap = (part: Part): Part =>
    part.kind === 'tool-call' && names.has(part.name)
      ? { ...part, input: wrapMapArguments(part.input, budget) }
      : part;
  const turns = request.turns.map((turn) =>
    turn.role === 'assistant' ? { ...turn, parts: turn.parts.map(wrap) } : turn,
  );
  return { ...request, turns };
}
