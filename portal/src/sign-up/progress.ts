// The place in the steps. Saved, so that a reload goes on there; recovery codes wait in the tab alone.
import type { MemberRole } from '#contract/identity/roles.ts'

export const STEPS = ['account', 'codes', 'funds', 'token', 'ask', 'done'] as const
export type Step = (typeof STEPS)[number]

/** The steps that are shown: money is the owner's, so an invited member is not asked for it. */
export const stepsOf = (role: MemberRole | undefined): readonly Step[] =>
  STEPS.filter((step) => step !== 'done' && (step !== 'funds' || (role ?? 'owner') === 'owner'))

/** Where a signed-in person goes on: a step that is not theirs, or is behind them, is passed over. */
export const stepNow = (saved: Step, steps: readonly Step[]): Step =>
  saved === 'done' || (saved !== 'account' && steps.includes(saved)) ? saved : (steps[2] ?? 'done')

/** The code of a link, from behind the # of its address. */
export const invitationIn = (hash: string): string | undefined =>
  /^#(inv_[0-9A-Za-z]{38})$/.exec(hash)?.[1]

const STEP = 'ergon.sign-up'
const CODES = 'ergon.recovery-codes'
const PAYING = 'ergon.sign-up-pays'

export const savedStep = (): Step =>
  STEPS.find((step) => step === localStorage.getItem(STEP)) ?? 'account'

export function saveStep(step: Step): void {
  localStorage.setItem(STEP, step)
  sessionStorage.removeItem(PAYING)
}

/** Codes that nobody has kept yet. */
export const savedCodes = (): readonly string[] =>
  (sessionStorage.getItem(CODES) ?? '').split('\n').filter((code) => code !== '')

/** After a sign-up: the next step is to keep the codes, where there are new ones. */
export function beginWith(codes: readonly string[]): void {
  sessionStorage.setItem(CODES, codes.join('\n'))
  saveStep(codes.length > 0 ? 'codes' : 'done')
}

export const forgetCodes = (): void => sessionStorage.removeItem(CODES)

/** The payer leaves the sign-up for a page of the processor or the bank, and comes back in this tab. */
export const leaveToPay = (tab: Pick<Storage, 'setItem'>): void => tab.setItem(PAYING, 'true')

/** Where a page load goes on: the processor sends every payer to the balance, also one who left the sign-up. */
export function pathNow(path: string, tab: Pick<Storage, 'getItem' | 'removeItem'>): string {
  if (path !== '/balance' || tab.getItem(PAYING) === null) return path
  tab.removeItem(PAYING)
  return '/sign-up'
}
