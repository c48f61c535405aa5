// The energy budget of an account's pings.

export const budgetOf = (account: string): string => `toy-${account}`
