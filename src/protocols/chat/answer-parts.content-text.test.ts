import { expect, test } from 'vitest';
import { ContentText } from './answer-parts.ts';

test('blocks stand in paragraphs of their own and move the positions of the text behind them', () => {
  const content = new ContentText();
  const pieces = [content.addText('ab'), content.addBlock('![i](u)'), content.addText('cd')];
  expect(pieces.join('')).toBe('ab\n\n![i](u)\n\ncd');
  expect(pieces.join('').slice(content.startOf(2), content.endOf(4))).toBe('cd');
  expect(pieces.join('').slice(content.startOf(0), content.endOf(2))).toBe('ab');
  expect(content.length).toBe(pieces.join('').length);
});
