// A link of the console that looks like a button.

import { Button, type ButtonProps } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

export interface LinkButtonProps extends ButtonProps {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly children: ReactNode;
}

export function LinkButton({ to, search = {}, ...button }: LinkButtonProps) {
  return <Button {...button} renderRoot={(props) => <Link {...props} to={to} search={search} />} />;
}
