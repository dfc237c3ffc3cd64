// Changes after which something is read again.

import {
  type QueryClient,
  type QueryKey,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { isStale } from './client.ts';

interface ChangeOptions {
  /** 0 for an answer that holds a secret: it goes when the form that shows it goes. */
  readonly gcTime?: number;
}

/**
 * A change is told once what it made old is read again; so is a refusal for an old revision, all others at once.
 * @param stale the key of what is read again, or what reads it
 */
export function useChange<Input, Answer>(
  mutationFn: (input: Input) => Promise<Answer>,
  stale: QueryKey | ((client: QueryClient) => Promise<void>),
  options: ChangeOptions = {},
) {
  const client = useQueryClient();
  const readAgain = (): Promise<void> =>
    typeof stale === 'function' ? stale(client) : client.invalidateQueries({ queryKey: stale });
  return useMutation({
    ...options,
    mutationFn,
    onSuccess: readAgain,
    onError: (error) => (isStale(error) ? readAgain() : void readAgain()),
  });
}
