// `isthmus accounts`: list, add by key or sign-in, test, remove, import and export.

import { writeFile } from 'node:fs/promises';
import { Option } from 'commander';
import { definedFields, isJsonObject, type JsonObject, tryParse } from '../lib/json.ts';
import { codeOf } from '../lib/localized-message.ts';
import { encodePath } from './admin-client.ts';
import { type AddCommand, type Context, gatewayCommand, readWholeNumber } from './command.ts';
import { CommandError } from './exit-codes.ts';
import {
  confirm,
  objectOf,
  objectsOf,
  pickNamed,
  plain,
  readFileOrInput,
  readNewPassphrase,
  readSecretLine,
  type Said,
  textOf,
  textsOf,
  unwritable,
  writeTable,
} from './terminal.ts';

const ACCOUNT = ['<account>', 'id or label of the account'] as const;
const GENERATE = new Option('--generate', 'also request a one-token response, which uses quota');
const FORMATS = ['export', 'refresh-tokens', 'service-accounts'] as const;

const COMMANDS: readonly AddCommand[] = [
  gatewayCommand({
    name: 'list',
    description: 'list the accounts with their state',
    isDefault: true,
    load: async () => listAccounts,
  }),
  gatewayCommand({
    name: 'add',
    description: 'add an account; asks for an API key unless another way is named',
    options: [
      new Option('--upstream <id>', 'the upstream; may be left out when there is one'),
      new Option('--key-file <file>', 'file of the API key; - is the standard input'),
      GENERATE,
      new Option('--add-anyway', 'store a key even if the upstream refuses it'),
      new Option('--oauth', 'sign in in a browser'),
      new Option('--manual', 'with --oauth: paste the code or URL in place of the callback'),
      new Option('--account <name>', 'with --oauth: sign in to this account again'),
      new Option('--service-account <file>', 'key file of a service account'),
      new Option('--refresh-token-file <file>', 'file of a refresh token; - is the standard input'),
      new Option('--label <text>', 'name of the account'),
      new Option('--project <id>', 'project of the account'),
      new Option('--tier <tier>', 'plan of the account').choices(['ultra', 'pro', 'free']),
      new Option('--priority <number>', 'higher is preferred').argParser(readWholeNumber),
      new Option('--notes <text>', 'for people'),
      new Option('--proxy-file <file>', 'file of the proxy address of the account'),
    ],
    load: async () => addAccount,
  }),
  gatewayCommand({
    name: 'test',
    description: 'test credential, model list and quota of an account',
    argument: ACCOUNT,
    options: [GENERATE],
    load: async () => testAccount,
  }),
  gatewayCommand({
    name: 'enable',
    description: 'enable an account',
    argument: ACCOUNT,
    load: async () => switchAccount('enable'),
  }),
  gatewayCommand({
    name: 'disable',
    description: 'disable an account',
    argument: ACCOUNT,
    load: async () => switchAccount('disable'),
  }),
  gatewayCommand({
    name: 'remove',
    description: 'remove an account and its credential',
    argument: ACCOUNT,
    options: [
      new Option('--revoke', 'also revoke access at the provider'),
      new Option('-y, --yes', 'do not ask'),
    ],
    load: async () => removeAccount,
  }),
  gatewayCommand({
    name: 'import',
    description: 'import many accounts at once',
    argument: ['<file>', 'the file; - is the standard input'],
    options: [
      new Option('--format <format>', 'what the file holds').choices(FORMATS).default('export'),
      new Option('--upstream <id>', 'upstream of the accounts; not needed for an export'),
      new Option('--passphrase-file <file>', 'file of the passphrase of a sealed export'),
    ],
    load: async () => importAccounts,
  }),
  gatewayCommand({
    name: 'export',
    description: 'export the stored accounts, encrypted with a passphrase',
    argument: ['<file>', 'a new file; - is the standard output'],
    options: [
      new Option('--passphrase-file <file>', 'file of the passphrase'),
      new Option('--force', 'overwrite the file if it exists'),
    ],
    load: async () => exportAccounts,
  }),
];

export const addAccountCommands: AddCommand = (program, parts) => {
  const accounts = program
    .command('accounts')
    .description('list, add, test and remove accounts of upstreams');
  for (const add of COMMANDS) add(accounts, parts);
};

