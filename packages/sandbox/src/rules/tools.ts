// Rules for tools: function names, declarations, their schemas, and which tools may stand together.

import { isJsonObject, type JsonValue } from '../json.ts';
import { declarationsOf, type FunctionDeclaration, type Tool } from '../wire.ts';
import { checkReferences } from './json-schema.ts';
import type { Report, Rule } from './rule.ts';
import { checkSchema } from './schema.ts';

/** The narrower of the two documented limits (64 and 128). */
const MAX_NAME_LENGTH = 64;
const MAX_DECLARATIONS = 512;
const FUNCTION_NAME = /^[A-Za-z_][A-Za-z0-9_.:-]*$/;
const OFFERED_BUILT_INS = new Set([
  'functionDeclarations',
  'vendoraSearch',
  'urlContext',
  'codeExecution',
]);

export const checkTools: Rule = ({ request, isProjectPath }, report) => {
  const tools = request.tools ?? [];
  tools.forEach((tool, index) => {
    checkTool(tool, `tools[${index}]`, report);
  });
  checkNames(declarationsOf(request), report);
  const hasBuiltIn = tools.some((tool) =>
    Object.keys(tool).some((key) => key !== 'functionDeclarations'),
  );
  const combined = hasBuiltIn && declarationsOf(request).length > 0;
  const asked = request.toolConfig?.includeServerSideToolInvocations;
  if (isProjectPath) {
    const description = 'unknown field "include_server_side_tool_invocations"';
    if (asked !== undefined) report('tool_config', description);
  } else if (combined && asked !== true) {
    report(
      'tools',
      'built-in tools stand beside function declarations only with tool_config.include_server_side_tool_invocations',
    );
  }
};

function checkTool(tool: Tool, at: string, report: Report): void {
  const keys = Object.keys(tool);
  if (keys.length === 0) report(at, 'must name a kind of tool');
  for (const key of keys.filter((name) => !OFFERED_BUILT_INS.has(name))) {
    report(at, `the sandbox does not offer the tool ${key}`);
  }
  if (tool.functionDeclarations?.length === 0) {
    report(`${at}.function_declarations`, 'must not be empty');
  }
  tool.functionDeclarations?.forEach((declaration, index) => {
    checkDeclaration(declaration, `${at}.function_declarations[${index}]`, report);
  });
}

function checkDeclaration(declaration: FunctionDeclaration, at: string, report: Report): void {
  const name = declaration.name ?? '';
  if (!FUNCTION_NAME.test(name) || name.length > MAX_NAME_LENGTH) {
    report(
      `${at}.name`,
      `${JSON.stringify(name)} is not a function name: a letter or "_" first, then letters, digits, "_", ".", ":" or "-", at most ${MAX_NAME_LENGTH}`,
    );
  }
  const { parameters, parametersJsonSchema, response, responseJsonSchema } = declaration;
  if (parameters !== undefined && parametersJsonSchema !== undefined) {
    report(at, 'parameters and parameters_json_schema exclude each other');
  }
  if (response !== undefined && responseJsonSchema !== undefined) {
    report(at, 'response and response_json_schema exclude each other');
  }
  if (parameters !== undefined) {
    if (parameters.type !== 'OBJECT') report(`${at}.parameters.type`, 'must be OBJECT');
    checkSchema(parameters, `${at}.parameters`, report);
  }
  if (response !== undefined) checkSchema(response, `${at}.response`, report);
  checkJsonParameters(parametersJsonSchema, `${at}.parameters_json_schema`, report);
}

function checkJsonParameters(schema: JsonValue | undefined, at: string, report: Report): void {
  if (schema === undefined) return;
  if (!isJsonObject(schema)) {
    report(at, 'must be a JSON Schema object');
    return;
  }
  const type = schema.type;
  if (type !== undefined && !(typeof type === 'string' && type.toLowerCase() === 'object')) {
    report(`${at}.type`, 'must be "object"');
  }
  checkReferences(schema, at, report);
}

function checkNames(declarations: readonly FunctionDeclaration[], report: Report): void {
  if (declarations.length > MAX_DECLARATIONS) {
    report(
      'tools',
      `at most ${MAX_DECLARATIONS} function declarations, not ${declarations.length}`,
    );
  }
  const seen = new Set<string>();
  for (const { name = '' } of declarations) {
    if (seen.has(name)) report('tools', `function ${JSON.stringify(name)} is declared twice`);
    seen.add(name);
  }
}
