// `isthmus accounts add`: by key, refresh token, key file or sign-in.

import { definedFields, isJsonObject, type JsonObject, parseJson } from '../lib/json.ts';
import { findAccount, printAccount } from './accounts.ts';
import {
  type Context,
  objectOf,
  objectsOf,
  plain,
  readFileOrInput,
  readSecretLine,
  type Said,
  textOf,
} from './terminal.ts';

export type AddFlags = Said<'upstream' | 'label' | 'project' | 'tier' | 'notes', string> &
  Said<'proxyFile' | 'keyFile' | 'refreshTokenFile' | 'serviceAccount', string> &
  Said<'priority', number> &
  /** The account to sign in again. */
  Said<'account', string> &
  Said<'oauth' | 'manual' | 'generate' | 'addAnyway', boolean>;

/** @throws Error in words for people */
export async function addAccount(context: Context, _name: string, flags: AddFlags): Promise<void> {
  refuseTwoWays(flags);
  if (flags.oauth) {
    const account = await addBySignIn(context, flags);
    return printAccount(context, account, 'is signed in.');
  }
  if (flags.account !== undefined || flags.manual) {
    throw new Error('--account and --manual go with --oauth.');
  }
  const upstream = await chooseUpstream(context, flags.upstream);
  const credential = await readCredential(context, flags);
  const body = { upstream, ...credential, ...(await readRest(context, flags)) };
  const account = await context.client.call('POST', '/api/accounts', body);
  printAccount(context, account, `is added. ${sayTrial(account)}`.trim());
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
    throw new Error(`--${dashed(unused)} does not go with --oauth: change the account afterwards.`);
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
  if (only !== undefined) throw new Error(`Name the upstream with --upstream; there are: ${ids}`);
  throw new Error(
    'No upstream is configured, and the built-in sandbox takes no real account. Add one under "upstreams" of the config file, or in the settings of the console.',
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
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
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

/** Without what was not said. */
function said(given: Readonly<Record<string, string | number | boolean | undefined>>): JsonObject {
  return definedFields(given) ?? {};
}

const WAYS = ['keyFile', 'refreshTokenFile', 'serviceAccount', 'oauth'] as const;

function refuseTwoWays(flags: AddFlags): void {
  const given = WAYS.filter((way) => flags[way] !== undefined && flags[way] !== false);
  if (given.length < 2) return;
  const names = given.map((way) => `--${dashed(way)}`).join(' and ');
  throw new Error(`${names} do not go together: an account has one credential.`);
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
  // Without a terminal nobody pastes: an input that has ended must not end the wait.
  if (!terminal.isInteractive) return waitForCallback(context, state);
  terminal.note(
    `Afterwards the browser comes to ${textOf(started, 'redirectUrl')}.\n` +
      'Where it cannot reach that, paste the whole address it ended on, or the code in it.',
  );
  // Whichever comes first: the callback reaches the gateway, or somebody pastes the answer.
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
