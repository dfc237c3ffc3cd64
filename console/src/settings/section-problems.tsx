// Says that sections of the settings could not be read, with a way to try again.

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { sectionQuery } from '../api/queries/config.ts';
import { ErrorNote } from '../components/error-note.tsx';
import type { Field } from './fields.ts';

export function SectionProblems({ fields }: { readonly fields: readonly Field[] }) {
  const sections = [...new Set(fields.map(({ section }) => section))];
  return sections.map((section) => <SectionProblem key={section} section={section} />);
}

function SectionProblem({ section }: { readonly section: string }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(sectionQuery(section));
  if (error === null || data !== undefined) return null;
  return (
    <ErrorNote error={error} title={t('common.failedToLoad')} onRetry={() => void refetch()} />
  );
}