const ACCOUNT_COLUMNS = {
  id: orDash('id'),
  label: orDash('label'),
  upstream: orDash('upstream'),
  kind: orDash('kind'),
  tier: orDash('tier'),
  priority: orDash('priority'),
  state: sayState,
  'least quota': sayQuota,
};

async function listAccounts({ client, terminal, answer }: Context): Promise<void> {
  const body = await client.call('GET', '/api/accounts');
  answer(body, () => {
    const accounts = objectsOf(body, 'accounts');
    if (accounts.length === 0)
      return terminal.note('There is no account. Add one: isthmus accounts add');
    terminal.print(writeTable(ACCOUNT_COLUMNS, accounts));
    // What several accounts need is said once.
    const groups = Map.groupBy(accounts, (one) => textOf(objectOf(one, 'status'), 'wayOut'));
    for (const [wayOut, group] of groups) {
      const labels = group.map((account) => textOf(account, 'label')).join(', ');
      if (wayOut !== '') terminal.note(`\n${plain(`${labels}: ${wayOut}`)}`);
    }
  });
}

const STEP_COLUMNS = {
  '': (step: JsonObject) => (step.isGood === true ? 'good' : 'bad'),
  step: 'name',
  took: (step: JsonObject) => `${textOf(step, 'durationMs')} ms`,
  result: 'message',
};

async function testAccount(
  context: Context,
  name: string,
  { generate = false }: Said<'generate', boolean>,
): Promise<void> {
  const { client, terminal, answer } = context;
  const path = await accountPath(context, name);
  const body = await client.call('POST', `${path}/test`, { generate });
  if (body.isUsable !== true) terminal.setFailed();
  answer(body, () => {
    const steps = objectsOf(body, 'steps');
    terminal.print(writeTable(STEP_COLUMNS, steps));
    terminal.note(
      body.isUsable === true ? sayUsable(steps, generate) : 'The account cannot be used.',
    );
  });
}

function sayUsable(steps: readonly JsonObject[], generate: boolean): string {
  if (steps.some(({ name }) => name === 'answer')) return 'The account answers.';
  return generate
    ? 'No response was requested, as no model to ask is known: send it a request.'
    : 'Its credential is accepted. --generate shows whether it responds, at the cost of one token.';
}

function switchAccount(action: 'enable' | 'disable') {
  return async (context: Context, name: string): Promise<void> => {
    const path = await accountPath(context, name);
    printAccount(context, await context.client.call('POST', `${path}/${action}`), `is ${action}d.`);
  };
}

type RemoveFlags = Said<'revoke' | 'yes', boolean>;

async function removeAccount(
  context: Context,
  name: string,
  { revoke = false, yes = false }: RemoveFlags,
): Promise<void> {
  const { client, terminal, answer } = context;
  const account = await findAccount(context, name);
  const label = plain(textOf(account, 'label'));
  await confirm(terminal, { question: `Remove ${label} and its credential?`, yes });
  const path = pathOf(account);
  const body = await client.call('DELETE', revoke ? `${path}?revoke=true` : path);
  answer({ removed: account.id ?? null, ...body }, () => {
    terminal.print(`${label} is removed.`);
    if (!revoke) return;
    terminal.note(
      body.revocation === 'revoked'
        ? 'Access was revoked at the provider.'
        : plain(`Its grant still stands at the provider: ${textOf(body, 'reason')}`),
    );
  });
}

function printAccount({ terminal, answer }: Context, account: JsonObject, what: string) {
  const line = `${textOf(account, 'label')} (${textOf(account, 'id')}) ${what}`;
  answer(account, () => terminal.print(plain(line)));
}

/** By id, or by label where that is unique. @throws Error naming those that fit */
async function findAccount({ client }: Context, name: string): Promise<JsonObject> {
  const accounts = objectsOf(await client.call('GET', '/api/accounts'), 'accounts');
  return pickNamed(accounts, name, { noun: 'account', field: 'label' });
}

async function accountPath(context: Context, name: string): Promise<string> {
  return pathOf(await findAccount(context, name));
}

function pathOf(account: JsonObject): string {
  return `/api/accounts/${encodePath(textOf(account, 'id'))}`;
}

function orDash(field: string): (account: JsonObject) => string {
  return (account) => textOf(account, field) || '-';
}

