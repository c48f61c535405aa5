// Ranges of GET /v1/usage, in one request.

/** Days between `from` and `to`, at most. */
export const USAGE_DAYS_MAX = 400
/** The same by step of time. */
export const USAGE_STEP_DAYS_MAX = { minute: 2, hour: 32, day: USAGE_DAYS_MAX } as const
