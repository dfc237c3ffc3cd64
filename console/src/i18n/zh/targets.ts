// The editor of targets on the routing page, in Chinese.

import type { targets as english } from '../en/targets.ts';
import type { Translated } from '../texts.ts';

export const targets: Translated<typeof english> = {
  title: '回退链',
  hint: '分步尝试的模型，映射条目以 @name 引用其名称。前一步没有账号能处理请求时尝试下一步。同一步内的模型按权重分担会话。',
  add: '添加回退链',
  name: '名称',
  firstModel: '第一个模型',
  nameBad: '最多 64 个字母、数字、点、短横线和下划线。',
  nameTaken: '已有同名的回退链，请在下面修改。',
  modelBad: '请输入一个模型或 upstream/model，不能含 * 和 @。',
  added: '已添加回退链 @{{name}}',
  changed: '已更改回退链 @{{name}}',
  removed: '已移除回退链 @{{name}}',
  remove: '移除回退链 @{{name}}',
  step: '第 {{number}} 步',
  earlier: '将 @{{name}} 的第 {{number}} 步上移',
  later: '将 @{{name}} 的第 {{number}} 步下移',
  model: '模型 {{model}}',
  weight: '{{model}} 的权重',
  removeModel: '移除 {{model}}',
  addModel: '@{{name}} 第 {{number}} 步的替代模型',
  addModelHere: '添加替代模型 …',
  addStep: '@{{name}} 新步骤的模型',
  addStepHere: '添加步骤 …',
};
