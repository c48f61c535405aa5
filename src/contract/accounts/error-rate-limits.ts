// The limits of public error rates. No zod here: the process of the status page must stay small.

/** Hours of the window that is public, the one that runs included. */
export const RATE_HOURS = 24
/** Fewer requests say too much about who sent them, and too little about the service. */
export const RATE_REQUESTS_LEAST = 100
