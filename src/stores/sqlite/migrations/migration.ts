// One step of the database's shape. A published step is never changed: a later one corrects it.

export interface Migration {
  /** 1, 2, 3, … in the order of the list. */
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}
