// All sentences of the gateway that the console shows, in Japanese.

import type { SentenceTexts } from '../sentences.ts';
import { clauses } from './clauses.ts';
import { faults } from './faults.ts';
import { receipt } from './receipt.ts';
import { replies } from './replies.ts';

export const sentences: SentenceTexts = { ...receipt, ...replies, ...clauses, ...faults };
