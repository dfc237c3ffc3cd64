// The place of short notices; loaded with the first of them.

import { useNotifications } from '@mantine/notifications';
import { useEffect, useState } from 'react';
import { later } from '../components/later.tsx';

const ToastPlace = later(async () => (await import('./toast-place.tsx')).ToastPlace);

export function Toasts() {
  const { notifications } = useNotifications();
  const isAny = notifications.length > 0;
  const [wasAny, setWasAny] = useState(isAny);
  useEffect(() => {
    if (isAny) setWasAny(true);
  }, [isAny]);
  return wasAny ? <ToastPlace /> : null;
}
