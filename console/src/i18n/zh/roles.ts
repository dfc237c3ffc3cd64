// The roles of people in Chinese.

import type { roles as english } from '../en/roles.ts';
import type { Translated } from '../texts.ts';

export const roles: Translated<typeof english> = {
  names: { owner: '所有者', operator: '操作员', viewer: '查看者' },
  needed: '在此更改需要角色“{{role}}”。',
  banner: '您以“{{role}}”身份登录：可以查看除请求正文以外的一切，不能更改。',
};
