// A bar that shows how much is left, in the colour of how worrying that is.

import './meter.css';

export type Tone = 'ok' | 'warn' | 'bad' | 'idle';

export interface MeterProps {
  /** 0 to 100. */
  readonly percent: number;
  readonly label: string;
  readonly tone?: Tone;
}

const LOW = 20;

function toneOf(percent: number): Tone {
  if (percent <= 0) return 'bad';
  return percent < LOW ? 'warn' : 'ok';
}

export function Meter({ percent, label, tone = toneOf(percent) }: MeterProps) {
  const value = Math.min(100, Math.max(0, percent));
  return (
    // biome-ignore lint/a11y/useSemanticElements: every browser draws <meter> in its own way
    <div
      className="meter"
      role="meter"
      aria-valuenow={Math.round(value)}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-label={label}
    >
      <div className={`meter-fill is-${tone}`} style={{ inlineSize: `${value}%` }} />
    </div>
  );
}
