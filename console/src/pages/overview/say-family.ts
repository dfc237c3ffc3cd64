// The name of a model family's quota: that of pictures is a quota of its own.

import type { TFunction } from 'i18next';

export interface FamilyName {
  readonly family: string;
  readonly kind?: 'text' | 'image' | undefined;
}

export function sayFamily({ family, kind }: FamilyName, t: TFunction): string {
  return kind === 'image' ? t('overview.imagesOf', { family }) : family;
}
