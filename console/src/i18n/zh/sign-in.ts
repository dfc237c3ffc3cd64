// The sign-in page, in Chinese.

import type { signIn as english } from '../en/sign-in.ts';
import type { Translated } from '../texts.ts';

export const signIn: Translated<typeof english> = {
  title: '登录控制台',
  password: '密码',
  submit: '登录',
  provider: '使用 {{label}} 登录',
  hint: '控制台密码依次取自：环境变量 WEB_PASSWORD、配置文件中的 admin_password、API 密钥。',
  linkHint: '在本机启动时，网关会打印一次性登录链接。',
  elsewhereTitle: '此控制台只能在网关所在的机器上打开',
  elsewhere:
    '尚未设置密码，因此只允许网关所在的机器访问。若要从这里使用，请在那里设置 WEB_PASSWORD、admin_password 或网关密钥。',
  elsewhereProxy: '经由该机器上的代理访问，也视为远程访问。',
  againTitle: '请再次输入密码',
  againHint: '此更改影响谁可以访问或凭据发往何处，因此除会话外还需要密码。',
  again: '继续',
  wrong: '控制台密码不正确。',
  name: '名称',
  nameHint: '使用控制台密码时请留空。',
  wrongName: '名称或密码不正确。',
  wrongAgain: '密码不正确。',
  tooMany_other: '尝试次数过多，请等待 {{count}} 秒后再试。',
};
