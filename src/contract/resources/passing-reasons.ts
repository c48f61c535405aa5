// Words that programs without schemas know too: the reasons of resources that go by themselves. Others are the account's
// to act on.

/** The reason of a resource whose last change failed for a fault of the service. */
export const TRIED_AGAIN = 'the last change failed; it is tried again every 15 seconds'

/** Of a resource whose state is not yet what its account wants. */
export const CHANGE_UNDER_WAY = 'a change is under way'

/** Others that the volumes of a workload wait for. */
export const VOLUMES_WAIT = {
  room: 'it waits for room of the disk, which other work reserves now',
  checks: 'it waits for the checks of other volumes',
} as const

export const PASSING_REASONS: ReadonlySet<string> = new Set([
  CHANGE_UNDER_WAY,
  TRIED_AGAIN,
  ...Object.values(VOLUMES_WAIT),
])

/** The reason of a resource that the service holds suspended. */
export const HELD_WORDS = {
  budget: "today's energy budget is used up",
  balance: 'the account cannot pay',
  suspended: 'the operator suspended the account',
  deleting: 'the account is being deleted',
} as const

/** Of work that nothing is left for. */
export const UNPAID_WORDS = {
  balance:
    'Could not go on: nothing is left of the balance but what is kept for stored bytes and for what runs',
  freeTier: "Could not go on: today's free tier is used up",
  /** The budget follows. */
  budget: 'Could not go on: the energy budget is used up',
} as const

/** The reason of a failure that is over: its advice was for that moment. */
export const withoutAdvice = (reason: string): string => reason.split('. ', 1)[0] ?? reason

/** A reason that funds or a larger budget end. */
export const isUnpaidReason = (reason: string): boolean =>
  reason === HELD_WORDS.budget ||
  reason === HELD_WORDS.balance ||
  Object.values(UNPAID_WORDS).some((words) => reason.startsWith(words))
