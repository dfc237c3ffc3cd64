// Repairs the arguments of a call by the schema the client declared for the tool.

import { unwrapMapArguments } from '../../canonical/map-argument.ts';
import { type Receipt, told } from '../../canonical/receipt.ts';
import type { FunctionTool } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import type { CallableTool } from './call-rule.ts';
import { ValueRepair } from './repair-value.ts';
import {
  createSchemaReader,
  declaresElsewhere,
  type ObjectRule,
  type SchemaNode,
  type SchemaReader,
} from './schema-node.ts';
import { SchemaWork } from './schema-work.ts';

/**
 * How to rewrite the whole arguments of a call of this tool; undefined when nothing could change
 * (no schema, or one that says nothing of any argument), so that pieces need not be held back.
 */
export type RepairArguments = (toolName: string) => ((json: string) => string) | undefined;

/** Keywords by which a schema without any rule for members still takes some. */
const SAYING_MORE = ['minProperties', 'propertyNames', '$ref', '$dynamicRef'];

export interface ArgumentRepairOptions {
  readonly tools: readonly CallableTool[];
  readonly receipt: Receipt;
  /** True for a tool whose arguments were asked for in their own types: none of their texts stands for another value. */
  isTyped(toolName: string): boolean;
}

/** Schemas are read when their tool is first called, and once. */
export function createArgumentRepair(options: ArgumentRepairOptions): RepairArguments {
  const plans = new Map<string, ((json: string) => string) | undefined>();
  return (toolName) => {
    if (!plans.has(toolName)) plans.set(toolName, planFor(toolName, options));
    return plans.get(toolName);
  };
}

function planFor(
  toolName: string,
  { tools, receipt, isTyped }: ArgumentRepairOptions,
): ((json: string) => string) | undefined {
  const tool = tools.find(({ name }) => name === toolName);
  if (tool?.kind !== 'function') return undefined;
  const bySchema = planBySchema(tool, { receipt, isTyped: isTyped(toolName) });
  const { shownDefaults = {} } = tool;
  if (Object.keys(shownDefaults).length === 0) return bySchema;
  return (json) => complete(bySchema?.(json) ?? json, shownDefaults);
}

/** What clients are shown beside the model's own arguments is known here, so that it can be taken back. */
function complete(json: string, shownDefaults: JsonObject): string {
  const given = readArguments(json);
  return given === undefined ? json : JSON.stringify({ ...shownDefaults, ...given });
}

function planBySchema(
  tool: FunctionTool,
  { receipt, isTyped }: { readonly receipt: Receipt; readonly isTyped: boolean },
): ((json: string) => string) | undefined {
  if (!isJsonObject(tool.parameters)) return undefined;
  const reader = createSchemaReader(tool.parameters);
  const root = reader.read([tool.parameters]);
  if (saysNothing(tool.parameters, root)) return undefined;
  const path = `tool_calls.${tool.name}`;
  const takesNone = takesNothing(tool.parameters);
  const mayBeMap = !takesNone && !isTyped && declaresNothing(root, reader);
  return (json) => repairJson(json, { reader, root, takesNone, mayBeMap, isTyped, path, receipt });
}

function saysNothing(schema: JsonObject, { objects, choices }: SchemaNode): boolean {
  if (objects.length > 0 || choices.length > 0) return false;
  return !SAYING_MORE.some((keyword) => Object.hasOwn(schema, keyword));
}

/** True where the names of the arguments are free: all of them may come inside one. */
function declaresNothing({ objects, choices }: SchemaNode, reader: SchemaReader): boolean {
  const isBare = ({ properties }: ObjectRule): boolean => properties.size === 0;
  const branches = choices.flat().map((branch) => reader.read([branch]));
  return [...objects, ...branches.flatMap((branch) => branch.objects)].every(isBare);
}

/** True for `{properties: {}, additionalProperties: false}`: clients refuse a call with any argument. */
function takesNothing(schema: JsonObject): boolean {
  if (schema.additionalProperties !== false) return false;
  const { properties = {} } = schema;
  const hasNames = !isJsonObject(properties) || Object.keys(properties).length > 0;
  return !hasNames && !declaresElsewhere(schema);
}

interface RepairPlan {
  readonly reader: SchemaReader;
  readonly root: SchemaNode;
  readonly takesNone: boolean;
  readonly mayBeMap: boolean;
  readonly isTyped: boolean;
  readonly path: string;
  readonly receipt: Receipt;
}

/** Arguments that need no repair, or too much work, come back as the same text. */
function repairJson(json: string, plan: RepairPlan): string {
  const { reader, root, path, receipt } = plan;
  const written = readArguments(json);
  if (written === undefined) return json;
  const inside = plan.mayBeMap ? unwrapMapArguments(written) : undefined;
  const given = inside ?? written;
  const work = new SchemaWork(reader);
  const repair = new ValueRepair(work, plan.isTyped || inside !== undefined);
  const repaired = plan.takesNone
    ? dropAll(given, repair, path)
    : repair.repair(root, given, { path, name: '' });
  if (work.gaveUp || repaired === given) return given === written ? json : JSON.stringify(given);
  for (const { action, path: at, reason } of repair.notes) receipt.add(action, at, reason);
  return JSON.stringify(repaired);
}

function readArguments(json: string): JsonObject | undefined {
  try {
    const value = parseJson(json);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function dropAll(given: JsonObject, repair: ValueRepair, path: string): JsonValue {
  if (Object.keys(given).length === 0) return given;
  repair.note({ action: 'dropped', path, reason: told`The tool takes no arguments.` });
  return {};
}
