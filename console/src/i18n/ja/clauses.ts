// What is said behind the name of a field, a setting or a thing, in Japanese, by the English clause:
// {} stands there for a name or a value, and {1} here for the first of them.

import type { SentenceTexts } from '../sentences.ts';

export const clauses: SentenceTexts = {
  'account: there is no account "{}". Names are listed under Accounts.':
    'account: アカウント「{1}」はありません。名前は「アカウント」のページで確認できます。',
  'accountId: belongs to the upstream {}.': 'accountId: アップストリーム {1} のものです。',
  'accountId: is an account of kind {}, which does not sign in.':
    'accountId: 種類が {1} のアカウントのため、サインインできません。',
  'address: must be an IPv4 or IPv6 address.':
    'address: IPv4 または IPv6 アドレスを指定してください。',
  'an entry needs a name or a pattern': 'エントリには名前またはパターンが必要です',
  'an unexpected fault of the gateway': 'ゲートウェイで予期しないエラーが発生しました',
  'and {}_FILE are both set; set one of them':
    'と {1}_FILE の両方が設定されています。どちらか一方を設定してください',
  'another account has this label': 'この名前は別のアカウントで使われています',
  'belongs to the sandbox, which exists only while there is no other account':
    'サンドボックスのもので、他のアカウントがない間だけ存在します',
  'cannot be read: {}_FILE must name a readable file':
    '読み取れません：{1}_FILE には読み取り可能なファイルを指定してください',
  'comes from the environment: change UPSTREAM_API_KEYS or GEMINI_API_KEY where the gateway is started':
    '環境変数によるものです：ゲートウェイを起動する場所で UPSTREAM_API_KEYS または GEMINI_API_KEY を変更してください',
  'is a built-in preset; choose another name': '組み込みプリセットです。別の名前を選んでください',
  'is empty in the file that {}_FILE names': '{1}_FILE が指すファイルでは空です',
  'is needed while the external provider is enabled': '外部プロバイダーが有効な間は必須です',
  'is no setting; there are {}': '設定にありません。使えるもの：{1}',
  'is set by the sign-in itself': 'サインイン自体が設定します',
  'is the external provider of the settings: change proxy.extprov':
    '設定の外部プロバイダーです：proxy.extprov を変更してください',
  'is the id of the external provider; choose another':
    '外部プロバイダーの ID です。別の ID を選んでください',
  'its credential cannot be opened: sign in or give the key again':
    '認証情報を復号できません：サインインするか、キーを再設定してください',
  'its credential is gone: sign in or give the key again':
    '認証情報が失われています：サインインするか、キーを再設定してください',
  'its id token belongs to another sign-in': 'ID トークンが別のサインインのものです',
  'its id token has another issuer; check "issuer" of this upstream':
    'ID トークンの発行者が異なります。このアップストリームの「issuer」を確認してください',
  'its id token has expired': 'ID トークンの有効期限が切れています',
  'its id token is for another client': 'ID トークンが別のクライアントのものです',
  'its kind is unknown': '種類が不明です',
  'its proxy address cannot be opened: set it again':
    'プロキシの URL を復号できません：再設定してください',
  'its stored credential could not be read': '保存された認証情報を読み取れませんでした',
  'its stored state is damaged: look at it and enable it again':
    '保存された状態が破損しています：確認してから再び有効にしてください',
  'its user info is that of another person': 'ユーザー情報が別のユーザーのものです',
  'key: does not belong to an account of kind {}.': 'key: 種類が {1} のアカウントでは使えません。',
  'lacks {}': '{1} がありません',
  'must be a comma list without empty entries':
    '空の項目のないコンマ区切りのリストを指定してください',
  'must be a host name or an address, without port':
    'ホスト名またはアドレスをポートなしで指定してください',
  'must be a location such as us-central1, or global':
    'us-central1 のようなリージョン、または global を指定してください',
  'must be a number from 0 to 1': '0 から 1 の数値を指定してください',
  'must be a number from 1 to 1000': '1 から 1000 の数値を指定してください',
  'must be a number from 1 to 200': '1 から 200 の数値を指定してください',
  'must be a number from 1 to 500': '1 から 500 の数値を指定してください',
  'must be a path that starts with "/", without query':
    '「/」で始まる、クエリのないパスを指定してください',
  'must be a path without control characters': '制御文字を含まないパスを指定してください',
  'must be a whole number from {} to {}': '{1} から {2} の整数を指定してください',
  'must be a whole number of up to 15 digits': '15 桁以内の整数を指定してください',
  'must be addresses or CIDR ranges such as 10.0.0.0/8, not "{}"':
    'アドレスまたは 10.0.0.0/8 のような CIDR 範囲を指定してください。「{1}」は使えません',
  'must be an IPv4 address in four decimal parts, an IPv6 address, or one of them with a prefix, such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32':
    '10 進数 4 つの IPv4 アドレス、IPv6 アドレス、またはそれにプレフィックスを付けたもの（192.0.2.7、10.0.0.0/8、2001:db8::/32 など）を指定してください',
  'must not be a link-local address': 'リンクローカルアドレスは使えません',
  'must not hold a user or a password': 'ユーザー名とパスワードは含められません',
  'must be an address that starts with https:// or http://':
    'https:// または http:// で始まる URL を指定してください',
  'must name a database by its number, as in redis://localhost:6379/1':
    'データベースは redis://localhost:6379/1 のように番号で指定してください',
  'must be an address that starts with {}://': '{1}:// で始まる URL を指定してください',
  'must be an address without "?" and "#"': '「?」と「#」を含まない URL を指定してください',
  'must be an address without user and password':
    'ユーザー名とパスワードを含まない URL を指定してください',
  '(root): must be an object': '(root): オブジェクトである必要があります',
  'must be as browsers send it, "{}", not "{}"':
    'ブラウザーが送る形で指定してください：「{2}」ではなく「{1}」',
  'must be as clients send it, "{}", not "{}"':
    'クライアントが送る形で指定してください：「{2}」ではなく「{1}」',
  'must be equal to constant': '規定の値である必要があります',
  'must be headers in ASCII without line breaks: "{}" is none':
    '改行のない ASCII のヘッダーを指定してください：「{1}」は使えません',
  'must be host names without port, not "{}"':
    'ポートのないホスト名を指定してください。「{1}」は使えません',
  'must be ok, error, cancelled, 4xx, 5xx or a status code':
    'ok、error、cancelled、4xx、5xx またはステータスコードを指定してください',
  'must be one line': '1 行で指定してください',
  'must be one line with a character that can be seen': '見える文字を含む 1 行で指定してください',
  'must be one line without blanks or control characters':
    '空白と制御文字を含まない 1 行で指定してください',
  'must be one of {}': '次のいずれかを指定してください：{1}',
  'must be origins such as https://app.example.com, not "{}"':
    'https://app.example.com のようなオリジンを指定してください。「{1}」は使えません',
  'must be up to 80 letters, digits and . : / - _':
    '80 文字以内の英数字と . : / - _ で指定してください',
  'must be pairs such as name=value, comma list':
    'コンマ区切りの name=value の形式で指定してください',
  'must be percent-encoded: the value of "{}" is not':
    'パーセントエンコードが必要です：「{1}」の値はエンコードされていません',
  'must be set for the profile {}': 'プロファイル {1} では必須です',
  'must be whole origins, one for each host, not "{}"':
    'ホストごとに完全なオリジンを 1 つ指定してください。「{1}」は使えません',
  'must be {}': '{1} である必要があります',
  "must be {}, because its id is that profile's name; choose another id":
    'ID がプロファイルの名前と同じため {1} である必要があります。別の ID を選んでください',
  'must be {} {}': '{1} {2} である必要があります',
  'must have a character that can be seen': '見える文字を含めてください',
  'must have a prefix from 0 to {} after the slash':
    'スラッシュの後のプレフィックスは 0 から {1} で指定してください',
  'must have an id of up to 40 letters, digits, ".", "_" and "-"':
    'ID は 40 文字以内の英数字、「.」、「_」、「-」で指定してください',
  'must have at least 96 prefix bits where it holds an IPv4 address; write the IPv4 range':
    'IPv4 アドレスを含む場合、プレフィックスは 96 ビット以上が必要です。IPv4 の範囲として指定してください',
  'must have at least {} characters': '{1} 文字以上にしてください',
  'must have at most {} characters': '{1} 文字以内にしてください',
  'must have letters, digits and . : _ - only': '英数字と . : _ - のみ使えます',
  'must have only zeros after its prefix; write {} or the single address':
    'プレフィックスの後はすべて 0 である必要があります。{1} または単一のアドレスを指定してください',
  'must match a schema in anyOf': '使えるどの形式にも一致しません',
  'must match pattern "{}"': 'パターン「{1}」に一致する必要があります',
  'must not have additional properties': '余分なプロパティは使えません',
  'must not have fewer than {} characters': '{1} 文字以上が必要です',
  'must not have fewer than {} items': '{1} 項目以上が必要です',
  'must not have fewer than {} properties': '{1} 個以上のプロパティが必要です',
  'must not have more than {} characters': '{1} 文字以内である必要があります',
  'must not have more than {} items': '{1} 項目以内である必要があります',
  'must not trust a range wider than /{}, such as "{}"':
    '/{1} より広い範囲（「{2}」など）は信頼できません',
  'must start with https://, except on this machine':
    'このマシンを除き、https:// で始まる必要があります',
  'only the profile {} has it': 'プロファイル {1} でのみ使えます',
  'n: at most {} answers are possible.': 'n: 応答は最大 {1} 件までです。',
  'order: an id came more than once.': 'order: 同じ ID が 2 回以上あります。',
  'order[{}]: there is no account of this id.': 'order[{1}]: この ID のアカウントはありません。',
  'password: is needed again from a browser that is signed in. Nothing was done.':
    'password: サインイン済みのブラウザーからは、もう一度パスワードが必要です。何も実行されていません。',
  'password: that is not the console password.': 'password: コンソールのパスワードではありません。',
  'path: "{}" is none of this protocol\'s: {}.':
    'path: 「{1}」はこのプロトコルのパスではありません：{2}。',
  'redirect: no public address is configured. Set upstreams.{}.oauth.redirect_url, or use loopback or manual.':
    'redirect: 公開 URL が設定されていません。upstreams.{1}.oauth.redirect_url を設定するか、loopback または manual を使ってください。',
  'another program keeps writing it': '他のプログラムが書き込み続けています',
  'the account could not be stored; look at the disk, then try again':
    'アカウントを保存できませんでした。ディスクを確認してから、もう一度お試しください',
  'the account has no grant that could be revoked':
    'このアカウントには取り消せるアクセス権がありません',
  'the account storage does not answer': 'アカウントのストレージが応答しません',
  'the account was changed at the same moment; try again':
    'アカウントが同時に変更されました。もう一度お試しください',
  'the account was removed': 'アカウントは削除されました',
  'the account was removed meanwhile; try again':
    'その間にアカウントが削除されました。もう一度お試しください',
  'the answer of the provider is larger than 64 KB': 'プロバイダーの応答が 64 KB を超えています',
  'the answer of the provider is no OAuth answer (HTTP {}); check the address':
    'プロバイダーの応答が OAuth の応答ではありません（HTTP {1}）。URL を確認してください',
  'the entry "{}" is longer than {} characters': 'エントリ「{1}」は {2} 文字を超えています',
  'the file cannot be read ({})': 'ファイルを読み取れません（{1}）',
  'the file is gone: put {} in its place, or remove that too and restart with the defaults':
    'ファイルがありません：代わりに {1} を置くか、それも削除して既定値で再起動してください',
  'the file is no JSON at line {}, column {}':
    'ファイルの {1} 行 {2} 列目が JSON として正しくありません',
  'the file is not complete JSON': 'ファイルが完全な JSON ではありません',
  'the import gave no answer': 'インポートの結果が得られませんでした',
  'the import was stopped before': 'その前にインポートが停止されました',
  'the list says {}, the provider {}': 'リストでは {1}、プロバイダーでは {2} です',
  'the proxy of the gateway failed or refused ({})':
    'ゲートウェイのプロキシが失敗または拒否しました（{1}）',
  'must be an address that starts with http://, https:// or socks5://':
    'http://、https:// または socks5:// で始まる URL を指定してください',
  'must end after the host and port': 'ホストとポートの後には何も指定できません',
  'must have "%" in user and password written as %25':
    'ユーザー名とパスワードの「%」は %25 と書いてください',
  'must have "/", "?" and "#" in user and password written as %2F, %3F and %23':
    'ユーザー名とパスワードの「/」「?」「#」は %2F、%3F、%23 と書いてください',
  'must name a user before the password': 'パスワードの前にユーザー名が必要です',
  'must be an address without user and password: set them as outbound_proxy_credential':
    'ユーザー名とパスワードを含まない URL を指定してください：それらは outbound_proxy_credential で設定します',
  'must be a user and a password with ":" between them':
    'ユーザー名とパスワードを「:」で区切って指定してください',
  'must be hosts such as example.com, addresses or CIDR ranges, not "{}"':
    'example.com のようなホスト、アドレスまたは CIDR 範囲を指定してください。「{1}」は使えません',
  'the key {} has a passphrase: store it without one':
    '秘密鍵 {1} にパスフレーズがあります：パスフレーズなしで保存してください',
  '{} holds no certificate in PEM': '{1} に PEM 形式の証明書がありません',
  'the key {} does not belong to the certificate {}, or is none in PEM':
    '秘密鍵 {1} が証明書 {2} のものではないか、PEM 形式ではありません',
  '{} cannot be read': '{1} を読み取れません',
  'they cannot be read': '読み取れません',
  'the provider could not be reached': 'プロバイダーに接続できませんでした',
  'the provider could not be reached ({})': 'プロバイダーに接続できませんでした（{1}）',
  "the provider could not be reached ({}; is this machine's clock right?)":
    'プロバイダーに接続できませんでした（{1}。このマシンの時計は正確ですか？）',
  'the provider did not answer within 10 s': 'プロバイダーが 10 秒以内に応答しませんでした',
  'the provider does not say whose account this is': 'プロバイダーが、誰のアカウントかを返しません',
  'the provider does not say whose account this is: {}':
    'プロバイダーが、誰のアカウントかを返しません：{1}',
  'the provider failed with HTTP {}; try again later':
    'プロバイダーが HTTP {1} で失敗しました。後でもう一度お試しください',
  'the provider has not verified the e-mail': 'プロバイダーがメールアドレスを確認していません',
  'the provider no longer accepts this grant':
    'プロバイダーがこのアクセス権を受け付けなくなりました',
  'the provider redirected (HTTP {}), which is never followed; check the address':
    'プロバイダーがリダイレクトしました（HTTP {1}）が、ゲートウェイは追跡しません。URL を確認してください',
  'the provider refused with {}': 'プロバイダーが {1} で拒否しました',
  'the provider refused with {}; check the client id and secret of this upstream':
    'プロバイダーが {1} で拒否しました。このアップストリームのクライアント ID とシークレットを確認してください',
  'the provider refused with {}; check the scopes of this upstream':
    'プロバイダーが {1} で拒否しました。このアップストリームのスコープを確認してください',
  'the revocation failed': '取り消しに失敗しました',
  'the stored account cannot be read with this secret key':
    '保存されたアカウントは、この秘密鍵では読み取れません',
  'the stored credential cannot be read with this secret key':
    '保存された認証情報は、この秘密鍵では読み取れません',
  'the stored credential is newer and was kept':
    '保存された認証情報のほうが新しいため、そのままにしました',
  'the stored credential keeps changing': '保存された認証情報が変わり続けています',
  'this account had the token already': 'このアカウントには既にこのトークンがあります',
  'this is the token of item {}': '項目 {1} と同じトークンです',
  'this item holds no refresh token': 'この項目にはリフレッシュトークンがありません',
  'this upstream has no OAuth settings; add them to its configuration':
    'このアップストリームには OAuth の設定がありません。設定に追加してください',
  'this upstream has no revocation_url; end the access at the provider':
    'このアップストリームには revocation_url がありません。プロバイダー側でアクセスを終了してください',
  'unknown key; was "{}" meant? (Its setting would be lost.)':
    '不明なキーです。「{1}」の間違いではありませんか？（このままでは設定が失われます。）',
  'upstream: there is no upstream "{}". {}. Others are added under "upstreams" of the config file.':
    'upstream: アップストリーム「{1}」はありません。{2}。その他は設定ファイルの「upstreams」に追加します。',
  'has characters that no request can carry: put the key exactly as the upstream gave it to you':
    'リクエストで送れない文字が含まれています：アップストリームから受け取ったキーをそのまま指定してください',
  'is a placeholder, not a key: put the key that the upstream gave you':
    'プレースホルダーであり、キーではありません：アップストリームから受け取ったキーを指定してください',
  'is a key or the password of this gateway, not a key of an upstream: put the key that the upstream gave you':
    'このゲートウェイのキーまたはパスワードであり、アップストリームのキーではありません：アップストリームから受け取ったキーを指定してください',
  'The external provider is enabled, but serves nothing: set {}.':
    '外部プロバイダーは有効ですが、何も提供しません：{1} を設定してください。',
  'proxy.pool.fixed_account names no account: none has the id or label "{}", so that all accounts are used.':
    'proxy.pool.fixed_account に該当するアカウントがありません：ID またはラベルが「{1}」のアカウントは存在しないため、すべてのアカウントを使用します。',
  'UPSTREAM_PROFILE={} needs an address: set UPSTREAM_BASE_URL.':
    'UPSTREAM_PROFILE={1} には URL が必要です：UPSTREAM_BASE_URL を設定してください。',
  'password: must have at least {} characters.': 'password: {1} 文字以上にしてください。',
  'password: that is not your password.': 'password: あなたのパスワードではありません。',
  'role: the provider decides about the role of {} at each sign-in. Change it there.':
    'role: {1} のロールはサインインのたびにプロバイダーが決めます。プロバイダー側で変更してください。',
  'origin: must be that of a web page.': 'origin: Web ページのオリジンを指定してください。',
};
