// Tools as a person gives them in JSON, in the form of any protocol, and as each protocol takes them.

import { at, listAt, textAt } from './json-at.ts';
import type { WireProtocol } from './wire-protocol.ts';

export interface FunctionTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema; undefined for a function without arguments. */
  readonly parameters: unknown;
}

/** A list of tools, or one, or a body that has `tools`; undefined for what is neither. */
export function readTools(text: string): readonly FunctionTool[] | undefined {
  if (text.trim() === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const list = Array.isArray(value)
    ? value
    : Array.isArray(at(value, 'tools'))
      ? listAt(value, 'tools')
      : [value];
  const tools = list.flatMap((one) => {
    const declared = listAt(one, 'functionDeclarations');
    return declared.length > 0 ? declared : [one];
  });
  const read = tools.map(readTool);
  return read.every((tool) => tool !== undefined) ? read : undefined;
}

/** `function` around it as Chat has it, `input_schema` as Messages, `parameters` as all others. */
function readTool(value: unknown): FunctionTool | undefined {
  const inner = at(value, 'function') ?? value;
  const name = textAt(inner, 'name');
  if (name === '') return undefined;
  const parameters =
    at(inner, 'parameters') ?? at(inner, 'input_schema') ?? at(inner, 'parametersJsonSchema');
  return { name, description: textAt(inner, 'description'), parameters };
}

const NO_ARGUMENTS = { type: 'object', properties: {} } as const;

/** The member of a body; none without tools. */
export function writeTools(
  protocol: WireProtocol,
  tools: readonly FunctionTool[],
): Readonly<Record<string, unknown>> {
  if (tools.length === 0) return {};
  const described = tools.map(({ name, description, parameters }) => ({
    head: { name, ...(description === '' ? {} : { description }) },
    parameters,
  }));
  switch (protocol) {
    case 'chat':
      return {
        tools: described.map(({ head, parameters }) => ({
          type: 'function',
          function: { ...head, parameters: parameters ?? NO_ARGUMENTS },
        })),
      };
    case 'messages':
      return {
        tools: described.map(({ head, parameters }) => ({
          ...head,
          input_schema: parameters ?? NO_ARGUMENTS,
        })),
      };
    case 'generate':
      return {
        tools: [
          {
            functionDeclarations: described.map(({ head, parameters }) => ({
              ...head,
              ...(parameters === undefined ? {} : { parametersJsonSchema: parameters }),
            })),
          },
        ],
      };
    case 'responses':
      return {
        tools: described.map(({ head, parameters }) => ({
          type: 'function',
          ...head,
          parameters: parameters ?? NO_ARGUMENTS,
          strict: false,
        })),
      };
    case 'images':
      return {};
    default:
      return protocol satisfies never;
  }
}