function sayState(account: JsonObject): string {
  const status = objectOf(account, 'status');
  const kind = textOf(status, 'kind');
  const reason = textOf(status, 'reason');
  if (kind === 'disabled' && account.origin === 'sandbox') return 'on standby';
  if (kind !== 'active' || reason !== '') return reason === '' ? kind : `${kind} (${reason})`;
  const condition = objectOf(account, 'condition');
  const state = textOf(condition, 'state');
  if (state === 'untried') return 'not tried yet';
  if (state === 'degraded') return `degraded (${Math.round(Number(condition.share) * 100)} %)`;
  if (state !== 'healthy') return state.replace('-', ' ');
  const cooling = objectsOf(account, 'cooldowns');
  return cooling.length === 0 ? state : `${state}, ${cooling.length} models cooling down`;
}

function sayQuota(account: JsonObject): string {
  const quotas = objectsOf(account, 'quotas').filter(({ source }) => source !== 'rate');
  const [least] = quotas.toSorted((left, right) => Number(left.percent) - Number(right.percent));
  return least === undefined ? '-' : `${textOf(least, 'percent')} % ${textOf(least, 'model')}`;
}

// Adding an account: by key, refresh token, key file or sign-in.

type AddFlags = Said<'upstream' | 'label' | 'project' | 'tier' | 'notes', string> &
  Said<'proxyFile' | 'keyFile' | 'refreshTokenFile' | 'serviceAccount', string> &
  Said<'priority', number> &
  /** The account to sign in again. */
  Said<'account', string> &
  Said<'oauth' | 'manual' | 'generate' | 'addAnyway', boolean>;

async function addAccount(context: Context, _name: string, flags: AddFlags): Promise<void> {
  refuseTwoWays(flags);
  if (flags.oauth) {
    const account = await addBySignIn(context, flags);
    return printAccount(context, account, 'is signed in.');
  }
  if (flags.account !== undefined || flags.manual) {
    throw new CommandError('usage', '--account and --manual go with --oauth.');
  }
  const upstream = await chooseUpstream(context, flags.upstream);
  const credential = await readCredential(context, flags);
  const body = { upstream, ...credential, ...(await readRest(context, flags)) };
  const undo = await ensureUpstream(context, upstream);
  try {
    const account = await context.client.call('POST', '/api/accounts', body);
    printAccount(context, account, `is added. ${sayTrial(account)}`.trim());
  } catch (error) {
    await undo();
    throw error;
  }
}

/** Profiles that know their address, so that a key is all that an upstream of such a name needs. */
const READY_PROFILES = ['anthropic', 'openai', 'gemini-api'];

/** Writes such an upstream into the settings where they do not name it yet. @returns what takes it out again */
async function ensureUpstream({ client }: Context, id: string): Promise<() => Promise<void>> {
  const nothing = async (): Promise<void> => {};
  if (!READY_PROFILES.includes(id)) return nothing;
  const known = objectsOf(await client.call('GET', '/api/upstreams'), 'upstreams');
  if (known.some((one) => textOf(one, 'id') === id)) return nothing;
  const write = async (entry: JsonObject | null): Promise<void> => {
    await client.call('PATCH', '/api/config/upstreams', { [id]: entry });
  };
  await write({ profile: id });
  return () => write(null);
}

function sayTrial(account: JsonObject): string {
  const trial = objectOf(objectOf(account, 'condition'), 'trial');
  const message = textOf(trial, 'message');
  if (trial.isGood === false) return `It failed: ${message}`;
  const isAnswer = textOf(trial, 'what') === 'answer';
  return isAnswer ? `${message} It took ${textOf(trial, 'durationMs')} ms.` : message;
}

async function addBySignIn(context: Context, flags: AddFlags): Promise<JsonObject> {
  const unused = (['project', 'tier', 'priority', 'notes', 'proxyFile'] as const).find(
    (name) => flags[name] !== undefined,
  );
  if (unused !== undefined) {
    throw new CommandError(
      'usage',
      `--${dashed(unused)} does not go with --oauth: change the account afterwards.`,
    );
  }
  const { account, label, manual } = flags;
  const known = account === undefined ? undefined : await findAccount(context, account);
  const upstream =
    known === undefined ? await chooseUpstream(context, flags.upstream) : textOf(known, 'upstream');
  const accountId = known && textOf(known, 'id');
  const redirect = manual ? 'manual' : 'loopback';
  return signIn(context, said({ upstream, redirect, accountId, label }));
}

