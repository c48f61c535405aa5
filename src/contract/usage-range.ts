// How far back GET /v1/usage sums in one question.

/** Days between `from` and `to`, at most. */
export const USAGE_DAYS_MAX = 400
