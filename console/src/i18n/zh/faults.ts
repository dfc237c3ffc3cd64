// What the gate of the gateway, its stores, its routing and the upstreams say, in Chinese, by its code:
// {} stands there for a name, a value or another sentence, and {1} here for the first of them.

import type { SentenceTexts } from '../sentences.ts';

export const faults: SentenceTexts = {
  // Clauses and sentences put together.
  '{}.': '{1}。',
  '{} {}': '{1}{2}',
  '{}; {}': '{1}; {2}',
  '{}: {}': '{1}: {2}',
  '{}: {}.': '{1}: {2}。',
  '{} ({})': '{1} ({2})',
  '{} ({}): {}': '{1} ({2}): {3}',
  '1 image': '1 张图片',
  '1 other address': '另外 1 个地址',
  '1 request': '1 个请求',
  '1 token': '1 个 Token',
  'A change with the session cookie needs the header "{}: 1".':
    '使用会话 cookie 的更改需要请求头“{1}: 1”。',
  'Account {} has no project, which Vertex AI needs. Set the project of the account (ISTHMUS_UPSTREAM_PROJECT for accounts of the environment), or use the location global.':
    '账号 {1} 没有项目，而 Vertex AI 需要项目。请设置账号的项目（来自环境变量的账号用 ISTHMUS_UPSTREAM_PROJECT），或使用位置 global。',
  'Account {} has no project, which Vertex AI needs. Set the project of the account (ISTHMUS_UPSTREAM_PROJECT for accounts of the environment).':
    '账号 {1} 没有项目，而 Vertex AI 需要项目。请设置账号的项目（来自环境变量的账号用 ISTHMUS_UPSTREAM_PROJECT）。',
  'All accounts for this model have reached their limit. Try again when one has recovered.':
    '此模型的所有账号都已达到上限。请在有账号恢复后重试。',
  'This upstream is at its concurrency limit. Try again shortly.':
    '此上游已达并发上限。请稍后重试。',
  'Ask whoever gave you the key.': '请询问给您密钥的人。',
  'No account is available for the model {}.': '模型 {1} 没有可用的账号。',
  'No account is available for the models {}.': '模型 {1} 没有可用的账号。',
  'No account is available for the models {} and others.': '模型 {1} 等没有可用的账号。',
  'No account offers the model {}. GET /v1/models lists the names that work.':
    '没有账号提供模型 {1}。GET /v1/models 会列出可用的名称。',
  '{} No account is known to offer the model {}. GET /v1/models lists the names that work.':
    '{1}没有已知提供模型 {2} 的账号。GET /v1/models 会列出可用的名称。',
  '{} The external provider answers Messages requests (POST /v1/messages); others reach it by the name "{}/{}".':
    '{1}外部提供方只回答 Messages 请求（POST /v1/messages）；其他协议请用名称“{2}/{3}”。',
  'No credential for the upstream is available right now.': '暂时无法取得上游的凭据。',
  'The upstream does not speak HTTPS: its address may have to begin with http://.':
    '上游不使用 HTTPS：其地址可能应以 http:// 开头。',
  'No secure connection to the upstream could be made.': '无法与上游建立安全连接。',
  'No upstream account can be used right now. The log of the gateway says why.':
    '目前没有可用的上游账号。原因见网关的日志。',
  'Send the request body as JSON, with Content-Type: application/json.':
    '请以 JSON 发送请求正文，并带上 Content-Type: application/json。',
  'Send the request body without Content-Encoding.': '发送请求正文时请不要使用 Content-Encoding。',
  'The request body is not valid zstd. Send it without Content-Encoding.':
    '请求正文不是有效的 zstd 数据。发送时请不要使用 Content-Encoding。',
  'The request body becomes more than {} times as large when it is decompressed. Send it without Content-Encoding.':
    '请求正文解压后会变大 {1} 倍以上。发送时请不要使用 Content-Encoding。',
  'Set WEB_PASSWORD where the gateway runs to use the admin API from elsewhere.':
    '要从别处使用管理 API，请在网关运行的地方设置 WEB_PASSWORD。',
  'Strict mode refuses a request that cannot be carried whole: {}':
    '严格模式拒绝无法完整传递的请求：{1}',
  'The API key is not valid. Check the key this client is configured with against the one the gateway was started with.':
    'API 密钥无效。请核对此客户端所配置的密钥与网关启动时的密钥。',
  'The Host header is missing.': '缺少 Host 请求头。',
  "Other gateways have reserved the rest of the account's quota for calls under way.":
    '其他网关已为进行中的调用预留了该账号的剩余配额。',
  'The account was disabled while the request was running.': '请求进行时账号已被停用。',
  'The address rule was changed meanwhile: it is at revision {}, not {}.':
    'IP 规则已被更改：当前修订号是 {1}，而不是 {2}。',
  'The address rule {} was changed meanwhile.': 'IP 规则 {1} 已被更改。',
  'The IP rules of this gateway block the address {}. Its operator can change them.':
    '此网关的 IP 规则拒绝了地址 {1}。网关的管理员可以更改规则。',
  'The admin API needs "Authorization: Bearer <console password>", or a browser that is signed in.':
    '管理 API 需要“Authorization: Bearer <控制台密码>”，或已登录的浏览器。',
  'The admin API takes no requests of web pages from elsewhere. Behind a proxy, name the host under which the gateway is reached in proxy.allowed_hosts.':
    '管理 API 不接受其他网页的请求。如在代理之后，请在 proxy.allowed_hosts 中填写访问网关所用的主机名。',
  'The client closed the connection.': '客户端关闭了连接。',
  'Stopped by {}.': '已由 {1} 停止。',
  'The files of this gateway were replaced or removed while it runs, perhaps by an upgrade. Restart it.':
    '此网关的文件在运行期间被替换或删除，可能是因为升级。请重新启动它。',
  'A gateway of an earlier version works on the database {}. Stop it first: this version upgrades the database, and that one could not open it again.':
    '早期版本的网关正在使用数据库 {1}。请先停止它：此版本会升级数据库，之后早期版本将无法再打开它。',
  'An operator of this gateway stopped the request.': '此网关的操作员停止了该请求。',
  'The database {} cannot be made ({}). Let the user of this process write to its folder, or name another with ISTHMUS_DATA_DIR.':
    '数据库 {1} 无法创建（{2}）。请让此进程的用户能写入其文件夹，或用 ISTHMUS_DATA_DIR 指定其他文件夹。',
  'The database {} cannot be opened with this secret key. {} It was left as it is. Give back the key that was in use: ISTHMUS_SECRET_KEY, or the file secret.key in the data folder when that is not set.':
    '数据库 {1} 无法用此主密钥打开。{2}数据库保持原样。请恢复原来使用的密钥：ISTHMUS_SECRET_KEY，未设置时为数据文件夹中的 secret.key 文件。',
  'DATABASE_URL is set, so ISTHMUS_SECRET_KEY must be set too, the same on every replica: it seals what they all store.':
    '已设置 DATABASE_URL，因此也必须设置 ISTHMUS_SECRET_KEY，且每个副本相同：所有副本保存的机密都用它加密。',
  'Stored responses cannot be read now. Try again in a moment, or send the conversation with the request.':
    '现在无法读取已保存的响应。请稍后重试，或在请求中附上完整对话。',
  'The copy is not whole: of {} the database {} has {} rows, not {}. Was the data folder used meanwhile? Begin anew with an empty database.':
    '复制不完整：数据库 {2} 的 {1} 有 {3} 行，应为 {4} 行。期间是否使用过数据文件夹？请换一个空数据库重新开始。',
  'The database {} holds other data already, so nothing was copied. Name an empty one.':
    '数据库 {1} 已有其他数据，因此没有复制任何内容。请指定一个空数据库。',
  'The database {} can only be read now. Let DATABASE_URL lead to the primary server.':
    '数据库 {1} 现在只读。请让 DATABASE_URL 指向主服务器。',
  'The database {} cannot be reached. It is tried again by itself; check that PostgreSQL runs and that DATABASE_URL leads to it.':
    '无法连接数据库 {1}。网关会自动重试；请检查 PostgreSQL 是否在运行，以及 DATABASE_URL 是否正确。',
  'The database {} does not let the gateway in. Check user and password of DATABASE_URL.':
    '数据库 {1} 拒绝网关登录。请检查 DATABASE_URL 中的用户名和密码。',
  'The database {} has no room or no connection left (SQLSTATE {}).':
    '数据库 {1} 的空间或连接数已用尽（SQLSTATE {2}）。',
  'The database {} is too busy.': '数据库 {1} 过于繁忙。',
  'The database {} refused the work (SQLSTATE {}).': '数据库 {1} 拒绝了该操作（SQLSTATE {2}）。',
  'The database {} took too long. Try again, or raise DATABASE_STATEMENT_TIMEOUT.':
    '数据库 {1} 耗时过长。请重试，或调大 DATABASE_STATEMENT_TIMEOUT。',
  'The user of DATABASE_URL may not do what the gateway needs in the database {}. Make it the owner.':
    'DATABASE_URL 的用户在数据库 {1} 中缺少网关所需的权限。请将其设为所有者。',
  'There is no database {}. Create it, or correct DATABASE_URL.':
    '数据库 {1} 不存在。请创建它，或更正 DATABASE_URL。',
  'The database {} cannot be opened. Check that it is there and who may read its folder.':
    '数据库 {1} 无法打开。请检查它是否存在，以及谁能读取其文件夹。',
  'The database {} cannot be read ({}). Let the user of this process read and write it and its folder.':
    '数据库 {1} 无法读取（{2}）。请让此进程的用户能读写它及其文件夹。',
  'The database {} cannot be written. Check who may write to it and to its folder.':
    '数据库 {1} 无法写入。请检查谁能写入它及其文件夹。',
  'The database {} could not be read or written: the disk reported an error.':
    '数据库 {1} 无法读写：磁盘报告了错误。',
  'The database {} had trouble with its disk, and another process keeps it from being checked. Try again.':
    '数据库 {1} 的磁盘出现过故障，而另一个进程使它无法被检查。请重试。',
  'The database {} has a damaged key of its secrets. It was left as it is. Put a backup in its place.':
    '数据库 {1} 中加密用的密钥已损坏。数据库保持原样。请用备份替换它。',
  'The database {} has lost the key of its secrets. It was left as it is. Put a backup in its place.':
    '数据库 {1} 中加密用的密钥已丢失。数据库保持原样。请用备份替换它。',
  'The database {} has no room left on its disk. Free some; a gateway that runs goes on by itself then.':
    '数据库 {1} 所在的磁盘没有空间。请腾出空间，之后运行中的网关会自行继续。',
  'The database {} is closed.': '数据库 {1} 已关闭。',
  'The database {} is locked by another process. Try again when that one is done.':
    '数据库 {1} 被另一个进程锁定。请在其完成后重试。',
  'The database {} is of version {}; this program knows versions up to {}. It was left as it is. Use the newer program again, or put back the backup from before it.':
    '数据库 {1} 的版本是 {2}，而此程序只认识到版本 {3}。数据库保持原样。请重新使用较新的程序，或恢复升级前的备份。',
  'The database {} refused the work (SQLite code {}).':
    '数据库 {1} 拒绝了操作（SQLite 代码 {2}）。',
  'The database {} was moved, removed or replaced while it was in use. Put it back, or restart to use the file that is there now.':
    '数据库 {1} 在使用中被移动、删除或替换。请放回原处，或重新启动以使用现在的文件。',
  'The database {} {}. It was left as it is. Put a backup in its place. To start with a new one, move it and its -wal and -shm files away.':
    '数据库 {1} {2}。数据库保持原样。请用备份替换它。要从新的数据库开始，请移走它及其 -wal 和 -shm 文件。',
  'The end of the model name "{}" is not understood. Ratio and size are written like "-16-9-4k": ratio one of {}; size one of {}; both optional.':
    '无法理解模型名称“{1}”的结尾。比例和尺寸写成“-16-9-4k”这样：比例可为 {2}；尺寸可为 {3}；两者都可省略。',
  'The answer needs more memory than the memory limit of this gateway ({} MB) leaves for one ({} MB). Ask for less at once, or give the gateway more memory.':
    '回答所需的内存超出了网关内存上限（{1} MB）为单个回答留出的量（{2} MB）。请一次要求更少内容，或为网关分配更多内存。',
  'The answer is larger than the memory that the gateway has left at the moment. Ask again shortly, or give the gateway more memory.':
    '回答超出网关目前剩余的内存。请稍后重试，或为网关分配更多内存。',
  'The request body needs about {} MB of memory while it is worked on, and the memory limit of this gateway ({} MB) leaves {} MB for that. Send less at once, or give the gateway more memory.':
    '处理此请求正文约需 {1} MB 内存，而网关的内存上限（{2} MB）只为此留出 {3} MB。请一次发送更少内容，或为网关分配更多内存。',
  'The gateway could not write the upstream request.': '网关无法写出发往上游的请求。',
  'The gateway holds too many large requests at the moment. Send this one again shortly.':
    '网关目前有过多的大请求。请稍后重新发送。',
  'The gateway is closing.': '网关正在关闭。',
  'The gateway is shutting down. Send the request again in a moment.':
    '网关正在关闭。请稍后重新发送请求。',
  'The header {} came more than once; send it once.': '请求头 {1} 出现了多次，请只发送一次。',
  'The key was changed meanwhile: it is at revision {}, not {}.':
    '密钥已被更改：当前修订号是 {1}，而不是 {2}。',
  'The key {} was changed meanwhile.': '密钥 {1} 已被更改。',
  'The model "{}" is not known here; see GET /v1/models for the names that are. Other names can be mapped to one of them in custom_mapping.':
    '此处不认识模型“{1}”；可用的名称见 GET /v1/models。其他名称可以在 custom_mapping 中映射到其中之一。',
  'The model gave an answer that cannot be used.': '模型给出的回答无法使用。',
  'The model gave an empty answer.': '模型给出了空的回答。',
  'The model made a tool call that cannot be used.': '模型发出了无法使用的工具调用。',
  '{}.date: must be a day, such as 2026-11-27': '{1}.date：必须是日期，例如 2026-11-27',
  '{}.input_tokens: another step begins there too': '{1}.input_tokens：另一档也从这里开始',
  '{}.{}: unknown; a price has {}': '{1}.{2}：未知；价格可以有 {3}',
  '{}.{}: unknown; was "{}" meant?': '{1}.{2}：未知；是否想写“{3}”？',
  '{}: needs a rate, such as "input" and "output"': '{1}：需要一个费率，例如“input”和“output”',
  'proxy.targets has no steps of that name': 'proxy.targets 中没有该名称的步骤',
  'this gateway (ABV_MAX_BODY_SIZE)': '本网关（ABV_MAX_BODY_SIZE）',
  'The password is not right. It is WEB_PASSWORD, else admin_password of the config file, else the API key.':
    '密码不正确。密码依次取自 WEB_PASSWORD、配置文件中的 admin_password、API 密钥。',
  'The request body comes in millions of chunks of a few bytes. Send it in larger chunks.':
    '请求正文由数百万个只有几个字节的分块组成。请以更大的分块发送。',
  'The request body came too slowly. Send it again over a faster connection.':
    '请求正文到达得太慢。请用更快的连接重新发送。',
  'The request body has an object key longer than {} bytes.': '请求正文中有对象的键超过 {1} 字节。',
  'The request body has more than {} different keys, or orders of keys, in its objects.':
    '请求正文的对象中，不同的键或键的排列顺序超过 {1} 种。',
  'The request body has more than {} JSON tokens.': '请求正文超过 {1} 个 JSON 单元。',
  'The request body is empty; send a JSON object.': '请求正文为空，请发送 JSON 对象。',
  'The request body is larger than {} bytes, the limit of {}.':
    '请求正文超过 {1} 字节，即{2}的上限。',
  'The request body is nested deeper than {} levels.': '请求正文的嵌套超过 {1} 层。',
  'The request body is not UTF-8 text.': '请求正文不是 UTF-8 文本。',
  'The request body is not valid JSON: {} at position {}.':
    '请求正文不是有效的 JSON：位置 {2} 处{1}。',
  'The request body must be a JSON object.': '请求正文必须是 JSON 对象。',
  'The request does not fit.': '请求不符合要求。',
  'The request target is not canonical: send an absolute path without empty or dot segments, backslashes, or encoded slashes and control characters.':
    '请求目标不规范：请发送绝对路径，不含空段、点段、反斜杠、编码的斜杠和控制字符。',
  'The upstream closed the connection without an answer.': '上游没有回答就关闭了连接。',
  'The upstream closed without an answer.': '上游没有回答就结束了。',
  'The upstream could not be reached through the proxy of the gateway.':
    '无法通过网关的代理连接上游。',
  'The proxy that {} names failed or refused: {}': '{1} 指定的代理失败或拒绝：{2}',
  'The certificate of the upstream is for another address.': '上游的证书属于另一个地址。',
  'The certificate of the upstream is not valid now: it has expired, or the clock of this machine is wrong.':
    '上游的证书目前无效：证书已过期，或者本机时钟不准。',
  'The certificate of the upstream is of no authority that the gateway knows: name one with NODE_EXTRA_CA_CERTS, or trust those of this system with NODE_USE_SYSTEM_CA=1.':
    '上游证书的颁发机构不受网关信任：请通过 NODE_EXTRA_CA_CERTS 指定，或用 NODE_USE_SYSTEM_CA=1 信任本系统所信任的机构。',
  'The upstream could not be reached through the proxy of the account.':
    '无法通过账号的代理连接上游。',
  'The upstream could not be reached.': '无法连接上游。',
  'The upstream credential was revoked.': '上游的凭据已被撤销。',
  'The upstream cut its answer off.': '上游中断了回答。',
  'The upstream ended its answer without a finish reason.': '上游结束了回答，但没有给出结束原因。',
  'The upstream did not begin to answer in time.': '上游没有及时开始回答。',
  'The upstream did not answer in time.': '上游没有及时回答。',
  'The upstream does not count the tokens of this model.': '上游不计算此模型的 Token 数。',
  'The upstream does not permit this request.': '上游不允许此请求。',
  'The upstream does not offer this model, or not for embeddings.':
    '上游不提供此模型，或不提供其向量嵌入。',
  'The upstream does not offer this model.': '上游不提供此模型。',
  'The upstream does not serve the region this gateway calls from.':
    '上游不服务于此网关所在的地区。',
  'The upstream ended the answer with an error.': '上游以错误结束了回答。',
  'The upstream has nothing at the address that it is asked at. Whoever runs this gateway should check its base_url, which often ends with /v1.':
    '上游在所请求的地址处没有任何内容。请此网关的管理员检查其 base_url（通常以 /v1 结尾）。',
  'The upstream failed to answer.': '上游未能回答。',
  'The upstream gave an embedding without a vector.': '上游给出的向量嵌入没有向量。',
  'The upstream gave no token count.': '上游没有给出 Token 数。',
  'The upstream gave {} vectors for {} inputs.': '上游为 {2} 个输入给出了 {1} 个向量。',
  'The upstream is overloaded. Try again later.': '上游过载。请稍后重试。',
  'The upstream is overloaded. Try again shortly.': '上游过载。请稍后重试。',
  'The upstream held this answer back: {}.': '上游拦截了此回答：{1}。',
  'The upstream limits the rate of requests.': '上游限制了请求频率。',
  'The upstream requires the thought signature of an earlier tool call and accepts nothing in its place. Send tool calls back with the signatures they came with, or begin a new conversation.':
    '上游要求先前工具调用的思考签名，且不接受替代。请把工具调用连同其签名一起送回，或开始新的对话。',
  'The upstream never answered.': '上游一直没有回答。',
  'The upstream quota is used up.': '上游的配额已用尽。',
  'The upstream refused a thought signature of the conversation. Leave thinking blocks and signatures exactly as they came, or leave them out.':
    '上游拒绝了此对话的一个思考签名。请让思考块和签名保持原样，或将其去掉。',
  'The upstream refused the account.': '上游拒绝了此账号。',
  'The upstream refused the credential.': '上游拒绝了凭据。',
  'The upstream refused the request with status {}.': '上游以状态 {1} 拒绝了请求。',
  'The upstream refused this prompt: {}.': '上游拒绝了此提示词：{1}。',
  'The upstream sent an answer in an encoding not asked for.': '上游以未请求的编码发送了回答。',
  'The upstream sent an answer that could not be read.': '上游发送的回答无法读取。',
  'The upstream sent an answer that is too long.': '上游发送的回答过长。',
  'The upstream sent headers that are too long.': '上游发送的响应标头过长。',
  'The upstream sent something other than an answer.': '上游发送的不是回答。',
  'The upstream requires verification of the account.': '上游要求验证此账号。',
  'The upstream was silent for {} s.': '上游 {1} 秒没有响应。',
  'There is no address rule of this id. List them to see all.':
    '没有此 ID 的 IP 规则。请列出全部规则查看。',
  'There is no key of this id. List them to see all.': '没有此 ID 的密钥。请列出全部密钥查看。',
  'There is no key {}.': '没有密钥 {1}。',
  'There is no rule {}.': '没有规则 {1}。',
  'This key expired at {}.': '此密钥已于 {1} 过期。',
  'This key is disabled.': '此密钥已停用。',
  'This key was already used from {}, its limit for one day.':
    '此密钥已在{1}使用，达到一天内的上限。',
  'This key is blocked from {} to {} ({}).': '此密钥在 {1} 至 {2}（{3}）禁用。',
  'This key may not use the model {}. The model list shows those it may.':
    '此密钥不能使用模型 {1}。模型列表会显示它能使用的模型。',
  'This request needs an API key, and the gateway has none configured. Set API_KEY where the gateway runs, then send it with the request.':
    '此请求需要 API 密钥，而网关没有配置密钥。请在网关运行的地方设置 API_KEY，再随请求发送。',
  'This request needs an API key. Send it as "Authorization: Bearer <key>" (or x-api-key, x-goog-api-key, ?key=).':
    '此请求需要 API 密钥。请以“Authorization: Bearer <密钥>”（或 x-api-key、x-goog-api-key、?key=）发送。',
  'This upstream makes no embeddings. Name a model of another one.':
    '此上游不生成向量嵌入。请指定另一个上游的模型。',
  'This would lock out the address you come from ({})': '这会把您所用的地址（{1}）锁在外面',
  "This would lock out the page you use: the name of its host would be none of the gateway's. Leave that name among the allowed hosts, or make this change from a page at another of its names. {}":
    '这会把您正在使用的页面锁在外面：其主机名将不再是网关的名称。请把该名称保留在允许的主机中，或从网关其他名称下的页面作此更改。{1}',
  "The gateway does not know the name in this request's Host header as its own. Call it by its address or as localhost, send an API key, or add the name to proxy.allowed_hosts (ISTHMUS_ALLOWED_HOSTS).":
    '网关不认识此请求 Host 头中的名称。请使用网关的地址或 localhost 访问，发送 API 密钥，或将该名称加入 proxy.allowed_hosts（ISTHMUS_ALLOWED_HOSTS）。',
  'This would lock you out with the next start: the gateway would listen at {} only, and you reach it at another of its addresses. Use 0.0.0.0 for all of them, or :: where there is IPv6. {}':
    '下次启动后您会被锁在外面：网关将只在 {1} 监听，而您是通过它的另一个地址访问的。请用 0.0.0.0 表示全部地址，有 IPv6 时用 ::。{2}',
  'This would lock you out: the gateway would see your address as {}, and no longer as {}':
    '这会把您锁在外面：网关会把您当作 {1}，而不再是 {2}',
  'This would lock you out: without any password the console opens on the machine of the gateway only, and you come from elsewhere. Set another password instead. {}':
    '这会把您锁在外面：没有密码时，控制台只能在网关所在的机器上打开，而您来自别处。请改为设置另一个密码。{1}',
  'Transfer-Encoding may only be "chunked"; send the body without another coding.':
    'Transfer-Encoding 只能是“chunked”；请不要对请求体使用其他编码。',
  'Too many requests are under way. Try again shortly.': '正在进行的请求过多。请稍后重试。',
  'Too many tries to sign in. Try again in {} s, or restart the gateway on its own machine and use the sign-in link it prints.':
    '尝试登录的次数过多。请在 {1} 秒后重试，或在网关所在的机器上重新启动网关，并使用它输出的登录链接。',
  'Too many wrong API keys came from this address. One that worked from here within a day goes on working; any other is looked at again in {} min.':
    '此地址发来了过多错误的 API 密钥。一天内从此处成功用过的密钥继续有效；其他密钥要在 {1} 分钟后才再核对。',
  'Web pages of other origins need an API key. Send one, or allow the origin in the gateway settings.':
    '其他来源的网页需要 API 密钥。请发送密钥，或在网关设置中允许该来源。',
  'To do it anyway, change the config file on the machine of the gateway.':
    '如确实需要，请在网关所在的机器上更改配置文件。',
  'With a one-time link.': '使用一次性链接。',
  'With the console password.': '使用控制台密码。',
  'a JSON text': ' JSON 文本',
  'a target is the name of one model, without "*"': '目标必须是一个模型的名称，不含“*”',
  'curfew.from: must be a time such as 23:00': 'curfew.from: 必须是 23:00 这样的时间',
  'curfew.timeZone: must be the name of a time zone such as Europe/Berlin or UTC':
    'curfew.timeZone: 必须是 Europe/Berlin 或 UTC 这样的时区名称',
  'curfew.to: must be a time such as 06:00': 'curfew.to: 必须是 06:00 这样的时间',
  'curfew.to: must be another time than curfew.from': 'curfew.to: 必须与 curfew.from 不同',
  'custom_mapping sends "{}" to "{}", but {}; see GET /v1/models for the names that can be targets.':
    'custom_mapping 把“{1}”指向“{2}”，但{3}；可作为目标的名称见 GET /v1/models。',
  '"{}" goes to "{}", which no account offers and no rule knows: requests for it will fail.':
    '“{1}”指向“{2}”，但没有账号提供它，也没有规则认识它：对它的请求会失败。',
  '"{}" goes to "{}", which no enabled account is known to offer now.':
    '“{1}”指向“{2}”，目前没有已启用的账号提供它。',
  'No enabled account offers "{}" now.': '目前没有已启用的账号提供“{1}”。',
  '{} Did you mean "{}"?': '{1}您是不是想用“{2}”？',
  'is a database of another program': '是另一个程序的数据库',
  'is damaged': '已损坏',
  'is empty (0 bytes)': '是空的（0 字节）',
  'is missing, but its latest changes are there ({}-wal)': '已丢失，但其最近的更改还在（{1}-wal）',
  'is no database, or its beginning is damaged': '不是数据库，或其开头已损坏',
  'is not a file': '不是文件',
  'model holds control characters.': 'model 含有控制字符。',
  'model is longer than {} characters.': 'model 超过 {1} 个字符。',
  'model is missing: send the name of a model.': '缺少 model：请发送模型的名称。',
  'model must be a string: the name of a model.': 'model 必须是字符串：模型的名称。',
  'no account offers that model': '没有账号提供该模型',
  'range: there are {} rules already; remove some.': 'range: 已有 {1} 条规则，请移除一些。',
  'range: there is a rule to {} {} already; change that one.':
    'range: 已有一条规则（{1} {2}），请更改那一条。',
  'the admin API': '管理 API ',
  'the text ends too early': '文本过早结束',
  'this route': '此路由',
  'unexpected {}': '出现意外的 {1}',
  '{} a minute': '每分钟 {1}',
  '{} can be read by others and its mode cannot be changed. Run "chmod 600 {}" as its owner.':
    '{1} 可被其他人读取，且无法更改其权限。请以其所有者身份运行“chmod 600 {2}”。',
  '{} h {} min': '{1} 小时 {2} 分钟',
  '{} images': '{1} 张图片',
  '{} makes embeddings and answers nothing else. Send it to /v1/embeddings or :embedContent, or name another model.':
    '{1} 只生成向量嵌入，不回答其他内容。请把请求发往 /v1/embeddings 或 :embedContent，或使用其他模型。',
  '{} makes no embeddings. GET /v1beta/models names embedContent among the methods of the models that do.':
    '{1} 不生成向量嵌入。GET /v1beta/models 会在支持的模型的方法中列出 embedContent。',
  '{} min': '{1} 分钟',
  '{} other addresses': '另外 {1} 个地址',
  '{} requests': '{1} 个请求',
  '{} s': '{1} 秒',
  '{} tokens': '{1} 个 Token',
  '{} {} takes no body.': '{1} {2} 不接受正文。',
  '{}: no rule covers it. Add an allow rule for it first.':
    '{1}：没有规则适用于它。请先为它添加允许规则。',
  '{}: the allow rule {} covers it only until {}. Remove its expiry first, or add a rule without one.':
    '{1}：允许规则 {2} 只放行到 {3}。请先让该规则永不过期，或添加一条永不过期的规则。',
  '{}: the deny rule {} covers it. Remove that rule, or narrow it, first.':
    '{1}：拒绝规则 {2} 适用于它。请先移除或收窄该规则。',
  'Running requests have reserved the rest of the budget of {} ({}). Try again in {}.':
    '预算{1}（{2}）的余额正被进行中的请求占用。请在{3}后重试。',
  'The budget was changed meanwhile: it is at revision {}, not {}.':
    '预算已被他人修改：现为版本 {1}，而不是 {2}。',
  'The budget {} was changed meanwhile.': '预算 {1} 已被他人修改。',
  'The team {}': '团队 {1}',
  'There is no budget of this id. List them to see all.': '没有此 ID 的预算。请列出全部预算查看。',
  'There is no budget {}.': '没有预算 {1}。',
  'This gateway': '此网关',
  'This key': '此密钥',
  'This key may run {} at the same time. Wait until one has ended.':
    '此密钥最多同时运行{1}。请等待其中一个结束。',
  'This key has used its {}. It can go on in {}.': '此密钥已用完{1}的额度。{2}后可以继续。',
  'key {}, {}: {}%': '密钥 {1}，{2}：{3}%',
  'of the team {}': '团队 {1}',
  'of this gateway': '此网关',
  'of this key': '此密钥',
  'subject: must be absent for a budget of the whole gateway': 'subject：整个网关的预算不能有此项',
  'subject: must be the id of a key or the name of a team': 'subject：必须是密钥编号或团队名称',
  'subject: must be the id of a key.': 'subject：必须是密钥编号。',
  'team {}, {}: {}%': '团队 {1}，{2}：{3}%',
  'timeZone: must be the name of a time zone such as Europe/Berlin or UTC':
    'timeZone：必须是时区名称，例如 Europe/Berlin 或 UTC',
  'whole gateway, {}: {}%': '整个网关，{1}：{2}%',
  '{} It resets at {} (days of {}), in {}.': '{1}将于 {2}（按 {3} 的日期）重新计算，还有{4}。',
  '{} USD': '{1} 美元',
  '{} a day': '每天 {1}',
  '{} a month': '每月 {1}',
  '{} a week': '每周 {1}',
  '{} d {} h': '{1} 天 {2} 小时',
  '{} has a budget of 0: {}.': '{1}的预算为零：{2}。',
  '{} has a budget of {}, and this request asks for {}.': '{1}的预算为{2}，而此请求需要 {3}。',
  '{} has used its budget of {}.': '{1}已用完预算{2}。',
  '{} has {} left of its budget of {}, too little for this request.':
    '{1}的预算{3}还剩 {2}，不足以处理此请求。',
};
