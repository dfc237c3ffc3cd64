// `/api/oauth` and `/oauth/callback`: begins sign-ins, receives their results, and reports their state.

import type { XStatic } from 'typebox/schema';
import type { Account } from '../accounts/account.ts';
import { asGatewayError, type GatewayError, invalidRequest } from '../canonical/error.ts';
import { messageSchema, told } from '../lib/localized-message.ts';
import { named, object, optional, partial } from '../lib/object-schema.ts';
import type { AdminRoute, PageLanguage } from '../server/admin-route.ts';
import { readUpstream } from './account-input.ts';
import { writeAccount, writeTime } from './account-view.ts';
import { findStored } from './accounts.ts';
import { type Notice, writeNotice } from './notice-page.ts';
import type { AdminOptions, SignInProgress } from './options.ts';
import { type ApiRoute, answerJson, answerWith, defineRoute, refuseUnknown } from './route.ts';
import { ACCOUNT_SCHEMA, LABEL } from './schemas.ts';

export const START_SCHEMA = object({
  upstream: { type: 'string', description: 'Id of an upstream with an OAuth client.' },
  redirect: optional({
    enum: ['loopback', 'public', 'manual'],
    default: 'loopback',
    description:
      '`loopback` comes back to this gateway on this machine, unless `redirect_url` is configured; ' +
      '`public` asks for that; with `manual` a person pastes the address or the code.',
  }),
  accountId: optional({ type: 'string', description: 'An account that signs in again.' }),
  label: optional({ ...LABEL, description: 'Names the account when the provider does not.' }),
});

export const STARTED_SCHEMA = named('StartedSignIn', {
  state: { type: 'string' },
  authorizationUrl: { type: 'string', description: 'The address a person opens.' },
  redirectUrl: { type: 'string' },
  expiresAt: { type: 'string', format: 'date-time' },
});

const COMPLETE_SCHEMA = partial(
  {
    state: { type: 'string', minLength: 1, maxLength: 512 },
    code: { type: 'string', minLength: 1, maxLength: 4096 },
    url: { type: 'string', minLength: 1, maxLength: 16_384 },
  },
  { description: 'Either `url`, the whole address the browser ended on, or `code` with `state`.' },
);

export const SIGN_IN_SCHEMA = named('SignIn', {
  status: { enum: ['pending', 'done', 'failed'] },
  expiresAt: optional({ type: 'string', format: 'date-time' }),
  account: optional(ACCOUNT_SCHEMA),
  message: optional(messageSchema('Why it failed.')),
});

const STATE_PARAMETER = 'The state the sign-in was begun with.';

export function createSignInRoutes(
  options: AdminOptions,
  tracker: SignInTracker,
): readonly ApiRoute[] {
  const { book, upstreams } = options;
  return [
    defineRoute({
      at: 'POST /api/oauth/start',
      access: 'operator',
      shows: 'nothing',
      title: 'begins a sign-in and returns the URL to open',
      body: START_SCHEMA,
      answers: { 201: { description: 'The sign-in.', schema: STARTED_SCHEMA } },
      run: async ({ body }) => {
        const upstreamId = readUpstream(body.upstream, upstreams);
        checkRedirect(body, upstreams);
        await checkAccount(body, book);
        const { accountId: reauthenticate, label } = body;
        const started = await tracker.start({ upstreamId, reauthenticate, label });
        const { state, authorizationUrl, redirectUri, expiresAt } = started;
        return answerWith(201, {
          state,
          authorizationUrl,
          redirectUrl: redirectUri,
          expiresAt: writeTime(expiresAt),
        });
      },
    }),
    defineRoute({
      at: 'POST /api/oauth/complete',
      access: 'operator',
      shows: '/api/accounts',
      title: 'completes a sign-in with a pasted code or URL',
      body: COMPLETE_SCHEMA,
      answers: { 200: { description: 'The sign-in is done.', schema: SIGN_IN_SCHEMA } },
      run: async ({ body }) => {
        const account = await tracker.complete(readResponse(body), body.state);
        return answerJson({ status: 'done', account: writeAccount(account, options) });
      },
    }),
    defineRoute({
      at: 'GET /api/oauth/{state}',
      access: 'viewer',
      title: 'shows the state of a sign-in',
      parameter: STATE_PARAMETER,
      answers: { 200: { description: 'The sign-in.', schema: SIGN_IN_SCHEMA } },
      run: async ({ parameter }) => {
        const view = await tracker.find(parameter);
        if (view === undefined)
          return refuseUnknown(
            told`There is no sign-in of this state. It was cancelled, or it is too old. Begin a new one.`,
          );
        return answerJson(writeSignIn(view, options));
      },
    }),
    defineRoute({
      at: 'DELETE /api/oauth/{state}',
      access: 'operator',
      shows: 'nothing',
      title: 'cancels a sign-in',
      parameter: STATE_PARAMETER,
      answers: { 204: { description: 'It is cancelled.' } },
      run: async ({ parameter }) => {
        if (await tracker.cancel(parameter)) return { kind: 'empty' };
        return refuseUnknown(
          told`There is no waiting sign-in of this state. It was cancelled, or it is too old. Begin a new one.`,
        );
      },
    }),
  ];
}

