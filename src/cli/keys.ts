// `isthmus keys`: the API keys of persons and their limits.

import { existsSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { RECORDING } from '../access/api-key.ts';
import { definedFields, isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { messageOf } from '../lib/localized-message.ts';
import { writePrivateFile } from '../lib/private-file.ts';
import {
  type AddCommand,
  type Context,
  gatewayCommand,
  oneOf,
  ownZone,
  readSpan,
  readTime,
  readWholeNumber,
} from './command.ts';
import { CommandError } from './exit-codes.ts';
import {
  confirm,
  objectOf,
  objectsOf,
  pickNamed,
  plain,
  type Said,
  textOf,
  textsOf,
  writeTable,
} from './terminal.ts';

const HOUR_MS = 3_600_000;

const KEY = ['<key>', 'name or id of the key'] as const;

/** What takes a limit away again; null, which the admin API takes, commander would replace. */
const NONE = 'none';

/** When a key expires, of the time at which that was said. */
type Expiry = (now: number) => number;

/** What can be said of a key: flag, its reader, and what it is. */
const LIMITS: readonly (readonly [
  flags: string,
  read: (text: string) => JsonValue | Expiry,
  description: string,
])[] = [
  ['--owner <name>', plainText, 'whose it is, such as an e-mail address'],
  ['--team <name>', plainText, 'whose team it is'],
  ['--tags <words>', readNames, 'free words to sum usage by, comma list'],
  ['--expires <when>', readExpiry, 'a day, a time, or a span from now such as 30d'],
  ['--allowed-models <names>', readNames, 'names or patterns with *, comma list'],
  ['--max-addresses <number>', readWholeNumber, 'IP addresses within a day'],
  ['--requests-per-minute <number>', readWholeNumber, 'requests within a minute'],
  ['--tokens-per-minute <number>', readWholeNumber, 'tokens within a minute'],
  ['--max-concurrency <number>', readWholeNumber, 'requests that run at the same time'],
  [
    '--recording <what>',
    oneOf(RECORDING.enum),
    `what is recorded of its requests: ${RECORDING.enum.join(' or ')}`,
  ],
  [
    '--blocked-hours <hours>',
    readBlockedHours,
    'such as 22:00-06:00, or 22:00-06:00@Europe/Zurich',
  ],
];

/** What the admin API calls as the flags do. */
const NAMES = [
  ...(['owner', 'team', 'tags'] as const),
  ...(['allowedModels', 'maxAddresses', 'requestsPerMinute', 'tokensPerMinute'] as const),
  ...(['maxConcurrency', 'recording'] as const),
] as const;

/** The flags by their names; each limit is what the admin API takes, or `none`. */
type LimitFlags = { readonly expires?: Expiry | typeof NONE } & Readonly<
  Partial<Record<(typeof NAMES)[number] | 'blockedHours', JsonValue>>
>;

type AddFlags = LimitFlags & Said<'disabled', boolean> & Said<'keyFile', string>;
type RotateFlags = Said<'overlap', number> & Said<'keyFile', string>;
type EditFlags = LimitFlags & Said<'enable' | 'disable', boolean> & Said<'name', string>;

function limitOptions(canRemove: boolean): readonly Option[] {
  return LIMITS.map(([flags, read, description]) => {
    const reader = (text: string): JsonValue | Expiry =>
      canRemove && text.trim() === NONE ? NONE : read(text);
    const words = canRemove ? `${description}; ${NONE} takes it away` : description;
    return new Option(flags, words).argParser(reader);
  });
}

const COMMANDS: readonly AddCommand[] = [
  gatewayCommand({
    name: 'list',
    description: 'list the keys with their limits and what they used today (UTC)',
    isDefault: true,
    examples: [['keys list', 'All keys; their secrets are not stored.']],
    load: async () => listKeys,
  }),
  gatewayCommand<AddFlags>({
    name: 'add',
    description: 'create a key and show its secret, only once',
    argument: ['<name>', 'whom or what it is for'],
    options: [
      ...limitOptions(false),
      new Option('--disabled', 'create it disabled'),
      new Option('--key-file <file>', 'write the secret to this new file instead of showing it'),
    ],
    examples: [
      [
        'keys add laptop --owner ada@example.org --team Research --expires 90d',
        'A key for a person.',
      ],
      [
        'keys add ci --allowed-models "gemini-*,claude-haiku-*" --key-file ci.key',
        'The secret goes to a file for its owner alone, and nowhere else.',
      ],
    ],
    load: async () => addKey,
  }),
  gatewayCommand<EditFlags>({
    name: 'edit',
    description: 'change the name, the owner or the limits of a key',
    argument: KEY,
    options: [
      new Option('--name <name>', 'another name'),
      ...limitOptions(true),
      new Option('--enable', 'enable it').conflicts('disable'),
      new Option('--disable', 'disable it'),
    ],
    examples: [
      ['keys edit ada --team none --blocked-hours 22:00-06:00', 'Everything else stays as it is.'],
      ['keys edit ada --disable', 'Requests with it are refused until it is enabled.'],
    ],
    load: async () => editKey,
  }),
  gatewayCommand<RotateFlags>({
    name: 'rotate',
    description:
      'give a key a new secret and show it, only once; the previous one works for a while',
    argument: KEY,
    options: [
      new Option(
        '--overlap <span>',
        'how long the previous secret keeps working, such as 12h; 24h when absent',
      ).argParser(readOverlap),
      new Option('--key-file <file>', 'write the secret to this new file instead of showing it'),
    ],
    examples: [
      ['keys rotate ada', 'Both secrets work for a day: long enough to change the clients.'],
      [
        'keys rotate ada --overlap 0',
        'All earlier secrets are refused at once, for example after a leak.',
      ],
    ],
    load: async () => rotateKey,
  }),
  gatewayCommand<Said<'yes', boolean>>({
    name: 'remove',
    description: 'remove a key: requests with it are refused from then on',
    argument: KEY,
    options: [new Option('-y, --yes', 'do not ask')],
    examples: [['keys remove ada --yes', 'Without a terminal --yes is needed.']],
    load: async () => removeKey,
  }),
];

export const addKeyCommands: AddCommand = (program, parts) => {
  const keys = program.command('keys').description('list, add, edit, rotate and remove API keys');
  for (const add of COMMANDS) add(keys, parts);
};

const columnsAt = (now: number) => ({
  name: 'name',
  key: (key: JsonObject) => `${textOf(key, 'prefix')}…`,
  state: (key: JsonObject) => sayState(key, now),
  'today (utc): requests': (key: JsonObject) => textOf(objectOf(key, 'usedToday'), 'requests'),
  tokens: (key: JsonObject) => textOf(objectOf(key, 'usedToday'), 'tokens'),
  'last used': (key: JsonObject) => writeDay(key.lastUsedAt) ?? '-',
  owner: sayHolder,
  limits: sayLimits,
});

async function listKeys({ client, terminal, clock, answer }: Context): Promise<void> {
  const body = await client.call('GET', '/api/keys');
  answer(body, () => {
    const keys = objectsOf(body, 'keys');
    if (keys.length === 0) return terminal.note('There is no key. Make one: isthmus keys add NAME');
    terminal.print(writeTable(columnsAt(clock.now()), keys));
  });
}

async function addKey(context: Context, name: string, flags: AddFlags): Promise<void> {
  const { client, terminal, clock, answer } = context;
  const { keyFile, disabled } = flags;
  const limits = withZone(toChange(flags, clock.now()), {});
  const body = { name, ...(disabled && { enabled: false }), ...limits };
  const created = await client.call('POST', '/api/keys', body);
  const secret = textOf(created, 'secret');
  const key = objectOf(created, 'key');
  if (keyFile === undefined) {
    answer(created, () => {
      terminal.print(secret);
      terminal.note(
        `This is the key of ${plain(name)}. It is shown this once; only a digest is kept.`,
      );
    });
    return;
  }
  await keepSecret(context, { path: keyFile, secret, key });
  answer({ key, file: keyFile }, () =>
    terminal.print(`The key of ${plain(name)} is in ${plain(keyFile)}.`),
  );
}

/** A key whose secret cannot be kept is of no use to anybody: it is taken out again. */
async function keepSecret(
  { client }: Context,
  {
    path,
    secret,
    key,
  }: { readonly path: string; readonly secret: string; readonly key: JsonObject },
): Promise<void> {
  const undo = () => client.call('DELETE', keyPath(key));
  let outcome: 'placed' | 'already-there';
  try {
    outcome = writePrivateFile(path, `${secret}\n`);
  } catch (error) {
    await undo();
    const message = `No key was made, because the file cannot be written: ${messageOf(error)}`;
    throw new Error(message, { cause: error });
  }
  if (outcome === 'placed') return;
  await undo();
  throw new Error(`No key was made: ${path} is there already. Name another file.`);
}

async function editKey(context: Context, name: string, flags: EditFlags): Promise<void> {
  const { client, terminal, clock, answer } = context;
  const { enable, disable } = flags;
  const isSwitched = enable !== undefined || disable !== undefined;
  const change = {
    ...(flags.name !== undefined && { name: flags.name }),
    ...(isSwitched && { enabled: enable === true }),
    ...toChange(flags, clock.now()),
  };
  if (Object.keys(change).length === 0) {
    throw new CommandError(
      'usage',
      'Name what is to be changed; isthmus keys edit --help lists it.',
    );
  }
  const known = await findKey(context, name);
  const key = await client.call('PATCH', keyPath(known), withZone(change, known));
  answer(key, () => terminal.print(writeTable(columnsAt(clock.now()), [key])));
}

async function rotateKey(context: Context, name: string, flags: RotateFlags): Promise<void> {
  const { client, terminal, clock, answer } = context;
  const { keyFile: path, overlap } = flags;
  const found = await findKey(context, name);
  // Looked at first: a secret that was made cannot be taken back.
  if (path !== undefined && existsSync(path)) {
    throw new Error(`Nothing was changed: ${path} is there already. Name another file.`);
  }
  const rotation = overlap === undefined ? {} : { overlapHours: overlap / HOUR_MS };
  const rotated = await client.call('POST', `${keyPath(found)}/rotate`, rotation);
  const secret = textOf(rotated, 'secret');
  const key = objectOf(rotated, 'key');
  const label = plain(textOf(key, 'name'));
  const sayOld = (): void => {
    const [old] = objectsOf(key, 'previous').slice(-1);
    const end = typeof old?.endsAt === 'number' ? old.endsAt : clock.now();
    terminal.note(
      end <= clock.now()
        ? 'All earlier secrets are refused from now on.'
        : `The previous secret works until ${new Date(end).toISOString()}.`,
    );
  };
  if (path === undefined) {
    answer(rotated, () => {
      terminal.print(secret);
      terminal.note(`This is the new secret of ${label}. It is shown this once.`);
      sayOld();
    });
    return;
  }
  placeSecret(path, secret);
  answer({ key, file: path }, () => {
    terminal.print(`The new secret of ${label} is in ${plain(path)}.`);
    sayOld();
  });
}

function placeSecret(path: string, secret: string): void {
  let why = 'it is there already';
  try {
    if (writePrivateFile(path, `${secret}\n`) === 'placed') return;
  } catch (error) {
    why = messageOf(error);
  }
  throw new Error(
    `The secret was replaced, but cannot be kept in ${path}: ${why}. Rotate it again.`,
  );
}

async function removeKey(
  context: Context,
  name: string,
  { yes }: Said<'yes', boolean>,
): Promise<void> {
  const { client, terminal, answer } = context;
  const key = await findKey(context, name);
  const label = plain(textOf(key, 'name'));
  await confirm(terminal, { question: `Remove the key ${label}? Its owner is refused then.`, yes });
  await client.call('DELETE', keyPath(key));
  answer({ removed: key.id ?? null }, () => terminal.print(`The key ${label} is removed.`));
}

/** By id, or by name where that is unique. @throws Error naming those that fit */
export async function findKey({ client }: Context, name: string): Promise<JsonObject> {
  const keys = objectsOf(await client.call('GET', '/api/keys'), 'keys');
  return pickNamed(keys, name, { noun: 'key', field: 'name' });
}

function keyPath(key: JsonObject): string {
  return `/api/keys/${encodeURIComponent(textOf(key, 'id'))}`;
}

function toChange({ expires, blockedHours, ...named }: LimitFlags, now: number): JsonObject {
  const orNull = (value: JsonValue | undefined) => (value === NONE ? null : value);
  const limits = Object.fromEntries(NAMES.map((name) => [name, orNull(named[name])]));
  // No list allows all.
  if (limits.allowedModels === null) limits.allowedModels = [];
  if (limits.tags === null) limits.tags = [];
  const expiresAt = expires === NONE ? null : expires?.(now);
  return definedFields({ ...limits, expiresAt, curfew: orNull(blockedHours) }) ?? {};
}

/** Blocked hours without a zone are those of the key as it is, else of this machine. */
function withZone(change: JsonObject, known: JsonObject): JsonObject {
  const { curfew } = change;
  if (!isJsonObject(curfew)) return change;
  const timeZone = textOf(objectOf(known, 'curfew'), 'timeZone') || ownZone();
  return { ...change, curfew: { timeZone, ...curfew } };
}

function readExpiry(text: string): Expiry {
  if (!/^\d+[mhdw]$/.test(text.trim())) {
    const at = readTime(text);
    return () => at;
  }
  const span = readSpan(text);
  return (now) => now + span;
}

/** `0`, or a span such as `12h`. */
function readOverlap(text: string): number {
  return text.trim() === '0' ? 0 : readSpan(text);
}

function plainText(text: string): string {
  return text;
}

function readNames(text: string): string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length > 0) return names;
  throw new InvalidArgumentError('It must be a list of names, separated by commas.');
}

