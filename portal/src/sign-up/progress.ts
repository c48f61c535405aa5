// The place in the five steps. Saved, so that a reload goes on there; recovery codes wait in the tab alone.
export const STEPS = ['account', 'codes', 'funds', 'token', 'ask', 'done'] as const
export type Step = (typeof STEPS)[number]

const STEP = 'ergon.sign-up'
const CODES = 'ergon.recovery-codes'

export const savedStep = (): Step =>
  STEPS.find((step) => step === localStorage.getItem(STEP)) ?? 'account'

export const saveStep = (step: Step): void => localStorage.setItem(STEP, step)

/** Codes that nobody has kept yet. */
export const savedCodes = (): readonly string[] =>
  (sessionStorage.getItem(CODES) ?? '').split('\n').filter((code) => code !== '')

/** After a sign-up: the next step is to keep the codes, where there are new ones. */
export function beginWith(codes: readonly string[]): void {
  sessionStorage.setItem(CODES, codes.join('\n'))
  saveStep(codes.length > 0 ? 'codes' : 'done')
}

export const forgetCodes = (): void => sessionStorage.removeItem(CODES)
