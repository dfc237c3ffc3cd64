// Rules for safetySettings: complete, one per category.

import type { Rule } from './rule.ts';

export const checkSafetySettings: Rule = ({ request }, report) => {
  const seen = new Set<string>();
  request.safetySettings?.forEach(({ category, threshold }, index) => {
    const at = `safety_settings[${index}]`;
    if (category === undefined) report(`${at}.category`, 'is missing');
    if (threshold === undefined) report(`${at}.threshold`, 'is missing');
    if (category === undefined) return;
    if (seen.has(category)) report(`${at}.category`, `${category} is given twice`);
    seen.add(category);
  });
};
