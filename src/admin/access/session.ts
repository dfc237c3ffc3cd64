// `/api/session` and `/sign-in`: signing in and out, and asking for the password again.

import type { AccessControl } from '../../access/access.ts';
import { TIME } from '../../access/access-log.ts';
import { checkOwnPassword, ROLES, requireRole } from '../../access/people.ts';
import {
  PROVIDER_CALLBACK_PATH,
  ProviderRefusal,
  REFUSALS,
  type RefusalKind,
} from '../../access/provider-sign-in.ts';
import { clientError, invalidRequest } from '../../canonical/error.ts';
import { told } from '../../lib/localized-message.ts';
import { named, object, optional, TEXT } from '../../lib/object-schema.ts';
import {
  type AdminCaller,
  type AdminRoute,
  clearSessionCookie,
  writeSessionCookie,
  writeSignInCookie,
} from '../../server/admin-route.ts';
import { type Notice, writeNotice } from '../notice-page.ts';
import { type ApiRoute, answerJson, defineRoute } from '../route.ts';

export const SESSION_SCHEMA = named('ConsoleSession', {
  signedIn: { type: 'boolean' },
  needsPassword: { type: 'boolean', description: 'Whether signing in is needed.' },
  role: optional({ enum: ROLES, description: 'What this browser may do.' }),
  person: optional({ ...TEXT, description: 'Who signed in; absent of the console password.' }),
  asksName: { type: 'boolean', description: 'Whether people sign in with passwords of their own.' },
  provider: optional({
    ...object({ label: TEXT }),
    description: 'Where people can sign in besides, as its button calls it.',
  }),
  expiresAt: optional({ ...TIME, description: 'If nothing more comes from this browser.' }),
});

const PASSWORD = { type: 'string', minLength: 1, maxLength: 1024 } as const;

const SIGN_IN_SCHEMA = object({
  name: optional({
    ...TEXT,
    minLength: 1,
    maxLength: 128,
    description: 'Of a person with a password of their own; absent for the console password.',
  }),
  password: PASSWORD,
});

const SIGNED_IN_SCHEMA = named('SignedIn', { expiresAt: TIME });

const PATH = '/api/session';

