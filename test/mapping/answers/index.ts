// All rows of the mapping's answers, by what they are about.

import type { AnswerRow } from '../answer.ts';
import { CONTENT_ROWS } from './content.ts';
import { FIGURE_ROWS } from './figures.ts';
import { FINISH_ROWS } from './finish.ts';

export const ANSWER_SECTIONS: Readonly<Record<string, readonly AnswerRow[]>> = {
  content: CONTENT_ROWS,
  finish: FINISH_ROWS,
  figures: FIGURE_ROWS,
};
