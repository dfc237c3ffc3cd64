/** Does `work` while no other process does such work under this lock, a file; waits for one that does. */
export function oneAtATime(work: () => void, lock?: string): void;
