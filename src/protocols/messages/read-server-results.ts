// Renders results of tools the real service ran itself, found in history, as readable text.

import type { ServerToolResultPart } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { nonEmptyStringAt, type Scope, tagOf } from './fields.ts';

const SUFFIX = '_tool_result';

/** True for every block that answers a server-side tool, known or of a later date. */
export function isServerResultTag(tag: string): boolean {
  return tag.endsWith(SUFFIX);
}

/**
 * A `web_search_tool_result`, `web_fetch_tool_result`, `*_code_execution_tool_result`,
 * `mcp_tool_result` … block. Its content is history: it is read tolerantly and never refused.
 */
export function readServerResult(scope: Scope): ServerToolResultPart {
  const content = renderResult(scope.value.content);
  return {
    kind: 'server-tool-result',
    callId: nonEmptyStringAt(scope, 'tool_use_id'),
    name: tagOf(scope).slice(0, -SUFFIX.length),
    text: scope.value.is_error === true ? `error: ${content}` : content,
  };
}

/** The words that stand for a tool declared in mid-conversation. */
export function toolAvailable(name: string): string {
  return `Tool ${name} is now available.`;
}

function renderResult(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(renderResult).filter(Boolean).join('\n\n');
  if (!isJsonObject(content)) return '';
  const type = text(content.type);
  if (type.endsWith('_error')) return `error: ${text(content.error_code)}`;
  switch (type) {
    case 'web_search_result':
      return lines(text(content.title), text(content.url));
    case 'web_fetch_result':
      return lines(text(content.url), renderResult(content.content));
    case 'document':
      return lines(text(content.title), renderSource(content.source));
    case 'tool_search_tool_search_result':
      return lines(...referencedTools(content).map(toolAvailable));
    case 'text':
    case 'advisor_result':
      return text(content.text);
    default:
      return renderExecution(content) ?? JSON.stringify(content);
  }
}

/** The output of a program or a file command; undefined when the object is neither. */
function renderExecution(content: JsonObject): string | undefined {
  if (typeof content.return_code === 'number') {
    return lines(text(content.stdout), text(content.stderr), `exit code ${content.return_code}`);
  }
  return typeof content.content === 'string' ? content.content : undefined;
}

/** The readable part of a fetched document; bytes are left out. */
function renderSource(source: JsonValue | undefined): string {
  if (!isJsonObject(source)) return '';
  if (source.type === 'text') return text(source.data);
  return source.type === 'content' ? renderResult(source.content) : '';
}

function referencedTools(content: JsonObject): readonly string[] {
  const references = Array.isArray(content.tool_references) ? content.tool_references : [];
  return references.filter(isJsonObject).map((reference) => text(reference.tool_name));
}

function lines(...texts: readonly string[]): string {
  return texts.filter((line) => line !== '').join('\n');
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
