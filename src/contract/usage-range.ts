// Longest range that GET /v1/usage sums in one request.

/** Days between `from` and `to`, at most. */
export const USAGE_DAYS_MAX = 400