/** The one there is beside the sandbox, unless it was named: no real credential belongs there. */
async function chooseUpstream({ client }: Context, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  const body = await client.call('GET', '/api/upstreams');
  const upstreams = objectsOf(body, 'upstreams');
  const [only, ...more] = upstreams.filter((one) => textOf(one, 'profile') !== 'sandbox');
  if (only !== undefined && more.length === 0) return textOf(only, 'id');
  const ids = plain(upstreams.map((one) => textOf(one, 'id')).join(', '));
  if (only !== undefined)
    throw new CommandError('usage', `Name the upstream with --upstream; there are: ${ids}`);
  throw new CommandError(
    'usage',
    `No upstream is configured, and the built-in sandbox takes no real account. Name the one your key is of (--upstream ${READY_PROFILES.join(', ')}), or add another under "upstreams" of the config file or in the settings of the console.`,
  );
}

async function readCredential(
  { terminal }: Context,
  { keyFile, refreshTokenFile, serviceAccount }: AddFlags,
): Promise<JsonObject> {
  if (serviceAccount !== undefined) {
    const text = await readFileOrInput(terminal, serviceAccount);
    return { kind: 'service-account', serviceAccount: readKeyFile(text) };
  }
  if (refreshTokenFile !== undefined) {
    const source = { file: refreshTokenFile, question: '', flag: '--refresh-token-file' };
    return { kind: 'oauth', refreshToken: await readSecretLine(terminal, source) };
  }
  const source = { file: keyFile, question: 'API key: ', flag: '--key-file' };
  return { kind: 'api-key', key: await readSecretLine(terminal, source) };
}

function readKeyFile(text: string): JsonObject {
  const value = tryParse(text);
  if (value === undefined) {
    throw new Error('The service-account file is not JSON. Download the key again, as JSON.');
  }
  if (isJsonObject(value)) return value;
  throw new Error('The service-account file holds no JSON object.');
}

/** A proxy's address may hold a password, so it comes from a file. */
async function readRest(
  { terminal }: Context,
  { label, project, tier, priority, notes, proxyFile, generate, addAnyway }: AddFlags,
): Promise<JsonObject> {
  const proxyUrl =
    proxyFile === undefined ? undefined : (await readFileOrInput(terminal, proxyFile)).trim();
  return said({ label, project, tier, priority, notes, proxyUrl, generate, addAnyway });
}

function said(given: Readonly<Record<string, string | number | boolean | undefined>>): JsonObject {
  return definedFields(given) ?? {};
}

const WAYS = ['keyFile', 'refreshTokenFile', 'serviceAccount', 'oauth'] as const;