export function createConsoleSessionRoutes(access: AccessControl): readonly ApiRoute[] {
  const { login, people, hasher, provider, accessLog } = access;
  return [
    defineRoute({
      at: `GET ${PATH}`,
      access: 'public',
      title: 'shows whether this browser is signed in',
      answers: { 200: { description: 'The session.', schema: SESSION_SCHEMA } },
      async run({ caller }) {
        const { needsPassword } = login;
        const asksName = people.list().some(({ passwordHash }) => passwordHash !== undefined);
        const shared = { needsPassword, asksName, provider: provider.offer };
        const { cookie } = caller;
        const session = cookie === undefined ? undefined : await login.findSession(cookie);
        if (session === undefined || (!needsPassword && session.person === undefined)) {
          // Without a password every program of this machine is let in.
          const signedIn = !needsPassword && caller.isLocal;
          return answerJson({ ...shared, signedIn, role: signedIn ? 'owner' : undefined });
        }
        const { expiresAt, role, person } = session;
        return answerJson({ ...shared, signedIn: true, expiresAt, role, person: person?.name });
      },
    }),
    defineRoute({
      at: `POST ${PATH}`,
      access: 'public',
      // Signing in is in the access log.
      changes: false,
      title: 'signs in a browser with the console password, or with a name and a password',
      body: SIGN_IN_SCHEMA,
      answers: { 200: { description: 'Its cookie is set.', schema: SIGNED_IN_SCHEMA } },
      async run({ body, caller }) {
        const { name, password } = body;
        const { secret, expiresAt } =
          name === undefined
            ? await login.signIn(password, caller)
            : await login.signInAs({ name, password }, caller);
        const reason =
          name === undefined
            ? told`With the console password.`
            : told`As ${people.findByName(name)?.name ?? name}, with their own password.`;
        accessLog.add({ ...signedIn(caller, PATH), reason });
        const cookie = writeSessionCookie(login.cookieTag, secret, caller.isSecure);
        return { kind: 'json', status: 200, body: { expiresAt }, cookie };
      },
    }),
    defineRoute({
      at: `DELETE ${PATH}`,
      access: 'viewer',
      shows: 'nothing',
      title: 'signs out every browser; of a person, all of theirs',
      answers: { 204: { description: 'No session is left.' } },
      async run({ caller }) {
        if (caller.person === undefined) await login.endAllSessions();
        else await login.endSessionsOf(caller.person.id);
        return { kind: 'empty', cookie: clearSessionCookie(login.cookieTag, caller.isSecure) };
      },
    }),
    defineRoute({
      at: `POST ${PATH}/password`,
      access: 'viewer',
      shows: 'nothing',
      title: 'changes one’s own password, and signs out all other browsers',
      body: object({ password: PASSWORD }),
      asksAgain: true,
      answers: {
        200: { description: 'The cookie of the new session is set.', schema: SIGNED_IN_SCHEMA },
      },
      async run({ body, caller }) {
        const person = caller.person && people.get(caller.person.id);
        if (person?.passwordHash === undefined) {
          throw clientError(
            'invalid-request',
            told`Only people who sign in with their own password can change it here.`,
          );
        }
        checkOwnPassword(body.password);
        await checkPasswordAgain(access, caller, caller.passwordAgain);
        const changed = await people.change(person.id, {
          passwordHash: await hasher.hash(body.password),
        });
        await login.endSessionsOf(person.id);
        const { secret, expiresAt } = await login.beginFor(changed, caller);
        const cookie = writeSessionCookie(login.cookieTag, secret, caller.isSecure);
        return { kind: 'json', status: 200, body: { expiresAt }, cookie };
      },
    }),
  ];
}

/** Of the access log, all but the reason. */
export function signedIn({ address }: AdminCaller, path: string, method = 'POST') {
  return { verdict: 'signed-in', address, method, path, keyId: undefined } as const;
}

const SIGN_IN_PATH = '/sign-in';

const NOT_SIGNED_IN: Notice = {
  tone: 'bad',
  words: {
    en: {
      title: 'Not signed in',
      text:
        'This link was used already, is older than ten minutes, or was opened on another machine than ' +
        'the gateway’s. Restart the gateway for a new one, or <a href="/">sign in with the console password</a>.',
    },
    ja: {
      title: 'サインインできませんでした',
      text:
        'このリンクは使用済みか、10 分を過ぎたか、ゲートウェイとは別のマシンで開かれています。' +
        'ゲートウェイを再起動して新しいリンクを取得するか、<a href="/">コンソールのパスワードでサインイン</a>してください。',
    },
    zh: {
      title: '未登录',
      text:
        '此链接已用过、已超过十分钟，或不是在网关所在的机器上打开的。' +
        '请重新启动网关以取得新的链接，或<a href="/">用控制台密码登录</a>。',
    },
  },
};

/** Public, as the link is what the browser proves itself with; whatever goes wrong looks the same. */
export function createSignInRoute({ login, accessLog }: AccessControl): AdminRoute {
  return {
    method: 'GET',
    path: SIGN_IN_PATH,
    access: 'public',
    title: 'signs in a browser on this machine by a one-time link',
    async run({ query, caller, isHead }) {
      const [token, ...others] = query.getAll('token');
      // What only looks, or fetches ahead, must not use the link up.
      const isMeant = !isHead && !caller.isPrefetch && caller.isLocal;
      const isAsked = isMeant && token !== undefined && others.length === 0;
      const session = isAsked ? await login.redeemLink(token, caller) : undefined;
      if (session === undefined) return writeNotice(NOT_SIGNED_IN, caller.language);
      const reason = told`With a one-time link.`;
      accessLog.add({ ...signedIn(caller, SIGN_IN_PATH, 'GET'), reason });
      const cookie = writeSessionCookie(login.cookieTag, session.secret, caller.isSecure);
      return { kind: 'redirect', location: '/', cookie };
    },
  };
}

