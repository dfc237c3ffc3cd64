// The columns of the list: which there are, which a person chose, and for which of them there is room.

/** In the order in which they stand; time, status and model are always there. */
export const CHOICES = [
  ...(['protocol', 'stream', 'account', 'key', 'client', 'session', 'replica'] as const),
  ...(['tokens', 'first', 'cost', 'took'] as const),
] as const;
export type Choice = (typeof CHOICES)[number];
export type ColumnId = 'when' | 'status' | 'model' | Choice;

interface Column {
  /** As CSS has it. */
  readonly track: string;
  /** The least it takes, in pixels. */
  readonly width: number;
}

const COLUMNS: Readonly<Record<ColumnId, Column>> = {
  when: { track: '92px', width: 92 },
  status: { track: '122px', width: 122 },
  model: { track: 'minmax(150px, 2.4fr)', width: 190 },
  protocol: { track: '84px', width: 84 },
  stream: { track: '64px', width: 64 },
  account: { track: 'minmax(96px, 1.4fr)', width: 120 },
  key: { track: 'minmax(80px, 1fr)', width: 100 },
  client: { track: 'minmax(90px, 0.8fr)', width: 110 },
  session: { track: 'minmax(80px, 1fr)', width: 110 },
  replica: { track: 'minmax(72px, 0.8fr)', width: 90 },
  tokens: { track: '134px', width: 134 },
  first: { track: '76px', width: 76 },
  cost: { track: '72px', width: 72 },
  took: { track: '62px', width: 62 },
};

const GAP_PX = 14;
const EDGES_PX = 56;

/** What is shown where nobody chose: the first ones first, while there is room. */
const USUAL: readonly Choice[] = [
  ...(['took', 'tokens', 'account', 'protocol', 'key', 'first', 'cost', 'client'] as const),
];

const ALWAYS = ['when', 'status', 'model'] as const;

/**
 * The columns for which a list of this width has room, in their order.
 * @param chosen undefined where nobody chose
 * @param isShared whether more than one gateway or worker served what is listed
 */
export function columnsFor(
  width: number,
  chosen: readonly Choice[] | undefined,
  isShared: boolean,
): readonly ColumnId[] {
  const [took, tokens, account, ...others] = USUAL;
  const usual = [took, tokens, account, ...(isShared ? ['replica' as const] : []), ...others];
  const wanted = (chosen === undefined ? usual : inOrder(chosen)).filter(
    (one): one is Choice => one !== undefined,
  );
  let room = width - EDGES_PX - ALWAYS.reduce((sum, id) => sum + COLUMNS[id].width + GAP_PX, 0);
  const shown = new Set<ColumnId>();
  for (const id of wanted) {
    room -= COLUMNS[id].width + GAP_PX;
    if (room < 0) break;
    shown.add(id);
  }
  return [...ALWAYS, ...CHOICES.filter((id) => shown.has(id))];
}

/** What nobody sees but who chose it goes before the usual ones. */
function inOrder(chosen: readonly Choice[]): readonly Choice[] {
  const own = chosen.filter((id) => !USUAL.includes(id));
  return [...own, ...USUAL.filter((id) => chosen.includes(id))];
}

/** As `grid-template-columns` has it. */
export function tracksOf(columns: readonly ColumnId[]): string {
  return columns.map((id) => COLUMNS[id].track).join(' ');
}

/** The usual ones of a list of this width, to begin a choice with. */
export function usualChoice(width: number, isShared: boolean): readonly Choice[] {
  const shown = columnsFor(width, undefined, isShared);
  return CHOICES.filter((id) => shown.includes(id));
}

/** What was stored; undefined for anything else. */
export function readChoice(stored: unknown): readonly Choice[] | undefined {
  if (!Array.isArray(stored)) return undefined;
  return CHOICES.filter((id) => stored.includes(id));
}
