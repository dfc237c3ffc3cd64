export interface RunnableOptions {
  /** Brings the library that is missing; false when it cannot. */
  readonly install?: () => boolean;
  readonly say?: (text: string) => void;
}

/** False when the program at this path does not run; what to do was said then. */
export function makeRunnable(node: string, options?: RunnableOptions): boolean;
