/** What to watch; `event` is what npm says it runs, undefined without npm. */
export interface ParentWatch {
  readonly event: string | undefined;
  /** Process ids of the parents, the nearest first; those of this process where it is not given. */
  readonly parents?: () => readonly number[];
  readonly onGone: () => void;
}

/** Calls back once when a parent is gone; what it returns ends the watch. */
export function watchParents(options: ParentWatch): () => void;
