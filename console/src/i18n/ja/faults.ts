// What the gate of the gateway, its stores, its routing and the upstreams say, in Japanese, by its code:
// {} stands there for a name, a value or another sentence, and {1} here for the first of them.

import type { SentenceTexts } from '../sentences.ts';

export const faults: SentenceTexts = {
  // Clauses and sentences put together.
  '{}.': '{1}。',
  '{} {}': '{1}{2}',
  '{}; {}': '{1}; {2}',
  '{}: {}': '{1}: {2}',
  '{}: {}.': '{1}: {2}。',
  '{} ({})': '{1}（{2}）',
  '{} ({}): {}': '{1}（{2}）: {3}',
  '1 image': '画像 1 枚',
  '1 other address': '他の 1 個の IP アドレス',
  '1 request': '1 リクエスト',
  '1 token': '1 トークン',
  'A change with the session cookie needs the header "{}: 1".':
    'セッション Cookie による変更には、ヘッダー「{1}: 1」が必要です。',
  'Account {} has no project, which Vertex AI needs. Set the project of the account (ISTHMUS_UPSTREAM_PROJECT for accounts of the environment), or use the location global.':
    'Vertex AI にはプロジェクトが必要ですが、アカウント {1} にはありません。アカウントのプロジェクトを設定するか（環境変数のアカウントは ISTHMUS_UPSTREAM_PROJECT）、リージョン global を使ってください。',
  'Account {} has no project, which Vertex AI needs. Set the project of the account (ISTHMUS_UPSTREAM_PROJECT for accounts of the environment).':
    'Vertex AI にはプロジェクトが必要ですが、アカウント {1} にはありません。アカウントのプロジェクトを設定してください（環境変数のアカウントは ISTHMUS_UPSTREAM_PROJECT）。',
  'All accounts for this model have reached their limit. Try again when one has recovered.':
    'このモデルのすべてのアカウントが上限に達しています。いずれかが回復してからもう一度お試しください。',
  'This upstream is at its concurrency limit. Try again shortly.':
    'このアップストリームの同時呼び出し数が上限に達しています。しばらくしてからもう一度お試しください。',
  'Ask whoever gave you the key.': 'キーの発行者に問い合わせてください。',
  'No account is available for the model {}.': 'モデル {1} に利用できるアカウントがありません。',
  'No account is available for the models {}.': 'モデル {1} に利用できるアカウントがありません。',
  'No account is available for the models {} and others.':
    'モデル {1} などに利用できるアカウントがありません。',
  'No account offers the model {}. GET /v1/models lists the names that work.':
    'モデル {1} を提供しているアカウントはありません。使える名前は GET /v1/models で確認できます。',
  '{} The external provider answers Messages requests (POST /v1/messages); others reach it by the name "{}/{}".':
    '{1}外部プロバイダーが応答するのは Messages リクエスト（POST /v1/messages）です。ほかのプロトコルからは「{2}/{3}」という名前で使えます。',
  '{} No account is known to offer the model {}. GET /v1/models lists the names that work.':
    '{1}モデル {2} を提供すると分かっているアカウントはありません。使える名前は GET /v1/models で確認できます。',
  'No credential for the upstream is available right now.':
    'アップストリームの認証情報を現在取得できません。',
  'The upstream does not speak HTTPS: its address may have to begin with http://.':
    'アップストリームは HTTPS で応答していません。アドレスを http:// で始める必要があるかもしれません。',
  'No secure connection to the upstream could be made.':
    'アップストリームに安全に接続できませんでした。',
  'No upstream account can be used right now. The log of the gateway says why.':
    '現在利用できるアップストリームのアカウントがありません。原因はゲートウェイのログを確認してください。',
  'Send the request body as JSON, with Content-Type: application/json.':
    'リクエスト本文を JSON とし、Content-Type: application/json を付けて送信してください。',
  'Send the request body without Content-Encoding.':
    'リクエスト本文を Content-Encoding なしで送信してください。',
  'The request body is not valid zstd. Send it without Content-Encoding.':
    'リクエスト本文が有効な zstd ではありません。Content-Encoding なしで送信してください。',
  'The request body becomes more than {} times as large when it is decompressed. Send it without Content-Encoding.':
    'リクエスト本文は展開すると {1} 倍を超える大きさになります。Content-Encoding なしで送信してください。',
  'Set WEB_PASSWORD where the gateway runs to use the admin API from elsewhere.':
    '他の場所から管理 API を使うには、ゲートウェイを実行する場所で WEB_PASSWORD を設定してください。',
  'Strict mode refuses a request that cannot be carried whole: {}':
    '厳格モードでは、完全には伝えられないリクエストを拒否します：{1}',
  'The API key is not valid. Check the key this client is configured with against the one the gateway was started with.':
    'API キーが無効です。このクライアントに設定したキーが、ゲートウェイの起動時のキーと一致するか確認してください。',
  'The Host header is missing.': 'Host ヘッダーがありません。',
  "Other gateways have reserved the rest of the account's quota for calls under way.":
    'このアカウントの残りのクォータは、他のゲートウェイが処理中の呼び出しに予約しています。',
  'The account was disabled while the request was running.':
    'リクエストの処理中にアカウントが無効になりました。',
  'The address rule was changed meanwhile: it is at revision {}, not {}.':
    'その間に IP ルールが変更されました：リビジョンは {2} ではなく {1} です。',
  'The address rule {} was changed meanwhile.': 'その間に IP ルール {1} が変更されました。',
  'The IP rules of this gateway block the address {}. Its operator can change them.':
    'IP アドレス {1} は許可されていません。ゲートウェイの管理者が IP ルールで変更できます。',
  'The admin API needs "Authorization: Bearer <console password>", or a browser that is signed in.':
    '管理 API には「Authorization: Bearer <コンソールのパスワード>」、またはサインイン済みのブラウザーが必要です。',
  'The admin API takes no requests of web pages from elsewhere. Behind a proxy, name the host under which the gateway is reached in proxy.allowed_hosts.':
    '管理 API は他の Web ページからのリクエストを受け付けません。プロキシを経由する場合は、ゲートウェイにアクセスするホスト名を proxy.allowed_hosts に指定してください。',
  'The client closed the connection.': 'クライアントが接続を閉じました。',
  'Stopped by {}.': '{1} が停止しました。',
  'The files of this gateway were replaced or removed while it runs, perhaps by an upgrade. Restart it.':
    'このゲートウェイのファイルが実行中に置き換えられたか削除されました（アップグレードの可能性があります）。再起動してください。',
  'A gateway of an earlier version works on the database {}. Stop it first: this version upgrades the database, and that one could not open it again.':
    '以前のバージョンのゲートウェイがデータベース {1} を使用しています。先に停止してください：このバージョンはデータベースをアップグレードするため、以前のバージョンでは開けなくなります。',
  'An operator of this gateway stopped the request.':
    'このゲートウェイの運用者がリクエストを停止しました。',
  'The database {} cannot be made ({}). Let the user of this process write to its folder, or name another with ISTHMUS_DATA_DIR.':
    'データベース {1} を作成できません（{2}）。このプロセスのユーザーがフォルダーに書き込めるようにするか、ISTHMUS_DATA_DIR で別のフォルダーを指定してください。',
  'The database {} cannot be opened with this secret key. {} It was left as it is. Give back the key that was in use: ISTHMUS_SECRET_KEY, or the file secret.key in the data folder when that is not set.':
    'データベース {1} をこの秘密鍵で開けません。{2}データベースはそのままです。使用していた鍵を元に戻してください：ISTHMUS_SECRET_KEY、未設定の場合はデータフォルダーの secret.key ファイルです。',
  'DATABASE_URL is set, so ISTHMUS_SECRET_KEY must be set too, the same on every replica: it seals what they all store.':
    'DATABASE_URL が設定されているため、ISTHMUS_SECRET_KEY もすべてのレプリカで同じ値に設定する必要があります：保存される秘密情報の暗号化に使われます。',
  'Stored responses cannot be read now. Try again in a moment, or send the conversation with the request.':
    '保存された応答を現在読み取れません。しばらくしてからもう一度試すか、会話全体をリクエストに含めて送信してください。',
  'The copy is not whole: of {} the database {} has {} rows, not {}. Was the data folder used meanwhile? Begin anew with an empty database.':
    'コピーが不完全です：データベース {2} の {1} は {4} 行ではなく {3} 行です。その間にデータフォルダーが使われませんでしたか？空のデータベースで最初からやり直してください。',
  'The database {} holds other data already, so nothing was copied. Name an empty one.':
    'データベース {1} に既に他のデータがあるため、何もコピーされていません。空のデータベースを指定してください。',
  'The database {} can only be read now. Let DATABASE_URL lead to the primary server.':
    'データベース {1} は現在読み取り専用です。DATABASE_URL にプライマリサーバーを指定してください。',
  'The database {} cannot be reached. It is tried again by itself; check that PostgreSQL runs and that DATABASE_URL leads to it.':
    'データベース {1} に接続できません。自動的に再試行します。PostgreSQL が動作していること、DATABASE_URL が正しいことを確認してください。',
  'The database {} does not let the gateway in. Check user and password of DATABASE_URL.':
    'データベース {1} がゲートウェイのログインを拒否しました。DATABASE_URL のユーザーとパスワードを確認してください。',
  'The database {} has no room or no connection left (SQLSTATE {}).':
    'データベース {1} に空き容量または空き接続がありません（SQLSTATE {2}）。',
  'The database {} is too busy.': 'データベース {1} が混雑しています。',
  'The database {} refused the work (SQLSTATE {}).':
    'データベース {1} が処理を拒否しました（SQLSTATE {2}）。',
  'The database {} took too long. Try again, or raise DATABASE_STATEMENT_TIMEOUT.':
    'データベース {1} の処理に時間がかかりすぎました。もう一度試すか、DATABASE_STATEMENT_TIMEOUT を増やしてください。',
  'The user of DATABASE_URL may not do what the gateway needs in the database {}. Make it the owner.':
    'DATABASE_URL のユーザーには、データベース {1} でゲートウェイに必要な権限がありません。所有者にしてください。',
  'There is no database {}. Create it, or correct DATABASE_URL.':
    'データベース {1} はありません。作成するか、DATABASE_URL を修正してください。',
  'The database {} cannot be opened. Check that it is there and who may read its folder.':
    'データベース {1} を開けません。存在することと、フォルダーの読み取り権限を確認してください。',
  'The database {} cannot be read ({}). Let the user of this process read and write it and its folder.':
    'データベース {1} を読み取れません（{2}）。このプロセスのユーザーが、データベースとそのフォルダーを読み書きできるようにしてください。',
  'The database {} cannot be written. Check who may write to it and to its folder.':
    'データベース {1} に書き込めません。データベースとそのフォルダーの書き込み権限を確認してください。',
  'The database {} could not be read or written: the disk reported an error.':
    'データベース {1} を読み書きできませんでした：ディスクがエラーを報告しました。',
  'The database {} had trouble with its disk, and another process keeps it from being checked. Try again.':
    'データベース {1} のディスクで問題が発生しましたが、別のプロセスのため検査できません。もう一度お試しください。',
  'The database {} has a damaged key of its secrets. It was left as it is. Put a backup in its place.':
    'データベース {1} の秘密情報の鍵が破損しています。データベースはそのままです。バックアップと置き換えてください。',
  'The database {} has lost the key of its secrets. It was left as it is. Put a backup in its place.':
    'データベース {1} の秘密情報の鍵が失われています。データベースはそのままです。バックアップと置き換えてください。',
  'The database {} has no room left on its disk. Free some; a gateway that runs goes on by itself then.':
    'データベース {1} のディスクに空きがありません。空きを作ってください。稼働中のゲートウェイは自動的に再開します。',
  'The database {} is closed.': 'データベース {1} は閉じられています。',
  'The database {} is locked by another process. Try again when that one is done.':
    'データベース {1} は別のプロセスがロックしています。その処理が終わってからもう一度お試しください。',
  'The database {} is of version {}; this program knows versions up to {}. It was left as it is. Use the newer program again, or put back the backup from before it.':
    'データベース {1} のバージョンは {2} ですが、このプログラムが扱えるのはバージョン {3} までです。データベースはそのままです。新しいプログラムを再び使うか、更新前のバックアップに戻してください。',
  'The database {} refused the work (SQLite code {}).':
    'データベース {1} が処理を拒否しました（SQLite コード {2}）。',
  'The database {} was moved, removed or replaced while it was in use. Put it back, or restart to use the file that is there now.':
    'データベース {1} が使用中に移動、削除または置き換えられました。元に戻すか、再起動して現在のものを使ってください。',
  'The database {} {}. It was left as it is. Put a backup in its place. To start with a new one, move it and its -wal and -shm files away.':
    'データベース {1} は{2}。データベースはそのままです。バックアップと置き換えてください。新しいデータベースで始めるには、これと -wal および -shm ファイルを移動してください。',
  'The end of the model name "{}" is not understood. Ratio and size are written like "-16-9-4k": ratio one of {}; size one of {}; both optional.':
    'モデル名「{1}」の末尾を解釈できません。比率とサイズは「-16-9-4k」のように書きます：比率は {2}、サイズは {3} のいずれかで、どちらも省略できます。',
  'The answer needs more memory than the memory limit of this gateway ({} MB) leaves for one ({} MB). Ask for less at once, or give the gateway more memory.':
    '応答に必要なメモリが、このゲートウェイのメモリ上限（{1} MB）で 1 件の応答に使える量（{2} MB）を超えています。一度に求める量を減らすか、ゲートウェイのメモリを増やしてください。',
  'The answer is larger than the memory that the gateway has left at the moment. Ask again shortly, or give the gateway more memory.':
    '応答が、ゲートウェイの現在の残りメモリを超えています。しばらくしてからもう一度試すか、ゲートウェイのメモリを増やしてください。',
  'The request body needs about {} MB of memory while it is worked on, and the memory limit of this gateway ({} MB) leaves {} MB for that. Send less at once, or give the gateway more memory.':
    'このリクエスト本文の処理には約 {1} MB のメモリが必要ですが、このゲートウェイのメモリ上限（{2} MB）で使えるのは {3} MB です。一度に送る量を減らすか、ゲートウェイのメモリを増やしてください。',
  'The gateway could not write the upstream request.':
    'ゲートウェイがアップストリームへのリクエストを作成できませんでした。',
  'The gateway holds too many large requests at the moment. Send this one again shortly.':
    'ゲートウェイは現在、大きなリクエストを多数処理しています。しばらくしてからもう一度送信してください。',
  'The gateway is closing.': 'ゲートウェイは停止中です。',
  'The gateway is shutting down. Send the request again in a moment.':
    'ゲートウェイは停止処理中です。しばらくしてからもう一度送信してください。',
  'The header {} came more than once; send it once.':
    'ヘッダー {1} が 2 回以上あります。1 回だけ送信してください。',
  'The key was changed meanwhile: it is at revision {}, not {}.':
    'その間にキーが変更されました：リビジョンは {2} ではなく {1} です。',
  'The key {} was changed meanwhile.': 'その間にキー {1} が変更されました。',
  'The model "{}" is not known here; see GET /v1/models for the names that are. Other names can be mapped to one of them in custom_mapping.':
    'モデル「{1}」は不明です。使える名前は GET /v1/models で確認できます。その他の名前は custom_mapping でマッピングできます。',
  'The model gave an answer that cannot be used.': 'モデルの応答を使用できません。',
  'The model gave an empty answer.': 'モデルの応答が空です。',
  'The model made a tool call that cannot be used.':
    'モデルが使用できないツール呼び出しを行いました。',
  '{}.date: must be a day, such as 2026-11-27':
    '{1}.date: 2026-11-27 のような日付を指定してください',
  '{}.input_tokens: another step begins there too':
    '{1}.input_tokens: 別の段階も同じ値から始まっています',
  '{}.{}: unknown; a price has {}': '{1}.{2}: 不明です。価格に使えるもの：{3}',
  '{}.{}: unknown; was "{}" meant?': '{1}.{2}: 不明です。「{3}」の間違いではありませんか？',
  '{}: needs a rate, such as "input" and "output"':
    '{1}: 「input」や「output」などの料金が必要です',
  'proxy.targets has no steps of that name': 'proxy.targets にその名前のステップがありません',
  'this gateway (ABV_MAX_BODY_SIZE)': 'このゲートウェイ（ABV_MAX_BODY_SIZE）',
  'The password is not right. It is WEB_PASSWORD, else admin_password of the config file, else the API key.':
    'パスワードが違います。WEB_PASSWORD、次に設定ファイルの admin_password、次に API キーが使われます。',
  'The request body comes in millions of chunks of a few bytes. Send it in larger chunks.':
    'リクエスト本文が、数バイトのチャンク数百万個に分かれています。より大きなチャンクで送信してください。',
  'The request body came too slowly. Send it again over a faster connection.':
    'リクエスト本文の到着が遅すぎました。より速い接続でもう一度送信してください。',
  'The request body has an object key longer than {} bytes.':
    'リクエスト本文に {1} バイトを超えるオブジェクトのキーがあります。',
  'The request body has more than {} different keys, or orders of keys, in its objects.':
    'リクエスト本文のオブジェクトにある、異なるキーまたはキーの並び順が {1} 個を超えています。',
  'The request body has more than {} JSON tokens.':
    'リクエスト本文の JSON の要素が {1} 個を超えています。',
  'The request body is empty; send a JSON object.':
    'リクエスト本文が空です。JSON オブジェクトを送信してください。',
  'The request body is larger than {} bytes, the limit of {}.':
    'リクエスト本文が {1} バイトを超えています（{2}の上限）。',
  'The request body is nested deeper than {} levels.':
    'リクエスト本文のネストが {1} 段を超えています。',
  'The request body is not UTF-8 text.': 'リクエスト本文が UTF-8 のテキストではありません。',
  'The request body is not valid JSON: {} at position {}.':
    'リクエスト本文が有効な JSON ではありません：位置 {2}、{1}。',
  'The request body must be a JSON object.':
    'リクエスト本文には JSON オブジェクトを指定してください。',
  'The request does not fit.': 'リクエストの形式が正しくありません。',
  'The request target is not canonical: send an absolute path without empty or dot segments, backslashes, or encoded slashes and control characters.':
    'リクエストターゲットが正規の形ではありません：空のセグメント、ドットのセグメント、バックスラッシュ、エンコードされたスラッシュと制御文字を含まない絶対パスを送信してください。',
  'The upstream closed the connection without an answer.':
    'アップストリームが応答せずに接続を閉じました。',
  'The upstream closed without an answer.': 'アップストリームが応答せずに終了しました。',
  'The upstream could not be reached through the proxy of the gateway.':
    'ゲートウェイのプロキシ経由でアップストリームに接続できませんでした。',
  'The proxy that {} names failed or refused: {}':
    '{1} で指定されたプロキシが失敗または拒否しました：{2}',
  'The certificate of the upstream is for another address.':
    'アップストリームの証明書は別のアドレスのものです。',
  'The certificate of the upstream is not valid now: it has expired, or the clock of this machine is wrong.':
    'アップストリームの証明書は現在有効ではありません：期限が切れているか、このマシンの時計が正しくありません。',
  'The certificate of the upstream is of no authority that the gateway knows: name one with NODE_EXTRA_CA_CERTS, or trust those of this system with NODE_USE_SYSTEM_CA=1.':
    'アップストリームの証明書の認証局をゲートウェイが信頼していません：NODE_EXTRA_CA_CERTS で指定するか、NODE_USE_SYSTEM_CA=1 でこのシステムの認証局を信頼してください。',
  'The upstream could not be reached through the proxy of the account.':
    'アカウントのプロキシ経由でアップストリームに接続できませんでした。',
  'The upstream could not be reached.': 'アップストリームに接続できませんでした。',
  'The upstream credential was revoked.': 'アップストリームの認証情報が取り消されました。',
  'The upstream cut its answer off.': 'アップストリームが応答を途中で打ち切りました。',
  'The upstream ended its answer without a finish reason.':
    'アップストリームが終了理由を示さずに応答を終えました。',
  'The upstream did not begin to answer in time.':
    'アップストリームが時間内に応答を始めませんでした。',
  'The upstream did not answer in time.': 'アップストリームが時間内に応答しませんでした。',
  'The upstream does not count the tokens of this model.':
    'アップストリームはこのモデルのトークン数を数えません。',
  'The upstream does not permit this request.':
    'アップストリームはこのリクエストを許可していません。',
  'The upstream does not offer this model, or not for embeddings.':
    'アップストリームはこのモデルを提供していないか、埋め込みには提供していません。',
  'The upstream does not offer this model.': 'アップストリームはこのモデルを提供していません。',
  'The upstream does not serve the region this gateway calls from.':
    'アップストリームは、このゲートウェイのある地域では利用できません。',
  'The upstream ended the answer with an error.': 'アップストリームがエラーで応答を終えました。',
  'The upstream has nothing at the address that it is asked at. Whoever runs this gateway should check its base_url, which often ends with /v1.':
    'アップストリームの問い合わせ先アドレスには何もありません。このゲートウェイの管理者は base_url を確認してください（多くは /v1 で終わります）。',
  'The upstream failed to answer.': 'アップストリームが応答に失敗しました。',
  'The upstream gave an embedding without a vector.':
    'アップストリームの埋め込みにベクトルがありません。',
  'The upstream gave no token count.': 'アップストリームがトークン数を返しませんでした。',
  'The upstream gave {} vectors for {} inputs.':
    'アップストリームは {2} 個の入力に対して {1} 個のベクトルを返しました。',
  'The upstream is overloaded. Try again later.':
    'アップストリームが過負荷です。後でもう一度お試しください。',
  'The upstream is overloaded. Try again shortly.':
    'アップストリームが過負荷です。しばらくしてからもう一度お試しください。',
  'The upstream held this answer back: {}.': 'アップストリームがこの応答をブロックしました：{1}。',
  'The upstream limits the rate of requests.':
    'アップストリームがリクエストのレートを制限しています。',
  'The upstream requires the thought signature of an earlier tool call and accepts nothing in its place. Send tool calls back with the signatures they came with, or begin a new conversation.':
    'アップストリームは以前のツール呼び出しの思考署名を必要とし、代わりのものを受け付けません。ツール呼び出しを元の署名とともに送り返すか、新しい会話を始めてください。',
  'The upstream never answered.': 'アップストリームは一度も応答しませんでした。',
  'The upstream quota is used up.': 'アップストリームのクォータを使い切りました。',
  'The upstream refused a thought signature of the conversation. Leave thinking blocks and signatures exactly as they came, or leave them out.':
    'アップストリームが会話の思考署名を拒否しました。思考ブロックと署名は受け取ったままにするか、取り除いてください。',
  'The upstream refused the account.': 'アップストリームがアカウントを拒否しました。',
  'The upstream refused the credential.': 'アップストリームが認証情報を拒否しました。',
  'The upstream refused the request with status {}.':
    'アップストリームがステータス {1} でリクエストを拒否しました。',
  'The upstream refused this prompt: {}.': 'アップストリームがこのプロンプトを拒否しました：{1}。',
  'The upstream sent an answer in an encoding not asked for.':
    'アップストリームの応答のエンコーディングが、要求したものではありません。',
  'The upstream sent an answer that could not be read.':
    'アップストリームの応答を読み取れませんでした。',
  'The upstream sent an answer that is too long.': 'アップストリームの応答が長すぎます。',
  'The upstream sent headers that are too long.': 'アップストリームの応答ヘッダーが長すぎます。',
  'The upstream sent something other than an answer.':
    'アップストリームが返したものは応答ではありません。',
  'The upstream requires verification of the account.':
    'アップストリームがアカウントの確認を求めています。',
  'The upstream was silent for {} s.': 'アップストリームから {1} 秒間応答がありませんでした。',
  'There is no address rule of this id. List them to see all.':
    'この ID の IP ルールはありません。一覧を確認してください。',
  'There is no key of this id. List them to see all.':
    'この ID のキーはありません。一覧を確認してください。',
  'There is no key {}.': 'キー {1} はありません。',
  'There is no rule {}.': 'ルール {1} はありません。',
  'This key expired at {}.': 'このキーは {1} に期限切れになりました。',
  'This key is disabled.': 'このキーは無効です。',
  'This key was already used from {}, its limit for one day.':
    'このキーは既に{1}で使用されており、1 日の上限に達しています。',
  'This key is blocked from {} to {} ({}).':
    'このキーは {1} から {2} まで（{3}）ブロックされます。',
  'This key may not use the model {}. The model list shows those it may.':
    'このキーではモデル {1} を使えません。使えるモデルはモデル一覧で確認できます。',
  'This request needs an API key, and the gateway has none configured. Set API_KEY where the gateway runs, then send it with the request.':
    'このリクエストには API キーが必要ですが、ゲートウェイにキーが設定されていません。ゲートウェイを実行する場所で API_KEY を設定し、リクエストとともに送信してください。',
  'This request needs an API key. Send it as "Authorization: Bearer <key>" (or x-api-key, x-goog-api-key, ?key=).':
    'このリクエストには API キーが必要です。「Authorization: Bearer <キー>」（または x-api-key、x-goog-api-key、?key=）で送信してください。',
  'This upstream makes no embeddings. Name a model of another one.':
    'このアップストリームは埋め込みを生成しません。別のアップストリームのモデルを指定してください。',
  'This would lock out the address you come from ({})':
    'あなたがアクセスに使っている IP アドレス（{1}）が締め出されます',
  "This would lock out the page you use: the name of its host would be none of the gateway's. Leave that name among the allowed hosts, or make this change from a page at another of its names. {}":
    '使用中のページが締め出されます：そのホスト名がゲートウェイの名前ではなくなります。許可するホストにその名前を残すか、ゲートウェイの別の名前で開いたページから変更してください。{1}',
  "The gateway does not know the name in this request's Host header as its own. Call it by its address or as localhost, send an API key, or add the name to proxy.allowed_hosts (ISTHMUS_ALLOWED_HOSTS).":
    'このリクエストの Host ヘッダーの名前は、ゲートウェイのものではありません。ゲートウェイのアドレスまたは localhost でアクセスするか、API キーを送信するか、名前を proxy.allowed_hosts（ISTHMUS_ALLOWED_HOSTS）に追加してください。',
  'This would lock you out with the next start: the gateway would listen at {} only, and you reach it at another of its addresses. Use 0.0.0.0 for all of them, or :: where there is IPv6. {}':
    '次の起動で締め出されます：ゲートウェイは {1} でのみ待ち受けますが、あなたは別のアドレスでアクセスしています。すべてのアドレスには 0.0.0.0、IPv6 がある場合は :: を指定してください。{2}',
  'This would lock you out: the gateway would see your address as {}, and no longer as {}':
    '締め出されます：ゲートウェイはあなたの IP アドレスを {2} ではなく {1} とみなすようになります',
  'This would lock you out: without any password the console opens on the machine of the gateway only, and you come from elsewhere. Set another password instead. {}':
    '締め出されます：パスワードがない場合、コンソールはゲートウェイのマシンでのみ開けますが、あなたは別の場所からアクセスしています。代わりに別のパスワードを設定してください。{1}',
  'Transfer-Encoding may only be "chunked"; send the body without another coding.':
    'Transfer-Encoding に使えるのは「chunked」のみです。本文を他のエンコーディングなしで送信してください。',
  'Too many requests are under way. Try again shortly.':
    '処理中のリクエストが多すぎます。しばらくしてからもう一度お試しください。',
  'Too many tries to sign in. Try again in {} s, or restart the gateway on its own machine and use the sign-in link it prints.':
    'サインインの試行回数が多すぎます。{1} 秒後にもう一度試すか、ゲートウェイのマシンで再起動し、表示されるサインインリンクを使ってください。',
  'Too many wrong API keys came from this address. One that worked from here within a day goes on working; any other is looked at again in {} min.':
    'この IP アドレスから誤った API キーが多数送信されました。1 日以内にここから使えたキーは引き続き使えます。その他のキーは {1} 分後に再び確認されます。',
  'Web pages of other origins need an API key. Send one, or allow the origin in the gateway settings.':
    '他のオリジンの Web ページには API キーが必要です。キーを送信するか、ゲートウェイの設定でオリジンを許可してください。',
  'To do it anyway, change the config file on the machine of the gateway.':
    'それでも変更する場合は、ゲートウェイのマシンで設定ファイルを変更してください。',
  'With a one-time link.': '一度だけ使えるリンクでサインイン。',
  'With the console password.': 'コンソールのパスワードでサインイン。',
  'a JSON text': 'JSON テキスト',
  'a target is the name of one model, without "*"':
    'マッピング先には 1 つのモデルの名前を「*」なしで指定してください',
  'curfew.from: must be a time such as 23:00': 'curfew.from: 23:00 のような時刻を指定してください',
  'curfew.timeZone: must be the name of a time zone such as Europe/Berlin or UTC':
    'curfew.timeZone: Europe/Berlin や UTC のようなタイムゾーンの名前を指定してください',
  'curfew.to: must be a time such as 06:00': 'curfew.to: 06:00 のような時刻を指定してください',
  'curfew.to: must be another time than curfew.from':
    'curfew.to: curfew.from とは異なる時刻を指定してください',
  'custom_mapping sends "{}" to "{}", but {}; see GET /v1/models for the names that can be targets.':
    'custom_mapping は「{1}」を「{2}」にマッピングしていますが、{3}。マッピング先に使える名前は GET /v1/models で確認できます。',
  '"{}" goes to "{}", which no account offers and no rule knows: requests for it will fail.':
    '「{1}」のマッピング先「{2}」は、どのアカウントも提供しておらず、どのルールにもありません：このリクエストは失敗します。',
  '"{}" goes to "{}", which no enabled account is known to offer now.':
    '「{1}」のマッピング先「{2}」を、現在どの有効なアカウントも提供していません。',
  'No enabled account offers "{}" now.': '現在「{1}」を提供している有効なアカウントはありません。',
  '{} Did you mean "{}"?': '{1}「{2}」の間違いではありませんか？',
  'is a database of another program': '別のプログラムのデータベースです',
  'is damaged': '破損しています',
  'is empty (0 bytes)': '空です（0 バイト）',
  'is missing, but its latest changes are there ({}-wal)':
    '失われていますが、最新の変更は残っています（{1}-wal）',
  'is no database, or its beginning is damaged': 'データベースではないか、先頭が破損しています',
  'is not a file': 'ファイルではありません',
  'model holds control characters.': 'model に制御文字が含まれています。',
  'model is longer than {} characters.': 'model が {1} 文字を超えています。',
  'model is missing: send the name of a model.':
    'model が指定されていません：モデルの名前を送信してください。',
  'model must be a string: the name of a model.':
    'model には文字列（モデルの名前）を指定してください。',
  'no account offers that model': 'そのモデルを提供しているアカウントはありません',
  'range: there are {} rules already; remove some.':
    'range: 既に {1} 件のルールがあります。いくつか削除してください。',
  'range: there is a rule to {} {} already; change that one.':
    'range: {1} {2} のルールが既にあります。そのルールを変更してください。',
  'the admin API': '管理 API',
  'the text ends too early': 'テキストが途中で終わっています',
  'this route': 'このルート',
  'unexpected {}': '予期しない {1}',
  '{} a minute': '{1}/分',
  '{} can be read by others and its mode cannot be changed. Run "chmod 600 {}" as its owner.':
    '{1} を他のユーザーが読み取れる状態で、そのモードを変更できません。所有者として「chmod 600 {2}」を実行してください。',
  '{} h {} min': '{1} 時間 {2} 分',
  '{} images': '画像 {1} 枚',
  '{} makes embeddings and answers nothing else. Send it to /v1/embeddings or :embedContent, or name another model.':
    '{1} は埋め込みのみを生成します。/v1/embeddings または :embedContent に送信するか、別のモデルを指定してください。',
  '{} makes no embeddings. GET /v1beta/models names embedContent among the methods of the models that do.':
    '{1} は埋め込みを生成しません。生成するモデルは、GET /v1beta/models のメソッドに embedContent があります。',
  '{} min': '{1} 分',
  '{} other addresses': '他の {1} 個の IP アドレス',
  '{} requests': '{1} リクエスト',
  '{} s': '{1} 秒',
  '{} tokens': '{1} トークン',
  '{} {} takes no body.': '{1} {2} は本文を受け付けません。',
  '{}: no rule covers it. Add an allow rule for it first.':
    '{1}: 一致するルールがありません。先に許可ルールを追加してください。',
  '{}: the allow rule {} covers it only until {}. Remove its expiry first, or add a rule without one.':
    '{1}: 許可ルール {2} の有効期限は {3} までです。先にそのルールの有効期限をなくすか、有効期限のないルールを追加してください。',
  '{}: the deny rule {} covers it. Remove that rule, or narrow it, first.':
    '{1}: 拒否ルール {2} に一致します。先にそのルールを削除するか、範囲を狭めてください。',
  'Running requests have reserved the rest of the budget of {} ({}). Try again in {}.':
    '{2}の予算（{1}）の残りは、処理中のリクエストが予約しています。{3}後にもう一度お試しください。',
  'The budget was changed meanwhile: it is at revision {}, not {}.':
    'その間に予算が変更されました：リビジョンは {2} ではなく {1} です。',
  'The budget {} was changed meanwhile.': 'その間に予算 {1} が変更されました。',
  'The team {}': 'チーム「{1}」',
  'There is no budget of this id. List them to see all.':
    'この ID の予算はありません。一覧を確認してください。',
  'There is no budget {}.': '予算 {1} はありません。',
  'This gateway': 'このゲートウェイ',
  'This key': 'このキー',
  'This key may run {} at the same time. Wait until one has ended.':
    'このキーが同時に実行できるのは{1}までです。1 件が終わるまでお待ちください。',
  'This key has used its {}. It can go on in {}.':
    'このキーは上限（{1}）に達しました。{2}後に再び使えます。',
  'key {}, {}: {}%': 'キー「{1}」（{2}）：{3}%',
  'of the team {}': 'チーム「{1}」',
  'of this gateway': 'このゲートウェイ',
  'of this key': 'このキー',
  'subject: must be absent for a budget of the whole gateway':
    'subject: ゲートウェイ全体の予算には指定できません',
  'subject: must be the id of a key or the name of a team':
    'subject: キーの ID またはチームの名前を指定してください',
  'subject: must be the id of a key.': 'subject: キーの ID を指定してください。',
  'team {}, {}: {}%': 'チーム「{1}」（{2}）：{3}%',
  'timeZone: must be the name of a time zone such as Europe/Berlin or UTC':
    'timeZone: Europe/Berlin や UTC のようなタイムゾーンの名前を指定してください',
  'whole gateway, {}: {}%': 'ゲートウェイ全体（{1}）：{2}%',
  '{} It resets at {} (days of {}), in {}.':
    '{1}{4}後の {2}（タイムゾーン {3}）にリセットされます。',
  '{} USD': '{1} 米ドル',
  '{} a day': '{1}/日',
  '{} a month': '{1}/月',
  '{} a week': '{1}/週',
  '{} d {} h': '{1} 日 {2} 時間',
  '{} has a budget of 0: {}.': '{1}の予算は 0 です：{2}。',
  '{} has a budget of {}, and this request asks for {}.':
    '{1}の予算（{2}）を超えています：このリクエストには画像 {3} 枚が必要です。',
  '{} has used its budget of {}.': '{1}は予算（{2}）を使い切りました。',
  '{} has {} left of its budget of {}, too little for this request.':
    '{1}の予算がこのリクエストには足りません：予算 {3}、残り {2}。',
};
