// Rules for thinkingConfig: budget or level, within what the model takes, and room for the answer.

import type { ModelThinking } from '../models.ts';
import type { GenerationConfig, ThinkingConfig } from '../wire.ts';
import type { Report, Rule } from './rule.ts';

const AT = 'generation_config.thinking_config';
/** The budget that leaves the amount to the model. */
const AUTOMATIC = -1;

export const checkThinking: Rule = ({ request, model }, report) => {
  const config = request.generationConfig?.thinkingConfig;
  if (config === undefined) return;
  if (model.thinking === undefined && model.drawsImages === true) {
    checkDrawing(config, report);
    return;
  }
  if (model.thinking === undefined) {
    report(AT, `${model.id} does not think; leave thinking_config out`);
    return;
  }
  const level = askedLevel(config);
  if (config.thinkingBudget !== undefined && level !== undefined) {
    report(AT, 'takes thinking_budget or thinking_level, not both');
  }
  if (level !== undefined) checkLevel(level, model.thinking, report);
  checkBudget(request.generationConfig ?? {}, model.thinking, report);
};

/** An image model thinks as it likes; its thoughts, pictures among them, can be shown. */
function checkDrawing({ includeThoughts: _shown, ...rest }: ThinkingConfig, report: Report): void {
  if (Object.keys(rest).length > 0) report(AT, 'takes include_thoughts alone for this model');
}

function askedLevel(config: ThinkingConfig): string | undefined {
  return config.thinkingLevel === 'THINKING_LEVEL_UNSPECIFIED' ? undefined : config.thinkingLevel;
}

function checkLevel(level: string, { levels }: ModelThinking, report: Report): void {
  if (levels.includes(level)) return;
  report(
    `${AT}.thinking_level`,
    levels.length === 0
      ? 'this model takes a thinking_budget only'
      : `${level} is not a level of this model (${levels.join(', ')})`,
  );
}

function checkBudget(config: GenerationConfig, thinking: ModelThinking, report: Report): void {
  const budget = config.thinkingConfig?.thinkingBudget;
  if (budget === undefined || budget === AUTOMATIC || budget === 0) return;
  const { minBudget, maxBudget } = thinking;
  if (budget < minBudget || budget > maxBudget) {
    report(
      `${AT}.thinking_budget`,
      `${budget} is neither 0 nor within ${minBudget} to ${maxBudget}`,
    );
  }
  const limit = config.maxOutputTokens;
  if (limit !== undefined && limit <= budget) {
    report(
      'generation_config.max_output_tokens',
      `${limit} must be greater than the thinking_budget ${budget}`,
    );
  }
}
