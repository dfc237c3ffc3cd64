import { expect, test } from 'vitest';
import { csvLine } from './csv.ts';

test('cells are quoted where they must be, and none is a formula', () => {
  expect(csvLine(['a', 'b,c', 'say "hi"', 'two\nlines'])).toBe('a,"b,c","say ""hi""","two\nlines"');
  expect(csvLine(['=1+1', '+1', '-2', '@x', '\t=1', '\r=1'])).toBe(
    "'=1+1,'+1,'-2,'@x,'\t=1,\"'\r=1\"",
  );
  expect(csvLine([-2, 0.5, true, undefined, '-', ''])).toBe('-2,0.5,true,,-,');
});
