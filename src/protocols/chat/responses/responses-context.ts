// What the readers of one Responses request share.

import type { Tool } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ReadContext } from '../read-context.ts';
import type { ToolDirectory } from './tool-directory.ts';

interface DrawingTool {
  readonly tool: JsonObject;
  readonly path: string;
  /** Whether the client wants it used, whatever the model thinks. */
  isDemanded?: boolean | undefined;
}

export interface ResponsesContext extends ReadContext {
  readonly directory: ToolDirectory;
  /** Tools declared by items of the input, in order. */
  readonly inputTools: Tool[];
  /** The tool that draws, where one is declared. */
  drawing?: DrawingTool | undefined;
  /** An item of an earlier answer by its id; undefined when it is not kept. */
  findItem(id: string): JsonObject | undefined;
}
