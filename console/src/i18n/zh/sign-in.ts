// The sign-in page, in Chinese.

import type { signIn as english } from '../en/sign-in.ts';
import type { Translated } from '../texts.ts';

export const signIn: Translated<typeof english> = {
  title: '登录控制台',
  password: '密码',
  submit: '登录',
  hint: '控制台密码依次取自：环境变量 WEB_PASSWORD、配置文件中的 admin_password、API 密钥。',
  linkHint: '在本机启动时，网关会打印一次性登录链接。',
  wrong: '控制台密码不正确。',
  tooMany_other: '尝试次数过多，请等待 {{count}} 秒后再试。',
};
