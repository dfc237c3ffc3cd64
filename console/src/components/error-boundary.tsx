// Keeps a page that fails from taking the rest of the console with it.

import { Component, type ErrorInfo, type ReactNode } from 'react';

interface BoundaryProps {
  readonly children: ReactNode;
  /** A change of it shows the children again. */
  readonly resetKey: string;
  readonly fallback: (error: unknown) => ReactNode;
}

interface BoundaryState {
  readonly failure: { readonly error: unknown } | undefined;
  readonly resetKey: string;
}

export class ErrorBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failure: undefined, resetKey: this.props.resetKey };

  static getDerivedStateFromError(error: unknown): Partial<BoundaryState> {
    return { failure: { error } };
  }

  static getDerivedStateFromProps(
    { resetKey }: BoundaryProps,
    state: BoundaryState,
  ): Partial<BoundaryState> | null {
    return resetKey === state.resetKey ? null : { failure: undefined, resetKey };
  }

  override componentDidCatch(error: unknown, { componentStack }: ErrorInfo): void {
    // For whoever looks into it with the browser's tools; the page shows the message alone.
    reportError(
      new Error(`A page of the console failed.${componentStack ?? ''}`, { cause: error }),
    );
  }

  override render(): ReactNode {
    const { failure } = this.state;
    return failure === undefined ? this.props.children : this.props.fallback(failure.error);
  }
}
