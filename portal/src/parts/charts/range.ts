// A range of time in whole steps.

export type Step = 'minute' | 'hour' | 'day'
export const STEP_MS: Readonly<Record<Step, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
}

export type Range = { readonly fromMs: number; readonly toMs: number; readonly step: Step }
