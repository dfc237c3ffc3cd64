// The webhooks of alerts, in Chinese.

import type { alerts as english } from '../en/alerts.ts';
import type { Translated } from '../texts.ts';

export const alerts: Translated<typeof english> = {
  title: 'Webhook',
  hint: '概览中需要注意的事项会发送到这里：开始时、持续期间再次、以及结束时。',
  name: '名称',
  nameHint: '例如 ops',
  webhook: 'Webhook 地址',
  webhookHint: '不再显示。可以位于本地网络。',
  format: '格式',
  formats: { json: 'JSON', slack: 'Slack', discord: 'Discord' },
  severity: '发送',
  severities: { warning: '警告和错误', error: '仅错误' },
  marks: { warning: '警告', error: '错误' },
  add: '添加 Webhook',
  added: '已添加 {{name}}。请发送测试以确认能够送达。',
  remove: '移除 {{name}}',
  removed: '已移除 {{name}}',
  test: '发送测试',
  tested: '测试已送达 {{name}}',
  testFailed: '测试未能送达 {{name}}：{{reason}}',
  firing: '活动告警',
  firingHint: '尚未解除的告警。',
  deliveries: '最近的发送',
  deliveriesHint: '网关启动以来的最近 50 次。',
  outcomes: { delivered: '已送达', retried: '重试中', failed: '失败' },
};
