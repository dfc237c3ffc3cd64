// What the palette offers for a text: pages, settings, accounts, keys, models, clients, actions, and a request by its id.

/** In the order they are shown. */
export const ITEM_GROUPS = [
  'pages',
  'actions',
  'settings',
  'accounts',
  'keys',
  'models',
  'clients',
  'requests',
] as const;
type ItemGroup = (typeof ITEM_GROUPS)[number];

export interface Item {
  /** Different from that of every other. */
  readonly id: string;
  readonly group: ItemGroup;
  readonly label: string;
  /** More about it, which is searched too. */
  readonly hint?: string;
  /** Other words it is found by. */
  readonly words?: string;
  /** Offered before anything is typed. */
  readonly isFirst?: boolean;
  run(): void;
}

/** Of each group. */
const MAX_ITEMS = 7;

/** Those with every word of the text, best first in each group; what a label begins with is before what it holds. */
export function findItems(items: readonly Item[], text: string): readonly Item[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return items.filter(({ isFirst }) => isFirst === true);
  const found = items.flatMap((item) => {
    const rank = rankOf(item, words);
    return rank === undefined ? [] : [{ item, rank }];
  });
  return ITEM_GROUPS.flatMap((group) =>
    found
      .filter(({ item }) => item.group === group)
      .sort((a, b) => a.rank - b.rank)
      .slice(0, MAX_ITEMS)
      .map(({ item }) => item),
  );
}

/** Undefined where a word is missing. */
function rankOf({ label, hint = '', words: more = '' }: Item, words: readonly string[]) {
  const name = label.toLowerCase();
  const rest = `${hint} ${more}`.toLowerCase();
  let rank = 0;
  for (const word of words) {
    const at = name.indexOf(word);
    if (at === 0) continue;
    if (at > 0) rank += /\p{L}|\p{N}/u.test(name.charAt(at - 1)) ? 2 : 1;
    else if (rest.includes(word)) rank += 3;
    else return undefined;
  }
  return rank;
}

/** Whether the text may be the id of a request: our own have a prefix, and those of clients a digit and no spaces. */
export function isRequestId(text: string): boolean {
  return /^(?:req_|(?=.*\d))[\w.:-]{6,128}$/.test(text);
}