export function createProviderRoute({ login, provider }: AccessControl): ApiRoute {
  return defineRoute({
    at: `POST ${PATH}/provider`,
    access: 'public',
    changes: false,
    title: 'begins a sign-in at the OpenID Connect provider',
    body: object({
      origin: {
        ...TEXT,
        maxLength: 512,
        description: 'Of the page, where the browser comes back to.',
      },
      invitation: optional({
        ...TEXT,
        maxLength: 128,
        description: 'The secret of an invitation.',
      }),
    }),
    answers: {
      200: {
        description: 'Where the browser goes; its cookie is set.',
        schema: named('ProviderSignIn', { url: TEXT }),
      },
    },
    async run({ body: { origin, invitation }, caller }) {
      if (!isOrigin(origin))
        throw invalidRequest('origin', told`origin: must be that of a web page.`);
      const { url, browser } = await provider.begin(origin, invitation);
      const cookie = writeSignInCookie(login.cookieTag, browser, caller.isSecure);
      return { kind: 'json', status: 200, body: { url }, cookie };
    },
  });
}

/** Where it comes back to; public, as the state and the cookie are what it proves itself with. */
export function createProviderCallback({ login, provider, accessLog }: AccessControl): AdminRoute {
  return {
    method: 'GET',
    path: PROVIDER_CALLBACK_PATH,
    access: 'public',
    title: 'receives the browser from the OpenID Connect provider and signs it in',
    changes: true,
    shows: '/api/people',
    async run({ query, caller, isHead }) {
      const shown = query.get('refused') ?? '';
      if (isRefusal(shown)) return writeNotice(noticeOf(shown), caller.language);
      // What only looks must not use the answer up.
      if (isHead || caller.isPrefetch) return writeNotice(noticeOf('unknown'), caller.language);
      const entry = signedIn(caller, PROVIDER_CALLBACK_PATH, 'GET');
      try {
        const person = await provider.complete(query, caller.signInCookie);
        const { secret } = await login.beginFor(person, caller);
        accessLog.add({ ...entry, reason: told`As ${person.name}, at the provider.` });
        const cookie = writeSessionCookie(login.cookieTag, secret, caller.isSecure);
        return { kind: 'redirect', location: '/', cookie };
      } catch (error) {
        if (!(error instanceof ProviderRefusal)) throw error;
        accessLog.add({ ...entry, verdict: 'unauthenticated', reason: error.sentence });
        // The answer of the provider leaves the address at once.
        return { kind: 'redirect', location: `${PROVIDER_CALLBACK_PATH}?refused=${error.why}` };
      }
    },
  };
}

type Refusals = Readonly<Record<RefusalKind, string>>;

