// The steps that a new account is offered, one at a time: each only while it is still to be done.

export type Known = {
  readonly passkeys: number
  readonly hasBudget: boolean
  readonly hasWebhook: boolean
}
export type Step = {
  readonly id: string
  readonly isDue: (known: Known) => boolean
  readonly before: string
  readonly to: string
  readonly link: string
  readonly after: string
}

const STEPS: readonly Step[] = [
  {
    id: 'second-passkey',
    isDue: ({ passkeys }) => passkeys < 2,
    before: 'You have one passkey.',
    to: '/settings',
    link: 'Add a second one',
    after: 'so that a lost phone does not lock you out.',
  },
  {
    id: 'budget',
    isDue: ({ hasBudget }) => !hasBudget,
    before: 'Nothing of yours has a limit but the balance.',
    to: '/budgets',
    link: 'Set a budget',
    after: 'and it stops there.',
  },
  {
    id: 'low-balance-webhook',
    isDue: ({ hasWebhook }) => !hasWebhook,
    before: 'A service of yours can be informed when the balance is low.',
    to: '/webhooks',
    link: 'Add a webhook',
    after: '',
  },
]

/** The first step that is due and was not declined; undefined where none is left. */
export const nextStep = (known: Known, declined: readonly string[]): Step | undefined =>
  STEPS.find(({ id, isDue }) => isDue(known) && !declined.includes(id))
