// What a person did to a list that is not saved yet, beside whatever others do to it.

export interface ListDraft {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

const NOTHING: ListDraft = { added: [], removed: [] };

/** The list as it is saved, with what was done to it here. */
export function showList(saved: readonly string[], draft: ListDraft = NOTHING): string[] {
  const { added, removed } = draft;
  return [
    ...saved.filter((one) => !removed.includes(one)),
    ...added.filter((one) => !saved.includes(one)),
  ];
}

/** Undefined when nothing differs from what is saved. */
export function draftList(
  saved: readonly string[],
  next: readonly string[],
  draft: ListDraft = NOTHING,
): ListDraft | undefined {
  // What is under way counts as saved until it is refused: it stays part of the draft.
  const added = next.filter((one) => !saved.includes(one) || draft.added.includes(one));
  const removed = [...new Set([...saved, ...draft.removed])].filter((one) => !next.includes(one));
  return added.length === 0 && removed.length === 0 ? undefined : { added, removed };
}
