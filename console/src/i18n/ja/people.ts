// People who sign in to the console, in Japanese.

import type { people as english } from '../en/people.ts';
import type { PartlyTranslated } from '../texts.ts';

export const people: PartlyTranslated<typeof english> = {
  title: 'ユーザー',
  hint: 'それぞれの名前でサインインします。コンソールのパスワードは名前のない所有者です。',
  empty: '名前でサインインするユーザーはまだいません',
  emptyHint:
    'ユーザーを招待すると、それぞれにロール、独自のセッション、監査ログでの名前が与えられます。',
  name: '名前',
  nameHint: 'サインインに使うもの（メールアドレスなど）',
  role: 'ロール',
  roleOf: '{{name}} のロール',
  roleClaimed: 'プロバイダーによる',
  roleChanged: '{{name}} は{{role}}になりました',
  signsIn: 'サインイン方法',
  ways: { password: 'パスワード', provider: 'OpenID Connect' },
  lastSignIn: '最終サインイン',
  never: 'なし',
  sessions: 'セッション',
  noSessions: 'なし',
  signOut_other: 'サインアウト（{{count}} 個のブラウザー）',
  signedOut: '{{name}} をサインアウトしました',
  removeNamed: '{{name}} を削除',
  removeTitle: '{{name}} を削除しますか？',
  removeHint:
    '直ちにサインアウトし、再びサインインできなくなります。行った操作は監査ログに残ります。',
  removed: '{{name}} を削除しました',
  invite: '招待',
  inviteTitle: 'コンソールに招待',
  may: {
    owner: 'ユーザー、パスワード、認証情報のエクスポートを含め、すべて行えます。',
    operator:
      'ゲートウェイを運用します：アカウント、キー、ルーティング、ほとんどの設定。認証情報とユーザーは扱えません。',
    viewer: 'ペイロード以外のすべてを閲覧でき、何も変更できません。',
  },
  makeLink: 'リンクを作成',
  linkTitle: '{{name}} へのリンク',
  linkHint: '本人に送ってください。{{time}} まで一度だけ使え、表示されるのは今だけです。',
  copyLink: 'リンクをコピー',
  waiting: '招待',
  waitingHint: 'まだ使われていないリンク。',
  gives: '与えるもの',
  aKey: 'API キー',
  expires: '有効期限',
  madeBy: '作成者',
  byPassword: 'コンソールのパスワード',
  revoke: '取り消す',
  revokeNamed: '{{name}} の招待を取り消す',
  revoked: '{{name}} の招待を取り消しました',
  ownPassword: '{{name}} のパスワード',
  ownPasswordHint: '変更すると、他のすべてのブラウザーからサインアウトします。',
  changePassword: 'パスワードを変更',
  passwordChanged: 'パスワードを変更しました',
};
