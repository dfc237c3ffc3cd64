// `GET /oauth/callback`: where the identity provider sends the browser back to; says how it went.

import { asGatewayError } from '../canonical/error.ts';
import type { AdminInput, AdminRoute, PageLanguage } from '../server/admin-route.ts';
import { type Notice, writeNotice } from './notice-page.ts';
import type { SignInTracker } from './sign-in-tracker.ts';

const CALLBACK_PATH = '/oauth/callback';

export interface CallbackOptions {
  readonly tracker: Pick<SignInTracker, 'complete'>;
  readonly log: { warn(fields: object, message: string): void };
}

/** How it went; the page of each holds nothing that came with the request. */
type Result = 'done' | 'denied' | 'unknown' | 'failed';

const NOTICES: Readonly<Record<Result, Notice>> = {
  done: {
    tone: 'good',
    words: {
      en: {
        title: 'Signed in',
        text: 'The account is ready. You can close this page, or <a href="/accounts">open the accounts</a>.',
      },
      zh: {
        title: '已登录',
        text: '账号已可使用。您可以关闭此页面，或<a href="/accounts">打开账号页面</a>。',
      },
    },
  },
  denied: bad({
    en: 'The sign-in was refused at the provider. Nothing was changed. Begin a new one to try again.',
    zh: '登录在提供方处被拒绝，没有任何更改。请重新开始登录。',
  }),
  unknown: bad({
    en: 'No sign-in is waiting for this answer: it was used already, cancelled, or is too old. Begin a new one.',
    zh: '没有登录在等待此回答：它已用过、已取消或已过期。请重新开始登录。',
  }),
  failed: bad({
    en: 'The provider’s answer could not be used. The console and the log of the gateway say why. Begin a new one to try again.',
    zh: '提供方的回答无法使用，原因见控制台和网关的日志。请重新开始登录。',
  }),
};

/**
 * Public, since a browser comes here from elsewhere without a credential: the single-use state is
 * what it proves itself with. The code leaves the address at once, by a redirect to the result.
 */
export function createCallbackRoute({ tracker, log }: CallbackOptions): AdminRoute {
  return {
    method: 'GET',
    path: CALLBACK_PATH,
    access: 'public',
    title: 'takes the browser back from a sign-in',
    run: async (input) => {
      const shown = readShown(input.query);
      if (shown !== undefined) return writeNotice(NOTICES[shown], input.caller.language);
      // Something that only looks must not use the code up.
      if (input.isHead) return writeNotice(NOTICES.unknown, input.caller.language);
      return { kind: 'redirect', location: `${CALLBACK_PATH}?result=${await complete(input)}` };
    },
  };

  async function complete({ query, requestId }: AdminInput): Promise<Result> {
    if (!isAnswer(query)) return 'unknown';
    try {
      await tracker.complete({ response: `?${query}` });
      return 'done';
    } catch (thrown) {
      const error = asGatewayError(thrown);
      if (error.field === 'state') return 'unknown';
      log.warn({ requestId, error: error.message }, 'A sign-in was not completed.');
      return query.has('error') ? 'denied' : 'failed';
    }
  }
}

/** RFC 6749, 4.1.2: one state, and a code or an error. One that came twice is somebody's trick. */
function isAnswer(query: URLSearchParams): boolean {
  const results = [...query.getAll('code'), ...query.getAll('error')];
  return query.getAll('state').length === 1 && results.length === 1;
}

function readShown(query: URLSearchParams): Result | undefined {
  if (query.size !== 1) return undefined;
  const result = query.get('result');
  return result !== null && isResult(result) ? result : undefined;
}

function isResult(text: string): text is Result {
  return Object.hasOwn(NOTICES, text);
}

function bad({ en, zh }: Readonly<Record<PageLanguage, string>>): Notice {
  return {
    tone: 'bad',
    words: { en: { title: 'Not signed in', text: en }, zh: { title: '未登录', text: zh } },
  };
}
