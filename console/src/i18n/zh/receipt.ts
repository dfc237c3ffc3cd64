// What a receipt says, in Chinese, by its code: {} stands there for a name, a value or a number,
// and {1} here for the first of them.

import type { SentenceTexts } from '../sentences.ts';

export const receipt: SentenceTexts = {
  '"{}" stands for an absent value.': '“{1}”代表没有值。',
  'A billing line that changes every turn would defeat caching.': '每轮都变的计费行会使缓存失效。',
  'A forced server tool goes alone: the other tools were left out.':
    '强制使用的服务端工具只能单独发送：其他工具已略去。',
  'A function call without a signature was sent with the documented placeholder.':
    '没有签名的函数调用已附上文档规定的占位签名发送。',
  'A hosted search cannot be demanded, only offered.': '托管搜索只能提供，不能强制使用。',
  'A message between agents is sent as marked user text.':
    '代理之间的消息作为有标记的用户文本发送。',
  'An answer without the thoughts before it was sent with empty ones.':
    '没有先前思考的回答已附上空的思考发送。',
  'Roles have to alternate here: user messages in a row are one, and "OK." stands behind tool results.':
    '此处角色必须交替：相连的用户消息合为一条，工具结果之后加了“OK.”。',
  'The beginning of an answer was marked as one.': '回答的开头已作标记。',
  'Nothing is thought that could be cleared.': '没有可清除的思考内容。',
  'The echoed prompt has no log-probabilities.': '回显的提示没有对数概率。',
  'The bytes of a picture are of type {}.': '有一幅图片的字节表明其类型为 {1}。',
  'A response to the function {} was given the id and name of its call.':
    '对函数 {1} 的响应已补上其调用的编号和名称。',
  'A result without its call was counted as text.': '没有对应调用的结果按文本计数。',
  'A second response to the function {} was dropped.': '对函数 {1} 的第二个响应已丢弃。',
  'A second result of tool call {} was dropped.': '工具调用 {1} 的第二个结果已丢弃。',
  'A second tool named {} was left out.': '第二个名为 {1} 的工具已略去。',
  'A thought signature of the {} family means nothing here.': '{1} 系列的思考签名在此处没有意义。',
  'A thought signature of the {} family means nothing to this model.':
    '{1} 系列的思考签名对此模型没有意义。',
  'A thought signature was not issued by this gateway.': '有一个思考签名不是由本网关签发的。',
  'A thought without an answer behind it cannot be sent upstream.':
    '后面没有回答的思考无法发往上游。',
  'A tool call without a signature was sent with the documented placeholder.':
    '没有签名的工具调用已附上文档规定的占位签名发送。',
  'A tool call without the thoughts before it was sent with empty ones.':
    '没有先前思考的工具调用已附上空的思考发送。',
  'A tool result was in an assistant turn.': '助手轮次中出现了工具结果。',
  'A tool without a name cannot be called.': '没有名称的工具无法调用。',
  'A transcription has no such file.': '转写没有这种文件。',
  'A user turn "…" stands for the empty conversation.': '空对话以一个用户轮次“…”代替。',
  'A user turn "…" stands for the empty last one.': '空的最后一轮以一个用户轮次“…”代替。',
  'A user turn "…" stands for one of white space.': '只有空白的一轮以一个用户轮次“…”代替。',
  'A user turn "…" was put before the first answer.': '在第一个回答之前加入了一个用户轮次“…”。',
  'A {} was in a user turn.': '用户轮次中出现了 {1}。',
  'Alternatives of the whole input are described in words.': '整个输入的可选形式以文字说明。',
  'An answer has at least one token here; 1 is sent.': '此处的回答至少有一个 Token，已发送 1。',
  'An earlier search tool sets this option.': '前面的搜索工具已设置此选项。',
  'An edit has no file called {}.': '图片编辑没有名为 {1} 的文件。',
  'An empty stop sequence stops nothing.': '空的停止序列不起作用。',
  'An instruction in mid-conversation is sent as marked user text at its place.':
    '对话中途的指令在原位置作为有标记的用户文本发送。',
  'Arguments are JSON text; the object was taken as it is.':
    '参数应为 JSON 文本，所给对象已按原样采用。',
  'Arguments that are no object are sent as {"value": …}.': '不是对象的参数以 {"value": …} 发送。',
  'Arguments whose names the upstream refuses are described in words.':
    '名称被上游拒绝的参数以文字说明。',
  'Calls of provider tools are sent as text.': '提供方工具的调用作为文本发送。',
  'Code the upstream ran has no place in this form.': '这种格式容纳不了上游运行过的代码。',
  'Conversations are not kept here.': '此处不保存对话。',
  'Earlier thoughts stay out where thinking is off.': '关闭思考时，不发送先前的思考。',
  'Events are sent without padding.': '事件不带填充发送。',
  'Every tool is declared at once, so there is nothing to search for.':
    '所有工具已一次声明，没有可搜索的内容。',
  'Examples are in the description.': '示例已写入描述。',
  'Function call {} has no response; "no result" was sent.':
    '函数调用 {1} 没有响应，已发送“no result”。',
  'Halves of characters that stood alone became U+FFFD.': '单独出现的半个字符已变为 U+FFFD。',
  'Here the model itself calls all tools.': '在此处，所有工具都由模型自己调用。',
  'Images come inline, in the format the model draws.':
    '图片直接包含在回答中，格式由绘图的模型决定。',
  'Instructions alone are sent as the user turn.': '只有指令时，指令作为用户轮次发送。',
  'Instructions are text only.': '指令只能是文本。',
  'It cannot be set together with thinking.': '思考时不能设置此项。',
  'Items of type "{}" cannot be shown to the model.': '类型为“{1}”的条目无法给模型看。',
  'Its text was read as the value.': '以文本形式给出的值已还原。',
  'Media inside a tool result have no detail level of their own.':
    '工具结果中的媒体没有自己的细节级别。',
  'Media of tool results are in the user message after them.':
    '工具结果中的媒体放在其后的用户消息中。',
  'Models now search when they see fit: googleSearch.': '模型现在自行决定何时搜索：googleSearch。',
  'Names of earlier tool calls were replaced by accepted ones.':
    '先前工具调用的名称已改为可接受的形式。',
  'No model of the pool answers with video.': '账号池中没有模型能以视频回答。',
  'No model takes an audio format here.': '此处没有模型接受音频格式。',
  'Off: a forced call takes no thinking before it.': '已关闭：强制调用之前不能思考。',
  'Off: a tool call in this turn has no signature.': '已关闭：本轮中有一个工具调用没有签名。',
  'Off: a tool call in this turn has no thought before it.':
    '已关闭：本轮中有一个工具调用之前没有思考。',
  'Off: the output limit leaves no room for thinking.': '已关闭：输出上限没有为思考留出空间。',
  'Off: the upstream reports that earlier thoughts are missing.': '已关闭：上游缺少先前的思考。',
  'Off: this request leaves no room for thinking.': '已关闭：此请求没有为思考留出空间。',
  'Only a system message says how its turn is answered.': '只有系统消息能规定其轮次如何回答。',
  'Only calls of declared functions can be required.': '只能强制调用已声明的函数。',
  'Only its issuer can read encrypted content.': '加密的内容只有签发者能读取。',
  'Only its issuer can read redacted thinking.': '加密的思考只有签发者能读取。',
  'Only models that draw make pictures, and they need no tool for it.':
    '只有绘图模型能生成图片，且不需要为此使用工具。',
  'Only the role {} can have said this.': '只有角色 {1} 才可能说出这些内容。',
  'Only thinking of the type enabled has a budget.': '只有类型为 enabled 的思考才有预算。',
  'Only {} is counted.': '只计算 {1}。',
  'Pictures at the end are shown with the question.': '末尾的图片与问题一起给模型看。',
  'Results of tool calls were moved behind their calls.': '工具调用的结果已移到各自的调用之后。',
  'Sent as high.': '以 high 发送。',
  'Streams carry images in base64.': '流式响应以 base64 传送图片。',
  'Strict schemas are followed, but not enforced.': '会遵循严格模式的 schema，但不强制保证。',
  'That a tool failed is said in the text of its result.': '工具失败这一点写在其结果的文本中。',
  'The API has no such field.': 'API 没有此字段。',
  'The advisor is a model of the real service alone.': 'advisor 是仅原服务才有的模型。',
  'The answer came without log-probabilities.': '回答没有附带对数概率。',
  "The answer was cut at this limit: the upstream's was raised for its thinking.":
    '回答在此上限处截断：上游的上限因思考而提高。',
  'The argument came under a related name.': '参数以相近的名称给出。',
  'The call of {} went back with the arguments the model wrote: the upstream took it with no others.':
    '对 {1} 的调用已按模型所写的参数送回：上游不接受其他参数。',
  'The chosen tool was dropped.': '所选的工具已丢弃。',
  'The field is given twice, in two spellings.': '此字段以两种写法给出了两次。',
  'The first picture of a GIF is sent as PNG.': 'GIF 的第一幅图片以 PNG 发送。',
  'The gateway has no counterpart for this field.': '网关没有与此字段对应的内容。',
  'The limit was raised to leave room beside thinking.': '上限已提高，以便在思考之外留出空间。',
  'The mask is shown to the model with an instruction.': '蒙版连同说明一起给模型看。',
  'The model does not continue its own turn: a user turn "…" was added after it.':
    '模型不会接着自己的话继续：已在其后加入一个用户轮次“…”。',
  'The model is asked for the summary in words.': '以文字请模型写摘要。',
  'The model is shown all tools at once, so that there are none to search for.':
    '所有工具一次给模型看，因此无需搜索。',
  'The model is the one in the path.': '以路径中的模型为准。',
  'The model is told the domains, and other sources are left out of the answer.':
    '已把域名告诉模型，其他来源不出现在回答中。',
  'The model is told the grammar, and nothing enforces it.': '已将语法告知模型，但不强制保证。',
  'The model is told the text that follows its answer.': '已把回答之后的文本告诉模型。',
  'The model is told where the user is.': '已把用户所在位置告诉模型。',
  'The model wrote the name differently.': '模型写的名称有所不同。',
  'The oldest {} turns were left out.': '最早的 {1} 个轮次已略去。',
  'The operator leaves the amount of thinking to the model.': '管理员让模型自行决定思考量。',
  'The operator set the thinking budget to {} tokens.': '管理员把思考预算设为 {1} 个 Token。',
  'The optional argument is left out instead of null.': '可选参数已略去，而不是 null。',
  'This model answers in streams alone: the answer was put together from one.':
    '此模型只以流式回答：完整回答由流拼合而成。',
  'This model takes no budget; an effort takes its place.': '此模型不接受思考预算；改用强度。',
  'The output limit does not hold the thinking budget; an effort takes its place.':
    '输出上限容不下思考预算；改用强度。',
  'The part a thought signature belongs to is not in the history.':
    '历史中没有思考签名所属的部分。',
  'The picture of this drawing is not kept any more.': '此次绘图的图片已不再保存。',
  'The answer is not kept: it is too large, or too many others wait to be stored. Send the conversation with the next request.':
    '该回答未被保留：它太大，或等待保存的回答过多。请在下一个请求中发送整个对话。',
  'The preferred account could not be used.': '无法使用首选账号。',
  'The project is the one of the account that is used.': '以所用账号的项目为准。',
  'The ratio in the request takes precedence over the one in the model name.':
    '以请求中的比例为准，模型名称中的比例不予采用。',
  'The response to {} was moved behind its call.': '对 {1} 的响应已移到其调用之后。',
  'The result of {} was moved behind its call.': '{1} 的结果已移到其调用之后。',
  "The results of another upstream's search mean nothing here.":
    '另一个上游的搜索结果在此处没有意义。',
  'The schema was written in the draft the upstream takes.': 'schema 已改写为上游接受的版本。',
  'The size in the request takes precedence over the one in the model name.':
    '以请求中的尺寸为准，模型名称中的尺寸不予采用。',
  'The size is not <width>x<height>; 1024x1024 was taken.':
    '尺寸不是 <宽>x<高> 的形式，已采用 1024x1024。',
  'The summary can be read by its issuer only.': '摘要只有签发者能读取。',
  'The thinking budget is {} tokens on this model.': '此模型的思考预算为 {1} 个 Token。',
  'The thinking budget was lowered to {} tokens.': '思考预算已降为 {1} 个 Token。',
  'The thoughts this item refers to are not kept any more.': '此条目所指的思考已不再保存。',
  'The title was put before the text.': '标题已放在文本之前。',
  'The tool takes no argument of that name.': '工具没有这个名称的参数。',
  'The tool takes no arguments.': '工具不接受参数。',
  'The upstream cites what it finds in a search, not what it is given.':
    '上游只引用搜索到的内容，不引用所给的内容。',
  'The upstream decides how often it uses its tools.': '上游自行决定使用其工具的次数。',
  'The upstream does not take this field.': '上游不接受此字段。',
  'The upstream gave {} of {} answers.': '上游给出了 {2} 个回答中的 {1} 个。',
  'The upstream gives one answer per request.': '上游每个请求只给一个回答。',
  'The upstream has no counterpart for this option.': '上游没有与此选项对应的内容。',
  'The upstream does not stream this answer: it comes whole.':
    '上游不以流式返回此回答：它将一次性完整返回。',
  'The upstream has no such field.': '上游没有这个字段。',
  'The upstream has no such format: the model is told it in words.':
    '上游没有这种格式：已用文字告知模型。',
  'The upstream has no such output format: the model is told it in words.':
    '上游没有这种输出格式：格式以文字告诉模型。',
  'With functions this model takes no effort at Chat Completions.':
    '在 Chat Completions 中，此模型不能同时使用函数和推理强度。',
  'The upstream has no such service tier.': '上游没有这个服务等级。',
  'The upstream has no such setting.': '上游没有此设置。',
  'The upstream has no such settings.': '上游没有这些设置。',
  'The upstream takes {} cache breakpoints a request: {} were left out.':
    '上游每个请求最多接受 {1} 个缓存断点：{2} 个已略去。',
  'The upstream has no top_k.': '上游没有 top_k。',
  'The upstream in use has no counterpart.': '所用的上游没有对应项。',
  'The upstream is given {}.': '发给上游的是 {1}。',
  'The upstream looks at most at {} candidates.': '上游最多考虑 {1} 个候选。',
  'The upstream refused the thought signatures of this conversation.':
    '上游拒绝了此对话的思考签名。',
  'The upstream runs code in a place of its own.': '上游在自己的环境中运行代码。',
  'The upstream runs no {} itself.': '上游自己不运行 {1}。',
  'The upstream takes a detail level for single pictures only.': '上游只接受单张图片的细节级别。',
  'The upstream takes allowed or blocked domains, not both: sources of the blocked ones are left out of the answer.':
    '上游只接受允许的域名或屏蔽的域名之一：来自屏蔽域名的来源不出现在回答中。',
  'The upstream takes no earlier thoughts.': '上游不接受先前的思考。',
  'The upstream takes no image in an answer of the assistant.': '上游不接受助手回答中的图片。',
  'The upstream takes no names of results.': '上游不接受工具结果的名称。',
  'The upstream takes no names of who speaks.': '上游不接受发言者的名字。',
  'The upstream takes no objects of free member names: the model is told the schema in words.':
    '上游不接受成员名称不固定的对象：schema 以文字告诉模型。',
  'The upstream takes no objects of free member names: the schema is told in words.':
    '上游不接受成员名称不固定的对象：schema 以文字说明。',
  'The upstream takes no seed.': '上游不接受随机种子。',
  'The upstream takes no signatures of calls.': '上游不接受工具调用的签名。',
  'The upstream takes no stop sequences of white space; the gateway cuts the answer at them.':
    '上游不接受空白的停止序列；由网关在这些位置截断回答。',
  'The upstream takes no such output format: the model is told it in words.':
    '上游不接受这种输出格式：已用文字告知模型。',
  'The upstream takes no {} in an answer of the assistant.': '上游不接受助手回答中的 {1}。',
  'The upstream takes no {} of this kind: the model is told that it is missing.':
    '上游不接受这种 {1}：已告知模型缺少了它。',
  'The upstream takes temperatures up to 1.': '上游接受的温度最高为 1。',
  'The upstream takes {} stop sequences.': '上游接受 {1} 个停止序列。',
  'The upstream takes {} stop sequences; the gateway cuts the answer at the others.':
    '上游接受 {1} 个停止序列；其余的由网关截断回答。',
  'The value came in another form.': '值以另一种形式给出。',
  'The value is not base64, so it is no signature.': '值不是 base64，因此不是签名。',
  'Lowered to leave room for the answer.': '为给回答留出空间而降低。',
  'The upstream gives samples: sent as WAV.': '上游给出的是采样：以 WAV 发送。',
  'The voices of the upstream have other names: its own was taken.':
    '上游的语音名称不同：已采用它自己的语音。',
  'Thinking can only be switched on or off here, without an amount.':
    '这里只能开启或关闭思考，不能指定数量。',
  'Thinking cannot be limited to the time between tool calls; the model decides.':
    '思考无法限定在工具调用之间，由模型决定。',
  'Thinking without a valid signature cannot be sent upstream.': '没有有效签名的思考无法发往上游。',
  'This field has no effect here.': '此字段在此处不起作用。',
  'This model calls no functions.': '此模型不调用函数。',
  'This model cannot be made to call a tool: it is told to in words.':
    '无法强制此模型调用工具：改为用文字要求它调用。',
  'Left to the model: the service refuses what was asked for.':
    '交由模型决定：服务拒绝了所要求的思考设置。',
  'This model cannot stop thinking.': '此模型无法停止思考。',
  'This model cannot stop thinking; its lowest effort is {}.':
    '此模型无法停止思考；其最低强度为 {1}。',
  'This model cannot stop thinking; its lowest level is {}.':
    '此模型无法停止思考，最低级别为 {1}。',
  'This model does not think.': '此模型不思考。',
  'The endpoint detects the language itself.': '此端点会自行判断语言。',
  'Only the first of the languages was sent.': '只发送了第一种语言。',
  'This model draws in a quality of its own.': '此模型按自己的质量绘制。',
  'This model draws in a size of its own.': '此模型按自己的尺寸绘制。',
  'This model draws it as {}.': '此模型将其绘制为 {1}。',
  'This model draws it in the quality "{}".': '此模型以“{1}”质量绘制。',
  'This model is asked with the last turn alone: the turns before it were left out.':
    '此模型只接收最后一轮：之前的轮次已略去。',
  'This model speaks the text alone, without instructions.': '此模型只朗读文本，不接受指令。',
  'This model takes no part in conversations, and has no such setting.':
    '此模型不参与对话，没有这项设置。',
  'This model transcribes audio and takes no text.': '此模型只转写录音，不读取文字。',
  'This model draws no images.': '此模型不绘制图片。',
  'This model draws no images; the suffix of its name has no effect.':
    '此模型不绘制图片，名称的后缀没有作用。',
  'This model draws pictures of {} only.': '此模型只绘制 {1} 的图片。',
  'This model gives no log-probabilities.': '此模型不提供对数概率。',
  'This model reasons and takes no settings of sampling.': '此模型会推理，不接受采样设置。',
  'This model does not search the web.': '此模型不搜索网络。',
  'This model sends no partial images.': '此模型不发送中间图片。',
  'This model takes a temperature or top_p, not both.': '此模型只接受 temperature 或 top_p 之一。',
  'This model takes efforts only; the nearest is {}.': '此模型只接受强度；最接近的是 {1}。',
  'This model takes it only without functions.': '此模型仅在没有函数时接受它。',
  'This model takes levels only; the nearest is {}.': '此模型只接受级别，最接近的是 {1}。',
  'This model takes no detail level for single media.': '此模型不接受单个媒体的细节级别。',
  'This model takes no effort.': '此模型不接受强度。',
  'This model takes no instructions: they are sent before the first question as marked user text.':
    '此模型不接受指令：指令作为有标记的用户文本放在第一个问题之前。',
  'This model takes no output format beside tools: it is told in words.':
    '此模型在有工具时不接受输出格式：格式以文字告诉模型。',
  'This model takes no output format: it is told in words.':
    '此模型不接受输出格式：格式以文字告诉模型。',
  'This model takes no penalties.': '此模型不接受惩罚参数。',
  'This model takes no web-search beside an output format.': '此模型在有输出格式时不接受网页搜索。',
  'This model takes no web-search beside function tools.': '此模型在有函数工具时不接受网页搜索。',
  'This model takes no {} beside function tools.': '此模型在有函数工具时不接受 {1}。',
  'This model thinks {} tokens or more.': '此模型至少思考 {1} 个 Token。',
  'This model writes at most {} tokens.': '此模型最多写 {1} 个 Token。',
  'This upstream answers in text alone.': '此上游只以文本回答。',
  'Thoughts are shown as summaries.': '思考以摘要形式展示。',
  'Tool call {} has no result; "no result" was sent.': '工具调用 {1} 没有结果，已发送“no result”。',
  'Tools of type "{}" are not available.': '类型为“{1}”的工具不可用。',
  'Each of several images is asked for whole, without partial images.':
    '多张图片逐张完整请求，没有中间图片。',
  'Partial images are sent in streams only.': '中间图片只在流式响应中发送。',
  'Upstreams have no field for the names of assistants.': '上游没有助手名称的字段。',
  'Upstreams have no such switch: the model is told, and only the first call is passed on.':
    '上游没有这个开关：已告诉模型，且只转发第一个调用。',
  'Upstreams refuse such a name: another is sent in its place.':
    '上游拒绝这种名称：已发送另一个名称代替。',
  'What an earlier answer cited is not sent upstream.': '先前回答所引用的内容不发往上游。',
  'The suffix of the model name means nothing to embeddings.':
    '名称结尾所要求的内容对向量嵌入没有意义。',
  'What the model drew or spoke cannot be sent back.': '模型画出或说出的内容无法发回。',
  'A picture or a text without a signature was sent with the documented placeholder.':
    '没有签名的图片或文字已附上文档规定的占位签名发送。',
  'a second list of positions': '重复的位置列表',
  'an empty list allows nothing': '空列表不允许任何值',
  'an object is sent as text': '对象作为文本发送',
  'any JSON is allowed': '允许任何 JSON',
  'any value is sent as text': '任意值作为文本发送',
  'branches that are no objects': '分支不是对象',
  'deeper than the upstream takes': '超过上游接受的层数',
  'deeper than {} levels': '超过 {1} 层',
  'has no effect on {}': '对 {1} 不起作用',
  'items are sent as texts': '各项作为文本发送',
  'no such property': '没有这个属性',
  'no value has both types': '没有值同时具有两种类型',
  'no value is allowed': '不允许任何值',
  'no value is in both lists': '没有值同时在两个列表中',
  'not a list': '不是列表',
  'not a name': '不是名称',
  'not a schema': '不是 schema 对象',
  'not a text': '不是文本',
  'not a usable number': '不是可用的数字',
  'not a usable value': '不是可用的值',
  'not an object': '不是对象',
  'not true or false': '不是 true 或 false',
  'null is no value here': 'null 在此处不是值',
  'only one choice can be carried beside another': '两组选择只能保留一组',
  'responseJsonSchema is given too and takes precedence.':
    '同时给出了 responseJsonSchema，以它为准。',
  'more was changed than is listed here': '还有更多更改未在此列出',
  'The gateway at the upstream noted {} of these; its own record of the request names them.':
    '上游的网关也有 {1} 处；具体内容见该网关自己的请求记录。',
  'said in the description of the function': '已写入函数的描述',
  'said in the description': '已写入描述',
  'said in the text': '已写入文本',
  'the bound itself is allowed upstream': '上游也允许边界值本身',
  'the branches share one object': '各分支合为一个对象',
  'the empty text cannot be listed': '空文本无法列出',
  'the input of a function is an object': '函数的输入是对象',
  'the positions are said in the description': '各位置已写入描述',
  'the recursion is not unfolded': '递归没有展开',
  'the reference leads out of the schema': '引用指向 schema 之外',
  'the schema unfolds too far': 'schema 展开得过大',
  'the values are sent as texts': '这些值作为文本发送',
  'these values cannot be listed': '这些值无法列出',
  'thinkingBudget is given too and takes precedence.': '同时给出了 thinkingBudget，以它为准。',
  'too long to be said': '太长，无法写入描述',
  'tool_choice rules out the search the name asks for.': 'tool_choice 排除了名称所要求的搜索。',
  'unknown keyword': '未知的关键字',
  'unknown type': '未知的类型',
  '{} blocks mean nothing here.': '{1} 块在此处没有意义。',
  'The answer has a part of a kind unknown here: {}.': '回答中有一个此处未知类型的部分：{1}。',
  'The upstream did not end the answer as finished, but for this reason: {}.':
    '上游并非正常结束该回答，原因是：{1}。',
  '{} is given too and takes precedence.': '同时给出了 {1}，以它为准。',
  'Words of the answer are recited from {}.': '回答中有词句引自 {1}。',
  'Words of the answer are recited from {} and {} more pages.':
    '回答中有词句引自 {1} 以及另外 {2} 个页面。',
  '{} of {} answers failed: {}': '{2} 个回答中有 {1} 个失败：{3}',
  '{} rules out the search.': '{1} 排除了搜索。',
  '{} says something else and takes precedence.': '{1} 的说法不同，以它为准。',
  '{}: "{}" stands for an absent value.': '{1}：“{2}”代表没有值。',
  'A budget leaves {} tokens for the answer.': '预算为回答只留下 {1} 个 Token。',
  'Only diarized_json tells who speaks.': '只有 diarized_json 会说明是谁在讲话。',
  'The model made further calls at once, which were left out.':
    '模型同时进行了更多调用，这些调用已略去。',
  'The account can pay for {} tokens of the answer.': '该账号只付得起 {1} 个 Token 的回答。',
  'The prompt leaves {} tokens for the answer.': '提示词为回答只留下 {1} 个 Token。',
};
