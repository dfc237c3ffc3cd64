// What a receipt says, in Japanese, by its code: {} stands there for a name, a value or a number,
// and {1} here for the first of them.

import type { SentenceTexts } from '../sentences.ts';

export const receipt: SentenceTexts = {
  '"{}" stands for an absent value.': '「{1}」は値がないことを表します。',
  'A billing line that changes every turn would defeat caching.':
    'ターンごとに変わる課金の行は、キャッシュを無効にします。',
  'A forced server tool goes alone: the other tools were left out.':
    '強制されたサーバーツールは単独で送信します：他のツールは除外しました。',
  'A function call without a signature was sent with the documented placeholder.':
    '署名のない関数呼び出しを、公式の代替署名を付けて送信しました。',
  'A hosted search cannot be demanded, only offered.':
    'ホスト型の検索は提示できるだけで、強制できません。',
  'A message between agents is sent as marked user text.':
    'エージェント間のメッセージを、印を付けたユーザーのテキストとして送信しました。',
  'An answer without the thoughts before it was sent with empty ones.':
    '前に思考のない応答を、空の思考を付けて送信しました。',
  'Roles have to alternate here: user messages in a row are one, and "OK." stands behind tool results.':
    'ここでは役割が交互でなければなりません。連続するユーザーメッセージを 1 つにまとめ、ツール結果の後に「OK.」を置きました。',
  'The beginning of an answer was marked as one.': '応答の書き出しに印を付けました。',
  'Nothing is thought that could be cleared.': '消去できる思考はありません。',
  'The echoed prompt has no log-probabilities.': '繰り返したプロンプトには対数確率がありません。',
  'The bytes of a picture are of type {}.': '画像のバイト列から、種類は {1} です。',
  'A response to the function {} was given the id and name of its call.':
    '関数 {1} への応答に、その呼び出しの ID と名前を付けました。',
  'A result without its call was counted as text.':
    '呼び出しのない結果は、テキストとして数えました。',
  'A second response to the function {} was dropped.': '関数 {1} への 2 つ目の応答を除外しました。',
  'A second result of tool call {} was dropped.':
    'ツール呼び出し {1} の 2 つ目の結果を除外しました。',
  'A second tool named {} was left out.': '{1} という名前の 2 つ目のツールを除外しました。',
  'A thought signature of the {} family means nothing here.':
    '{1} ファミリーの思考署名は、ここでは意味がありません。',
  'A thought signature of the {} family means nothing to this model.':
    '{1} ファミリーの思考署名は、このモデルでは意味がありません。',
  'A thought signature was not issued by this gateway.':
    'このゲートウェイが発行したものではない思考署名があります。',
  'A thought without an answer behind it cannot be sent upstream.':
    '後に応答のない思考は、アップストリームに送信できません。',
  'A tool call without a signature was sent with the documented placeholder.':
    '署名のないツール呼び出しを、公式の代替署名を付けて送信しました。',
  'A tool call without the thoughts before it was sent with empty ones.':
    '前に思考のないツール呼び出しを、空の思考を付けて送信しました。',
  'A tool result was in an assistant turn.': 'アシスタントのターンにツールの結果がありました。',
  'A tool without a name cannot be called.': '名前のないツールは呼び出せません。',
  'A transcription has no such file.': '文字起こしにこのファイルはありません。',
  'A user turn "…" stands for the empty conversation.':
    '空の会話の代わりに、ユーザーのターン「…」を送信しました。',
  'A user turn "…" stands for the empty last one.':
    '空の最後のターンの代わりに、ユーザーのターン「…」を送信しました。',
  'A user turn "…" stands for one of white space.':
    '空白だけのターンの代わりに、ユーザーのターン「…」を送信しました。',
  'A user turn "…" was put before the first answer.':
    '最初の応答の前に、ユーザーのターン「…」を追加しました。',
  'A {} was in a user turn.': 'ユーザーのターンに {1} がありました。',
  'Alternatives of the whole input are described in words.':
    '入力全体の選択肢を文章で説明しました。',
  'An answer has at least one token here; 1 is sent.':
    '応答は 1 トークン以上必要なため、1 を送信しました。',
  'An earlier search tool sets this option.': '前の検索ツールがこのオプションを設定しています。',
  'An edit has no file called {}.': '画像編集に {1} というファイルはありません。',
  'An empty stop sequence stops nothing.': '空のストップシーケンスには効果がありません。',
  'An instruction in mid-conversation is sent as marked user text at its place.':
    '会話の途中の指示を、その位置に、印を付けたユーザーのテキストとして送信しました。',
  'Arguments are JSON text; the object was taken as it is.':
    '引数は JSON テキストですが、オブジェクトをそのまま使いました。',
  'Arguments that are no object are sent as {"value": …}.':
    'オブジェクトではない引数は {"value": …} として送信します。',
  'Arguments whose names the upstream refuses are described in words.':
    'アップストリームが拒否する名前の引数を文章で説明しました。',
  'Calls of provider tools are sent as text.':
    'プロバイダーのツールの呼び出しをテキストとして送信しました。',
  'Code the upstream ran has no place in this form.':
    'アップストリームが実行したコードは、この形式では表せません。',
  'Conversations are not kept here.': '会話はここには保存されません。',
  'Earlier thoughts stay out where thinking is off.':
    '思考がオフの場合、以前の思考は送信しません。',
  'Events are sent without padding.': 'イベントはパディングなしで送信します。',
  'Every tool is declared at once, so there is nothing to search for.':
    'すべてのツールを一度に宣言したため、検索するものはありません。',
  'Examples are in the description.': '例は説明に書きました。',
  'Function call {} has no response; "no result" was sent.':
    '関数呼び出し {1} に応答がないため、「no result」を送信しました。',
  'Halves of characters that stood alone became U+FFFD.':
    '片方だけの文字（サロゲート）を U+FFFD に置き換えました。',
  'Here the model itself calls all tools.': 'ここでは、モデル自身がすべてのツールを呼び出します。',
  'Images come inline, in the format the model draws.':
    '画像は、モデルが生成する形式で応答に含まれます。',
  'Instructions alone are sent as the user turn.':
    '指示だけの場合、ユーザーのターンとして送信します。',
  'Instructions are text only.': '指示に使えるのはテキストのみです。',
  'It cannot be set together with thinking.': '思考と同時には設定できません。',
  'Items of type "{}" cannot be shown to the model.': '種類「{1}」の項目はモデルに渡せません。',
  'Its text was read as the value.': '値がテキストになっていたため、元に戻しました。',
  'Media inside a tool result have no detail level of their own.':
    'ツールの結果のメディアに、個別の詳細レベルはありません。',
  'Media of tool results are in the user message after them.':
    'ツールの結果のメディアは、直後のユーザーのメッセージに入れました。',
  'Models now search when they see fit: googleSearch.':
    '現在のモデルは、必要に応じて検索します：googleSearch。',
  'Names of earlier tool calls were replaced by accepted ones.':
    '以前のツール呼び出しの名前を、受け付けられる形に変えました。',
  'No model of the pool answers with video.': '動画で応答するモデルはプールにありません。',
  'No model takes an audio format here.': '音声形式を受け付けるモデルはありません。',
  'Off: a forced call takes no thinking before it.':
    'オフ：強制された呼び出しの前には思考できません。',
  'Off: a tool call in this turn has no signature.':
    'オフ：このターンに署名のないツール呼び出しがあります。',
  'Off: a tool call in this turn has no thought before it.':
    'オフ：このターンに、前に思考のないツール呼び出しがあります。',
  'Off: the output limit leaves no room for thinking.':
    'オフ：出力の上限に思考の余地がありません。',
  'Off: the upstream reports that earlier thoughts are missing.':
    'オフ：アップストリームに以前の思考がありません。',
  'Off: this request leaves no room for thinking.':
    'オフ：このリクエストには思考の余地がありません。',
  'Only a system message says how its turn is answered.':
    'ターンの応答方法を指定できるのはシステムメッセージのみです。',
  'Only calls of declared functions can be required.':
    '強制できるのは、宣言された関数の呼び出しのみです。',
  'Only its issuer can read encrypted content.': '暗号化された内容を読めるのは発行者のみです。',
  'Only its issuer can read redacted thinking.': '秘匿された思考を読めるのは発行者のみです。',
  'Only models that draw make pictures, and they need no tool for it.':
    '画像を生成できるのは画像モデルのみで、そのためのツールは不要です。',
  'Only the role {} can have said this.': 'これを発言できるのはロール {1} のみです。',
  'Only thinking of the type enabled has a budget.':
    '予算を指定できるのは、種類が enabled の思考のみです。',
  'Only {} is counted.': '{1} のみを数えます。',
  'Pictures at the end are shown with the question.': '末尾の画像は質問とともに渡されます。',
  'Results of tool calls were moved behind their calls.':
    'ツール呼び出しの結果を、それぞれの呼び出しの後に移動しました。',
  'Sent as high.': 'high として送信しました。',
  'Streams carry images in base64.': 'ストリームでは画像を base64 で送信します。',
  'Strict schemas are followed, but not enforced.':
    '厳格なスキーマに従いますが、保証はされません。',
  'That a tool failed is said in the text of its result.':
    'ツールの失敗は、結果のテキストに書きました。',
  'The API has no such field.': 'API にこのフィールドはありません。',
  'The advisor is a model of the real service alone.':
    'advisor は元のサービスにのみあるモデルです。',
  'The answer came without log-probabilities.': '応答に対数確率がありませんでした。',
  "The answer was cut at this limit: the upstream's was raised for its thinking.":
    '応答をこの上限で切り詰めました：アップストリームの上限は、思考のために引き上げられています。',
  'The argument came under a related name.': '引数は似た名前で指定されていました。',
  'The call of {} went back with the arguments the model wrote: the upstream took it with no others.':
    '{1} の呼び出しを、モデルが書いたままの引数で送り返しました：アップストリームは他の引数を受け付けませんでした。',
  'The chosen tool was dropped.': '選択されたツールは除外されています。',
  'The field is given twice, in two spellings.':
    'このフィールドは 2 通りの表記で 2 回指定されています。',
  'The first picture of a GIF is sent as PNG.': 'GIF の最初の画像を PNG として送信しました。',
  'The gateway has no counterpart for this field.':
    'ゲートウェイにこのフィールドに対応するものはありません。',
  'The limit was raised to leave room beside thinking.':
    '思考以外の余地を残すため、上限を引き上げました。',
  'The mask is shown to the model with an instruction.': 'マスクを指示とともにモデルに渡しました。',
  'The model does not continue its own turn: a user turn "…" was added after it.':
    'モデルは自身の文章の続きを書かないため、その後にユーザーのターン「…」を追加しました。',
  'The model is asked for the summary in words.': 'モデルに文章で要約を依頼しました。',
  'The model is shown all tools at once, so that there are none to search for.':
    'すべてのツールを一度にモデルに渡したため、検索するものはありません。',
  'The model is the one in the path.': 'パスのモデルを使います。',
  'The model is told the domains, and other sources are left out of the answer.':
    'ドメインをモデルに伝え、他の情報源は応答から除外します。',
  'The model is told the grammar, and nothing enforces it.':
    '文法をモデルに伝えましたが、保証はされません。',
  'The model is told the text that follows its answer.':
    '応答の後に続くテキストをモデルに伝えました。',
  'The model is told where the user is.': 'ユーザーの位置をモデルに伝えました。',
  'The model wrote the name differently.': 'モデルが書いた名前は異なっていました。',
  'The oldest {} turns were left out.': '最も古い {1} ターンを除外しました。',
  'The operator leaves the amount of thinking to the model.':
    '運用者の設定により、思考の量はモデルが決めます。',
  'The operator set the thinking budget to {} tokens.':
    '運用者の設定により、思考予算は {1} トークンです。',
  'The optional argument is left out instead of null.':
    '任意の引数を、null の代わりに省略しました。',
  'This model answers in streams alone: the answer was put together from one.':
    'このモデルはストリームでのみ応答します。応答はストリームから組み立てました。',
  'This model takes no budget; an effort takes its place.':
    'このモデルは思考予算を受け付けないため、代わりに労力を指定しました。',
  'The output limit does not hold the thinking budget; an effort takes its place.':
    '出力上限に思考予算が収まらないため、代わりに労力を指定しました。',
  'The part a thought signature belongs to is not in the history.':
    '思考署名の対象となる部分が履歴にありません。',
  'The picture of this drawing is not kept any more.':
    'この画像生成の画像は、もう保存されていません。',
  'The answer is not kept: it is too large, or too many others wait to be stored. Send the conversation with the next request.':
    '応答は保存されていません。大きすぎるか、保存待ちが多すぎます。次のリクエストには会話全体を送ってください。',
  'The preferred account could not be used.': '優先アカウントを使用できませんでした。',
  'The project is the one of the account that is used.':
    'プロジェクトは、使用するアカウントのものです。',
  'The ratio in the request takes precedence over the one in the model name.':
    'モデル名の比率より、リクエストの比率が優先されます。',
  'The response to {} was moved behind its call.':
    '{1} への応答を、その呼び出しの後に移動しました。',
  'The result of {} was moved behind its call.': '{1} の結果を、その呼び出しの後に移動しました。',
  "The results of another upstream's search mean nothing here.":
    '別のアップストリームの検索結果は、ここでは意味がありません。',
  'The schema was written in the draft the upstream takes.':
    'スキーマを、アップストリームが受け付けるドラフトに書き換えました。',
  'The size in the request takes precedence over the one in the model name.':
    'モデル名のサイズより、リクエストのサイズが優先されます。',
  'The size is not <width>x<height>; 1024x1024 was taken.':
    'サイズが <幅>x<高さ> の形式ではないため、1024x1024 を使いました。',
  'The summary can be read by its issuer only.': '要約を読めるのは発行者のみです。',
  'The thinking budget is {} tokens on this model.': 'このモデルの思考予算は {1} トークンです。',
  'The thinking budget was lowered to {} tokens.': '思考予算を {1} トークンに下げました。',
  'The thoughts this item refers to are not kept any more.':
    'この項目が参照する思考は、もう保存されていません。',
  'The title was put before the text.': '表題をテキストの前に置きました。',
  'The tool takes no argument of that name.': 'ツールにこの名前の引数はありません。',
  'The tool takes no arguments.': 'ツールは引数を受け付けません。',
  'The upstream cites what it finds in a search, not what it is given.':
    'アップストリームが引用するのは検索で見つけたもののみで、渡されたものは引用しません。',
  'The upstream decides how often it uses its tools.':
    'ツールを使う回数はアップストリームが決めます。',
  'The upstream does not take this field.': 'アップストリームはこのフィールドを受け付けません。',
  'The upstream gave {} of {} answers.': 'アップストリームが返した応答は {2} 件中 {1} 件です。',
  'The upstream gives one answer per request.':
    'アップストリームは、1 つのリクエストに 1 つの応答を返します。',
  'The upstream has no counterpart for this option.':
    'アップストリームにこのオプションに対応するものはありません。',
  'The upstream does not stream this answer: it comes whole.':
    'アップストリームはこの応答をストリーミングしません。応答は一括で届きます。',
  'The upstream has no such field.': 'アップストリームにこのフィールドはありません。',
  'The upstream has no such format: the model is told it in words.':
    'アップストリームにこの形式はないため、モデルに文章で伝えました。',
  'The upstream has no such output format: the model is told it in words.':
    'アップストリームにこの出力形式はないため、モデルに文章で伝えました。',
  'With functions this model takes no effort at Chat Completions.':
    'Chat Completions では、このモデルは関数と労力を併用できません。',
  'The upstream has no such service tier.': 'アップストリームにこのサービスティアはありません。',
  'The upstream has no such setting.': 'アップストリームにこの設定はありません。',
  'The upstream has no such settings.': 'アップストリームにこれらの設定はありません。',
  'The upstream takes {} cache breakpoints a request: {} were left out.':
    'アップストリームが 1 つのリクエストで受け付けるキャッシュブレークポイントは {1} 個です：{2} 個を除外しました。',
  'The upstream has no top_k.': 'アップストリームに top_k はありません。',
  'The upstream in use has no counterpart.': '使用するアップストリームに対応するものはありません。',
  'The upstream is given {}.': 'アップストリームには {1} を送信しました。',
  'The upstream looks at most at {} candidates.':
    'アップストリームが考慮する候補は最大 {1} 個です。',
  'The upstream refused the thought signatures of this conversation.':
    'アップストリームがこの会話の思考署名を拒否しました。',
  'The upstream runs code in a place of its own.':
    'アップストリームは独自の環境でコードを実行します。',
  'The upstream runs no {} itself.': 'アップストリーム自体は {1} を実行しません。',
  'The upstream takes a detail level for single pictures only.':
    'アップストリームは、個々の画像の詳細レベルのみ受け付けます。',
  'The upstream takes allowed or blocked domains, not both: sources of the blocked ones are left out of the answer.':
    'アップストリームは、許可するドメインとブロックするドメインのどちらかのみ受け付けます：ブロックするドメインの情報源は応答から除外します。',
  'The upstream takes no earlier thoughts.': 'アップストリームは以前の思考を受け付けません。',
  'The upstream takes no image in an answer of the assistant.':
    'アップストリームはアシスタントの応答の画像を受け付けません。',
  'The upstream takes no names of results.': 'アップストリームはツール結果の名前を受け付けません。',
  'The upstream takes no names of who speaks.': 'アップストリームは発言者の名前を受け付けません。',
  'The upstream takes no objects of free member names: the model is told the schema in words.':
    'アップストリームはメンバー名が自由なオブジェクトを受け付けないため、スキーマをモデルに文章で伝えました。',
  'The upstream takes no objects of free member names: the schema is told in words.':
    'アップストリームはメンバー名が自由なオブジェクトを受け付けないため、スキーマを文章で説明しました。',
  'The upstream takes no seed.': 'アップストリームはシードを受け付けません。',
  'The upstream takes no signatures of calls.':
    'アップストリームは呼び出しの署名を受け付けません。',
  'The upstream takes no stop sequences of white space; the gateway cuts the answer at them.':
    'アップストリームは空白のストップシーケンスを受け付けないため、ゲートウェイがその位置で応答を切り詰めます。',
  'The upstream takes no such output format: the model is told it in words.':
    'アップストリームはこの出力形式を受け付けないため、モデルに文章で伝えました。',
  'The upstream takes no {} in an answer of the assistant.':
    'アップストリームはアシスタントの応答の {1} を受け付けません。',
  'The upstream takes no {} of this kind: the model is told that it is missing.':
    'アップストリームはこの種類の {1} を受け付けないため、欠けていることをモデルに伝えました。',
  'The upstream takes temperatures up to 1.': 'アップストリームが受け付ける温度は 1 までです。',
  'The upstream takes {} stop sequences.':
    'アップストリームが受け付けるストップシーケンスは {1} 個です。',
  'The upstream takes {} stop sequences; the gateway cuts the answer at the others.':
    'アップストリームが受け付けるストップシーケンスは {1} 個です。残りはゲートウェイが応答を切り詰めます。',
  'The value came in another form.': '値は別の形式で指定されていました。',
  'The value is not base64, so it is no signature.':
    '値が base64 ではないため、署名ではありません。',
  'Lowered to leave room for the answer.': '応答の余地を残すため下げられました。',
  'The upstream gives samples: sent as WAV.':
    'アップストリームはサンプルを返すため、WAV で送られます。',
  'The voices of the upstream have other names: its own was taken.':
    'アップストリームの音声の名前は異なるため、アップストリームの音声を使いました。',
  'Thinking can only be switched on or off here, without an amount.':
    'ここでは思考のオンとオフのみ切り替えられ、量は指定できません。',
  'Thinking cannot be limited to the time between tool calls; the model decides.':
    '思考をツール呼び出しの間に限ることはできず、モデルが決めます。',
  'Thinking without a valid signature cannot be sent upstream.':
    '有効な署名のない思考は、アップストリームに送信できません。',
  'This field has no effect here.': 'このフィールドはここでは効果がありません。',
  'This model calls no functions.': 'このモデルは関数呼び出しに対応していません。',
  'This model cannot be made to call a tool: it is told to in words.':
    'このモデルにはツールの呼び出しを強制できません：代わりに文章で指示しました。',
  'Left to the model: the service refuses what was asked for.':
    'モデルに任せました：指定した思考をサービスが拒否しました。',
  'This model cannot stop thinking.': 'このモデルの思考はオフにできません。',
  'This model cannot stop thinking; its lowest effort is {}.':
    'このモデルの思考はオフにできません。最低の労力は {1} です。',
  'This model cannot stop thinking; its lowest level is {}.':
    'このモデルの思考はオフにできません。最低のレベルは {1} です。',
  'This model does not think.': 'このモデルは思考に対応していません。',
  'The endpoint detects the language itself.': '言語はエンドポイントが自動的に判別します。',
  'Only the first of the languages was sent.': '言語のうち最初のもののみを伝えました。',
  'This model draws in a quality of its own.': 'このモデルは独自の品質で画像を生成します。',
  'This model draws in a size of its own.': 'このモデルは独自のサイズで画像を生成します。',
  'This model draws it as {}.': 'このモデルは {1} として画像を生成します。',
  'This model draws it in the quality "{}".': 'このモデルは品質「{1}」で画像を生成します。',
  'This model is asked with the last turn alone: the turns before it were left out.':
    'このモデルには最後のターンのみを送信します：それより前のターンは除外しました。',
  'This model speaks the text alone, without instructions.':
    'このモデルはテキストの読み上げのみ行い、指示を受け付けません。',
  'This model takes no part in conversations, and has no such setting.':
    'このモデルは会話に対応しておらず、この設定はありません。',
  'This model transcribes audio and takes no text.':
    'このモデルは録音の文字起こしのみ行い、テキストを読みません。',
  'This model draws no images.': 'このモデルは画像を生成しません。',
  'This model draws no images; the suffix of its name has no effect.':
    'このモデルは画像を生成しないため、名前の接尾辞には効果がありません。',
  'This model draws pictures of {} only.': 'このモデルが生成する画像は {1} のみです。',
  'This model gives no log-probabilities.': 'このモデルは対数確率を返しません。',
  'This model reasons and takes no settings of sampling.':
    'このモデルは推論モデルのため、サンプリングの設定を受け付けません。',
  'This model does not search the web.': 'このモデルは Web 検索に対応していません。',
  'This model sends no partial images.': 'このモデルは生成途中の画像を返しません。',
  'This model takes a temperature or top_p, not both.':
    'このモデルは temperature と top_p のどちらか一方のみ受け付けます。',
  'This model takes efforts only; the nearest is {}.':
    'このモデルは労力のみ受け付けます。最も近いのは {1} です。',
  'This model takes it only without functions.':
    'このモデルは、関数がない場合にのみこれを受け付けます。',
  'This model takes levels only; the nearest is {}.':
    'このモデルはレベルのみ受け付けます。最も近いのは {1} です。',
  'This model takes no detail level for single media.':
    'このモデルは個々のメディアの詳細レベルを受け付けません。',
  'This model takes no effort.': 'このモデルは労力を受け付けません。',
  'This model takes no instructions: they are sent before the first question as marked user text.':
    'このモデルは指示を受け付けないため、最初の質問の前に、印を付けたユーザーのテキストとして入れました。',
  'This model takes no output format beside tools: it is told in words.':
    'このモデルはツールと出力形式を併用できないため、文章で伝えました。',
  'This model takes no output format: it is told in words.':
    'このモデルは出力形式を受け付けないため、文章で伝えました。',
  'This model takes no penalties.': 'このモデルはペナルティを受け付けません。',
  'This model takes no web-search beside an output format.':
    'このモデルは Web 検索と出力形式を併用できません。',
  'This model takes no web-search beside function tools.':
    'このモデルは Web 検索と関数ツールを併用できません。',
  'This model takes no {} beside function tools.':
    'このモデルは {1} と関数ツールを併用できません。',
  'This model thinks {} tokens or more.': 'このモデルの思考は {1} トークン以上です。',
  'This model writes at most {} tokens.': 'このモデルの出力は最大 {1} トークンです。',
  'This upstream answers in text alone.': 'このアップストリームはテキストでのみ応答します。',
  'Thoughts are shown as summaries.': '思考は要約として表示されます。',
  'Tool call {} has no result; "no result" was sent.':
    'ツール呼び出し {1} に結果がないため、「no result」を送信しました。',
  'Tools of type "{}" are not available.': '種類「{1}」のツールは使えません。',
  'Each of several images is asked for whole, without partial images.':
    '複数の画像は 1 枚ずつ完成品として要求するため、生成途中の画像はありません。',
  'Partial images are sent in streams only.': '生成途中の画像はストリームでのみ返されます。',
  'Upstreams have no field for the names of assistants.':
    'アップストリームではアシスタントの名前を表せません。',
  'Upstreams have no such switch: the model is told, and only the first call is passed on.':
    'アップストリームにこの切り替えはないため、モデルに伝え、最初の呼び出しのみを渡します。',
  'Upstreams refuse such a name: another is sent in its place.':
    'アップストリームがこの名前を拒否するため、代わりに別の名前を送信しました。',
  'What an earlier answer cited is not sent upstream.':
    '以前の応答が引用したものは、アップストリームに送信しません。',
  'The suffix of the model name means nothing to embeddings.':
    '名前の末尾で要求されたものは、埋め込みでは意味がありません。',
  'What the model drew or spoke cannot be sent back.':
    'モデルが生成した画像や音声は送り返せません。',
  'A picture or a text without a signature was sent with the documented placeholder.':
    '署名のない画像や文章を、公式の代替署名を付けて送信しました。',
  'a second list of positions': '位置のリストが 2 つ目です',
  'an empty list allows nothing': '空のリストのため、何も許可されません',
  'an object is sent as text': 'オブジェクトをテキストとして送信します',
  'any JSON is allowed': '任意の JSON を許可します',
  'any value is sent as text': '任意の値をテキストとして送信します',
  'branches that are no objects': 'オブジェクトではない分岐',
  'deeper than the upstream takes': 'アップストリームが受け付ける深さを超えています',
  'deeper than {} levels': '{1} 段より深くネストしています',
  'has no effect on {}': '{1} には効果がありません',
  'items are sent as texts': '項目をテキストとして送信します',
  'no such property': 'このプロパティはありません',
  'no value has both types': '両方の型を持つ値はありません',
  'no value is allowed': '許可される値がありません',
  'no value is in both lists': '両方のリストにある値はありません',
  'not a list': 'リストではありません',
  'not a name': '名前ではありません',
  'not a schema': 'スキーマではありません',
  'not a text': 'テキストではありません',
  'not a usable number': '使用できる数値ではありません',
  'not a usable value': '使用できる値ではありません',
  'not an object': 'オブジェクトではありません',
  'not true or false': 'true または false ではありません',
  'null is no value here': 'null はここでは値ではありません',
  'only one choice can be carried beside another': '同時に送信できる選択は 1 つのみです',
  'responseJsonSchema is given too and takes precedence.':
    'responseJsonSchema も指定されており、そちらが優先されます。',
  'more was changed than is listed here': 'ここに載っているほかにも変更があります',
  'The gateway at the upstream noted {} of these; its own record of the request names them.':
    '上流のゲートウェイでも {1} 件ありました。内容はそのゲートウェイのリクエスト記録にあります。',
  'said in the description of the function': '関数の説明に書きました',
  'said in the description': '説明に書きました',
  'said in the text': 'テキストに書きました',
  'the bound itself is allowed upstream': '境界の値自体もアップストリームでは許可されます',
  'the branches share one object': '分岐を 1 つのオブジェクトにまとめます',
  'the empty text cannot be listed': '空のテキストは列挙できません',
  'the input of a function is an object': '関数の入力はオブジェクトです',
  'the positions are said in the description': '位置を説明に書きました',
  'the recursion is not unfolded': '再帰は展開しません',
  'the reference leads out of the schema': '参照先がスキーマの外にあります',
  'the schema unfolds too far': 'スキーマの展開が大きくなりすぎます',
  'the values are sent as texts': '値をテキストとして送信します',
  'these values cannot be listed': 'これらの値は列挙できません',
  'thinkingBudget is given too and takes precedence.':
    'thinkingBudget も指定されており、そちらが優先されます。',
  'too long to be said': '説明に書くには長すぎます',
  'tool_choice rules out the search the name asks for.':
    '名前で要求された検索は、tool_choice により除外されます。',
  'unknown keyword': '不明なキーワード',
  'unknown type': '不明な型',
  '{} blocks mean nothing here.': '{1} ブロックはここでは意味がありません。',
  'The answer has a part of a kind unknown here: {}.': '応答に不明な種類の部分があります：{1}。',
  'The upstream did not end the answer as finished, but for this reason: {}.':
    'アップストリームは応答を正常に終えませんでした。理由：{1}。',
  '{} is given too and takes precedence.': '{1} も指定されており、そちらが優先されます。',
  'Words of the answer are recited from {}.': '応答の文章に {1} からの引用が含まれています。',
  'Words of the answer are recited from {} and {} more pages.':
    '応答の文章に {1} とほか {2} ページからの引用が含まれています。',
  '{} of {} answers failed: {}': '{2} 件の応答のうち {1} 件が失敗しました：{3}',
  '{} rules out the search.': '検索は {1} により除外されます。',
  '{} says something else and takes precedence.': '{1} の指定が異なり、そちらが優先されます。',
  '{}: "{}" stands for an absent value.': '{1}: 「{2}」は値がないことを表します。',
  'A budget leaves {} tokens for the answer.': '予算により、応答に残るのは {1} トークンです。',
  'Only diarized_json tells who speaks.': '話者が示されるのは diarized_json だけです。',
  'The model made further calls at once, which were left out.':
    'モデルは同時にほかの呼び出しも行いましたが、それらは除かれました。',
  'The account can pay for {} tokens of the answer.':
    'アカウントが支払える応答は {1} トークンです。',
  'The prompt leaves {} tokens for the answer.':
    'プロンプトの長さにより、応答に残るのは {1} トークンです。',
};