function refuseTwoWays(flags: AddFlags): void {
  const given = WAYS.filter((way) => flags[way] !== undefined && flags[way] !== false);
  if (given.length < 2) return;
  const names = given.map((way) => `--${dashed(way)}`).join(' and ');
  throw new CommandError('usage', `${names} do not go together: an account has one credential.`);
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Between two looks at how it goes. */
const LOOK_MS = 1_000;

/** The account that signed in. @throws Error when the sign-in failed or ran out of time */
async function signIn(context: Context, body: JsonObject): Promise<JsonObject> {
  const { client, terminal } = context;
  const started = await client.call('POST', '/api/oauth/start', body);
  const state = textOf(started, 'state');
  terminal.note('Open this address in a browser and agree:\n');
  // Without it nothing goes on, so it is not a note: `--json` prints it apart from the answer.
  terminal.note(`  ${textOf(started, 'authorizationUrl')}\n`);
  if (body.redirect === 'manual') return paste(context, state);
  // Without a terminal nothing is pasted: an input that has ended must not end the wait.
  if (!terminal.isInteractive) return waitForCallback(context, state);
  terminal.note(
    `Afterwards the browser comes to ${textOf(started, 'redirectUrl')}.\n` +
      'Where it cannot reach that, paste the whole address it ended on, or the code in it.',
  );
  // Whichever comes first: the callback reaches the gateway, or the answer is pasted.
  const other = new AbortController();
  try {
    return await Promise.race([
      waitForCallback(context, state, other.signal),
      paste(context, state, other.signal),
    ]);
  } finally {
    other.abort(new Error('The other way was faster.'));
  }
}

async function waitForCallback(
  { client, clock }: Context,
  state: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<JsonObject> {
  for (;;) {
    await clock.sleep(LOOK_MS, signal);
    const progress = await client.call('GET', `/api/oauth/${encodeURIComponent(state)}`);
    const status = textOf(progress, 'status');
    if (status === 'done') return objectOf(progress, 'account');
    if (status !== 'pending') throw new Error(textOf(progress, 'message'));
  }
}

async function paste(
  { client, terminal }: Context,
  state: string,
  signal?: AbortSignal,
): Promise<JsonObject> {
  const answer = (await terminal.ask('Address or code: ', signal)).trim();
  if (answer === '') throw new Error('Nothing was pasted. Begin again when you have the address.');
  const isAddress = /^https?:\/\//i.test(answer);
  const body = isAddress ? { url: answer, state } : { code: answer, state };
  return objectOf(await client.call('POST', '/api/oauth/complete', body), 'account');
}

// Many accounts in and out.

type ImportFlags = Said<'upstream' | 'passphraseFile', string> & {
  readonly format: 'export' | 'refresh-tokens' | 'service-accounts';
};

const IMPORT_COLUMNS = {
  '#': 'index',
  outcome: 'outcome',
  label: (item: JsonObject) => textOf(item, 'label') || '-',
  note: 'reason',
};

/** @param path a file; `-` is the standard input */
async function importAccounts(
  context: Context,
  path: string,
  { format, upstream, passphraseFile }: ImportFlags,
): Promise<void> {
  const { client, terminal, answer } = context;
  if (path === '-' && passphraseFile === '-') {
    throw new CommandError(
      'usage',
      'The standard input cannot hold both: put the passphrase into a file.',
    );
  }
  const text = await readFileOrInput(terminal, path);
  if (text === '') throw new Error(`${path === '-' ? 'The standard input' : path} is empty.`);
  const isSealed = format === 'export' && text.trimStart().startsWith('sealed-export:');
  const body: JsonObject = { format, text };
  if (upstream !== undefined) body.upstream = upstream;
  if (isSealed || passphraseFile !== undefined) {
    if (path === '-' && passphraseFile === undefined) {
      throw new CommandError(
        'usage',
        'The export is sealed: name a file that holds its passphrase with --passphrase-file.',
      );
    }
    body.passphrase = await readSecretLine(terminal, {
      ...{ file: passphraseFile, flag: '--passphrase-file' },
      question: 'Passphrase of the export: ',
    });
  }
  const result = await client.call('POST', '/api/accounts/import', body);
  if (Number(result.failed) > 0) terminal.setFailed();
  answer(result, () => {
    terminal.print(writeTable(IMPORT_COLUMNS, objectsOf(result, 'results')));
    const { added, updated, failed } = result;
    terminal.note(`${added} added, ${updated} updated, ${failed} failed.`);
  });
}

type ExportFlags = Said<'passphraseFile', string> & Said<'force', boolean>;

/** @param path a new file, readable by its owner alone; `-` is the standard output */
async function exportAccounts(
  context: Context,
  path: string,
  { passphraseFile, force = false }: ExportFlags,
): Promise<void> {
  const { client, terminal, answer } = context;
  const passphrase = await readNewPassphrase(terminal, passphraseFile);
  const result = await client.call('POST', '/api/accounts/export', { passphrase });
  const { sealed: _, ...rest } = result;
  const sealed = textOf(result, 'sealed');
  if (path === '-') answer(result, () => terminal.print(sealed));
  else {
    await writeNewFile(path, sealed, force);
    const count = textOf(result, 'count');
    const are = count === '1' ? 'account is' : 'accounts are';
    answer({ file: path, ...rest }, () => terminal.print(`${count} ${are} in ${plain(path)}.`));
  }
  const left = textsOf(result, 'left');
  if (left.length > 0) {
    terminal.note(plain(`Not in it, because they come with the process: ${left.join(', ')}`));
  }
}

async function writeNewFile(path: string, text: string, force: boolean): Promise<void> {
  try {
    await writeFile(path, `${text}\n`, { mode: 0o600, flag: force ? 'w' : 'wx' });
  } catch (error) {
    if (codeOf(error) === 'EEXIST')
      throw new Error(`${path} is there already. Name another file, or say --force.`);
    throw unwritable(path, error);
  }
}
