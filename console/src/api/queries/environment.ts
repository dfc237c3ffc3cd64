// The variables the gateway was started with, and what is in force.

import { queryOptions } from '@tanstack/react-query';
import type { Environment } from '../../../../src/admin/contract.ts';
import { read } from '../client.ts';

export const environmentQuery = queryOptions({
  // As old as the settings are.
  queryKey: ['config', 'environment'],
  queryFn: read<Environment>('/api/environment'),
});
