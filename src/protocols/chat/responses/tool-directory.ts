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
  /** Declares a tool and gives its flat name, which no other tool has. */
  add(tool: ToolIdentity): string;
  /**
   * The flat name of a tool, declared or not: history may call tools that are no longer there. Clients
   * that leave the namespace out mean the one tool of that name.
   */
  flatName(tool: ToolIdentity): string;
  /** Undefined for names nobody declared. */
  find(flatName: string): ToolIdentity | undefined;
}

export function createToolDirectory(): ToolDirectory {
  const byFlatName = new Map<string, ToolIdentity>();
  const flatNames = new Map<string, string>();
  /** By plain name; none for a name that several namespaces have. */
  const onlyFlatNames = new Map<string, string | undefined>();
  return {
    add(tool) {
      const known = flatNames.get(identityOf(tool));
      if (known !== undefined) return known;
      const flat = freeName(plainName(tool), byFlatName);
      byFlatName.set(flat, tool);
      flatNames.set(identityOf(tool), flat);
      onlyFlatNames.set(tool.name, onlyFlatNames.has(tool.name) ? undefined : flat);
      return flat;
    },
    flatName(tool) {
      const known = flatNames.get(identityOf(tool));
      if (known !== undefined) return known;
      const plain = plainName(tool);
      if (byFlatName.has(plain) || hasNamespace(tool)) return plain;
      return onlyFlatNames.get(tool.name) ?? plain;
    },
    find: (flat) => byFlatName.get(flat),
  };
}

function plainName(tool: ToolIdentity): string {
  return hasNamespace(tool) ? `${tool.namespace}__${tool.name}` : tool.name;
}

function hasNamespace({ namespace }: ToolIdentity): boolean {
  return namespace !== undefined && namespace !== '';
}

function identityOf(tool: ToolIdentity): string {
  return JSON.stringify([tool.form, tool.namespace ?? '', tool.name]);
}

/** Two tools may have one plain name: `a__b` of nothing, and `b` of `a`. */
function freeName(plain: string, taken: ReadonlyMap<string, ToolIdentity>): string {
  let flat = plain;
  for (let next = 2; taken.has(flat); next += 1) flat = `${plain}_${next}`;
  return flat;
}
