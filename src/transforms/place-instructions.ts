// Puts instructions before the first question of models that take no instructions.

import { told } from '../canonical/receipt.ts';
import { markInstruction } from './place-system-turns.ts';
import type { Transform } from './transform.ts';

/** Expects a conversation that starts with a user turn. */
export const placeInstructions: Transform = (request, { capabilities, receipt }) => {
  if (capabilities.takesInstructions) return request;
  const system = request.system.filter(({ text }) => text !== '');
  const [first, ...rest] = request.turns;
  if (system.length === 0 || first?.role !== 'user') return request;
  receipt.add(
    'approximated',
    'system',
    told`This model takes no instructions: they stand before the first question as marked user text.`,
  );
  const parts = [...system.map(markInstruction), ...first.parts];
  return { ...request, system: [], turns: [{ role: 'user', parts }, ...rest] };
};
