// The playground, empty or with what was left in it; or with a recorded request, which the page's address names.

import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { requestQuery } from '../../api/queries/requests.ts';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { draftOfRequest } from './draft-of-request.ts';
import { PlaygroundPage } from './page.tsx';

export function RecordedPlayground() {
  const { texts } = useSearchTexts();
  const { request = '' } = texts;
  const { data, error } = useQuery({ ...requestQuery(request), enabled: request !== '' });
  if (request !== '' && data === undefined && error === null) return <Skeleton height={420} />;
  // One that is gone, or was kept in part, leaves the playground as it was.
  return <PlaygroundPage key={data?.id} given={data && draftOfRequest(data)} />;
}
