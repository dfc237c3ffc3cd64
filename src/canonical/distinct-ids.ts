// Keeps the ids of calls apart, where clients or upstreams give several the same one.

/** Gives each id back as it is, or with a number behind it where it was given before. */
export function createIds(): (id: string) => string {
  const taken = new Set<string>();
  /** The number an id was last tried with. */
  const counts = new Map<string, number>();
  return (id) => {
    let free = id;
    let count = counts.get(id) ?? 1;
    while (taken.has(free)) {
      count += 1;
      free = `${id}-${count}`;
    }
    if (count > 1) counts.set(id, count);
    taken.add(free);
    return free;
  };
}
