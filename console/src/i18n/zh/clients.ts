// The page on which clients are set up, in Chinese.

import type { clients as english } from '../en/clients.ts';
import type { Translated } from '../texts.ts';

export const clients: Translated<typeof english> = {
  subtitle: '可直接复制：让编程 CLI、SDK 和各种应用连接到此网关 {{address}}。',
  list: '可选的客户端',
  client: '客户端',
  searchLabel: '搜索客户端',
  searchHint: '搜索',
  noneFound: '没有这个名称的客户端。“其他应用”列出了任何客户端都需要的内容。',
  groups: { clis: '编程 CLI', sdks: 'SDK', others: '其他' },
  otherApp: '其他应用',
  ways: '{{name}} 的设置方式',
  model: '模型',
  modelHint: '网关接受的任何模型名称',
  modelLost: '未知模型',
  key: '密钥',
  keyHint: '填入下方代码；不会保存',
  needs: {
    never: '此网关不要求密钥。如果客户端必须填写，任何值都可以。',
    elsewhere:
      '本机的客户端不需要密钥，任何值都可以。其他机器上的客户端需要密钥，并使用能访问本机的地址。',
    noWrong:
      '本机的客户端不需要密钥，但错误的密钥会被拒绝，而多数客户端都会发送密钥：请填入您的密钥。',
    always: '所有客户端都需要密钥：请填入您的密钥。',
  },
  createKey: '创建密钥',
  copyKey: '复制密钥',
  keyMade: '密钥“{{name}}”已填入下方命令。它只在此刻显示。',
  leaveTitle: '离开此页面？',
  leaveHint: '新密钥只在此处显示，之后无法再次显示。',
  leave: '离开',
  oneCommand: '一条命令',
  oneCommandHint: '适用于客户端所在机器已安装 isthmus 的情况。',
  verbs: { connect: '写入其设置；--undo 可恢复', launch: '启动它，不更改任何设置' },
  byHand: '或手动设置',
  waiting: '正在等待第一个请求……',
  arrived: '第一个请求已得到回答，设置成功。',
  arrivedBad: '收到一个请求，但失败了：{{status}}',
  stillWaiting: '更正后再发送一条消息：此页面会继续等待。',
  toRequest: '查看请求',
  toKeys: '所有密钥',
  steps: {
    variables: '设置这些环境变量',
    file: '添加到它的配置文件',
    signIn: '选择 API 密钥作为登录方式',
    once: '运行一次',
    install: '安装',
    code: '使用',
    start: '启动',
    list: '列出模型',
    ask: '发送请求',
    address: 'Base URL',
    key: '密钥',
    model: '模型',
  },
  hints: {
    variables: '只在当前终端有效。如需保留，请添加到 {{profile}}。',
    file: '如果文件已有内容，请把这些添加进去。',
    signIn: '如果文件已有内容，请把这些添加进去。',
    once: '设置会被保存。',
    address:
      '应用中也叫 Base URL、Endpoint 或 API Host。请在上方选择应用所用协议的厂商，多数为 OpenAI。',
  },
  copy: '复制：{{name}}',
  worksTitle: '确认可用',
  worksHint: '用它发送一条消息：到达后会立即显示在这里；如果失败，也会显示原因。',
  toAccounts: '打开账号',
  toRequests: '打开请求',
  permissionNote:
    '在“auto”权限模式下，Claude Code 会请服务器审查危险的工具调用。网关不执行这种审查：如有顾虑，请选择其他模式。',
};
