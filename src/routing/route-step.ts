// The steps by which a model name becomes its target: what each was, and its words.

export const ROUTE_STEP_KINDS = [
  'mapping-exact',
  'mapping-pattern',
  'catalogue',
  'offered',
  'offered-twin',
  'own-name',
  'alias',
  'variant',
  'sibling',
  'provider',
  'passed-on',
] as const;

export interface RouteStep {
  readonly kind: (typeof ROUTE_STEP_KINDS)[number];
  /** What is looked up; of a mapping the name or pattern of the entry. */
  readonly name: string;
  /** What it leads to; the name itself where that is known. */
  readonly target: string;
  /** Of an alias its pattern, of a variant what the name asks for besides. */
  readonly detail?: string;
}

export function sayRouteStep({ kind, name, target, detail = '' }: RouteStep): string {
  switch (kind) {
    case 'mapping-exact':
      return `custom_mapping (exact) "${name}" gives "${target}"`;
    case 'mapping-pattern':
      return `custom_mapping (pattern) "${name}" gives "${target}"`;
    case 'catalogue':
      return `"${target}" is in the catalogue`;
    case 'offered':
      return `"${target}" is offered by an account`;
    case 'offered-twin':
      return `"${target}" is offered by an account, as "${name}"`;
    case 'own-name':
      return `"${name}" is a name of "${target}"`;
    case 'alias':
      return `"${name}" (alias "${detail}") goes to "${target}"`;
    case 'variant':
      return `"${name}" is "${target}" with ${detail}`;
    case 'sibling':
      return `its variant is "${target}"`;
    case 'provider':
      return `"${name}" names the provider of "${target}"`;
    case 'passed-on':
      return `"${target}" is passed on: an account's model list is unknown`;
    default:
      return kind satisfies never;
  }
}
