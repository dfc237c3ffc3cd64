// Gives the arguments of a call the types that the schema of its tool has.

import type { Receipt } from '../../canonical/receipt.ts';
import type { FreeformTool, FunctionTool } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, tryParse } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { closedRule, repairValue, type SchemaNode, SchemaReader } from '../../schema/coerce.ts';
import { unwrapMapArguments } from '../../schema/tool-schema.ts';

export type CallableTool = FunctionTool | FreeformTool;

/** The whole arguments of a call as the client is to see them. */
export type Repair = (json: string) => string;

interface RepairOptions {
  readonly receipt: Receipt;
  /** True where the arguments were asked for in their own types: none of their texts stands for another value. */
  readonly isTyped: boolean;
}

/**
 * How to rewrite the whole arguments of a call by the schema the client declared for the tool; undefined when nothing
 * could change (no schema, or one that says nothing of any argument), so that pieces need not be held back.
 */
export function planRepair(tool: CallableTool, options: RepairOptions): Repair | undefined {
  if (tool.kind !== 'function') return undefined;
  const bySchema = planBySchema(tool, options);
  const { shownDefaults = {} } = tool;
  if (Object.keys(shownDefaults).length === 0) return bySchema;
  return (json) => complete(bySchema?.(json) ?? json, shownDefaults);
}

/** What clients are shown beside the model's own arguments is known here, so that it can be taken back. */
function complete(json: string, shownDefaults: JsonObject): string {
  const given = readArguments(json);
  return given === undefined ? json : JSON.stringify({ ...shownDefaults, ...given });
}

/** What these lead to may declare members even where nothing here could be resolved. */
const REFERENCES = ['$ref', '$dynamicRef'];

function planBySchema(tool: FunctionTool, { receipt, isTyped }: RepairOptions): Repair | undefined {
  const { parameters } = tool;
  if (!isJsonObject(parameters)) return undefined;
  const reader = new SchemaReader(parameters);
  const { root } = reader;
  const refers = REFERENCES.some((keyword) => Object.hasOwn(parameters, keyword));
  if (root.objects.length === 0 && root.choices.length === 0 && !refers) return undefined;
  const path = `tool_calls.${tool.name}`;
  // Clients refuse a call with any argument.
  const takesNone = closedRule(root)?.properties.size === 0;
  const mayBeMap = !takesNone && !isTyped && declaresNothing(root, reader);
  return (json) => repairJson(json, { reader, takesNone, mayBeMap, isTyped, path, receipt });
}

/** True where the names of the arguments are free: all of them may come inside one. */
function declaresNothing({ objects, choices }: SchemaNode, reader: SchemaReader): boolean {
  const branches = choices.flat().flatMap((branch) => reader.branch(branch).objects);
  return [...objects, ...branches].every(({ properties }) => properties.size === 0);
}

interface RepairPlan extends RepairOptions {
  readonly reader: SchemaReader;
  readonly takesNone: boolean;
  readonly mayBeMap: boolean;
  readonly path: string;
}

/** Arguments that need no repair, or too much work, come back as the same text. */
function repairJson(json: string, plan: RepairPlan): string {
  const { reader, path, receipt } = plan;
  const written = readArguments(json);
  if (written === undefined) return json;
  const inside = plan.mayBeMap ? unwrapMapArguments(written) : undefined;
  const given = inside ?? written;
  if (plan.takesNone) {
    if (Object.keys(given).length === 0) return json;
    receipt.add('dropped', path, told`The tool takes no arguments.`);
    return '{}';
  }
  const hasOwnTypes = plan.isTyped || inside !== undefined;
  const repaired = repairValue(reader, given, { receipt, path, hasOwnTypes }) ?? given;
  return repaired === written ? json : JSON.stringify(repaired);
}

function readArguments(json: string): JsonObject | undefined {
  const value = tryParse(json);
  return isJsonObject(value) ? value : undefined;
}
