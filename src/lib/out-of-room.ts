// Whether a failed write found no room: another remedy than missing rights.

/** A full disk, or a user who may not have more of it. */
export function isOutOfRoom(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'ENOSPC' || error.code === 'EDQUOT';
}
