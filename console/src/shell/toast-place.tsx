// Shows short notices at the lower edge of the page.

import { Notifications } from '@mantine/notifications';
import '@mantine/notifications/styles.layer.css';

export function ToastPlace() {
  return <Notifications position="bottom-center" limit={4} containerWidth={420} />;
}
