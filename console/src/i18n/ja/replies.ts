// What the admin API says of accounts, sign-ins, imports and settings, in Japanese, by its code:
// {} stands there for a name, a value or another sentence, and {1} here for the first of them.

import type { SentenceTexts } from '../sentences.ts';

export const replies: SentenceTexts = {
  '"accounts" must be a list of at most {}.':
    '「accounts」には {1} 項目以内のリストを指定してください。',
  '"kind" must be oauth, api-key or service-account.':
    '「kind」には oauth、api-key または service-account を指定してください。',
  '"tier" must be one of {}.': '「tier」には次のいずれかを指定してください：{1}。',
  '"billing" must be one of {}.': '「billing」には次のいずれかを指定してください：{1}。',
  '"{}" is missing.': '「{1}」が指定されていません。',
  '"{}" must be a string.': '「{1}」には文字列を指定してください。',
  '"{}" must be a whole number.': '「{1}」には整数を指定してください。',
  '"{}" must be an object.': '「{1}」にはオブジェクトを指定してください。',
  'a name has up to 64 letters, digits, dots, dashes and underscores':
    '名前は 64 文字以内の英数字、ドット、ハイフン、アンダースコアで指定してください',
  '"{}" must go to the name of one model, without "*"':
    '「{1}」のマッピング先には 1 つのモデルの名前を「*」なしで指定してください',
  '1 to {} key files are imported at once.':
    '一度にインポートできるキーファイルは 1 から {1} 個です。',
  'Accounts are not stored in this process.': 'このプロセスにはアカウントが保存されていません。',
  'At most {} tokens are imported at once.': '一度にインポートできるトークンは {1} 個までです。',
  'If-Match: send the ETag of the last answer, with its quotes.':
    'If-Match: 直前の応答の ETag を引用符付きで送信してください。',
  'If-Match: send the revision of the account, such as "3".':
    'If-Match: アカウントのリビジョンを "3" のように送信してください。',
  'If-Match: this route knows no revisions; leave the header out.':
    'If-Match: このルートにリビジョンはありません。ヘッダーを外してください。',
  'It is not clear which sign-in this belongs to. Paste the whole address the browser ended on.':
    'どのサインインのものか判別できません。ブラウザーが最後に開いた URL 全体を貼り付けてください。',
  'Its stored state is damaged.': '保存された状態が破損しています。',
  'No access token is available for this account right now. Try again shortly.':
    'このアカウントのアクセストークンを現在取得できません。しばらくしてからもう一度お試しください。',
  'No sign-in of this state is waiting: it was completed, cancelled, or is too old. Begin a new one.':
    '待機中のサインインがありません：完了したか、キャンセルされたか、期限切れです。もう一度始めてください。',
  'None is configured': '設定済みのものはありません',
  'Only requests for answers can be sent again; this one asked for something else.':
    '再送信できるのは応答を求めるリクエストのみです。これは別の種類のリクエストです。',
  'Only version {} of the format can be read.': '読み取れるのは形式のバージョン {1} のみです。',
  'Paste the address the browser ended on, or the code.':
    'ブラウザーが最後に開いた URL、またはコードを貼り付けてください。',
  'Send either url, the address the browser ended on, or code with state.':
    'url（ブラウザーが最後に開いた URL）、または code と state のいずれかを送信してください。',
  'Sign-in is not set up for "{}". Add the client id and addresses of your own OAuth client under upstreams.<id>.oauth.':
    '「{1}」のサインインは設定されていません。独自の OAuth クライアントのクライアント ID と URL を upstreams.<id>.oauth に追加してください。',
  'Somebody else changed the section "{}" meanwhile. Read it again, then change it.':
    'その間に別のユーザーがセクション「{1}」を変更しました。再読み込みしてから変更してください。',
  'Somebody else replaced the key at the same moment. Try again.':
    '別のユーザーが同時にキーを置き換えました。もう一度お試しください。',
  'The "private_key" is no PKCS #8 PEM of an RSA key. Download the key file again.':
    '「private_key」が RSA 鍵の PKCS #8 PEM ではありません。キーファイルをもう一度ダウンロードしてください。',
  'The "token_uri" must be an https address.':
    '「token_uri」には https の URL を指定してください。',
  'The account "{}" comes with the {} and cannot be changed here. Give another label.':
    'アカウント「{1}」は {2} によるもので、ここでは変更できません。別の名前を指定してください。',
  'The account was removed after it had signed in.': 'アカウントはサインインの後に削除されました。',
  'The account was removed meanwhile.': 'その間にアカウントが削除されました。',
  'The account {} was changed meanwhile: it is at revision {}, not {}.':
    'その間にアカウント {1} が変更されました：リビジョンは {3} ではなく {2} です。',
  'The account {} {}. It can be disabled until the next start.':
    'アカウント {1} は{2}。次の起動まで無効にできます。',
  'The body of this request could not be read, so that there is nothing to send again.':
    'このリクエストの本文は読み取れなかったため、再送信できるものがありません。',
  'The body of this request is kept in part only, because it is long, holds media or held a credential.':
    'このリクエストの本文は、長いか、メディアまたは認証情報を含んでいたため、一部のみ保存されています。',
  'The body of this request was not kept. Turn on proxy.monitor.bodies, then let the client send it again.':
    'このリクエストの本文は保存されていません。proxy.monitor.bodies をオンにし、クライアントからもう一度送信してください。',
  'The config file is invalid, so nothing was changed. Correct it first: {}.':
    '設定ファイルが無効なため、何も変更されていません。先に修正してください：{1}。',
  'The config file could not be written; the settings in force stay. The log says why.':
    '設定ファイルに書き込めませんでした。現在の設定が引き続き有効です。原因はログを確認してください。',
  'The export does not open: the passphrase is wrong, or the file is damaged.':
    'エクスポートを開けません：パスフレーズが違うか、ファイルが破損しています。',
  'The import is larger than 4 MB.': 'インポートが 4 MB を超えています。',
  'The key file has no "{}".': 'キーファイルに「{1}」がありません。',
  'The label is taken.': 'この名前は使われています。',
  'The list is larger than 4 MB.': 'リストが 4 MB を超えています。',
  'The passphrase is wrong, or the file was changed.':
    'パスフレーズが違うか、ファイルが変更されています。',
  'The passphrase must have {} to {} characters.':
    'パスフレーズは {1} から {2} 文字にしてください。',
  'The provider does not allow this sign-in. Check the client and its registered redirect address.':
    'プロバイダーがこのサインインを許可していません。クライアントと、登録したリダイレクト URL を確認してください。',
  'The provider does not know a scope. Correct the scopes of this upstream.':
    'プロバイダーが認識しないスコープがあります。このアップストリームのスコープを修正してください。',
  'The provider does not say whose account this is. Add the scopes openid and email or a userinfo_url to this upstream, or give a label.':
    'プロバイダーが、誰のアカウントかを返しません。このアップストリームにスコープ openid と email、または userinfo_url を追加するか、名前を指定してください。',
  'The provider gave no refresh token, so the account would end within the hour. Add access_type=offline and prompt=consent to extra_parameters of this upstream (or the scope offline_access, as the provider wants it), then sign in again.':
    'プロバイダーがリフレッシュトークンを返さなかったため、アカウントは 1 時間以内に使えなくなります。プロバイダーに応じて、このアップストリームの extra_parameters に access_type=offline と prompt=consent を追加するか、スコープ offline_access を追加してから、もう一度サインインしてください。',
  'The provider has trouble at the moment. Try again in some minutes.':
    'プロバイダーで現在障害が発生しています。数分後にもう一度お試しください。',
  'The provider refused the sign-in. Start it again.':
    'プロバイダーがサインインを拒否しました。もう一度始めてください。',
  'The provider revoked the sign-in of this account. Sign it in again.':
    'プロバイダーがこのアカウントのサインインを取り消しました。再度サインインしてください。',
  'The provider wants you to sign in there first. Start the sign-in again.':
    '先にプロバイダーでサインインする必要があります。サインインをもう一度始めてください。',
  'The quota figures could not be read: {}': 'クォータを読み取れませんでした：{1}',
  'The redirect address must be https, or http on this machine (http://127.0.0.1:<port>/…). Set redirect_url of this upstream, or use the loopback address and paste what the browser ends on.':
    'リダイレクト URL は https、またはこのマシンの http（http://127.0.0.1:<port>/…）にしてください。このアップストリームの redirect_url を設定するか、ループバックの URL を使い、ブラウザーが最後に開いた URL を貼り付けてください。',
  'The sign-in could not be completed: {}. Start it again.':
    'サインインを完了できませんでした：{1}。もう一度始めてください。',
  'The sign-in was declined at the provider. Start it again and agree.':
    'プロバイダーでサインインが許可されませんでした。もう一度始めて、同意してください。',
  'The sign-in was refused: {}.': 'サインインが拒否されました：{1}。',
  'The state of the accounts could not be saved.': 'アカウントの状態を保存できませんでした。',
  'The stored account is damaged: {}.': '保存されたアカウントが破損しています：{1}。',
  'The stored credential of account {} cannot be opened. Sign in or give the key again.':
    'アカウント {1} の保存された認証情報を復号できません。サインインするか、キーを再設定してください。',
  'The upstream "{}" of this account is no longer configured. Add it under "upstreams" of the config file.':
    'このアカウントのアップストリーム「{1}」は設定から削除されています。設定ファイルの「upstreams」に追加してください。',
  'Models the upstream offers: {}.': 'アップストリームは {1} モデルを提供しています。',
  'The upstream reported the quota of {} models.':
    'アップストリームは {1} モデルのクォータを報告しました。',
  'The upstream reports no quota; figures are estimated from use.':
    'アップストリームはクォータを報告しないため、使用量から推定します。',
  'The upstream {} already has an account {} (upper and lower case count as one). Choose another label, or change that account.':
    'アップストリーム {1} には既にアカウント {2} があります（大文字と小文字は区別されません）。別の名前を選ぶか、そのアカウントを変更してください。',
  'The upstream {} has an account {} already.':
    'アップストリーム {1} には既にアカウント {2} があります。',
  'The upstream {} has an account {} of another kind.':
    'アップストリーム {1} には別の種類のアカウント {2} があります。',
  'There are {} readers of these events already. Close a console page.':
    '既に {1} 個のページがこのイベントを受信しています。コンソールのページを 1 つ閉じてください。',
  'There are: {}': '設定済み：{1}',
  'There is a credential to use.': '使用できる認証情報があります。',
  'There is an account "{}" of another kind ({}). Rename or remove it first.':
    '別の種類（{2}）のアカウント「{1}」があります。先に名前を変更するか削除してください。',
  'There is no channel of this name. GET /api/alerts lists them.':
    'この名前のチャネルはありません。一覧は GET /api/alerts で取得できます。',
  'There is no account of this id. GET /api/accounts lists them.':
    'この ID のアカウントはありません。一覧は GET /api/accounts で取得できます。',
  'There is no account of this id. It was removed meanwhile.':
    'この ID のアカウントはありません。その間に削除されました。',
  'There is no account {}.': 'アカウント {1} はありません。',
  'There is no preset of this name. GET /api/config/mapping/presets lists them.':
    'この名前のプリセットはありません。一覧は GET /api/config/mapping/presets で取得できます。',
  'There is no request of this session. They may be older than the retention period.':
    'このセッションのリクエストはありません。保存期間を過ぎて削除された可能性があります。',
  'This request is not under way any more.': 'このリクエストは既に終了しています。',
  'There is no request of this id. It may be older than the retention period.':
    'この ID のリクエストはありません。保存期間を過ぎて削除された可能性があります。',
  'There is no section of this name. There are: {}.':
    'この名前のセクションはありません。使えるもの：{1}。',
  'There is no session of this id. It may have ended by itself.':
    'この ID のセッションはありません。自動的に終了した可能性があります。',
  'There is no sign-in of this state. It was cancelled, or it is too old. Begin a new one.':
    '該当するサインインがありません。キャンセルされたか、期限切れです。もう一度始めてください。',
  'There is no such account of this upstream to sign in.':
    'このアップストリームに、サインインできる該当のアカウントはありません。',
  'There is no token in this list.': 'このリストにトークンがありません。',
  'There is no upstream "{}"; add it to the configuration first.':
    'アップストリーム「{1}」はありません。先に設定に追加してください。',
  'There is no usable code in this. Start the sign-in again.':
    '使用できるコードが含まれていません。サインインをもう一度始めてください。',
  'There is no waiting sign-in of this state. It was cancelled, or it is too old. Begin a new one.':
    '待機中のサインインがありません。キャンセルされたか、期限切れです。もう一度始めてください。',
  'There was no answer within {} seconds.': '{1} 秒以内に応答がありませんでした。',
  'This account belongs to the sandbox and cannot be changed; it can be disabled for this run.':
    'このアカウントはサンドボックスのもので、変更できません。今回の稼働中のみ無効にできます。',
  'This account comes from the environment: change UPSTREAM_API_KEYS or GEMINI_API_KEY and start again, or disable it for this run.':
    'このアカウントは環境変数によるものです：UPSTREAM_API_KEYS または GEMINI_API_KEY を変更して再起動するか、今回の稼働中のみ無効にしてください。',
  'This account does not sign in: it has a key.':
    'このアカウントはキーを使うため、サインインしません。',
  'This account is the external provider of the settings: change proxy.extprov, or disable it for this run.':
    'このアカウントは設定の外部プロバイダーです：proxy.extprov を変更するか、今回の稼働中のみ無効にしてください。',
  'This account was removed meanwhile. Add it again.':
    'その間にこのアカウントが削除されました。もう一度追加してください。',
  'This answer is from another provider than the sign-in was started with.':
    'この応答は、サインインを始めたプロバイダーとは別のプロバイダーのものです。',
  'This export is sealed: give its passphrase.':
    'このエクスポートは暗号化されています：パスフレーズを入力してください。',
  'This is no JSON.': 'JSON ではありません。',
  'This is no address. Copy it again, from its beginning.':
    'URL ではありません。先頭からコピーし直してください。',
  'This is no export of accounts: its "format" is not "{}".':
    'アカウントのエクスポートではありません：「format」が「{1}」ではありません。',
  'This is no service-account key file: its "type" must be "service_account".':
    'サービスアカウントのキーファイルではありません：「type」は「service_account」である必要があります。',
  'This is not a proper answer to this sign-in. Start the sign-in again.':
    'このサインインに対する正しい応答ではありません。サインインをもう一度始めてください。',
  'This is not a sealed export of a known version.':
    '既知のバージョンの暗号化されたエクスポートではありません。',
  'This is not the address the sign-in leads to ({}).': 'サインイン先の URL（{1}）ではありません。',
  'This is too long for an address or a code.': 'URL またはコードとしては長すぎます。',
  'This sign-in is unknown, was used already, has expired, or was started in another session. Start it again.':
    'このサインインは不明か、使用済みか、期限切れか、別のセッションで始められたものです。もう一度始めてください。',
  'This upstream has no OAuth settings to refresh tokens with.':
    'このアップストリームには、トークンを更新するための OAuth の設定がありません。',
  'Too many sign-ins are under way. Try again in ten minutes.':
    '進行中のサインインが多すぎます。10 分後にもう一度お試しください。',
  'Write "[hidden]" out: the password of that address is needed.':
    '「[hidden]」の部分を入力してください：その URL のパスワードが必要です。',
  'You signed in as {}, but this account is {}. Sign in as {}, or add {} as an account of its own.':
    '{1} としてサインインしましたが、このアカウントは {2} です。{3} としてサインインするか、{4} を別のアカウントとして追加してください。',
  '{} It said: {}': '{1}アップストリームのメッセージ：{2}',
  '{} cannot serve this request now: {}.': '{1} は現在このリクエストを処理できません：{2}。',
  '{} is an account of kind {}: give it such a credential, or add a new account for the {}.':
    '{1} は種類が {2} のアカウントです：その種類の認証情報を指定するか、{3} 用の新しいアカウントを追加してください。',
  '{}. Nothing was changed.': '{1}。何も変更されていません。',
  '{}: came more than once.': '{1}: 2 回以上指定されています。',
  '{}: does not belong to an account of kind {}.': '{1}: 種類が {2} のアカウントでは使えません。',
  '{}: does not go with the format {}.': '{1}: 形式 {2} では使えません。',
  '{}: is missing.': '{1}: 指定されていません。',
  '{}: is no key of the section "{}", which has {}.':
    '{1}: セクション「{2}」のキーではありません。使えるもの：{3}。',
  '{}: must be one line without blanks.': '{1}: 空白を含まない 1 行で指定してください。',
  '{}: there is no such field here.': '{1}: このフィールドはありません。',
  'The setting {} is not known and does nothing. Did you mean {}?':
    '設定 {1} は不明で、効果がありません。{2} の間違いではありませんか？',
  'The variable {} is not known and does nothing. Did you mean {}?':
    '変数 {1} は不明で、効果がありません。{2} の間違いではありませんか？',
  'The variable {} is not known and does nothing.': '変数 {1} は不明で、効果がありません。',
  'A key of {} makes no account: it {}.': '{1} のキーの 1 つからアカウントを作成できません：{2}。',
  'The upstream {} has no address: set UPSTREAM_BASE_URL where UPSTREAM_PROFILE is set.':
    'アップストリーム {1} に URL がありません：UPSTREAM_PROFILE を設定した場所で UPSTREAM_BASE_URL を設定してください。',
  'No account is configured for the upstream {}: set UPSTREAM_API_KEYS where the environment names it, or add an account in the console or with isthmus accounts add.':
    'アップストリーム {1} のアカウントが設定されていません：環境変数のアップストリームであれば UPSTREAM_API_KEYS を設定し、そうでなければコンソールまたは isthmus accounts add でアカウントを追加してください。',
  'key: the upstream refuses it, so it was not stored. {} Correct it, or add it anyway (addAnyway).':
    'key: アップストリームが拒否したため、保存されていません。{1}修正するか、それでも追加してください（addAnyway）。',
  'The model {} answered.': 'モデル {1} が応答しました。',
  'The upstream lists no models, so only a request shows whether its address and the credential are right.':
    'アップストリームのモデル一覧が空のため、アドレスと認証情報が正しいかどうかは、実際にリクエストするまでわかりません。',
  'The list of the upstream has no model to ask for an answer.':
    'アップストリームのモデル一覧に、応答を要求できるモデルがありません。',
  'The config file could not be written, because its disk has no room left. Nothing was changed. Free some room and try again.':
    'ディスクに空きがないため、設定ファイルに書き込めませんでした。何も変更されていません。空きを作ってから、もう一度お試しください。',
  'Sign-in is not set up for "{}". Add the client id of your own OAuth client under upstreams.<id>.oauth.':
    '「{1}」のサインインは設定されていません。独自の OAuth クライアントのクライアント ID を upstreams.<id>.oauth に追加してください。',
  'As {}, with an invitation.': '{1} として招待によりサインイン。',
  'As {}, with their own password.': '{1} として自分のパスワードでサインイン。',
  'Only people who sign in with their own password can change it here.':
    'ここで変更できるのは、自分のパスワードでサインインするユーザーのみです。',
  'The name or the password is not right.': '名前またはパスワードが違います。',
  'There are {} invitations that wait already. Revoke some first.':
    '使われていない招待が既に {1} 件あります。先にいくつか取り消してください。',
  'There is no invitation of this id. It may have been used.':
    'この ID の招待はありません。既に使われた可能性があります。',
  'There is no person of this id. List them to see all.':
    'この ID のユーザーはいません。一覧を確認してください。',
  'There is no person {}.': 'ユーザー {1} はいません。',
  'There is already a person named {}.': '{1} という名前のユーザーは既に存在します。',
  'This invitation was used already, has expired, or was revoked. Ask who sent it for another one.':
    'この招待は使用済みか、期限切れか、取り消されています。送信者に新しい招待を依頼してください。',
  'This is the last owner, and the console has no password: nobody could change people and sign-in any more. Make somebody else an owner first, or set WEB_PASSWORD.':
    '最後の所有者で、コンソールにもパスワードがないため、以後誰もユーザーとサインインを変更できなくなります。先に別のユーザーを所有者にするか、WEB_PASSWORD を設定してください。',
  'This needs a sign-in of the last ten minutes. Sign out, sign in again and repeat it. Nothing was done.':
    '直近 10 分以内のサインインが必要です。サインアウトして再度サインインし、もう一度実行してください。何も実行されていません。',
  'This needs the role {}, and you are signed in as {}. Nothing was done.':
    '{1}のロールが必要ですが、あなたは{2}としてサインインしています。何も実行されていません。',
  operator: '運用者',
  owner: '所有者',
  viewer: '閲覧者',
  '{} was changed meanwhile.': 'その間に {1} が変更されました。',
  '{} was changed meanwhile: they are at revision {}, not {}.':
    'その間に {1} が変更されました：リビジョンは {3} ではなく {2} です。',
  'No sign-in waits for this answer: it was used already, is older than ten minutes, or was begun in another browser. Begin a new one.':
    'この応答を待っているサインインがありません：使用済みか、10 分を過ぎたか、別のブラウザーで始められたものです。もう一度始めてください。',
  'No provider is configured.': 'プロバイダーが設定されていません。',
  'The provider cannot be reached, or is not set up as proxy.sign_in says. The log of the gateway says why.':
    'プロバイダーに接続できないか、proxy.sign_in の設定と一致していません。原因はゲートウェイのログを確認してください。',
  'The provider refused the sign-in.': 'プロバイダーがサインインを拒否しました。',
  'The answer of the provider does not prove who you are. The log of the gateway says why.':
    'プロバイダーの応答では本人であることを確認できません。原因はゲートウェイのログを確認してください。',
  'The provider gives you no role here. Ask an owner of this gateway to add you.':
    'プロバイダーからここでのロールが与えられていません。このゲートウェイの所有者に追加を依頼してください。',
  'Your e-mail address is of no domain that may sign in here, or the provider has not verified it.':
    'メールアドレスのドメインがここでのサインインを許可されていないか、プロバイダーがメールアドレスを確認していません。',
  'You sign in here already, so that you need no invitation.':
    '既にここにサインインできるため、招待は不要です。',
  'Somebody here has your name already. Ask an owner of this gateway to remove them, or to invite you by another name.':
    '同じ名前のユーザーが既に存在します。このゲートウェイの所有者に、そのユーザーの削除か、別の名前での招待を依頼してください。',
  'The provider takes the role of the last owner away, and the console has no password. Set WEB_PASSWORD where the gateway runs.':
    'プロバイダーが最後の所有者のロールを取り消し、コンソールにもパスワードがありません。ゲートウェイを実行する場所で WEB_PASSWORD を設定してください。',
  'As {}, at the provider.': '{1} としてプロバイダーでサインイン。',
};
