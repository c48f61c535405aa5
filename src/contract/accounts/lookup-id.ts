// The texts that GET /v1/lookup/{id} takes as ids. Apart from its schemas: the console has no use for a parser.

/** The first group is the prefix, which says the kind. */
export const LOOKUP_ID = /^([a-z]{2,8})_[0-9a-z]{1,40}$/
