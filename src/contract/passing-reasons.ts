// Words that programs without schemas know too: the reasons of resources that go by themselves. Others are the account's
// to act on.

/** Of a resource whose last change failed for a fault of the service. */
export const TRIED_AGAIN = 'the last change failed; it is tried again every 15 seconds'

/** Of a resource whose state is not yet what its account wants. */
export const CHANGE_UNDER_WAY = 'a change is under way'

export const PASSING_REASONS: ReadonlySet<string> = new Set([CHANGE_UNDER_WAY, TRIED_AGAIN])
