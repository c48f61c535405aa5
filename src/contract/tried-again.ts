// A word that programs without schemas know too.

/** The reason of a resource whose last change failed for a fault of the service; other reasons are the account's to act on. */
export const TRIED_AGAIN = 'the last change failed; it is tried again every 15 seconds'