/** Why a sign-in failed; the English is that of the gateway. */
const REFUSED_JA: Refusals = {
  unknown:
    'この応答を待っているサインインがありません：使用済みか、10 分を過ぎたか、別のブラウザーで始められたものです。もう一度サインインしてください。',
  none: 'プロバイダーが設定されていません。',
  unreachable:
    'プロバイダーに接続できないか、proxy.sign_in の設定と一致していません。原因はゲートウェイのログを確認してください。',
  denied: 'プロバイダーがサインインを拒否しました。',
  unproved:
    'プロバイダーの応答では本人であることを確認できません。原因はゲートウェイのログを確認してください。',
  role: 'プロバイダーからここでのロールが与えられていません。このゲートウェイの所有者に追加を依頼してください。',
  domain:
    'メールアドレスのドメインがここでのサインインを許可されていないか、プロバイダーがメールアドレスを確認していません。',
  invitation:
    'この招待は使用済みか、期限切れか、取り消されています。送信者に新しい招待を依頼してください。',
  known: '既にここにサインインできるため、招待は不要です。',
  taken:
    '同じ名前のユーザーが既に存在します。このゲートウェイの所有者に、そのユーザーの削除か、別の名前での招待を依頼してください。',
  last: 'プロバイダーが最後の所有者のロールを取り消し、コンソールにもパスワードがありません。ゲートウェイを実行する場所で WEB_PASSWORD を設定してください。',
};
const REFUSED_ZH: Refusals = {
  unknown: '没有登录在等待此回答：它已用过、已超过十分钟，或是在另一个浏览器中开始的。请重新登录。',
  none: '尚未配置身份提供方。',
  unreachable: '无法连接身份提供方，或其设置与 proxy.sign_in 不符。原因见网关的日志。',
  denied: '身份提供方拒绝了登录。',
  unproved: '身份提供方的回答不能证明您的身份。原因见网关的日志。',
  role: '身份提供方没有给您在此处的角色。请让此网关的所有者添加您。',
  domain: '您的邮箱地址不属于可在此登录的域，或身份提供方尚未验证它。',
  invitation: '此邀请已被使用、已过期或已被撤销。请向发送者索取新的邀请。',
  known: '您已经可以在此登录，不需要邀请。',
  taken: '此处已有同名的人员。请让此网关的所有者将其移除，或用另一个名称邀请您。',
  last: '身份提供方取消了最后一位所有者的角色，而控制台没有密码。请在网关运行处设置 WEB_PASSWORD。',
};

function isRefusal(text: string): text is RefusalKind {
  return Object.hasOwn(REFUSALS, text);
}

function noticeOf(why: RefusalKind): Notice {
  const again = {
    en: '<a href="/">Back to sign-in</a>',
    ja: '<a href="/">サインインに戻る</a>',
    zh: '<a href="/">返回登录</a>',
  };
  return {
    tone: 'bad',
    words: {
      en: { title: 'Not signed in', text: `${REFUSALS[why].text} ${again.en}` },
      ja: { title: 'サインインできませんでした', text: `${REFUSED_JA[why]}${again.ja}` },
      zh: { title: '未登录', text: `${REFUSED_ZH[why]}${again.zh}` },
    },
  };
}

function isOrigin(text: string): boolean {
  return (
    URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text
  );
}

type Reauthentication = Pick<
  AdminCaller,
  'address' | 'hasShownPassword' | 'passwordAgain' | 'person' | 'role'
>;

/** For takeovers and credentials: owners alone, who prove themselves again. @throws GatewayError */
export async function requireReauthentication(
  access: Pick<AccessControl, 'login' | 'people' | 'clock'>,
  caller: Reauthentication,
  password = caller.passwordAgain,
): Promise<void> {
  requireRole(caller, 'owner');
  await checkPasswordAgain(access, caller, password);
}

/** How recent a sign-in must be where a person without a password would otherwise enter it again. */
const FRESH_MS = 600_000;

/** Scripts show it with each request; who has no password signs in anew. @throws GatewayError */
async function checkPasswordAgain(
  { login, people, clock }: Pick<AccessControl, 'login' | 'people' | 'clock'>,
  { address, hasShownPassword, person }: Reauthentication,
  password: string | undefined,
): Promise<void> {
  if ((!login.needsPassword && person === undefined) || hasShownPassword) return;
  if (person !== undefined && people.get(person.id)?.passwordHash === undefined) {
    if (clock.now() - person.since < FRESH_MS) return;
    throw clientError(
      'forbidden',
      told`This needs a sign-in of the last ten minutes. Sign out, sign in again and repeat it. Nothing was done.`,
    );
  }
  if (password === undefined) {
    throw invalidRequest(
      'password',
      told`password: is needed again from a browser that is signed in. Nothing was done.`,
      'missing-field',
    );
  }
  const isRight =
    person === undefined
      ? await login.isPassword(password, address)
      : await login.isPasswordOf(person.id, password, address);
  if (isRight) return;
  // Not 401: the session goes on.
  const message =
    person === undefined
      ? told`password: that is not the console password.`
      : told`password: that is not your password.`;
  throw clientError('forbidden', message, { field: 'password' });
}
