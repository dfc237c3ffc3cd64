// Members that come and go with every request, each of which knows its own place.

export interface RosterMember {
  /** Its place in the one roster it is in, which alone writes it; -1 while it is in none. */
  rosterPlace: number;
}

/**
 * A `Set` whose members change all the time is rebuilt all the time, and each table that V8 leaves
 * behind points to the next one: everything that was ever in it stays until the next full garbage
 * collection, and is copied by the small ones before.
 */
export class Roster<Member extends RosterMember> {
  readonly #members: Member[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: Member): void {
    if (member.rosterPlace !== -1) return;
    member.rosterPlace = this.#members.length;
    this.#members.push(member);
  }

  delete(member: Member): void {
    const place = member.rosterPlace;
    if (place === -1) return;
    member.rosterPlace = -1;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    last.rosterPlace = place;
    this.#members[place] = last;
  }

  /** Those of this moment, in no order. */
  list(): readonly Member[] {
    return [...this.#members];
  }
}
