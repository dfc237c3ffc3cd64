// Which tools a model calls by name; and names that upstreams take for those whose own they refuse, with the way back.

import { createHash } from 'node:crypto';
import type { CanonicalRequest, FreeformTool, FunctionTool, Tool } from './request.ts';

export type CallableTool = FunctionTool | FreeformTool;

/** False for tools that the upstream runs itself. */
export function isCallable(tool: Tool): tool is CallableTool {
  return tool.kind === 'function' || tool.kind === 'freeform';
}

/** What upstreams take: generate-content takes dots and colons as well, the Messages and Chat APIs do not. */
export type NameForm = 'dotted' | 'plain';

/**
 * Sources: ai.google.dev, "Function calling" (its pages give two lengths, 64 and 128: this is the shorter);
 * Messages API, "Tool use"; OpenAI API, "Function calling".
 */
const FORMS = {
  dotted: { accepted: /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/, refused: /[^A-Za-z0-9_.:-]+/g },
  plain: { accepted: /^[A-Za-z0-9_-]{1,64}$/, refused: /[^A-Za-z0-9_-]+/g },
} as const;
/** What is left of a name beside "_" and its digest. */
const MAX_STEM_LENGTH = 55;
const DIGEST_LENGTH = 8;

type NamedTools = Pick<CanonicalRequest, 'tools' | 'turns' | 'toolChoice'>;

/** Accepted names for those that upstreams refuse, made of the name alone: the same in each turn. */
export function acceptedToolNames(
  request: NamedTools,
  form: NameForm = 'dotted',
): ReadonlyMap<string, string> {
  return acceptedNames([...namesOf(request)], form);
}

/** As `acceptedToolNames`, of names that stand elsewhere. */
export function acceptedNames(
  names: readonly string[],
  form: NameForm,
): ReadonlyMap<string, string> {
  const { accepted: isAccepted } = FORMS[form];
  const refused = names.filter((name) => !isAccepted.test(name));
  const accepted = new Map<string, string>();
  if (refused.length === 0) return accepted;
  const taken = new Set(names);
  for (const name of new Set(refused)) {
    const free = freeName(name, taken, form);
    taken.add(free);
    accepted.set(name, free);
  }
  return accepted;
}

function* namesOf({ tools, turns, toolChoice }: NamedTools): Generator<string> {
  for (const tool of tools) {
    if (tool.kind === 'function' || tool.kind === 'freeform') yield tool.name;
  }
  for (const { parts } of turns) {
    for (const part of parts) {
      if (part.kind === 'tool-call') yield part.name;
      else if (part.kind === 'tool-result' && part.name !== undefined) yield part.name;
    }
  }
  if (toolChoice.kind !== 'none') yield* toolChoice.names;
}

function freeName(name: string, taken: ReadonlySet<string>, form: NameForm): string {
  const words = name.replace(FORMS[form].refused, '_');
  const stem = (/^[A-Za-z_]/.test(words) ? words : `_${words}`).slice(0, MAX_STEM_LENGTH);
  for (let count = 0; ; count += 1) {
    const digest = createHash('sha256')
      .update(`${name}${'#'.repeat(count)}`)
      .digest('hex');
    const candidate = `${stem}_${digest.slice(0, DIGEST_LENGTH)}`;
    if (!taken.has(candidate)) return candidate;
  }
}

/** Gives each id as it is wanted, or spelled otherwise where it was given before. */
export function createIds(
  spellAgain = (id: string, count: number) => `${id}-${count}`,
): (id: string, wanted?: string) => string {
  const taken = new Set<string>();
  /** The number an id was last tried with. */
  const counts = new Map<string, number>();
  return (id, wanted = id) => {
    let free = wanted;
    let count = counts.get(id) ?? 1;
    while (taken.has(free)) {
      count += 1;
      free = spellAgain(id, count);
    }
    if (count > 1) counts.set(id, count);
    taken.add(free);
    return free;
  };
}
