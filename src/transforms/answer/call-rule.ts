// What a rule for the model's tool calls is: it rewrites the opening of each call of one answer.

import type { BlockOpening } from '../../canonical/event.ts';
import type { FreeformTool, FunctionTool } from '../../canonical/request.ts';

type CallOpening = Extract<BlockOpening, { kind: 'tool-call' }>;

export type CallableTool = FunctionTool | FreeformTool;

/**
 * Gets the openings of one answer's calls in order and gives each as the client is to see it (the
 * same object when nothing changes); undefined leaves the whole call out. Instances keep state, so
 * there is one for each answer.
 */
export type CallRule = (opening: CallOpening, choice: number) => CallOpening | undefined;
