// The tools of one request under two names: the client's, with form and namespace, and the one sent upstream.

/** How the client declared a tool, and so which kind of item a call to it has to be. */
export type CallForm =
  | 'function'
  | 'custom'
  | 'local_shell'
  | 'shell'
  | 'apply_patch'
  | 'tool_search';

export interface ToolIdentity {
  readonly form: CallForm;
  readonly name: string;
  readonly namespace?: string | undefined;
}

/**
 * Clients refuse a call whose kind or namespace is not the declared one (wire protocols: Codex answers
 * "unsupported call"), so that both are remembered by the flat name that goes upstream.
 */
export interface ToolDirectory {
  /** Declares a tool and gives its flat name. */
  add(tool: ToolIdentity): string;
  /** The flat name of a tool, declared or not: history may call tools that are no longer there. */
  flatName(name: string, namespace: string | undefined): string;
  /** Undefined for names nobody declared. */
  find(flatName: string): ToolIdentity | undefined;
}

export function createToolDirectory(): ToolDirectory {
  const byFlatName = new Map<string, ToolIdentity>();
  const flatName = (name: string, namespace: string | undefined): string =>
    namespace === undefined || namespace === '' ? name : `${namespace}__${name}`;
  return {
    add(tool) {
      const flat = flatName(tool.name, tool.namespace);
      byFlatName.set(flat, tool);
      return flat;
    },
    flatName,
    find: (flat) => byFlatName.get(flat),
  };
}