async function checkAccount(
  { accountId, upstream }: XStatic<typeof START_SCHEMA>,
  book: AdminOptions['book'],
): Promise<void> {
  if (accountId === undefined) return;
  const { record } = await findStored(book, accountId);
  if (record.kind !== 'oauth') {
    throw invalidRequest(
      'accountId',
      told`accountId: is an account of kind ${record.kind}, which does not sign in.`,
    );
  }
  if (record.upstreamId !== upstream) {
    throw invalidRequest(
      'accountId',
      told`accountId: belongs to the upstream ${record.upstreamId}.`,
    );
  }
}

/** What was pasted: all of it belongs to one sign-in. */
function readResponse({ code, url }: XStatic<typeof COMPLETE_SCHEMA>): string {
  const response = url ?? code;
  if (response !== undefined && (url === undefined || code === undefined)) return response;
  throw invalidRequest(
    'code',
    told`Send either url, the address the browser ended on, or code with state.`,
  );
}

function checkRedirect(
  { upstream, redirect }: XStatic<typeof START_SCHEMA>,
  upstreams: AdminOptions['upstreams'],
): void {
  if (redirect !== 'public') return;
  const choice = upstreams.list().find(({ id }) => id === upstream);
  if (choice?.oauth?.redirectUrl !== undefined) return;
  throw invalidRequest(
    'redirect',
    told`redirect: no public address is configured. Set upstreams.${upstream}.oauth.redirect_url, or use loopback or manual.`,
  );
}

function writeSignIn(view: SignInProgress, options: AdminOptions): XStatic<typeof SIGN_IN_SCHEMA> {
  switch (view.kind) {
    case 'pending':
      return { status: 'pending', expiresAt: writeTime(view.expiresAt) };
    case 'failed':
      return { status: 'failed', message: view.message };
    case 'done': {
      const account = options.book.find(view.accountId);
      if (account !== undefined) return { status: 'done', account: writeAccount(account, options) };
      return { status: 'failed', message: told`The account was removed after it had signed in.` };
    }
    default:
      return view satisfies never;
  }
}

/** The state of each sign-in, until some time after its end. */
type SignInTracker = ReturnType<typeof createSignInTracker>;

type StartRequest = Parameters<AdminOptions['signIns']['start']>[0];

/** The admin API has one credential, so all of its callers are one. */
const OWNER = 'console';
/** For the page that polls for the outcome. */
const KEPT_AFTER_END_MS = 600_000;

export function createSignInTracker(options: AdminOptions) {
  const { clock, signIns, signInProgress, callbackUrl } = options;
  // A state counts once, also while its answer is on the way.
  const underWay = new Set<string>();
  const find = (state: string): Promise<SignInProgress | undefined> => signInProgress.get(state);
  const end = (state: string, progress: SignInProgress): Promise<void> =>
    signInProgress.put(state, progress, KEPT_AFTER_END_MS);
  return {
    /** Undefined for a state never given out or forgotten by now. */
    find,
    /** @throws GatewayError */
    async start(request: Omit<StartRequest, 'owner' | 'redirectUri'>) {
      const started = await signIns.start({ ...request, owner: OWNER, redirectUri: callbackUrl() });
      const { state, expiresAt } = started;
      const lifetimeMs = expiresAt - clock.now();
      await signInProgress.put(state, { kind: 'pending', expiresAt }, lifetimeMs);
      return started;
    },
    /** Ends a sign-in with what the redirect holds. @throws GatewayError; of field `state` when none waits */
    async complete(
      response: string,
      state = new URLSearchParams(response.trim().replace(/^[^?]*\?/, '')).get('state') ??
        undefined,
    ): Promise<Account> {
      if (state === undefined) return (await signIns.complete({ owner: OWNER, response })).account;
      if (underWay.has(state)) throw notWaiting();
      underWay.add(state);
      try {
        if ((await find(state))?.kind !== 'pending') throw notWaiting();
        const { account } = await signIns.complete({ owner: OWNER, state, response });
        await end(state, { kind: 'done', accountId: account.record.id });
        return account;
      } catch (error) {
        const { field, sentence: message } = asGatewayError(error);
        // The first answer, here or at another process, decides how it ended.
        if (field !== 'state') await end(state, { kind: 'failed', message });
        throw error;
      } finally {
        underWay.delete(state);
      }
    },
    /** False when there was none waiting. */
    async cancel(state: string): Promise<boolean> {
      const isWaiting = (await find(state))?.kind === 'pending';
      return isWaiting && (await signInProgress.take(state)) !== undefined;
    },
  };
}

