import { expect, test } from 'vitest';
import { readOpenFiles, warnOfFewFiles } from './start-checks.ts';

function warningsFor(limits: string | undefined): readonly string[] {
  const warnings: string[] = [];
  const warn = (_fields: object, message: string) => void warnings.push(message);
  warnOfFewFiles(readOpenFiles(limits), { warn });
  return warnings;
}

const limitsOf = (soft: string): string =>
  `Limit                     Soft Limit           Hard Limit           Units\n` +
  `Max core file size        0                    unlimited            bytes\n` +
  `Max open files            ${soft.padEnd(21)}1048576              files\n`;

test('too few files for a thousand streams are told with the way out', () => {
  expect(warningsFor(limitsOf('1024'))).toEqual([
    expect.stringMatching(/open 1024 files.*"ulimit -Hn 4096".*LimitNOFILE=/),
  ]);
});

test.each([
  ['enough', limitsOf('1048576')],
  ['no limit', limitsOf('unlimited')],
  ['a system that does not tell', undefined],
])('nothing is said of %s', (_name, limits) => {
  expect(warningsFor(limits)).toEqual([]);
});
