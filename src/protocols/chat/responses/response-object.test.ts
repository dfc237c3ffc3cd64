import { expect, test } from 'vitest';
import { Frames } from './response-object.ts';

const text = `${'"plain" \n'.repeat(10_000)}${'😀'.repeat(40_000)}\ud800${'ö'.repeat(20_000)}`;

test('a long frame comes in pieces which make the same JSON, and what is behind it comes behind it', () => {
  for (const start of ['', 'x']) {
    const frames = new Frames();
    const delta = frames.deltas('delta', { at: 1 });
    const part = { type: 'text', text: start + text, logprobs: [], is: null };
    expect(frames.write('short', { n: 1 })).toBe(
      'event: short\ndata: {"type":"short","sequence_number":0,"n":1}\n\n',
    );
    expect(frames.write('long', { parts: ['a', part] })).toBe('');
    expect(delta('b') + frames.write('last', {})).toBe('');
    const pieces: string[] = [];
    for (let piece = frames.more(); piece !== ''; piece = frames.more()) pieces.push(piece);
    const json = JSON.stringify({ type: 'long', sequence_number: 1, parts: ['a', part] });
    const behind =
      'event: delta\ndata: {"type":"delta","at":1,"sequence_number":2,"delta":"b"}\n\n' +
      'event: last\ndata: {"type":"last","sequence_number":3}\n\n';
    expect(pieces.join('')).toBe(`event: long\ndata: ${json}\n\n${behind}`);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(50_000);
    expect(delta('c')).not.toBe('');
  }
});
