// A field for a model's name, with the models of the catalogue to choose from.

import { Autocomplete } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { KeyboardEvent } from 'react';
import { upstreamsQuery } from '../../api/queries/accounts.ts';
import { sectionQuery } from '../../api/queries/config.ts';
import { modelsQuery } from '../../api/queries/models.ts';

export interface ModelInputProps {
  readonly label: string;
  readonly placeholder?: string;
  readonly value: string;
  readonly error?: string | undefined;
  /** Whether it may be a target of several models, as `@name`. */
  readonly takesTargets?: boolean;
  readonly onChange: (value: string) => void;
  /** Enter, a choice from the list, or leaving the field. */
  readonly onCommit?: (value: string) => void;
  readonly onCancel?: () => void;
}

const SHOWN = 40;

export function ModelInput(props: ModelInputProps) {
  const { label, placeholder = '', value, error, takesTargets = false } = props;
  const { onChange, onCommit, onCancel } = props;
  const { data } = useQuery(modelsQuery);
  // Names that stand for themselves: to map a name to an alias is possible, not advised.
  const models = (data?.models ?? []).filter(({ id, target }) => target === id).map(({ id }) => id);
  const names = useSuggestions(models, { value, takesTargets });
  const onKey = (event: KeyboardEvent): void => {
    // What is chosen from the list is not what was typed to find it.
    if (event.key === 'Enter' && !event.defaultPrevented) onCommit?.(value);
    if (event.key === 'Escape') onCancel?.();
  };
  return (
    <Autocomplete
      className="mono-field"
      aria-label={label}
      placeholder={placeholder}
      data={names}
      limit={SHOWN}
      maxDropdownHeight={260}
      spellCheck={false}
      autoComplete="off"
      value={value}
      error={error}
      onChange={onChange}
      onOptionSubmit={(chosen) => onCommit?.(chosen)}
      onBlur={() => onCommit?.(value)}
      // Around the field: the list has its turn first.
      wrapperProps={{ onKeyDown: onKey }}
    />
  );
}

/** Models by themselves; of one upstream where its id stands in front; targets where they are taken. */
function useSuggestions(
  models: readonly string[],
  { value, takesTargets }: { readonly value: string; readonly takesTargets: boolean },
): string[] {
  const { data: known } = useQuery({ ...upstreamsQuery, enabled: value.includes('/') });
  const { data: targets } = useQuery({ ...sectionQuery('targets'), enabled: takesTargets });
  const upstream = known?.upstreams.find(({ id }) => value.startsWith(`${id}/`));
  if (upstream !== undefined) return models.map((model) => `${upstream.id}/${model}`);
  const names = takesTargets ? Object.keys(targets?.values ?? {}).map((name) => `@${name}`) : [];
  return [...names, ...models];
}
