// The limit of tokens, without the schemas of their requests.
/** Tokens of an account that are valid at one time. */
export const ACCOUNT_TOKENS_MAX = 200