const BLOCKED_HOURS = /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)(?:@(\S+))?$/;

function readBlockedHours(text: string): JsonObject {
  const [, from, to, zone] = BLOCKED_HOURS.exec(text.trim()) ?? [];
  if (from === undefined || to === undefined) {
    throw new InvalidArgumentError('It must be two times such as 22:00-06:00.');
  }
  return { from, to, ...(zone !== undefined && { timeZone: zone }) };
}

/** `ada@example.org, Research, #ci`. */
function sayHolder(key: JsonObject): string {
  const tags = textsOf(key, 'tags').map((tag) => `#${tag}`);
  const names = [textOf(key, 'owner'), textOf(key, 'team'), ...tags];
  return names.filter((name) => name !== '').join(', ') || '-';
}

function sayState(key: JsonObject, now: number): string {
  if (key.enabled !== true) return 'disabled';
  const { expiresAt } = key;
  if (typeof expiresAt !== 'number') return 'enabled';
  return expiresAt <= now ? 'expired' : `until ${writeDay(expiresAt)}`;
}

function writeDay(at: JsonValue | undefined): string | undefined {
  if (typeof at !== 'number') return undefined;
  // Sweden writes dates as ISO 8601 does.
  return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short' }).format(at);
}

const AMOUNTS = {
  maxAddresses: 'addresses a day',
  requestsPerMinute: 'requests a minute',
  tokensPerMinute: 'tokens a minute',
  maxConcurrency: 'requests at the same time',
} as const;

function sayLimits(key: JsonObject): string {
  const models = textsOf(key, 'allowedModels');
  const curfew = objectOf(key, 'curfew');
  const parts = [
    ...Object.entries(AMOUNTS).flatMap(([field, unit]) =>
      textOf(key, field) === '' ? [] : [`${textOf(key, field)} ${unit}`],
    ),
    ...(textOf(key, 'recording') === '' ? [] : [`records ${textOf(key, 'recording')}`]),
    ...(models.length === 0 ? [] : [`only ${models.join(', ')}`]),
    ...(textOf(curfew, 'from') === ''
      ? []
      : [`not ${textOf(curfew, 'from')}-${textOf(curfew, 'to')} ${textOf(curfew, 'timeZone')}`]),
  ];
  return parts.join('; ') || '-';
}
