// What the admin API says of accounts, sign-ins, imports and settings, in Chinese, by its code:
// {} stands there for a name, a value or another sentence, and {1} here for the first of them.

import type { SentenceTexts } from '../sentences.ts';

export const replies: SentenceTexts = {
  '"accounts" must be a list of at most {}.': '“accounts”必须是最多 {1} 项的列表。',
  '"kind" must be oauth, api-key or service-account.':
    '“kind”必须是 oauth、api-key 或 service-account。',
  '"tier" must be one of {}.': '“tier”必须是以下之一：{1}。',
  '"billing" must be one of {}.': '“billing”必须是以下之一：{1}。',
  '"{}" is missing.': '缺少“{1}”。',
  '"{}" must be a string.': '“{1}”必须是字符串。',
  '"{}" must be a whole number.': '“{1}”必须是整数。',
  '"{}" must be an object.': '“{1}”必须是对象。',
  'a name has up to 64 letters, digits, dots, dashes and underscores':
    '名称最多 64 个字母、数字、点、短横线和下划线',
  '"{}" must go to the name of one model, without "*"': '“{1}”必须指向一个模型的名称，不能含有“*”',
  '1 to {} key files are imported at once.': '一次可导入 1 到 {1} 个密钥文件。',
  'Accounts are not stored in this process.': '此进程不保存账号。',
  'At most {} tokens are imported at once.': '一次最多导入 {1} 个刷新令牌。',
  'If-Match: send the ETag of the last answer, with its quotes.':
    'If-Match: 请发送上次响应的 ETag，包括引号。',
  'If-Match: send the revision of the account, such as "3".':
    'If-Match: 请发送账号的修订号，例如 "3"。',
  'If-Match: this route knows no revisions; leave the header out.':
    'If-Match: 此路由没有修订号，请去掉该请求头。',
  'It is not clear which sign-in this belongs to. Paste the whole address the browser ended on.':
    '无法确定这属于哪一次登录。请粘贴浏览器最后停留的完整地址。',
  'Its stored state is damaged.': '保存的状态已损坏。',
  'No access token is available for this account right now. Try again shortly.':
    '暂时无法为此账号取得访问令牌。请稍后重试。',
  'No sign-in of this state is waiting: it was completed, cancelled, or is too old. Begin a new one.':
    '没有正在等待的对应登录：它已完成、已取消或已过期。请重新开始。',
  'None is configured': '尚未配置任何上游',
  'Only requests for answers can be sent again; this one asked for something else.':
    '只有请求回答的请求才能重新发送；这个请求的是其他内容。',
  'Only version {} of the format can be read.': '只能读取此格式的版本 {1}。',
  'Paste the address the browser ended on, or the code.': '请粘贴浏览器最后停留的地址，或代码。',
  'Send either url, the address the browser ended on, or code with state.':
    '请发送 url（浏览器最后停留的地址），或 code 与 state，二者选一。',
  'Sign-in is not set up for "{}". Add the client id and addresses of your own OAuth client under upstreams.<id>.oauth.':
    '“{1}”没有设置登录。请在 upstreams.<id>.oauth 中添加您自己的 OAuth 客户端的 ID 和地址。',
  'Somebody else changed the section "{}" meanwhile. Read it again, then change it.':
    '其他人同时更改了“{1}”部分。请重新读取后再更改。',
  'Somebody else replaced the key at the same moment. Try again.':
    '其他人在同一时刻替换了密钥。请重试。',
  'The "private_key" is no PKCS #8 PEM of an RSA key. Download the key file again.':
    '“private_key”不是 RSA 密钥的 PKCS #8 PEM。请重新下载密钥文件。',
  'The "token_uri" must be an https address.': '“token_uri”必须是 https 地址。',
  'The account "{}" comes with the {} and cannot be changed here. Give another label.':
    '账号“{1}”由 {2} 提供，不能在此更改。请使用其他名称。',
  'The account was removed after it had signed in.': '账号在登录后已被移除。',
  'The account was removed meanwhile.': '账号已被移除。',
  'The account {} was changed meanwhile: it is at revision {}, not {}.':
    '账号 {1} 已被更改：当前修订号是 {2}，而不是 {3}。',
  'The account {} {}. It can be disabled until the next start.':
    '账号 {1} {2}。可以停用它直到下次启动。',
  'The body of this request could not be read, so that there is nothing to send again.':
    '此请求的正文无法读取，因此没有可重新发送的内容。',
  'The body of this request is kept in part only, because it is long, holds media or held a credential.':
    '此请求的正文只保留了一部分，因为它很长、含有媒体或含有凭据。',
  'The body of this request was not kept. Turn on proxy.monitor.bodies, then let the client send it again.':
    '此请求的正文没有保留。请开启 proxy.monitor.bodies，再让客户端重新发送。',
  'The config file is invalid, so nothing was changed. Correct it first: {}.':
    '配置文件目前无法使用，因此未作任何更改。请先改正：{1}。',
  'The config file could not be written; the settings in force stay. The log says why.':
    '配置文件无法写入，当前设置保持不变。原因见日志。',
  'The export does not open: the passphrase is wrong, or the file is damaged.':
    '导出文件无法打开：口令错误或文件已损坏。',
  'The import is larger than 4 MB.': '导入内容超过 4 MB。',
  'The key file has no "{}".': '密钥文件中没有“{1}”。',
  'The label is taken.': '名称已被使用。',
  'The list is larger than 4 MB.': '列表超过 4 MB。',
  'The passphrase is wrong, or the file was changed.': '口令错误，或文件被改动过。',
  'The passphrase must have {} to {} characters.': '口令必须有 {1} 到 {2} 个字符。',
  'The provider does not allow this sign-in. Check the client and its registered redirect address.':
    '提供方不允许此次登录。请检查客户端及其登记的重定向地址。',
  'The provider does not know a scope. Correct the scopes of this upstream.':
    '提供方不认识某个权限范围。请改正此上游的 scopes。',
  'The provider does not say whose account this is. Add the scopes openid and email or a userinfo_url to this upstream, or give a label.':
    '提供方没有说明这是谁的账号。请为此上游添加权限范围 openid 和 email 或 userinfo_url，或填写名称。',
  'The provider gave no refresh token, so the account would end within the hour. Add access_type=offline and prompt=consent to extra_parameters of this upstream (or the scope offline_access, as the provider wants it), then sign in again.':
    '提供方没有给出刷新令牌，账号会在一小时内失效。请按提供方的要求，在此上游的 extra_parameters 中添加 access_type=offline 和 prompt=consent（或添加权限范围 offline_access），然后重新登录。',
  'The provider has trouble at the moment. Try again in some minutes.':
    '提供方目前有故障。请过几分钟重试。',
  'The provider refused the sign-in. Start it again.': '提供方拒绝了登录。请重新开始。',
  'The provider revoked the sign-in of this account. Sign it in again.':
    '提供方撤销了此账号的登录。请重新登录。',
  'The provider wants you to sign in there first. Start the sign-in again.':
    '提供方要求您先在那里登录。请重新开始登录。',
  'The quota figures could not be read: {}': '无法读取配额数据：{1}',
  'The redirect address must be https, or http on this machine (http://127.0.0.1:<port>/…). Set redirect_url of this upstream, or use the loopback address and paste what the browser ends on.':
    '重定向地址必须是 https，或本机的 http（http://127.0.0.1:<port>/…）。请设置此上游的 redirect_url，或使用回环地址并粘贴浏览器最后停留的地址。',
  'The sign-in could not be completed: {}. Start it again.': '登录无法完成：{1}。请重新开始。',
  'The sign-in was declined at the provider. Start it again and agree.':
    '登录在提供方处被拒绝。请重新开始并同意授权。',
  'The sign-in was refused: {}.': '登录被拒绝：{1}。',
  'The state of the accounts could not be saved.': '账号的状态无法保存。',
  'The stored account is damaged: {}.': '保存的账号已损坏：{1}。',
  'The stored credential of account {} cannot be opened. Sign in or give the key again.':
    '账号 {1} 保存的凭据无法打开。请重新登录或重新填写密钥。',
  'The upstream "{}" of this account is no longer configured. Add it under "upstreams" of the config file.':
    '此账号的上游“{1}”已不在配置中。请在配置文件的“upstreams”中添加。',
  'Models the upstream offers: {}.': '上游提供 {1} 个模型。',
  'The upstream reported the quota of {} models.': '上游报告了 {1} 个模型的配额。',
  'The upstream reports no quota; figures are estimated from use.':
    '上游不报告配额，数据按用量估算。',
  'The upstream {} already has an account {} (upper and lower case count as one). Choose another label, or change that account.':
    '上游 {1} 已有账号 {2}（不区分大小写）。请使用其他名称，或更改那个账号。',
  'The upstream {} has an account {} already.': '上游 {1} 已有账号 {2}。',
  'The upstream {} has an account {} of another kind.': '上游 {1} 有一个其他类型的账号 {2}。',
  'There are {} readers of these events already. Close a console page.':
    '已有 {1} 个页面在接收这些事件。请关闭一个控制台页面。',
  'There are: {}': '现有：{1}',
  'There is a credential to use.': '有可用的凭据。',
  'There is an account "{}" of another kind ({}). Rename or remove it first.':
    '已有一个其他类型（{2}）的账号“{1}”。请先将它改名或移除。',
  'There is no channel of this name. GET /api/alerts lists them.':
    '没有此名称的渠道。GET /api/alerts 会列出它们。',
  'There is no account of this id. GET /api/accounts lists them.':
    '没有此 ID 的账号。GET /api/accounts 会列出所有账号。',
  'There is no account of this id. It was removed meanwhile.': '没有此 ID 的账号。它已被移除。',
  'There is no account {}.': '没有账号 {1}。',
  'There is no preset of this name. GET /api/config/mapping/presets lists them.':
    '没有此名称的预设。GET /api/config/mapping/presets 会列出所有预设。',
  'There is no request of this session. They may be older than the retention period.':
    '没有属于此会话的请求，可能因保留期已过而被删除。',
  'This request is not under way any more.': '此请求已不在进行中。',
  'There is no request of this id. It may be older than the retention period.':
    '没有此 ID 的请求。它可能已超过保留时间。',
  'There is no section of this name. There are: {}.': '没有此名称的部分。现有：{1}。',
  'There is no session of this id. It may have ended by itself.':
    '没有此 ID 的会话。它可能已自行结束。',
  'There is no sign-in of this state. It was cancelled, or it is too old. Begin a new one.':
    '没有对应的登录。它已取消或已过期。请重新开始。',
  'There is no such account of this upstream to sign in.': '此上游没有可登录的这个账号。',
  'There is no token in this list.': '此列表中没有刷新令牌。',
  'There is no upstream "{}"; add it to the configuration first.':
    '没有上游“{1}”，请先将它添加到配置中。',
  'There is no usable code in this. Start the sign-in again.':
    '其中没有可用的代码。请重新开始登录。',
  'There is no waiting sign-in of this state. It was cancelled, or it is too old. Begin a new one.':
    '没有正在等待的对应登录。它已取消或已过期。请重新开始。',
  'There was no answer within {} seconds.': '{1} 秒内没有回答。',
  'This account belongs to the sandbox and cannot be changed; it can be disabled for this run.':
    '此账号属于沙盒，不能更改；可以在本次运行中停用它。',
  'This account comes from the environment: change UPSTREAM_API_KEYS or GEMINI_API_KEY and start again, or disable it for this run.':
    '此账号来自环境变量：请更改 UPSTREAM_API_KEYS 或 GEMINI_API_KEY 后重新启动，或在本次运行中停用它。',
  'This account does not sign in: it has a key.': '此账号不登录：它使用密钥。',
  'This account is the external provider of the settings: change proxy.extprov, or disable it for this run.':
    '此账号是设置中的外部提供方：请更改 proxy.extprov，或在本次运行中停用它。',
  'This account was removed meanwhile. Add it again.': '此账号已被移除。请重新添加。',
  'This answer is from another provider than the sign-in was started with.':
    '此回答来自另一个提供方，而不是开始登录时的提供方。',
  'This export is sealed: give its passphrase.': '此导出已加密：请填写其口令。',
  'This is no JSON.': '这不是 JSON。',
  'This is no address. Copy it again, from its beginning.': '这不是地址。请从头重新复制。',
  'This is no export of accounts: its "format" is not "{}".':
    '这不是账号导出：其“format”不是“{1}”。',
  'This is no service-account key file: its "type" must be "service_account".':
    '这不是服务账号的密钥文件：其“type”必须是“service_account”。',
  'This is not a proper answer to this sign-in. Start the sign-in again.':
    '这不是对此次登录的正确回答。请重新开始登录。',
  'This is not a sealed export of a known version.': '这不是已知版本的加密导出。',
  'This is not the address the sign-in leads to ({}).': '这不是登录所指向的地址（{1}）。',
  'This is too long for an address or a code.': '这对地址或代码来说太长。',
  'This sign-in is unknown, was used already, has expired, or was started in another session. Start it again.':
    '此登录未知、已用过、已过期，或是在另一个会话中开始的。请重新开始。',
  'This upstream has no OAuth settings to refresh tokens with.':
    '此上游没有可用于更新访问令牌的 OAuth 设置。',
  'Too many sign-ins are under way. Try again in ten minutes.':
    '正在进行的登录过多。请十分钟后重试。',
  'Write "[hidden]" out: the password of that address is needed.':
    '请写出“[hidden]”处的内容：需要该地址的密码。',
  'You signed in as {}, but this account is {}. Sign in as {}, or add {} as an account of its own.':
    '您登录的是 {1}，但此账号是 {2}。请以 {3} 登录，或把 {4} 另外添加为账号。',
  '{} It said: {}': '{1}上游的原话：{2}',
  '{} cannot serve this request now: {}.': '{1} 目前不能处理此请求：{2}。',
  '{} is an account of kind {}: give it such a credential, or add a new account for the {}.':
    '{1} 是类型为 {2} 的账号：请给它这种凭据，或为 {3} 添加新账号。',
  '{}. Nothing was changed.': '{1}。未作任何更改。',
  '{}: came more than once.': '{1}: 出现了多次。',
  '{}: does not belong to an account of kind {}.': '{1}: 不属于类型为 {2} 的账号。',
  '{}: does not go with the format {}.': '{1}: 不适用于 {2} 格式。',
  '{}: is missing.': '{1}: 缺失。',
  '{}: is no key of the section "{}", which has {}.': '{1}: 不是“{2}”部分的键，该部分有 {3}。',
  '{}: must be one line without blanks.': '{1}: 必须是一行，不含空白。',
  '{}: there is no such field here.': '{1}: 没有这个字段。',
  'The setting {} is not known and does nothing. Did you mean {}?':
    '设置 {1} 未知，不起作用。您是否想用 {2}？',
  'The variable {} is not known and does nothing. Did you mean {}?':
    '变量 {1} 未知，不起作用。您是否想用 {2}？',
  'The variable {} is not known and does nothing.': '变量 {1} 未知，不起作用。',
  'A key of {} makes no account: it {}.': '{1} 中的一个密钥未创建账号：它{2}。',
  'The upstream {} has no address: set UPSTREAM_BASE_URL where UPSTREAM_PROFILE is set.':
    '上游 {1} 没有地址：请在设置 UPSTREAM_PROFILE 之处设置 UPSTREAM_BASE_URL。',
  'No account is configured for the upstream {}: set UPSTREAM_API_KEYS where the environment names it, or add an account in the console or with isthmus accounts add.':
    '上游 {1} 没有配置账号：如果它来自环境变量，请设置 UPSTREAM_API_KEYS；否则请在控制台中或用 isthmus accounts add 添加账号。',
  'key: the upstream refuses it, so it was not stored. {} Correct it, or add it anyway (addAnyway).':
    'key: 上游拒绝该密钥，因此未保存。{1} 请更正，或仍要添加（addAnyway）。',
  'The model {} answered.': '模型 {1} 已作答。',
  'The upstream lists no models, so only a request shows whether its address and the credential are right.':
    '上游没有列出任何模型，因此只有实际请求才能表明其地址和凭据是否正确。',
  'The list of the upstream has no model to ask for an answer.':
    '上游的列表中没有可请求回答的模型。',
  'The config file could not be written, because its disk has no room left. Nothing was changed. Free some room and try again.':
    '配置文件无法写入，因为磁盘已满。未作任何更改。请腾出空间后重试。',
  'Sign-in is not set up for "{}". Add the client id of your own OAuth client under upstreams.<id>.oauth.':
    '“{1}”尚未设置登录。请在 upstreams.<id>.oauth 中填写您自己的 OAuth 客户端 ID。',
  'As {}, with an invitation.': '以 {1} 的身份，使用邀请。',
  'As {}, with their own password.': '以 {1} 的身份，使用其自己的密码。',
  'Only people who sign in with their own password can change it here.':
    '只有用自己的密码登录的人才能在此更改密码。',
  'The name or the password is not right.': '名称或密码不正确。',
  'There are {} invitations that wait already. Revoke some first.':
    '已有 {1} 个等待中的邀请。请先撤销一些。',
  'There is no invitation of this id. It may have been used.': '没有此 ID 的邀请。它可能已被使用。',
  'There is no person of this id. List them to see all.': '没有此 ID 的人员。请列出全部人员查看。',
  'There is no person {}.': '没有人员 {1}。',
  'There is already a person named {}.': '已有名为 {1} 的人员。',
  'This invitation was used already, has expired, or was revoked. Ask who sent it for another one.':
    '此邀请已被使用、已过期或已被撤销。请向发送者索取新的邀请。',
  'This is the last owner, and the console has no password: nobody could change people and sign-in any more. Make somebody else an owner first, or set WEB_PASSWORD.':
    '这是最后一位所有者，而控制台没有密码：之后将无人能更改人员和登录设置。请先让另一人成为所有者，或设置 WEB_PASSWORD。',
  'This needs a sign-in of the last ten minutes. Sign out, sign in again and repeat it. Nothing was done.':
    '这需要在最近十分钟内登录过。请退出并重新登录，然后再试一次。未作任何更改。',
  'This needs the role {}, and you are signed in as {}. Nothing was done.':
    '这需要角色“{1}”，而您的角色是“{2}”。未作任何更改。',
  operator: '操作员',
  owner: '所有者',
  viewer: '查看者',
  '{} was changed meanwhile.': '{1} 已在此期间被更改。',
  '{} was changed meanwhile: they are at revision {}, not {}.':
    '{1} 已在此期间被更改：修订号是 {2}，不是 {3}。',
  'No sign-in waits for this answer: it was used already, is older than ten minutes, or was begun in another browser. Begin a new one.':
    '没有登录在等待此回答：它已用过、已超过十分钟，或是在另一个浏览器中开始的。请重新登录。',
  'No provider is configured.': '尚未配置身份提供方。',
  'The provider cannot be reached, or is not set up as proxy.sign_in says. The log of the gateway says why.':
    '无法连接身份提供方，或其设置与 proxy.sign_in 不符。原因见网关的日志。',
  'The provider refused the sign-in.': '身份提供方拒绝了登录。',
  'The answer of the provider does not prove who you are. The log of the gateway says why.':
    '身份提供方的回答不能证明您的身份。原因见网关的日志。',
  'The provider gives you no role here. Ask an owner of this gateway to add you.':
    '身份提供方没有给您在此处的角色。请让此网关的所有者添加您。',
  'Your e-mail address is of no domain that may sign in here, or the provider has not verified it.':
    '您的邮箱地址不属于可在此登录的域，或身份提供方尚未验证它。',
  'You sign in here already, so that you need no invitation.': '您已经可以在此登录，不需要邀请。',
  'Somebody here has your name already. Ask an owner of this gateway to remove them, or to invite you by another name.':
    '此处已有同名的人员。请让此网关的所有者将其移除，或用另一个名称邀请您。',
  'The provider takes the role of the last owner away, and the console has no password. Set WEB_PASSWORD where the gateway runs.':
    '身份提供方取消了最后一位所有者的角色，而控制台没有密码。请在网关运行处设置 WEB_PASSWORD。',
  'As {}, at the provider.': '以 {1} 的身份，通过身份提供方。',
};
