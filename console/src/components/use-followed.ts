// Lets an open form follow what others save, without losing what is typed in it.

import { useEffect, useRef } from 'react';
import { keepTyped } from './keep-typed.ts';

/** The little of a form that is used. */
interface FollowingForm<Values> {
  getInitialValues(): Values;
  getValues(): Values;
  setInitialValues(values: Values): void;
  setValues(values: Values): void;
}

/**
 * `revision` says when `read` is another; fields nobody touched here then show what was read.
 * @returns what is called with the values a save sent, and those it left: what was typed since stays
 */
export function useFollowed<Values extends object>(
  form: FollowingForm<Values>,
  read: Values,
  revision: string | number | undefined,
): (sent: Values, saved: Values) => void {
  const known = useRef(revision);
  useEffect(() => {
    if (known.current === revision) return;
    known.current = revision;
    const merged = keepTyped(form.getInitialValues(), form.getValues(), read);
    form.setInitialValues(read);
    form.setValues(merged);
  }, [form, read, revision]);
  return (sent, saved) => {
    const merged = keepTyped(sent, form.getValues(), saved);
    form.setInitialValues(saved);
    form.setValues(merged);
  };
}
