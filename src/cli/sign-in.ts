// Signing in from the command line: an address to open, then the callback or a pasted answer.

import type { JsonObject } from '../lib/json.ts';
import { objectOf, textOf } from './answer-fields.ts';
import type { CommandContext } from './command-context.ts';

export interface SignInRequest {
  readonly upstream: string;
  readonly redirect: 'loopback' | 'manual';
  readonly accountId?: string;
  readonly label?: string;
}

/** Between two looks at how it goes. */
const LOOK_MS = 1_000;

/** The account that signed in. @throws Error when the sign-in failed or ran out of time */
export async function signIn(context: CommandContext, request: SignInRequest): Promise<JsonObject> {
  const { client, terminal } = context;
  const body = { ...request };
  const started = await client.call({ method: 'POST', path: '/api/oauth/start', body });
  const state = textOf(started, 'state');
  terminal.note('Open this address in a browser and agree:\n');
  // Without it nothing goes on, so it is not a note: `--json` prints it apart from the answer.
  terminal.note(`  ${textOf(started, 'authorizationUrl')}\n`);
  if (request.redirect === 'manual') return paste(context, { state });
  // Without a terminal nobody pastes: an input that has ended must not end the wait.
  if (!terminal.isInteractive) return waitForCallback(context, state);
  terminal.note(
    `Afterwards the browser comes to ${textOf(started, 'redirectUrl')}.\n` +
      'Where it cannot reach that, paste the whole address it ended on, or the code in it.',
  );
  return waitOrPaste(context, state);
}

/** Whichever comes first: the callback reaches the gateway, or somebody pastes the answer. */
async function waitOrPaste(context: CommandContext, state: string): Promise<JsonObject> {
  const other = new AbortController();
  try {
    return await Promise.race([
      waitForCallback(context, state, other.signal),
      paste(context, { state, signal: other.signal }),
    ]);
  } finally {
    other.abort(new Error('The other way was faster.'));
  }
}

async function waitForCallback(
  { client, clock }: CommandContext,
  state: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<JsonObject> {
  for (;;) {
    await clock.sleep(LOOK_MS, signal);
    const path = `/api/oauth/${encodeURIComponent(state)}`;
    const progress = await client.call({ method: 'GET', path });
    const status = textOf(progress, 'status');
    if (status === 'done') return objectOf(progress, 'account');
    if (status !== 'pending') throw new Error(textOf(progress, 'message'));
  }
}

async function paste(
  { client, terminal }: CommandContext,
  { state, signal }: { readonly state: string; readonly signal?: AbortSignal },
): Promise<JsonObject> {
  const answer = (await terminal.ask('Address or code: ', signal)).trim();
  if (answer === '') throw new Error('Nothing was pasted. Begin again when you have the address.');
  const isAddress = /^https?:\/\//i.test(answer);
  const body = isAddress ? { url: answer, state } : { code: answer, state };
  const done = await client.call({ method: 'POST', path: '/api/oauth/complete', body });
  return objectOf(done, 'account');
}
