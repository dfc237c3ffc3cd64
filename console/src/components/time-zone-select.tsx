// Chooses a time zone by its name; the one of this browser stands first.

import { Select } from '@mantine/core';
import { useMemo } from 'react';
import { ownTimeZone } from './own-time-zone.ts';

export interface TimeZoneSelectProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (timeZone: string) => void;
  readonly className?: string;
}

export function TimeZoneSelect({ label, value, onChange, className = '' }: TimeZoneSelectProps) {
  const zones = useMemo(() => listZones(value), [value]);
  return (
    <Select
      className={className}
      label={label}
      data={zones}
      value={value}
      onChange={(zone) => {
        if (zone !== null) onChange(zone);
      }}
      searchable
      allowDeselect={false}
      limit={80}
      comboboxProps={{ width: 260, position: 'bottom-start' }}
    />
  );
}

function listZones(chosen: string): string[] {
  return [...new Set([ownTimeZone(), 'UTC', chosen, ...Intl.supportedValuesOf('timeZone')])];
}
