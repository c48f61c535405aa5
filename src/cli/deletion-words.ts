// When an account is deleted, and until when that can be taken back.

/** From the time `at` on, the parts of the account are removed, and nothing stops that. */
export const deletionWords = (at: string, nowMs: number): string =>
  Date.parse(at) <= nowMs
    ? `since ${at}; nobody can take it back`
    : `on ${at}; until then ergon account restore takes it back`
