// What is said behind the name of a field, a setting or a thing, in Chinese, by the English clause:
// {} stands there for a name or a value, and {1} here for the first of them.

import type { SentenceTexts } from '../sentences.ts';

export const clauses: SentenceTexts = {
  'account: there is no account "{}". Names are listed under Accounts.':
    'account: 没有账号“{1}”。名称列在“账号”页面。',
  'accountId: belongs to the upstream {}.': 'accountId: 属于上游 {1}。',
  'accountId: is an account of kind {}, which does not sign in.':
    'accountId: 是类型为 {1} 的账号，不登录。',
  'address: must be an IPv4 or IPv6 address.': 'address: 必须是 IPv4 或 IPv6 地址。',
  'an entry needs a name or a pattern': '条目需要名称或模式',
  'an unexpected fault of the gateway': '网关出现意外故障',
  'and {}_FILE are both set; set one of them': '与 {1}_FILE 同时设置了，只能设置其中一个',
  'another account has this label': '另一个账号使用此名称',
  'belongs to the sandbox, which exists only while there is no other account':
    '属于沙盒，沙盒仅在没有其他账号时存在',
  'cannot be read: {}_FILE must name a readable file': '无法读取：{1}_FILE 必须指向可读的文件',
  'comes from the environment: change UPSTREAM_API_KEYS or GEMINI_API_KEY where the gateway is started':
    '来自环境变量：请在启动网关的地方更改 UPSTREAM_API_KEYS 或 GEMINI_API_KEY',
  'is a built-in preset; choose another name': '是内置预设；请选择其他名称',
  'is empty in the file that {}_FILE names': '在 {1}_FILE 所指的文件中为空',
  'is needed while the external provider is enabled': '启用外部提供方时必须填写',
  'is no setting; there are {}': '不是设置项；现有 {1}',
  'is set by the sign-in itself': '由登录过程自行设置',
  'is the external provider of the settings: change proxy.extprov':
    '是设置中的外部提供方：请更改 proxy.extprov',
  'is the id of the external provider; choose another': '是外部提供方的 ID；请选择其他 ID',
  'its credential cannot be opened: sign in or give the key again':
    '凭据无法打开：请重新登录或重新填写密钥',
  'its credential is gone: sign in or give the key again': '凭据已丢失：请重新登录或重新填写密钥',
  'its id token belongs to another sign-in': '其 id token 属于另一次登录',
  'its id token has another issuer; check "issuer" of this upstream':
    '其 id token 的颁发者不同，请检查此上游的“issuer”',
  'its id token has expired': '其 id token 已过期',
  'its id token is for another client': '其 id token 属于另一个客户端',
  'its kind is unknown': '类型未知',
  'its proxy address cannot be opened: set it again': '代理地址无法打开：请重新设置',
  'its stored credential could not be read': '保存的凭据无法读取',
  'its stored state is damaged: look at it and enable it again':
    '保存的状态已损坏：请检查后重新启用',
  'its user info is that of another person': '其用户信息属于另一个人',
  'key: does not belong to an account of kind {}.': 'key: 不属于类型为 {1} 的账号。',
  'lacks {}': '缺少 {1}',
  'must be a comma list without empty entries': '必须是逗号分隔的列表，不能有空项',
  'must be a host name or an address, without port': '必须是主机名或地址，不含端口',
  'must be a location such as us-central1, or global': '必须是 us-central1 这样的位置，或 global',
  'must be a number from 0 to 1': '必须是 0 到 1 之间的数字',
  'must be a number from 1 to 1000': '必须是 1 到 1000 之间的数字',
  'must be a number from 1 to 200': '必须是 1 到 200 之间的数字',
  'must be a number from 1 to 500': '必须是 1 到 500 之间的数字',
  'must be a path that starts with "/", without query': '必须是以“/”开头的路径，不含查询部分',
  'must be a path without control characters': '必须是不含控制字符的路径',
  'must be a whole number from {} to {}': '必须是 {1} 到 {2} 之间的整数',
  'must be a whole number of up to 15 digits': '必须是最多 15 位的整数',
  'must be addresses or CIDR ranges such as 10.0.0.0/8, not "{}"':
    '必须是地址或 10.0.0.0/8 这样的 CIDR 范围，不能是“{1}”',
  'must be an IPv4 address in four decimal parts, an IPv6 address, or one of them with a prefix, such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32':
    '必须是四段十进制的 IPv4 地址、IPv6 地址，或带前缀的地址，例如 192.0.2.7、10.0.0.0/8 或 2001:db8::/32',
  'must not be a link-local address': '不能是链路本地地址',
  'must not hold a user or a password': '不能包含用户名或密码',
  'must be an address that starts with https:// or http://':
    '必须是以 https:// 或 http:// 开头的地址',
  'must name a database by its number, as in redis://localhost:6379/1':
    '必须用编号指定数据库，例如 redis://localhost:6379/1',
  'must be an address that starts with {}://': '必须是以 {1}:// 开头的地址',
  'must be an address without "?" and "#"': '必须是不含“?”和“#”的地址',
  'must be an address without user and password': '必须是不含用户名和密码的地址',
  '(root): must be an object': '(root): 必须是对象',
  'must be as browsers send it, "{}", not "{}"': '必须与浏览器发送的一致，即“{1}”，而不是“{2}”',
  'must be as clients send it, "{}", not "{}"': '必须与客户端发送的一致，即“{1}”，而不是“{2}”',
  'must be equal to constant': '必须等于规定的值',
  'must be headers in ASCII without line breaks: "{}" is none':
    '必须是不含换行的 ASCII 请求头：“{1}”不是',
  'must be host names without port, not "{}"': '必须是不含端口的主机名，不能是“{1}”',
  'must be ok, error, cancelled, 4xx, 5xx or a status code':
    '必须是 ok、error、cancelled、4xx、5xx 或状态码',
  'must be one line': '必须是一行',
  'must be one line with a character that can be seen': '必须是一行，且含有可见字符',
  'must be one line without blanks or control characters': '必须是一行，不含空白和控制字符',
  'must be one of {}': '必须是以下之一：{1}',
  'must be origins such as https://app.example.com, not "{}"':
    '必须是 https://app.example.com 这样的来源，不能是“{1}”',
  'must be up to 80 letters, digits and . : / - _': '只能有至多 80 个字母、数字及 . : / - _',
  'must be pairs such as name=value, comma list': '必须是逗号分隔的 name=value 形式',
  'must be percent-encoded: the value of "{}" is not': '必须使用百分号编码：“{1}”的值不是',
  'must be set for the profile {}': '使用 {1} 类型时必须设置',
  'must be whole origins, one for each host, not "{}"':
    '必须是完整的来源，每个主机一个，不能是“{1}”',
  'must be {}': '必须是 {1}',
  "must be {}, because its id is that profile's name; choose another id":
    '必须是 {1}，因为其 ID 就是该类型的名称；请选择其他 ID',
  'must be {} {}': '必须 {1} {2}',
  'must have a character that can be seen': '必须含有可见字符',
  'must have a prefix from 0 to {} after the slash': '斜杠后的前缀必须是 0 到 {1}',
  'must have an id of up to 40 letters, digits, ".", "_" and "-"':
    'ID 必须由最多 40 个字母、数字、“.”、“_”和“-”组成',
  'must have at least 96 prefix bits where it holds an IPv4 address; write the IPv4 range':
    '含有 IPv4 地址时前缀至少为 96 位，请改写为 IPv4 范围',
  'must have at least {} characters': '必须至少有 {1} 个字符',
  'must have at most {} characters': '最多只能有 {1} 个字符',
  'must have letters, digits and . : _ - only': '只能含有字母、数字和 . : _ -',
  'must have only zeros after its prefix; write {} or the single address':
    '前缀之后必须全为零，请写成 {1} 或单个地址',
  'must match a schema in anyOf': '不符合允许的任何一种形式',
  'must match pattern "{}"': '必须符合模式“{1}”',
  'must not have additional properties': '不能有多余的属性',
  'must not have fewer than {} characters': '不能少于 {1} 个字符',
  'must not have fewer than {} items': '不能少于 {1} 项',
  'must not have fewer than {} properties': '不能少于 {1} 个属性',
  'must not have more than {} characters': '不能超过 {1} 个字符',
  'must not have more than {} items': '不能超过 {1} 项',
  'must not trust a range wider than /{}, such as "{}"': '不能信任比 /{1} 更宽的范围，例如“{2}”',
  'must start with https://, except on this machine': '必须以 https:// 开头，本机除外',
  'only the profile {} has it': '只有 {1} 类型才有此项',
  'n: at most {} answers are possible.': 'n：最多可以有 {1} 个回答。',
  'order: an id came more than once.': 'order: 有 ID 出现了多次。',
  'order[{}]: there is no account of this id.': 'order[{1}]: 没有此 ID 的账号。',
  'password: is needed again from a browser that is signed in. Nothing was done.':
    'password: 已登录的浏览器需要再次输入密码。未作任何更改。',
  'password: that is not the console password.': 'password: 这不是控制台密码。',
  'path: "{}" is none of this protocol\'s: {}.': 'path: “{1}”不是此协议的路径：{2}。',
  'redirect: no public address is configured. Set upstreams.{}.oauth.redirect_url, or use loopback or manual.':
    'redirect: 没有配置公开地址。请设置 upstreams.{1}.oauth.redirect_url，或使用 loopback 或 manual。',
  'another program keeps writing it': '其他程序一直在写入它',
  'the account could not be stored; look at the disk, then try again':
    '账号无法保存，请检查磁盘后重试',
  'the account has no grant that could be revoked': '此账号没有可撤销的授权',
  'the account storage does not answer': '账号存储没有响应',
  'the account was changed at the same moment; try again': '账号在同一时刻被更改，请重试',
  'the account was removed': '账号已被移除',
  'the account was removed meanwhile; try again': '账号已被移除，请重试',
  'the answer of the provider is larger than 64 KB': '提供方的回答超过 64 KB',
  'the answer of the provider is no OAuth answer (HTTP {}); check the address':
    '提供方的回答不是 OAuth 回答（HTTP {1}），请检查地址',
  'the entry "{}" is longer than {} characters': '条目“{1}”超过 {2} 个字符',
  'the file cannot be read ({})': '文件无法读取（{1}）',
  'the file is gone: put {} in its place, or remove that too and restart with the defaults':
    '文件已不存在：请用 {1} 代替它，或将后者也删除，以默认值重新启动',
  'the file is no JSON at line {}, column {}': '文件第 {1} 行第 {2} 列不是有效的 JSON',
  'the file is not complete JSON': '文件不是完整的 JSON',
  'the import gave no answer': '导入没有给出结果',
  'the import was stopped before': '导入在此之前已停止',
  'the list says {}, the provider {}': '列表中是 {1}，提供方给出的是 {2}',
  'the proxy of the gateway failed or refused ({})': '网关的代理失败或拒绝（{1}）',
  'must be an address that starts with http://, https:// or socks5://':
    '必须是以 http://、https:// 或 socks5:// 开头的地址',
  'must end after the host and port': '必须在主机和端口之后结束',
  'must have "%" in user and password written as %25': '用户名和密码中的 "%" 必须写作 %25',
  'must have "/", "?" and "#" in user and password written as %2F, %3F and %23':
    '用户名和密码中的 "/"、"?" 和 "#" 必须写作 %2F、%3F 和 %23',
  'must name a user before the password': '密码之前必须有用户名',
  'must be an address without user and password: set them as outbound_proxy_credential':
    '必须是不含用户名和密码的地址：请用 outbound_proxy_credential 设置它们',
  'must be a user and a password with ":" between them': '必须是用户名和密码，中间用 ":" 分隔',
  'must be hosts such as example.com, addresses or CIDR ranges, not "{}"':
    '必须是主机（例如 example.com）、地址或 CIDR 网段，而不是 "{1}"',
  'the key {} has a passphrase: store it without one': '私钥 {1} 带有口令：请不带口令保存',
  '{} holds no certificate in PEM': '{1} 中没有 PEM 格式的证书',
  'the key {} does not belong to the certificate {}, or is none in PEM':
    '私钥 {1} 不属于证书 {2}，或不是 PEM 格式的私钥',
  '{} cannot be read': '无法读取 {1}',
  'they cannot be read': '无法读取',
  'the provider could not be reached': '无法连接提供方',
  'the provider could not be reached ({})': '无法连接提供方（{1}）',
  "the provider could not be reached ({}; is this machine's clock right?)":
    '无法连接提供方（{1}；本机的时钟正确吗？）',
  'the provider did not answer within 10 s': '提供方在 10 秒内没有回答',
  'the provider does not say whose account this is': '提供方没有说明这是谁的账号',
  'the provider does not say whose account this is: {}': '提供方没有说明这是谁的账号：{1}',
  'the provider failed with HTTP {}; try again later': '提供方故障（HTTP {1}），请稍后重试',
  'the provider has not verified the e-mail': '提供方没有验证该邮箱',
  'the provider no longer accepts this grant': '提供方不再接受此授权',
  'the provider redirected (HTTP {}), which is never followed; check the address':
    '提供方发出重定向（HTTP {1}），网关不会跟随，请检查地址',
  'the provider refused with {}': '提供方以 {1} 拒绝',
  'the provider refused with {}; check the client id and secret of this upstream':
    '提供方以 {1} 拒绝，请检查此上游的客户端 ID 和密钥',
  'the provider refused with {}; check the scopes of this upstream':
    '提供方以 {1} 拒绝，请检查此上游的权限范围',
  'the revocation failed': '撤销失败',
  'the stored account cannot be read with this secret key': '保存的账号无法用此主密钥读取',
  'the stored credential cannot be read with this secret key': '保存的凭据无法用此主密钥读取',
  'the stored credential is newer and was kept': '保存的凭据较新，已予保留',
  'the stored credential keeps changing': '保存的凭据不断变化',
  'this account had the token already': '此账号已有该刷新令牌',
  'this is the token of item {}': '这是第 {1} 项的刷新令牌',
  'this item holds no refresh token': '此项没有刷新令牌',
  'this upstream has no OAuth settings; add them to its configuration':
    '此上游没有 OAuth 设置，请在其配置中添加',
  'this upstream has no revocation_url; end the access at the provider':
    '此上游没有 revocation_url，请在提供方处终止访问',
  'unknown key; was "{}" meant? (Its setting would be lost.)':
    '未知的键，是否指“{1}”？（否则该设置会失效。）',
  'upstream: there is no upstream "{}". {}. Others are added under "upstreams" of the config file.':
    'upstream: 没有上游“{1}”。{2}。其他上游在配置文件的“upstreams”中添加。',
  'has characters that no request can carry: put the key exactly as the upstream gave it to you':
    '含有任何请求都无法携带的字符：请原样填写上游给您的密钥',
  'is a placeholder, not a key: put the key that the upstream gave you':
    '是占位符而不是密钥：请填写上游给您的密钥',
  'is a key or the password of this gateway, not a key of an upstream: put the key that the upstream gave you':
    '是本网关的密钥或密码，不是上游的密钥：请填写上游给您的密钥',
  'The external provider is enabled, but serves nothing: set {}.':
    '外部提供方已启用，但不提供任何服务：请设置 {1}。',
  'proxy.pool.fixed_account names no account: none has the id or label "{}", so that all accounts are used.':
    'proxy.pool.fixed_account 未对应任何账号：没有 ID 或标签为“{1}”的账号，因此使用全部账号。',
  'UPSTREAM_PROFILE={} needs an address: set UPSTREAM_BASE_URL.':
    'UPSTREAM_PROFILE={1} 需要地址：请设置 UPSTREAM_BASE_URL。',
  'password: must have at least {} characters.': 'password: 至少需要 {1} 个字符。',
  'password: that is not your password.': 'password: 这不是您的密码。',
  'role: the provider decides about the role of {} at each sign-in. Change it there.':
    'role: {1} 的角色由身份提供方在每次登录时决定。请在那里更改。',
  'origin: must be that of a web page.': 'origin: 必须是网页的来源。',
};