function notWaiting(): GatewayError {
  const message = told`No sign-in of this state is waiting: it was completed, cancelled, or is too old. Begin a new one.`;
  return invalidRequest('state', message);
}

const CALLBACK_PATH = '/oauth/callback';

/** How it went; the page of each holds nothing that came with the request. */
const RESULTS = ['done', 'denied', 'unknown', 'failed'] as const;
type Result = (typeof RESULTS)[number];

const NOTICES: Readonly<Record<Result, Notice>> = {
  done: {
    tone: 'good',
    words: {
      en: {
        title: 'Signed in',
        text: 'The account is ready. You can close this page, or <a href="/accounts">open the accounts</a>.',
      },
      ja: {
        title: 'サインインしました',
        text: 'アカウントを使用できます。このページを閉じるか、<a href="/accounts">アカウントを開いて</a>ください。',
      },
      zh: {
        title: '已登录',
        text: '账号已可使用。您可以关闭此页面，或<a href="/accounts">打开账号页面</a>。',
      },
    },
  },
  denied: bad({
    en: 'The sign-in was refused at the provider. Nothing was changed. Begin a new one to try again.',
    ja: 'プロバイダーでサインインが拒否されました。何も変更されていません。もう一度始めてください。',
    zh: '登录在提供方处被拒绝，没有任何更改。请重新开始登录。',
  }),
  unknown: bad({
    en: 'No sign-in is waiting for this answer: it was used already, cancelled, or is too old. Begin a new one.',
    ja: 'この応答を待っているサインインがありません：使用済みか、キャンセルされたか、期限切れです。もう一度始めてください。',
    zh: '没有登录在等待此回答：它已用过、已取消或已过期。请重新开始登录。',
  }),
  failed: bad({
    en: 'The provider’s answer could not be used. The console and the log of the gateway say why. Begin a new one to try again.',
    ja: 'プロバイダーの応答を使用できませんでした。原因はコンソールとゲートウェイのログを確認してください。もう一度始めてください。',
    zh: '提供方的回答无法使用，原因见控制台和网关的日志。请重新开始登录。',
  }),
};

/** Public: the single-use state is the proof. Redirects at once, so that the code leaves the address. */
export function createCallbackRoute(tracker: SignInTracker, { log }: AdminOptions): AdminRoute {
  return {
    method: 'GET',
    path: CALLBACK_PATH,
    access: 'public',
    title: 'receives the browser after a sign-in at an upstream',
    changes: true,
    shows: '/api/accounts',
    async run({ query, caller, isHead, requestId }) {
      const asked = query.size === 1 ? query.get('result') : null;
      const shown = RESULTS.find((result) => result === asked);
      if (shown !== undefined) return writeNotice(NOTICES[shown], caller.language);
      // Something that only looks must not use the code up.
      if (isHead) return writeNotice(NOTICES.unknown, caller.language);
      const result = await complete(query, requestId);
      return { kind: 'redirect', location: `${CALLBACK_PATH}?result=${result}` };
    },
  };

  async function complete(query: URLSearchParams, requestId: string): Promise<Result> {
    // RFC 6749, 4.1.2: one state, and a code or an error. One that comes twice is an attack.
    const answers = [...query.getAll('code'), ...query.getAll('error')];
    if (query.getAll('state').length !== 1 || answers.length !== 1) return 'unknown';
    try {
      await tracker.complete(`?${query}`);
      return 'done';
    } catch (thrown) {
      const error = asGatewayError(thrown);
      if (error.field === 'state') return 'unknown';
      log.warn({ requestId, error: error.message }, 'A sign-in was not completed.');
      return query.has('error') ? 'denied' : 'failed';
    }
  }
}

function bad({ en, ja, zh }: Readonly<Record<PageLanguage, string>>): Notice {
  return {
    tone: 'bad',
    words: {
      en: { title: 'Not signed in', text: en },
      ja: { title: 'サインインできませんでした', text: ja },
      zh: { title: '未登录', text: zh },
    },
  };
}
